"""Short words for the tests of actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_sim import Policy, Result, Simulation, System, Workload

COLUMNS = ("submit_time", "nodes", "run_time", "time_limit")

TEXTBOOK = {
    "fcfs": Policy.resolve("fcfs"),
    "first_fit": Policy(backfill="first_fit"),
    "easy": Policy.resolve("easy"),
    "static": Policy(backfill="easy", shadow="static"),
    "depth": Policy(backfill="easy", depth=2),
    "scratch": Policy.resolve("conservative"),
    "keep": Policy(backfill="conservative", replan="keep"),
    "sjf": Policy.resolve("sjf"),
    "wfp3": Policy(order="wfp3", backfill="easy"),
    "event": Policy(backfill="easy", passes="event", candidate_time="run"),
}
"""Every policy but Slurm's: each scheme, orders, and dialects."""


def trace(*jobs: tuple[int, ...], **columns: Any) -> Workload:
    """Jobs as (submit, nodes, run time[, limit]); the limit is the run time where it is left out."""
    full = [(*job, max(job[2], 1))[:4] for job in jobs]
    return Workload.from_columns(
        **{name: [job[i] for job in full] for i, name in enumerate(COLUMNS)}, **columns
    )


def simulation(nodes: int, *jobs: tuple[int, ...], policy: Any = "easy", **more: Any) -> Simulation:
    """A plain cluster, its module called ``cluster``."""
    return Simulation(System.homogeneous(nodes), trace(*jobs), policy, **more)


def at(sim: Simulation, time: int, action: Callable[[], object], *, awaited: bool = True) -> None:
    """Do something at an instant, from a process that ``run`` waits for or not."""

    def process() -> Any:
        yield sim.env.timeout(time - sim.env.now)
        action()

    (sim.process if awaited else sim.env.process)(process())


def fates(result: Result) -> dict[int, tuple[int, int, str]]:
    """Component id -> start, end, state."""
    result.check()
    table = result.components[["component_id", "start_time", "end_time", "state"]]
    return {row[0]: row[1:] for row in table.itertuples(index=False, name=None)}


def steps(result: Result, column: str, module: str = "cluster") -> list[tuple[int, int]]:
    """(time, value) of a column of the timeline, at each change of it."""
    table = result.timeline[result.timeline["module"] == module]
    found: list[tuple[int, int]] = []
    for time, value in zip(table["time"], table[column], strict=True):
        if not found or found[-1][1] != value:
            found.append((int(time), int(value)))
    return found


DONE, FAILED, GONE, NEVER = "COMPLETED", "FAILED", "CANCELLED", "PENDING"
