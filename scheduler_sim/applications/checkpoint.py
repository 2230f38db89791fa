"""Checkpoints of a type of application: how often it writes them, and what that takes."""

from __future__ import annotations

from math import sqrt
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.value import Check, Span, duration

YOUNG, DALY = "young", "daly"
LAWS = (YOUNG, DALY)


def _interval(written: Any) -> int | str:
    if isinstance(written, str) and written.strip().lower() in LAWS:
        return written.strip().lower()
    if (seconds := duration(written)) is None:
        raise ValueError
    return seconds


Interval = Annotated[
    int | str,
    BeforeValidator(Check("daly, young, seconds (an integer >= 1), or 30m, 24h, 12:00:00", _interval, LAWS)),
]


class CheckpointKeys(Keys):
    """How jobs of a type write checkpoints."""

    interval: Interval = Field(
        default=DALY,
        description="time of work between two checkpoints: a time, or the best interval for the"
        " failure rate of the nodes, by the formula of Daly or of Young",
    )
    cost: Span = Field(description="time to write a checkpoint")
    restart: Span | None = Field(
        default=None, description="time to restart from a checkpoint; by default as long as writing one"
    )

    @property
    def restart_s(self) -> int:
        """How long it takes to go on from one, s."""
        return self.cost if self.restart is None else self.restart

    def interval_s(self, rate: float) -> int:
        """Return how long a job works from one to the next, s, at least 1, where failures have a rate (1/s).

        0: it writes none, as it need not.
        """
        if not isinstance(self.interval, str):
            return self.interval
        if rate == 0:
            return 0
        best = young if self.interval == YOUNG else daly
        return max(round(best(self.cost, 1 / rate)), 1)


def young(cost: float, mtbf: float) -> float:
    """Return the best interval to first order, √(2·C·M).

    ``cost`` C of a checkpoint and the mean time between failures M of what runs, both in s. J. W. Young,
    "A first order approximation to the optimum checkpoint interval", Communications of the ACM 17(9), 1974.
    """
    return sqrt(2 * cost * mtbf)


def daly(cost: float, mtbf: float) -> float:
    """Return the best interval to higher order, √(2·C·M)·(1 + ⅓·√(C/2M) + ⅑·C/2M) − C, or M where C ≥ 2M.

    ``cost`` C of a checkpoint and the mean time between failures M of what runs, both in s. J. T. Daly, "A
    higher order estimate of the optimum checkpoint interval for restart dumps", Future Generation Computer
    Systems 22(3), 2006, equation 37. It counts work alone, without the checkpoint.
    """
    if cost >= 2 * mtbf:
        return mtbf
    part = cost / (2 * mtbf)
    return sqrt(2 * cost * mtbf) * (1 + sqrt(part) / 3 + part / 9) - cost
