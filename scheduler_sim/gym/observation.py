"""What an agent sees of a pass: numbers from 0 to 1 in arrays that are always of the same shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict
from numpy.typing import NDArray

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.schedulers.columns import Columns
from scheduler_sim.system.system import System
from scheduler_sim.units import DAY, HOUR, MINUTE

Seen = dict[str, NDArray[np.float32]]

QUEUE = ("there", "module", "nodes", "limit", "wait", "earliest", "fits", "harmless")
"""The columns of the queue."""

TIME = ("day", "week", "started", "waiting")
"""The columns of the time."""

HORIZONS = (*(m * MINUTE for m in (5, 15, 30)), *(h * HOUR for h in (1, 2, 4, 8, 12)), DAY, 2 * DAY, 4 * DAY)
"""From now, s: for each of them ``running`` says which part of a module is idle by then."""

LONGEST = 30 * DAY
"""So long a time is 1, and what is longer, too; s."""


class Observation:
    """Sees ``window`` jobs of the queue on a system.

    Attributes
    ----------
    rows : int64[k], the jobs in the window, in the order of the queue
    fits : bool[k], which of them could start now
    """

    def __init__(self, system: System, window: int) -> None:
        self._nodes = np.array([module.nodes for module in system.modules], dtype=np.int64)
        self._window = window
        self._shapes: dict[str, tuple[int, ...]] = {
            "queue": (window, len(QUEUE)),
            "running": (len(self._nodes), len(HORIZONS)),
            "free": (len(self._nodes),),
            "time": (len(TIME),),
        }
        self.rows: Ints = np.zeros(0, dtype=np.int64)
        self.fits: Bools = np.zeros(0, dtype=np.bool_)

    def space(self) -> Any:
        """Return the space of what it sees."""
        return Dict({name: Box(0.0, 1.0, shape, np.float32) for name, shape in self._shapes.items()})

    def nothing(self) -> Seen:
        """Return what is seen when the episode is over: zeros."""
        self.rows, self.fits = self.rows[:0], self.fits[:0]
        return {name: np.zeros(shape, dtype=np.float32) for name, shape in self._shapes.items()}

    def move_window(self, columns: Columns) -> Bools:
        """Move the window to the queue as it is now; returns which of the jobs in it fit."""
        self.rows = columns.waiting[: self._window]
        self.fits = columns.fit(self.rows)
        return self.fits

    def look(self, columns: Columns, now: int) -> Seen:
        """Return what is seen of a pass."""
        seen = self.nothing()
        self.move_window(columns)
        rows, submit, start = self.rows, columns.submit, columns.start
        module, nodes, limit = (columns.placed(name, rows) for name in ("module", "nodes", "limit"))
        earliest, harmless = self._plan(columns, now, module, nodes, limit)
        seen["queue"][: len(rows)] = np.stack(
            [
                np.ones(len(rows)),
                module / max(len(self._nodes) - 1, 1),
                np.minimum(nodes / self._nodes[module], 1.0),
                scaled(limit),
                scaled(now - submit[rows]),
                scaled(earliest),
                self.fits,
                harmless,
            ],
            axis=1,
        )
        for number, (has, free) in enumerate(zip(self._nodes, columns.free, strict=True)):
            times, more = columns.planned_ends(number)
            idle = free + np.append(0, np.cumsum(more))
            by = np.searchsorted(times, now + np.array(HORIZONS), side="right")
            seen["running"][number] = np.clip(idle[by] / has, 0, 1)
            seen["free"][number] = free / has
        able = columns.able
        seen["time"][:] = (
            now % DAY / DAY,
            now % (7 * DAY) / (7 * DAY),
            (start[able] >= 0).mean(),
            len(columns.waiting) / able.sum(),
        )
        return seen

    def _plan(
        self, columns: Columns, now: int, module: Ints, nodes: Ints, limit: Ints
    ) -> tuple[Ints, NDArray[np.bool_]]:
        """Of each job: when it could start if it were the next, s from now; whether it would delay the first.

        That is the first in the queue of its module; by nodes and planned ends, as easy has it.
        """
        earliest, harmless = np.zeros_like(nodes), np.ones(len(nodes), dtype=np.bool_)
        for number in range(len(self._nodes)):
            here = np.flatnonzero(module == number)
            if len(here) == 0:
                continue
            times, more = columns.planned_ends(number)
            times = np.append(now, np.maximum(times, now + 1))
            idle = np.maximum.accumulate(columns.free[number] + np.append(0, np.cumsum(more)))
            place = np.searchsorted(idle, nodes[here])
            when = np.append(times, now + LONGEST)[place]
            earliest[here] = when - now
            shadow = when[0]
            left = idle[np.searchsorted(times, shadow, side="right") - 1] - nodes[here[0]]
            harmless[here[1:]] = (now + limit[here[1:]] <= shadow) | (nodes[here[1:]] <= left)
            if shadow == now:  # it can start itself, and goes first
                harmless[here[1:]] = nodes[here[1:]] <= columns.free[number] - nodes[here[0]]
        return earliest, harmless


def scaled(seconds: Ints) -> NDArray[np.float64]:
    """Return times from 0 to 1, by their logarithm: log(1 + s) / log(1 + 30 days)."""
    part: NDArray[np.float64] = np.log1p(np.maximum(seconds, 0)) / np.log1p(LONGEST)
    return np.minimum(part, 1.0)
