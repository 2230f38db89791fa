"""Tiny cases, one a concept, and what the simulator makes of them. Times are minutes."""

from __future__ import annotations

import runpy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scheduler_sim import Simulation, System, Workload

MINUTE = 60
CLASSIC = Path(__file__).parents[2] / "configs" / "schedulers" / "classic.py"


@dataclass
class Pass:
    """What one pass saw and did.

    Attributes
    ----------
    now : minute of the pass
    queue : jobs that waited as it began, in order
    running : planned end of each job that runs as it ends, minutes
    reserved : start of each job that waits with a reservation, minutes
    """

    now: float
    queue: list[str]
    running: dict[str, float] = field(default_factory=dict)
    reserved: dict[str, float] = field(default_factory=dict)


class Watched:
    """A scheduler that passes on what it is asked, and writes down each pass."""

    def __init__(self, scheduler: Any) -> None:
        self.scheduler = scheduler
        self.passes: list[Pass] = []

    def schedule(self, view: Any) -> None:
        """Let the scheduler make its pass, and look at what came of it."""
        seen = Pass(view.now / MINUTE, [job["name"] for job in view.queue])
        self.scheduler.schedule(_Reserving(view, seen.reserved))
        seen.running = {job["name"]: job.planned_end / MINUTE for job in view.running}
        seen.reserved = {name: at for name, at in seen.reserved.items() if name not in seen.running}
        self.passes.append(seen)


class _Reserving:
    """A view that writes down what is reserved."""

    def __init__(self, view: Any, reserved: dict[str, float]) -> None:
        self._view, self._reserved = view, reserved

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def reserve(self, job: Any) -> int:
        at: int = self._view.reserve(job)
        self._reserved[job["name"]] = at / MINUTE
        return at


def watched(system: System, jobs: Workload, scheduler: str, minute: float) -> Pass:
    """Return the last pass at a minute under a scheduler of ``configs/schedulers/classic.py``."""
    simulation = Simulation(system, jobs, Watched(runpy.run_path(str(CLASSIC))[scheduler]()))
    simulation.run()
    return [seen for seen in simulation.scheduler.passes if seen.now == minute][-1]


def workload(names: str, **columns: Any) -> Workload:
    """Return jobs with names, from columns in minutes and nodes."""
    for name in ("submit_time", "run_time", "time_limit", "delay"):
        if name in columns:
            columns[name] = [-1 if value < 0 else value * MINUTE for value in columns[name]]
    columns.setdefault("time_limit", columns["run_time"])
    return Workload.from_columns(name=names.split(), **columns)


ONE_PASS = (
    System.homogeneous(4),
    workload(
        "A B C D E",
        nodes=[2, 2, 2, 1, 1],
        submit_time=[0, 0, 2, 3, 4],
        run_time=[6, 10, 5, 4, 3],
        time_limit=[8, 11, 6, 4, 3],
    ),
)
"""A ends before its limit: that brings a pass at minute 6."""

BACKFILL = (
    System.homogeneous(8),
    workload(
        "A B C D E F G",
        nodes=[3, 1, 6, 2, 7, 1, 1],
        submit_time=[0, 0, 1, 2, 2, 2, 2],
        run_time=[6, 16, 5, 4, 4, 14, 8],
    ),
)
"""The same jobs under fcfs, easy and conservative. C is the first that has to wait, until minute 6."""

TWO_MODULES = System.from_dict({"modules": [{"name": "CM", "nodes": 4}, {"name": "ESB", "nodes": 4}]})

HETEROGENEOUS = (
    TWO_MODULES,
    workload(
        "A B C C D",
        nodes=[3, 2, 2, 3, 2],
        submit_time=[0, 0, 1, 1, 2],
        run_time=[4, 8, 6, 6, 3],
        modular_job_id=[1, 2, 3, 3, 4],
        partition=["CM", "ESB", "CM", "ESB", "CM"],
    ),
)
"""C has a component on either module."""

DELAYED = (
    TWO_MODULES,
    workload(
        "A C C B D E",
        nodes=[2, 2, 3, 2, 2, 2],
        submit_time=[0, 1, 1, 2, 4, 5],
        run_time=[10, 6, 5, 7, 5, 7],
        modular_job_id=[1, 2, 2, 3, 4, 5],
        partition=["ESB", "CM", "ESB", "CM", "ESB", "ESB"],
        delay=[-1, -1, 7, -1, -1, -1],
    ),
)
"""The second component of C starts 7 minutes after the first, so C itself starts at minute 3."""

CALLING = (
    System.homogeneous(5),
    workload(
        "A B C D E",
        nodes=[2, 2, 2, 1, 3],
        submit_time=[0, 0, 0, 1, 8],
        run_time=[12, 5, 8, 6, 4],
        dependency_ids=["", "", "1", "", ""],
        dependency_kinds=["", "", "AFTEROK", "", ""],
        api_calls=[f"WF_API:{7 * MINUTE}", "", "", "", ""],
    ),
)
"""C needs what A writes. A calls at minute 7: its data are there."""

CORES = 4
SHARED = (
    System.from_dict({"modules": [{"name": "shared", "nodes": 2, "cores_per_node": CORES, "shared": True}]}),
    workload(
        "A B C D",
        nodes=[1, 1, 1, 1],
        cores=[2, 3, 3, 1],
        submit_time=[0, 0, 2, 3],
        run_time=[10, 16, 6, 7],
    ),
)
"""Two nodes of four cores. C finds three free cores, but not on one node."""
