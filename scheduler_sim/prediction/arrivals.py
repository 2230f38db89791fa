"""Who comes later: pieces of history, each some whole weeks or days older than what it stands for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.prediction.history import History
from scheduler_sim.units import DAY

WEEK = 7 * DAY
PIECE = DAY
"""Length of a piece: what is in it came together once."""

WEEKS = 8
"""How many weeks back a piece may be from, counted from the youngest that is over."""


@dataclass(frozen=True)
class Arrivals:
    """Which jobs of the history may come after an instant, up to a horizon (s).

    ``submit`` says when each was submitted, ascending.
    """

    submit: Ints
    at: int
    horizon: int

    @property
    def over(self) -> int:
        """Until when history is known, s."""
        return min(self.at, int(self.submit[-1]) + 1)

    def draw(self, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Return rows of the history, and when these come: int64[jobs] both, pieces of a day."""
        rows, times = [], []
        for begin in range(self.at + 1, self.horizon, PIECE):
            end = min(begin + PIECE, self.horizon)
            back = self._back(begin, end, random)
            which = np.arange(*np.searchsorted(self.submit, (begin - back, end - back)))
            rows.append(which)
            times.append(self.submit[which] + back)
        nothing = np.zeros(0, dtype=np.int64)
        return np.concatenate([nothing, *rows]), np.concatenate([nothing, *times])

    def _back(self, begin: int, end: int, random: np.random.Generator) -> int:
        """Return how much older the piece of history is, s: at least so much that it is over.

        Whole weeks, so that it is of the same day of the week; days where less than ``WEEKS`` are known, as
        one or two pieces would stand for all that may come.
        """
        first = int(self.submit[0])
        step, age = WEEK if self.over - first >= WEEKS * WEEK else DAY, begin - first
        least = -(-(end - self.over) // step)
        known = max(age // step, least)
        return step * int(random.integers(least, min(known, least + WEEKS * (WEEK // step) - 1) + 1))


def drawn_from(history: History, at: int) -> History:
    """Return the part of a history that pieces may be from."""
    oldest = Arrivals(history.submit, at, at).over - (WEEKS + 1) * WEEK
    return history.rows(np.flatnonzero(history.submit >= oldest))
