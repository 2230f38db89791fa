"""Schedulers of one's own beside the built-in ones: KTH-SP2, in Python and compiled."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from benchmarks.children import child
from benchmarks.section import KTH_NODES, ROOT, Asked, table, without_trace
from scheduler_sim import Policy, Simulation, System, Workload, compiled, read_trace, simulate

CLASSIC = ROOT / "configs" / "schedulers" / "classic.py"
BUILT_IN = {"Fcfs": "fcfs", "Easy": "easy", "Conservative": "conservative"}
TIMES = 5
COLUMNS = "<policy", "<how", "jobs", "compile cpu s", "kept cpu s", "cpu s", "jobs/s", "starts as built in"


def section(asked: Asked) -> str:
    """The three classic schedulers, each built in, in plain Python, and compiled."""
    if not asked.has_trace:
        return without_trace(asked)
    workload = read_trace(asked.trace)
    times = 1 if asked.quick else TIMES
    with TemporaryDirectory() as cache:
        return table(COLUMNS, rows(workload, times, cache))


def rows(workload: Workload, times: int, cache: str) -> Iterator[tuple[str, ...]]:
    """Three rows a policy; an empty cache is where compilation is measured."""
    child("schedulers", "", SCHEDULER_SIM_CACHE_DIR=cache)  # the engine's own code comes from there
    for name, policy in BUILT_IN.items():
        kind = type(Policy.resolve(f"{CLASSIC}:{name}").own_scheduler())
        starts, spent = best_of(workload, policy, times)
        yield row(policy, "built in", workload, (), spent, "")
        took = [child("schedulers", name, SCHEDULER_SIM_CACHE_DIR=cache) for _ in range(2)]
        for how, made, code in (("plain Python", kind(), ()), ("compiled", in_loop(name), took)):
            own, spent = best_of(workload, made, times)
            yield row(policy, how, workload, code, spent, f"{100 * (own == starts).mean():.1f} %")


def row(
    policy: str, how: str, workload: Workload, took: Sequence[float], spent: float, equal: str
) -> tuple[str, ...]:
    """One of the table; ``took`` what it took to have the code, the first time and again."""
    jobs = len(workload.table)
    first, again = (f"{one:.2f}" for one in took) if took else ("", "")
    return policy, how, f"{jobs:,}", first, again, f"{spent:.3f}", f"{jobs / spent:,.0f}", equal


def in_loop(name: str) -> Any:
    """Make one of the three that is compiled."""
    kind = type(Policy.resolve(f"{CLASSIC}:{name}").own_scheduler())
    return compiled(type(name, (kind,), {}))()


def for_code(name: str) -> float:
    """Return the processor time in which one of the three, if any, is compiled or taken from the cache."""
    system, job = (
        System.homogeneous(KTH_NODES),
        Workload.from_columns(nodes=[1], submit_time=[0], run_time=[1]),
    )
    simulate(system, job, Policy.resolve(f"{CLASSIC}:Fcfs"))  # the loop
    begun = process_time()
    if name:
        Simulation(system, job, in_loop(name)).run()
    return process_time() - begun


def best_of(workload: Workload, policy: Any, times: int) -> tuple[Any, float]:
    """Return the starts, and the processor time of the run."""
    system, least = System.homogeneous(KTH_NODES), float("inf")
    Simulation(system, workload, policy).prepare()
    for _ in range(times):
        simulation = Simulation(system, workload, policy)
        simulation.prepare()
        begun = process_time()
        result = simulation.run()
        least = min(least, process_time() - begun)
    return result.components["start_time"].to_numpy(), least


if __name__ == "__main__":
    print(json.dumps(for_code(sys.argv[1])))
