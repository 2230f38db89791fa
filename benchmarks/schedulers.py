"""Schedulers of one's own beside the built-in ones: KTH-SP2, in Python and compiled."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time
from typing import Any

from benchmarks.section import KTH_NODES, ROOT, Asked, table, without_trace
from scheduler_sim import Policy, Simulation, System, Workload, compiled, read_trace

CLASSIC = ROOT / "configs" / "schedulers" / "classic.py"
BUILT_IN = {"Fcfs": "fcfs", "Easy": "easy", "Conservative": "conservative"}
TIMES = 5
COLUMNS = "<policy", "<how", "jobs", "compile cpu s", "cpu s", "jobs/s", "starts as built in"


def section(asked: Asked) -> str:
    """The three classic schedulers, each built in, in plain Python, and compiled."""
    if not asked.has_trace:
        return without_trace(asked)
    workload = read_trace(asked.trace)
    times = 1 if asked.quick else TIMES
    return table(COLUMNS, rows(workload, times))


def rows(workload: Workload, times: int) -> Iterator[tuple[str, ...]]:
    """Three rows a policy."""
    for policy in ("fcfs", Policy.resolve(f"{CLASSIC}:Fcfs")):  # the engine's own code comes from the cache
        best_of(workload, policy, 1)
    for name, policy in BUILT_IN.items():
        kind = type(Policy.resolve(f"{CLASSIC}:{name}").own_scheduler())
        starts, *found = best_of(workload, policy, times)
        yield row(policy, "built in", workload, *found, "")
        for how, made in (("plain Python", kind()), ("compiled", compiled(type(name, (kind,), {}))())):
            own, *found = best_of(workload, made, times)
            yield row(policy, how, workload, *found, f"{100 * (own == starts).mean():.1f} %")


def row(
    policy: str, how: str, workload: Workload, compiling: float, spent: float, equal: str
) -> tuple[str, ...]:
    """One of the table."""
    jobs = len(workload.table)
    compile_s = f"{compiling:.2f}" if how == "compiled" else ""
    return policy, how, f"{jobs:,}", compile_s, f"{spent:.3f}", f"{jobs / spent:,.0f}", equal


def best_of(workload: Workload, policy: Any, times: int) -> tuple[Any, float, float]:
    """Return the starts, the processor time before the first pass (compilation), and that of the run."""
    system, least = System.homogeneous(KTH_NODES), float("inf")
    begun = process_time()
    Simulation(system, workload, policy).prepare()
    compiling = process_time() - begun
    for _ in range(times):
        simulation = Simulation(system, workload, policy)
        simulation.prepare()
        begun = process_time()
        result = simulation.run()
        least = min(least, process_time() - begun)
    return result.components["start_time"].to_numpy(), compiling, least
