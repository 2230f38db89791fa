"""Recorded and simulated waits of the same components, how far they are apart, and who started first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.errors import InputError
from scheduler_sim.result.columns import NEVER, RECORDED
from scheduler_sim.units import DAY

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

WITHIN = {"1 min": 60, "10 min": 600, "1 h": 3600}
"""Differences of starts of which the share of components is told, s."""

NO_RECORD = "without a recorded start"
NO_START = "that never started in the simulation"


@dataclass(frozen=True)
class Waits:
    """The waits of components that started in the record and in the simulation.

    Attributes
    ----------
    rows : int64[n], their rows in the components of the result
    submit : int64[n], s on the trace's clock
    recorded, simulated : int64[n], start − submit, s
    left_out : how many components are not compared, by why
    """

    rows: Ints
    submit: Ints
    recorded: Ints
    simulated: Ints
    left_out: Mapping[str, int]

    @property
    def difference(self) -> Ints:
        """Simulated − recorded, s: what starts later than recorded is positive."""
        return self.simulated - self.recorded

    def of(self, which: Bools) -> Waits:
        """Return those of some."""
        columns = (self.rows[which], self.submit[which], self.recorded[which], self.simulated[which])
        return Waits(*columns, self.left_out)


@dataclass(frozen=True)
class Distance:
    """How far simulated waits are from recorded ones; NaN where nothing is compared.

    Attributes
    ----------
    components : how many are compared
    mean_absolute, median_absolute : of the differences, s
    mean : mean simulated − mean recorded wait, s
    by_day : the same of those submitted on one day, absolute, on average over components, s: differences
        of single starts that go either way nearly cancel in it
    """

    components: int
    mean_absolute: float
    median_absolute: float
    mean: float
    by_day: float

    @classmethod
    def of(cls, waits: Waits) -> Distance:
        """Measure it."""
        apart = waits.difference
        if not len(apart):
            return cls(0, np.nan, np.nan, np.nan, np.nan)
        absolute = np.abs(apart)
        _, day = np.unique(waits.submit // DAY, return_inverse=True)
        by_day = np.abs(np.bincount(day, weights=apart)).sum() / len(apart)
        means = float(absolute.mean()), float(np.median(absolute)), float(apart.mean())
        return cls(len(apart), *means, float(by_day))


def can_be_compared(result: Result) -> bool:
    """Tell whether any component started in the record and in the simulation."""
    if not result.further.recorded:
        return False
    recorded, start = (result.components[name].to_numpy() for name in (RECORDED[0].name, "start_time"))
    return bool(((recorded != NEVER) & (start != NEVER)).any())


def waits_of(result: Result) -> Waits:
    """Return recorded and simulated waits, in trace order.

    Raises
    ------
    InputError : the trace records no starts, or none of a component that started in the simulation.
    """
    if not result.further.recorded:
        raise InputError(
            "no component of this result has a recorded start; allowed: the result of a trace that has waits"
            " or starts (SWF field 3, MWF field 10, sacct's Start), run by this version"
        )
    table = result.components
    recorded, start, submit = (
        table[name].to_numpy() for name in (RECORDED[0].name, "start_time", "submit_time")
    )
    known, ran = recorded != NEVER, start != NEVER
    left_out = {NO_RECORD: int((~known).sum()), NO_START: int((known & ~ran).sum())}
    rows = np.flatnonzero(known & ran)
    if not len(rows):
        raise InputError("no component with a recorded start started in this result, so nothing is compared")
    return Waits(
        rows,
        submit[rows],
        recorded[rows],
        start[rows] - submit[rows],
        {why: number for why, number in left_out.items() if number},
    )


def within(waits: Waits) -> dict[str, float]:
    """Return the share of components whose start is at most so far from the recorded one, by ``WITHIN``."""
    absolute = np.abs(waits.difference)
    return {name: float((absolute <= limit).mean()) for name, limit in WITHIN.items()}


@dataclass(frozen=True)
class Order:
    """Rank correlations, 1 = the same order, 0 = none; NaN where one side has no order.

    Attributes
    ----------
    kendall, spearman : of the starts: Kendall's τ-b and Spearman's ρ
    waits : of the waits, Spearman's ρ, in which the order of submission does not count
    """

    kendall: float
    spearman: float
    waits: float

    @classmethod
    def of(cls, waits: Waits) -> Order:
        """Correlate starts and waits."""
        from scipy.stats import kendalltau, spearmanr

        def ranked(correlation: object, one: Ints, other: Ints) -> float:
            if len(one) < 2 or (one == one[0]).all() or (other == other[0]).all():
                return np.nan
            return float(correlation(one, other).statistic)  # type: ignore[operator]

        starts = waits.submit + waits.recorded, waits.submit + waits.simulated
        return cls(
            ranked(kendalltau, *starts),
            ranked(spearmanr, *starts),
            ranked(spearmanr, waits.recorded, waits.simulated),
        )


def spread(values: Ints) -> dict[str, float]:
    """Return mean, median and 90th percentile of waits, s."""
    return {
        "mean": float(values.mean()),
        "median": float(np.median(values)),
        "p90": float(np.quantile(values, 0.9)),
    }


def by_class(waits: Waits, classes: pd.Categorical) -> pd.DataFrame:
    """Compare the waits of each class; classes without components are left out.

    Returns
    -------
    One row a class, in the order of the classes: ``components``, ``recorded`` and ``simulated`` (mean waits,
    s), ``difference`` of these, and ``absolute``, the mean absolute difference, s.
    """
    difference = waits.difference
    table = pd.DataFrame(
        {
            "recorded": waits.recorded,
            "simulated": waits.simulated,
            "difference": difference,
            "absolute": np.abs(difference),
        }
    )
    groups = table.groupby(pd.Series(classes), observed=True)
    counts: pd.Series = groups.size()
    return pd.concat([counts.rename("components"), groups.mean()], axis=1)
