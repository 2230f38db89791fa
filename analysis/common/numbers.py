"""Means over seeds with their intervals, changes between scenarios, and how both are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scheduler_sim.metrics.comparison import compare
from scheduler_sim.metrics.intervals import CONFIDENCE, Interval, difference_interval, t_half_width

REPLICATE = "seed"
MOST_DIGITS = 5


def mean(runs: pd.DataFrame, measure: str) -> Interval:
    """Mean of a measure over seeds, with Student's 95 % interval."""
    values = runs[measure].dropna().to_numpy(dtype=float)
    middle, half = float(values.mean()), t_half_width(values)
    return Interval(middle, middle - half, middle + half)


def means(runs: pd.DataFrame, by: str, levels: Sequence[str], measure: str) -> list[Interval]:
    """Mean of a measure for each level of a factor."""
    return [mean(runs[runs[by] == level], measure) for level in levels]


def change(
    runs: pd.DataFrame, measure: str, level: str, baseline: str, by: str = "scenario"
) -> dict[Any, Any]:
    """Compare two scenarios seed by seed: the row of ``scheduler_sim.metrics.comparison.compare``."""
    both = runs[runs[by].isin((level, baseline))]
    table = compare(both, measure, by, baseline, replicate=REPLICATE, confidence=CONFIDENCE)
    return table.to_dict("records")[0]


def difference(runs: pd.DataFrame, measure: str, level: str, baseline: str, by: str) -> Interval:
    """Mean by which a measure is more at one level of a factor than at another, paired by seed."""
    one, other = (runs[runs[by] == name].set_index(REPLICATE)[measure] for name in (level, baseline))
    pairs = pd.concat([one, other], axis=1).dropna().to_numpy(dtype=float)
    return difference_interval(pairs[:, 0], pairs[:, 1], CONFIDENCE)


def number(value: float) -> str:
    """Write a number with three digits, never as an exponent: ``1,234``, ``12.3``, ``0.94``, ``0.071``."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 3}f}"


def with_interval(found: Interval, unit: str = "") -> str:
    """Write a mean and its interval: ``12.6 h (11.9 to 13.2)``, with enough digits to tell them apart.

    The interval is left out where it has no width, and of a single seed.
    """
    if not found.low < found.high:
        return f"{number(found.value)}{unit}"
    digits = len(number(found.value).partition(".")[2])
    while digits < MOST_DIGITS and round(found.low, digits) == round(found.high, digits):
        digits += 1
    value, low, high = (f"{part:,.{digits}f}" for part in found)
    return f"{value}{unit} ({low} to {high})"


def in_percent(row: dict[Any, Any]) -> str:
    """Write a change: ``+49 % (+42 to +56)``; digits as the interval is wide."""
    low, high = row["change_low"], row["change_high"]
    digits = 0 if not high - low < 4 else 1
    ends = f" ({_signed(low, digits)} to {_signed(high, digits)})" if low == low else ""
    return f"{_signed(row['change'], digits)} %{ends}"


def in_units(found: Interval, unit: str = "") -> str:
    """Write a difference: ``+2.6 h (+2.1 to +3.1)``; digits as the interval is wide."""
    if not found.low < found.high:
        return f"{'+' * (found.value > 0)}{number(found.value)}{unit}".replace("-", "−")
    digits = 0
    while digits < MOST_DIGITS and found.high - found.low < 4 / 10**digits:
        digits += 1
    value, low, high = (f"{part:+,.{digits}f}".replace("-", "−") for part in found)
    return f"{value}{unit} ({low} to {high})"


def _signed(value: float, digits: int) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")
