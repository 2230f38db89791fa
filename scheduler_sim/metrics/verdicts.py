"""What a comparison found, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_sim.metrics.blocks import LARGEST
from scheduler_sim.metrics.metric import Metric
from scheduler_sim.metrics.names import named

SMALL_PERCENT = 10.0
"""An interval within this of no change says that there is no difference worth the name."""

MINIMUM_PAIRS = 5
"""With fewer, no verdict is given."""


def verdict(
    row: Mapping[Any, Any], significant: bool, least_pairs: int = MINIMUM_PAIRS, family: int = 1
) -> str:
    """Say in a sentence what a row of a comparison found.

    A difference is named if the interval, that of this comparison alone, leaves out 0; it says
    so if the correction for many comparisons takes it back.

    Parameters
    ----------
    row : the columns of ``comparison.compare`` but the verdict.
    significant : whether the corrected p is at most 1 − confidence.
    least_pairs : with fewer pairs the verdict is that there are too few.
    family : comparisons that the correction is for.
    """
    pairs = int(row["pairs"])
    if pairs == 0:
        return "nothing to compare: no pair has a value"
    if pairs < least_pairs:
        return f"too few replicates: {pairs}, {least_pairs} are needed"
    if row["difference_low"] == row["difference_high"] == 0:
        return f"no difference: all {pairs} pairs are equal"
    metric = named(row["metric"]).metric
    unit, name = "%", "change"
    if np.isnan(row["change_low"]):  # nothing to divide by
        unit, name = metric.unit, "difference"
    change, low, high = (float(row[key]) for key in (name, f"{name}_low", f"{name}_high"))
    confidence = f"{100 * float(row['confidence']):g} %"
    if low <= 0 <= high:
        if unit == "%" and max(-low, high) > SMALL_PERCENT:
            if row.get("autocorrelation", 0.0) >= LARGEST:
                return "undecided: the blocks depend too much on each other"
            less, more = _directions(metric)
            ends = f"between {_amounts(-low, unit=unit)} {less} and {_amounts(high, unit=unit)} {more}"
            return f"undecided: {ends} ({confidence})"
        return f"no difference found: within {_amounts(max(-low, high), unit=unit)}"
    direction = _directions(metric)[change > 0]
    near, far = sorted((abs(low), abs(high)))
    by, ends = _amounts(abs(change), unit=unit), _amounts(near, far, unit=unit)
    if significant:
        return f"{direction} by {by} ({confidence}: {ends})"
    return f"not certain among {family} comparisons: {direction} by {by} ({confidence} for this one: {ends})"


def _directions(metric: Metric) -> tuple[str, str]:
    return ("shorter", "longer") if metric.is_span else ("lower", "higher")


def _amounts(*values: float, unit: str) -> str:
    """Write one number, or two and ``to``, with two digits or all those before the point, never a false 0."""
    largest = max(values)
    decimals = 0 if largest >= 10 or largest == 0 else min(6, 1 - int(np.floor(np.log10(largest))))
    while decimals < 6 and any(0 < value < 0.5 * 10**-decimals for value in values):
        decimals += 1
    return f"{' to '.join(f'{value:.{decimals}f}' for value in values)} {unit}".rstrip()
