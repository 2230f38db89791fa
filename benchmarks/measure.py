"""One case, in a process of its own: ``python -m benchmarks.measure CASE`` prints its figures as JSON."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks import trace
from scheduler_sim import Policy, Recipe, Result, Simulation, System, Workload, generate, read_trace

ENOUGH_S = 10.0
"""Whole simulations are repeated until they have taken so long together, or often enough."""


@dataclass(frozen=True)
class Case:
    """A policy on the generated trace of so many jobs, or on a trace file or a recipe, or its first days."""

    policy: str
    nodes: int
    jobs: int = 0
    trace: str = ""
    repeats: int = 5
    settings: dict[str, str] = field(default_factory=dict)
    days: float = 0.0
    models: dict[str, Any] = field(default_factory=dict)

    def workload(self) -> Workload:
        """The trace, read or generated."""
        if not self.trace:
            return trace.workload(self.jobs)
        is_recipe = Path(self.trace).suffix == ".yaml"
        whole = generate(Recipe.from_yaml(self.trace)) if is_recipe else read_trace(self.trace)
        since = whole["submit_time"] - whole["submit_time"].min()
        return whole.select(since < self.days * 86400) if self.days else whole

    def scheduled_by(self) -> Policy:
        """The policy with its settings."""
        return Policy.named(self.policy).with_settings(self.settings)


@dataclass(frozen=True)
class Times:
    """Seconds of one simulation, ``whole_s`` without compiling; cpu: of processor."""

    compile_s: float
    engine_s: float
    engine_cpu_s: float
    whole_s: float


def measure(case: Case) -> dict[str, Any]:
    """Run the case several times, the bare loop in between, and return the best of each.

    The memory is that of a process that has read its trace and simulated it once; ``starts`` is
    the sha256 of all start times; ``waiting`` how many jobs wait on average.
    """
    system, workload, policy = System.homogeneous(case.nodes), case.workload(), case.scheduled_by()
    result, first = _simulate(system, workload, policy, case.models)
    starts = sha256(result.components["start_time"].to_numpy().tobytes()).hexdigest()
    figures = {"jobs": len(result.components), "peak_mb": peak_mb(), "starts": starts}
    figures["waiting"] = mean_waiting(result)
    bare = _bare_loop(case, result)
    del result
    times, limit = [first], [bare()]
    while len(times) < case.repeats and sum(one.whole_s for one in times) < ENOUGH_S:
        times.append(_simulate(system, workload, policy, case.models)[1])
        limit.append(bare())
    best = {name: min(getattr(one, name) for one in times) for name in Times.__annotations__}
    return {**figures, **best, "bare_cpu_s": min(limit)}


def _simulate(
    system: System, workload: Workload, policy: Policy, models: dict[str, Any]
) -> tuple[Result, Times]:
    """Simulate once; the loop alone is at work while the environment runs."""
    begin = perf_counter()
    simulation = Simulation(system, workload, policy, models=models or None)
    prepare = perf_counter()
    simulation.prepare()
    compile_s, cpu = perf_counter() - prepare, process_time()
    simulation.env.run()
    engine_cpu_s = process_time() - cpu
    result = simulation.result()
    whole_s = perf_counter() - begin - compile_s
    return result, Times(compile_s, simulation.engine_s, engine_cpu_s, whole_s)


def _bare_loop(case: Case, result: Result) -> Callable[[], float]:
    """Return what times the bare loop on the same jobs; checked first to give the same starts.

    Schemes that have no bare loop of their own are compared to that of EASY.
    """
    from benchmarks.bare_loop import LOOPS

    jobs, expected = columns_of(result)
    loop = LOOPS.get(case.policy, LOOPS["easy"])
    starts = loop(*jobs, case.nodes)
    if case.policy in LOOPS and not np.array_equal(starts, expected):
        raise SystemExit(f"{case.policy}: the bare loop and the engine do not give the same starts")

    def processor_seconds() -> float:
        begin = process_time()
        loop(*jobs, case.nodes)
        return process_time() - begin

    return processor_seconds


def columns_of(result: Result) -> tuple[list[np.ndarray], np.ndarray]:
    """Columns of all jobs that ran, by submission, as the bare loops take them, and their starts."""
    table = result.components[result.components["state"] != "REJECTED"]
    table = table.sort_values("submit_time", kind="stable")
    names = ("submit_time", "nodes", "time_limit", "run_time", "start_time")
    *jobs, starts = (np.ascontiguousarray(table[name].to_numpy(), dtype=np.int64) for name in names)
    return jobs, starts


def mean_waiting(result: Result) -> float:
    """How many jobs wait on average from the first submission to the last."""
    jobs, starts = columns_of(result)
    submit = jobs[0]
    waited = np.minimum(starts, submit[-1]) - submit
    return float(waited.sum()) / max(1, int(submit[-1] - submit[0]))


def compile_seconds(policy: str) -> dict[str, float]:
    """Seconds to the first result of 100 jobs in a process whose cache is as it finds it."""
    begin, cpu = perf_counter(), process_time()
    simulation = Simulation(System.homogeneous(trace.NODES), trace.workload(100), Policy.named(policy))
    simulation.prepare()
    compiled = {"compile_s": perf_counter() - begin, "compile_cpu_s": process_time() - cpu}
    simulation.run()
    return {**compiled, "first_result_s": perf_counter() - begin}


def peak_mb() -> float:
    """The most memory this process has held so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def argument(case: Case) -> str:
    """The case as the argument of this module."""
    return json.dumps(asdict(case))


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(compile_seconds(given["cold"]) if "cold" in given else measure(Case(**given))))
