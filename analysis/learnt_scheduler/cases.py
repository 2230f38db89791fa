"""On what is trained, and on what is compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler_sim import System, Workload, generate, read_trace
from scheduler_sim.errors import InputError

if TYPE_CHECKING:
    import gymnasium

    from scheduler_sim.gym.rewards import Jobs

NODES, JOBS = 128, 512
RECIPE: dict[str, Any] = {
    "modules": [{"name": "cluster", "nodes": NODES, "jobs": JOBS}],
    "model": {
        "arrivals": {
            "site": "ctc",
            "process": "poisson",
            "weekly": [6, 6, 6, 6, 5, 2, 2],
            "offered_load": 1.0,
        },
        "sizes": {"power_of_two": 0.5},
    },
}
"""Traces that the environment makes anew, episode by episode."""

ENVIRONMENT = "scheduler_sim.gym:scheduler_sim/Queue-v0"


def training() -> gymnasium.Env:
    """Return the environment of the training: an episode is a trace of its own."""
    return environment(System.homogeneous(NODES), recipe=RECIPE, reward=log_slowdown)


def environment(system: System, **given: Any) -> gymnasium.Env:
    """Return the environment of all agents: who starts, and for whom nodes are reserved, pass by pass."""
    import gymnasium

    return gymnasium.make(ENVIRONMENT, system=system, jobs=None, reserve=True, **given)


def log_slowdown(jobs: Jobs, since: int, now: int) -> float:
    """By how much the mean logarithm of the bounded slowdowns became more, negative.

    A few short jobs that wait for long make most of the mean of these: their logarithms are easier to learn
    from.
    """
    return float((np.log(jobs.slowdowns(since)) - np.log(jobs.slowdowns(now))).mean())


SEEN = 256
"""So many jobs of the queue agents see in the comparison: each is scored by itself, so it may be more."""
SEEDS = 28
"""Traces of each kind; those that are generated have seeds that no training drew."""
FIRST_SEED = 1_000_000
WINDOW = 1000
"""Jobs of a window of a recorded trace; the windows follow each other, at most ``SEEDS`` of them."""

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "traces"
"""Where recorded traces are looked for: they are not part of this project."""
RECORDED = {
    "KTH-SP2": ("KTH-SP2-1996-2.1-cln.swf.gz", 100),
    "Theta 2022": ("theta_2022.swf.gz", 4392),
}
"""File and nodes of each."""
GENERATED = "generated traces"
TRACES = (GENERATED, *RECORDED)

PLAIN = {"EASY": "fifo", "SJF": "sjf", "F1": "f1"}
"""Orders of the queue, each with EASY backfill."""


class Recorded:
    """The recorded traces.

    Raises InputError where one is not in the folder.
    """

    def __init__(self, folder: Path) -> None:
        missing = [name for name, _ in RECORDED.values() if not (folder / name).is_file()]
        if missing:
            raise InputError(f"{folder}: no {missing[0]}; allowed: --data FOLDER")
        self._traces = {name: read_trace(folder / file) for name, (file, _) in RECORDED.items()}

    def case(self, trace: str, seed: int) -> tuple[System, Workload] | None:
        """Return the system and the jobs of a trace for a seed, from 1 on; None where there are no more."""
        if trace == GENERATED:
            return System.homogeneous(NODES), generate(RECIPE, seed=FIRST_SEED + seed)
        jobs = self._traces[trace]
        if seed * WINDOW > len(jobs):
            return None
        rows = np.arange((seed - 1) * WINDOW, seed * WINDOW)
        return System.homogeneous(RECORDED[trace][1]), jobs.select(rows)
