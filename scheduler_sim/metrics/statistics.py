"""Mean, median, high percentiles and maximum of a sample."""

from __future__ import annotations

from weakref import ReferenceType, ref

import numpy as np
import pandas as pd

from scheduler_sim.result.documents import SPREAD

DECIMALS = 6
PERCENTILES = {"median": 50, "p90": 90, "p99": 99}

Summary = dict[str, float | None]


def summary(values: np.ndarray) -> Summary:
    """Sum up a sample; every value is None if there is nothing to sum up.

    Percentiles are interpolated linearly: percentile p of n sorted values stands at
    position (n − 1)·p/100, between its two neighbours.

    Parameters
    ----------
    values : int64[n] or float64[n]
    """
    count = len(values)
    if count == 0:
        return dict.fromkeys(SPREAD)
    ordered = np.sort(values)  # faster than to partition, even for a few positions
    result: Summary = {"mean": rounded(float(values.sum()) / count)}
    for name, percent in PERCENTILES.items():
        low = (count - 1) * percent // 100
        share = (count - 1) * percent % 100 / 100
        lower, upper = float(ordered[low]), float(ordered[min(low + 1, count - 1)])
        result[name] = rounded(lower + (upper - lower) * share)
    result["max"] = rounded(float(ordered[-1]))
    return result


class Summaries:
    """Summaries of columns; one that is still there, and asked for again, is not summed up again."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[ReferenceType[np.ndarray], Summary]] = {}

    def of(self, values: np.ndarray) -> Summary:
        """Return the summary of a column, as :func:`summary`."""
        known, found = self._of.get(id(values), (None, {}))
        if known is None or known() is not values:  # another column may have had its place in memory
            found = summary(values)
            self._of[id(values)] = ref(values), found
        return dict(found)


def ascend(values: np.ndarray) -> bool:
    """Whether each value is larger than the one before, so that all differ."""
    return bool((values[1:] > values[:-1]).all())


def distinct(values: np.ndarray) -> int:
    """Return how many different values there are, at once where they ascend, as numbers of jobs mostly do."""
    return len(values) if ascend(values) else len(pd.unique(values))


def weighted_mean(values: np.ndarray, weights: np.ndarray) -> float:
    """Σ weight·value / Σ weight; NaN if the weights are 0."""
    weights = weights.astype(np.float64)
    total = float(weights.sum())
    return float((weights * values).sum()) / total if total > 0 else np.nan


def ratio(part: float, whole: float) -> float | None:
    """Divide; None if there is nothing to divide by."""
    return rounded(part / whole) if whole > 0 else None


def rounded(value: float) -> float | None:
    """Round to 1e-6, as every float of a result; None for NaN."""
    return None if np.isnan(value) else round(value, DECIMALS) + 0.0
