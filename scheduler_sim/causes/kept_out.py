"""The span of time that is kept out: causes are chosen without it, and checked on it."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.metrics.agreement.slices import WEEK
from scheduler_sim.metrics.agreement.waits import Waits
from scheduler_sim.units import DAY

FEWEST = 2
"""Full weeks, or days, that a record must have for the last one to be kept out."""


@dataclass(frozen=True)
class KeptOut:
    """The last full week of the submissions, counted from the first; the last full day of a short record.

    Attributes
    ----------
    name : ``last full week`` or ``last full day``
    begin, end : s on the trace's clock; ``end`` is not part of it
    """

    name: str
    begin: int
    end: int

    @classmethod
    def of(cls, submit: Ints) -> KeptOut | None:
        """Choose it; None for a record shorter than two days."""
        first, last = int(submit.min()), int(submit.max())
        for name, length in (("week", WEEK), ("day", DAY)):
            full = (last - first) // length
            if full >= FEWEST:
                begin = first + (full - 1) * length
                return cls(f"last full {name}", begin, begin + length)
        return None

    def holds(self, waits: Waits) -> Bools:
        """Tell which components were submitted in it, bool[n]."""
        return (waits.submit >= self.begin) & (waits.submit < self.end)
