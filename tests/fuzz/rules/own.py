"""The user's own code in a case, by name."""

from __future__ import annotations

from typing import Any

import numpy as np


def veto(nodes: int, now: int) -> bool:
    return nodes < 2 or now % 40 < 20


def rank(nodes: int, limit: int) -> int:
    return nodes * limit


class Easy:
    """Starts what fits, reserves for the first that does not, and lets others pass that end before it."""

    def schedule(self, view: Any) -> None:
        blocked = set()
        for job in list(view.queue):
            if job.module not in blocked:
                if not view.start(job):
                    blocked.add(job.module)
                    view.reserve(job)
            elif view.fits(job) and view.earliest_start(job) == view.now:
                view.start(job)


class Random:
    """Starts what fits in any order, reserves at times, and wakes up."""

    def __init__(self) -> None:
        self.draw = np.random.default_rng(5)

    def schedule(self, view: Any) -> None:
        queue = list(view.queue)
        self.draw.shuffle(queue)
        for job in queue:
            if view.fits(job):
                view.start(job)
            elif self.draw.random() < 0.3:
                view.reserve(job)
                view.wake_at(view.now + 7)


class Holding:
    """Holds a job now and then, for a while; never at a second at which it releases jobs."""

    def __init__(self) -> None:
        self.held: list[Any] = []

    def schedule(self, view: Any) -> None:
        for job in list(self.held):
            if view.now % 3 == 0:
                view.release(job)
                self.held.remove(job)
        for job in list(view.queue):
            if job.id % 4 == 0 and view.now % 5 == 0 and view.now % 3 > 0:
                view.hold(job)
                self.held.append(job)
                view.wake_at(view.now + 3)
            elif view.fits(job):
                view.start(job)


OF_POLICY: dict[str, dict[str, Any]] = {
    "scheduler": {"easy": Easy, "random": Random, "holding": Holding},
    "may_start": {"veto": lambda: veto},
    "placement": {"rank": lambda: rank},
}
"""Keys of a policy whose value may be the name of own code, and what makes it."""
