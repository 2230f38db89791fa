"""What a step is worth: rewards whose sum over an episode is a metric of its schedule."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.units import HOUR

SHORTEST = 10
"""Jobs that run for less count as if they ran for so long (s), as in the metric."""


class Jobs(NamedTuple):
    """The jobs of an episode that can run, in order of submission, as they are now.

    Attributes
    ----------
    submit, start : int64[n], s on the trace's clock; start −1 = not started
    nodes, limit : int64[n], nodes and s
    run : int64[n], how long they run, s, at most the limit; a scheduler does not know it
    machine : nodes of the system
    """

    submit: Ints
    start: Ints
    nodes: Ints
    limit: Ints
    run: Ints
    machine: int

    def waited(self, now: int) -> Ints:
        """int64[n], s that each has waited at a time, 0 before it comes."""
        until = np.where((self.start >= 0) & (self.start < now), self.start, now)
        waited: Ints = np.maximum(until - self.submit, 0)
        return waited

    def slowdowns(self, now: int) -> Floats:
        """float64[n], bounded slowdown of each if it started at this time, or when it did."""
        response = self.waited(now) + self.run
        slowdowns: Floats = np.maximum(1.0, response / np.maximum(self.run, SHORTEST))
        return slowdowns


Reward = Callable[[Jobs, int, int], float]
"""Of what happened from one time to another (s on the trace's clock)."""


def bounded_slowdown(jobs: Jobs, since: int, now: int) -> float:
    """By how much the mean bounded slowdown became more, negative: the sum is 1 − mean bounded slowdown."""
    return float((jobs.slowdowns(since) - jobs.slowdowns(now)).mean())


def wait(jobs: Jobs, since: int, now: int) -> float:
    """By how much the mean wait became more, h, negative: the sum is −mean wait."""
    return float((jobs.waited(since) - jobs.waited(now)).mean()) / HOUR


def utilization(jobs: Jobs, since: int, now: int) -> float:
    """Idle node-seconds over those that the jobs need, negative: the sum is 1 − 1 / utilization."""
    started = jobs.start >= 0
    begin, end = jobs.start[started], jobs.start[started] + jobs.run[started]
    overlap = np.maximum(np.minimum(end, now) - np.maximum(begin, since), 0)
    busy = int((jobs.nodes[started] * overlap).sum())
    return (busy - jobs.machine * (now - since)) / max(int((jobs.nodes * jobs.run).sum()), 1)


REWARDS: dict[str, Reward] = {
    "bounded_slowdown": bounded_slowdown,
    "wait": wait,
    "utilization": utilization,
}


def reward_of(given: str | Reward) -> Reward:
    """Return the reward that is meant, by its name or itself. Raises InputError for an unknown name."""
    if callable(given):
        return given
    if given not in REWARDS:
        hint = did_you_mean(str(given), list(REWARDS))
        raise InputError(f"reward: found {given!r}; allowed: {', '.join(REWARDS)}, or a function{hint}")
    return REWARDS[given]
