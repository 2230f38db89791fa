"""What D2.3, section 3.3.3, says, and beside each claim what was found here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from analysis.common.numbers import change, number
from analysis.modular_vs_homogeneous.cases import CM, DAM, ESB, LISTED, MOD, PREFERRED, SLURM, STRATEGIES
from scheduler_sim.metrics.intervals import Interval


class Claim(NamedTuple):
    """A measure is so many times as large on one system as on another."""

    measure: str
    more: str
    less: str
    times: float
    says: str


CLAIMS = (
    Claim("wait_h", DAM, ESB, 3.2, "DAM waits 3.2 × ESB"),
    Claim("wait_h", DAM, MOD, 17.8, "modular waits 17.8 × less than DAM"),
    Claim("wait_h", ESB, MOD, 5.4, "modular waits 5.4 × less than ESB"),
    Claim("response_h", DAM, MOD, 2.4, "modular responds 2.4 × faster than DAM"),
    Claim("response_h", ESB, MOD, 2.7, "modular responds 2.7 × faster than ESB"),
)


class Order(NamedTuple):
    """A measure is larger on one system than on another, D2.3 does not say by how much."""

    measure: str
    more: str
    less: str
    says: str


_BENEFIT = "the main benefit comes from accelerated nodes"
_BETTER = "ESB significantly better than DAM"
ORDERS = (
    *(
        Order(measure, CM, less, f"{_BENEFIT}: {what} of CM to {name}")
        for measure, what in (("wait_h", "wait"), ("response_h", "response"))
        for less, name in ((DAM, "DAM"), (ESB, "ESB"), (MOD, "modular"))
    ),
    Order("response_h", DAM, ESB, f"{_BETTER}: response of DAM to ESB"),
    Order("completion_h", DAM, ESB, f"{_BETTER}: completion time of DAM to ESB"),
)

COMPLETION_WITHIN_PERCENT = 10.0
"""Completion times are "comparable" if their ratio is within this, as in ``metrics.verdicts``."""


@dataclass(frozen=True)
class Found:
    """A ratio of means with its interval, the seeds' own ratios, and the claim's.

    ``reproduced``: the claimed ratio is in the interval; ``possible``: it lies between the smallest and
    the largest ratio of a single seed, as D2.3's one workload may; ``ordered``: the interval is on
    the same side of 1 as the claim.
    """

    ratio: Interval
    least: float
    most: float
    claimed: float

    @property
    def reproduced(self) -> bool:
        """Whether the interval of the ratio of means contains the claim."""
        return self.ratio.low <= self.claimed <= self.ratio.high

    @property
    def possible(self) -> bool:
        """Whether a workload like the seeds may have given the claim."""
        return self.least <= self.claimed <= self.most

    @property
    def ordered(self) -> bool:
        """Whether the order of the two systems is the claimed one, for certain."""
        return self.ratio.low > 1 if self.claimed > 1 else self.ratio.high < 1

    def text(self) -> str:
        """Write the ratio with its interval: ``3.9 (3.5 to 4.3)``."""
        return ratio_text(self.ratio)


def find(runs: pd.DataFrame, claim: Claim, strategy: str = PREFERRED) -> Found:
    """Compare two systems seed by seed.

    Parameters
    ----------
    runs : of one part, level and policy, in one reading of ratios below 1.
    strategy : of the modular system.
    """
    seeds = _of(runs, strategy).pivot(index="seed", columns="system", values=claim.measure)
    each = (seeds[claim.more] / seeds[claim.less]).dropna()
    return Found(ratio(runs, claim, strategy), float(each.min()), float(each.max()), claim.times)


def ratio(runs: pd.DataFrame, claim: Claim | Order, strategy: str = PREFERRED) -> Interval:
    """Return the ratio of means of the two systems, paired by seed; parameters as of :func:`find`."""
    row = change(_of(runs, strategy), claim.measure, claim.more, claim.less, by="system")
    return Interval(row["ratio"], row["ratio_low"], row["ratio_high"])


def _of(runs: pd.DataFrame, strategy: str) -> pd.DataFrame:
    return runs[(runs["system"] != MOD) | (runs["strategy"] == strategy)]


def completion(runs: pd.DataFrame, strategy: str = PREFERRED) -> Found:
    """Compare the completion time of the modular system with that of DAM, which is to be the best."""
    return find(runs, Claim("completion_h", MOD, DAM, 1.0, ""), strategy)


def verdict(found: Found) -> str:
    """Say whether a claim is reproduced, and what of it is if not."""
    if found.reproduced:
        return "reproduced"
    if found.ordered and found.possible:
        return "order, and some seeds"
    if found.ordered:
        return "order only"
    if found.possible:
        return "some seeds only"
    return "not reproduced" if found.ratio.low <= 1 <= found.ratio.high else "the reverse"


def order_verdict(found: Interval) -> str:
    """Say whether one system has more than the other, as D2.3 says without a figure."""
    if found.low > 1:
        return "so"
    return "the reverse" if found.high < 1 else "open"


def strategies(policy: str) -> tuple[str, ...]:
    """Return the strategies of the modular system that a policy was run with."""
    return (PREFERRED, LISTED) if policy in SLURM else STRATEGIES


def ratio_text(ratio: Interval) -> str:
    """Write a ratio and its interval with three digits."""
    return f"{number(ratio.value)} ({number(ratio.low)} to {number(ratio.high)})"
