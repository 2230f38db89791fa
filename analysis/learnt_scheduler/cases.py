"""On what is trained, and on what is compared."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from scheduler_sim import System
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
    return gymnasium.make(ENVIRONMENT, system=system, jobs=None, reserve=True, **given)


def log_slowdown(jobs: Jobs, since: int, now: int) -> float:
    """By how much the mean logarithm of the bounded slowdowns became more, negative.

    A few short jobs that wait for long make most of the mean of these: their logarithms are easier to learn
    from.
    """
    return float((np.log(jobs.slowdowns(since)) - np.log(jobs.slowdowns(now))).mean())
