"""What the scheduler had promised at one instant, recomputed from limits and planned ends."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.report.module_view import NEVER, ModuleView


@dataclass(frozen=True)
class Shadow:
    """The reservation of a front under EASY.

    Attributes
    ----------
    time : seconds, when planned ends free enough nodes for it; ``NEVER`` if they do not
    extra : nodes left over then
    fits_now : enough nodes are idle already, so something else than nodes holds the front
    """

    time: int
    extra: int
    fits_now: bool = False


def shadow_of(view: ModuleView, nodes: int, running: Ints, idle: int, moment: int) -> Shadow:
    """Return the shadow time and extra nodes of a front that asks for ``nodes`` at ``moment``."""
    if idle >= nodes:
        return Shadow(moment, idle - nodes, fits_now=True)
    ends = view.planned_end(running, moment)
    by_end = np.argsort(ends, kind="stable")
    free = idle + np.cumsum(view.nodes[running][by_end])
    enough = np.flatnonzero(free >= nodes)
    if not len(enough):
        return Shadow(NEVER, 0)
    time = int(ends[by_end][enough[0]])
    freed = int(view.nodes[running][ends <= time].sum())
    return Shadow(time, idle + freed - nodes)


class Plan:
    """Free nodes of one module from now on, as steps; reservations are taken out of it."""

    def __init__(self, now: int, idle: int, ends: Ints, nodes: Ints) -> None:
        times, where = np.unique(ends, return_inverse=True)
        freed = np.bincount(where, weights=nodes, minlength=len(times)).astype(np.int64)
        self.times = [now, *times.tolist()]
        self.free = [idle, *(idle + np.cumsum(freed)).tolist()]

    def earliest(self, nodes: int, span: int) -> int:
        """Return the earliest start of ``nodes`` for ``span`` seconds, or ``NEVER``."""
        start = -1
        for time, free in zip(self.times, self.free, strict=True):
            if start >= 0 and time >= start + span:
                return start
            if free < nodes:
                start = -1
            elif start < 0:
                start = time
        return start if start >= 0 else NEVER

    def take(self, nodes: int, start: int, end: int) -> None:
        """Take nodes out from ``start`` to ``end``."""
        first, last = self._step(start), self._step(end)
        for step in range(first, last):
            self.free[step] -= nodes

    def lack(self, nodes: int, end: int) -> tuple[int, int] | None:
        """Return the first time before ``end`` with fewer than ``nodes`` free, and how many are."""
        for time, free in zip(self.times, self.free, strict=True):
            if time < end and free < nodes:
                return time, free
        return None

    def _step(self, time: int) -> int:
        step = bisect_right(self.times, time) - 1
        if self.times[step] != time:
            step += 1
            self.times.insert(step, time)
            self.free.insert(step, self.free[step - 1])
        return step
