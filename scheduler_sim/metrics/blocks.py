"""Replicates from one trace: its time is cut into blocks, and each block is measured by itself.

The method of batch means: A. M. Law, *Simulation Modeling and Analysis*, 5th ed., 2015, section
9.5.3; C. Alexopoulos, A. F. Seila, "Output data analysis", in J. Banks (ed.), *Handbook of
Simulation*, 1998. Blocks follow submissions, so that a block has the same jobs under each policy.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.errors import InputError
from scheduler_sim.metrics.measures import Jobs

NUMBER = 20
FEWEST = 8
"""With fewer blocks there is no interval."""

FEWEST_JOBS = 30
"""Components submitted in each block."""

LARGE = 0.2
"""Autocorrelation above which neighbouring blocks are merged."""

LARGEST = 0.9
"""Autocorrelation that is corrected for at most."""

NO_BLOCK = -1


def blocks(
    components: pd.DataFrame, number: int | None = None, counted: np.ndarray | None = None
) -> np.ndarray:
    """Cut the span of submissions into equal blocks of time.

    As many as ``number``, but no more than leave 30 components to each; where not even 8 do,
    there is one block, of which there is no interval.

    Parameters
    ----------
    number : most blocks, at least 8; None for 20.
    counted : bool[components], as from ``trimming.trim``; None for all.

    Returns
    -------
    int64[components] : block of each component, from 0 in order of time; −1 if it does not count.

    Raises
    ------
    InputError : if ``number`` is below 8.
    """
    number = NUMBER if number is None else number
    if number < FEWEST:
        raise InputError(f"{number} blocks; allowed: {FEWEST} or more")
    rows = np.arange(len(components)) if counted is None else np.flatnonzero(counted)
    result = np.full(len(components), NO_BLOCK)
    if len(rows) == 0:
        return result
    since = components["submit_time"].to_numpy()[rows]
    since = since - since.min()
    span = int(since.max()) + 1
    result[rows] = 0
    for count in range(min(number, len(rows) // FEWEST_JOBS), FEWEST - 1, -1):
        block = since * count // span
        if np.bincount(block, minlength=count).min() >= FEWEST_JOBS:
            result[rows] = block
            break
    return result


def block_measures(components: pd.DataFrame, block: np.ndarray) -> pd.DataFrame:
    """Measure each block by itself.

    Parameters
    ----------
    block : int64[components], from ``blocks``.

    Returns
    -------
    One row a block, in order of time: ``block`` and the measures of ``measures``.
    """
    jobs = Jobs.of(components)
    numbers = np.unique(block[block != NO_BLOCK])
    rows = [{"block": int(number), **jobs.measures(np.flatnonzero(block == number))} for number in numbers]
    return pd.DataFrame(rows)


def block_spans(components: pd.DataFrame, block: np.ndarray) -> list[tuple[int, int]]:
    """Return the first second of each block and the one behind its last, in order of time.

    Parameters
    ----------
    block : int64[components], from ``blocks``.
    """
    rows = np.flatnonzero(block != NO_BLOCK)
    if len(rows) == 0:
        return []
    submit = components["submit_time"].to_numpy()[rows]
    first, span, count = int(submit.min()), int(np.ptp(submit)) + 1, int(block.max()) + 1
    ends = [first - (-number * span // count) for number in range(count + 1)]
    return list(pairwise(ends))


class Merged(NamedTuple):
    """Values of blocks, merged until they hardly depend on each other, and what dependence is left.

    ``autocorrelation`` is that of the deviations after merging; ``inflation`` is what it does to
    the variance of their mean.
    """

    level: np.ndarray
    baseline: np.ndarray
    autocorrelation: float
    inflation: float


def merged(level: np.ndarray, baseline: np.ndarray) -> Merged:
    """Merge neighbouring blocks, two by two, while their deviations are too much alike.

    Deviations are a − r·b, with r the ratio of the means, or a − b if the mean of b is not above 0:
    that of which the interval has the spread. While their autocorrelation is above 0.2 and at least 8
    blocks will be left,
    two blocks become one with the mean of both; of an odd number, the last three. The variance of
    the mean is then multiplied by (1 + r) / (1 − r), with r the autocorrelation left, if it is above
    0 and up to 0.9: the correction for a first-order autoregression, as in A. Tafazzoli, J. R. Wilson,
    "Skart: a skewness- and autoregression-adjusted batch-means procedure for simulation
    analysis", IIE Transactions 43(2), 2011.

    Parameters
    ----------
    level, baseline : float64[blocks], values of the same blocks in order of time; fewer than 8,
        of which there is no interval, are left as they are.
    """
    if len(level) < FEWEST:
        return Merged(level, baseline, np.nan, 1.0)
    while len(level) // 2 >= FEWEST and autocorrelation(_deviations(level, baseline)) > LARGE:
        level, baseline = _halved(level), _halved(baseline)
    left = autocorrelation(_deviations(level, baseline))
    bounded = min(max(left, 0.0), LARGEST)
    return Merged(level, baseline, left, (1 + bounded) / (1 - bounded))


def _deviations(level: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    ratio = level.mean() / baseline.mean() if baseline.mean() > 0 else 1.0
    return level - ratio * baseline


def autocorrelation(values: np.ndarray) -> float:
    """Autocorrelation at lag 1 of n > 4 values, (n·r + 1) / (n − 4), at most 1; 0 for equal values.

    r is Σ e_i·e_{i+1} / Σ e² with e = x − mean. Its bias is about −(1 + 4·r) / n, which the formula
    undoes: M. G. Kendall, "Note on bias in the estimation of autocorrelation", Biometrika 41,
    403–404, 1954.
    """
    count = len(values)
    centred = values - values.mean()
    squares = float((centred**2).sum())
    if squares == 0:
        return 0.0
    estimate = float((centred[1:] * centred[:-1]).sum()) / squares
    return min(1.0, (count * estimate + 1) / (count - 4))


def _halved(values: np.ndarray) -> np.ndarray:
    first = np.arange(0, len(values) - 1, 2)
    return np.add.reduceat(values, first) / np.diff(np.append(first, len(values)))
