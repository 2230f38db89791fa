"""Intervals of paired differences and of ratios of means, and the tests that are dual to them.

Values are paired by replicate: both runs of a pair had the same jobs. ``inflation`` multiplies
the variance, for replicates that depend on each other (see ``blocks``): n of them are worth
n / inflation independent ones, and Student's t has as many degrees of freedom, less one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from scheduler_sim.streams import stream

CONFIDENCE = 0.95
RESAMPLES = 1999
FEWEST_TO_RESAMPLE = 5
"""With fewer pairs, resamples without any spread are too frequent for a quantile to exist."""

NOISE = 1e-12
"""A spread below this part of the values is rounding, not spread."""


class Interval(NamedTuple):
    """An estimate and the ends of its interval; NaN where there is none."""

    value: float
    low: float
    high: float


class Finding(NamedTuple):
    """An interval, and the two-sided p of "no difference" by the same inference.

    p is at most 1 − confidence just when the interval leaves out "no difference".
    """

    interval: Interval
    p: float


NOTHING = Finding(Interval(np.nan, np.nan, np.nan), np.nan)


def t_half_width(values: np.ndarray, confidence: float = CONFIDENCE, inflation: float = 1.0) -> float:
    """Half width t_{m−1} · s / √m of Student's interval of a mean, m = n / inflation.

    NaN for fewer than two values.
    """
    if len(values) < 2:
        return np.nan
    quantile = t_quantile(degrees_of_freedom(len(values), inflation), confidence)
    return quantile * standard_error(values) * float(np.sqrt(inflation))


def degrees_of_freedom(count: int, inflation: float) -> float:
    """Degrees of freedom of so many values, at least one."""
    return max(1.0, count / inflation - 1)


def t_quantile(freedom: float, confidence: float) -> float:
    """Quantile of Student's t for a two-sided interval."""
    return float(stdtrit(freedom, (1 + confidence) / 2))


def standard_error(values: np.ndarray) -> float:
    """Standard error s / √n of a mean; exactly 0 if the values differ by rounding only."""
    spread = float(values.std(ddof=1))
    return 0.0 if spread <= NOISE * float(np.abs(values).max()) else spread / float(np.sqrt(len(values)))


def difference_interval(
    level: np.ndarray, baseline: np.ndarray, confidence: float = CONFIDENCE, inflation: float = 1.0
) -> Interval:
    """Mean of the paired differences level − baseline, with Student's interval.

    Parameters
    ----------
    level, baseline : float64[pairs], at least one.
    """
    differences = level - baseline
    mean = float(differences.mean())
    half = t_half_width(differences, confidence, inflation)
    return Interval(mean, mean - half, mean + half)


def difference_finding(
    level: np.ndarray, baseline: np.ndarray, confidence: float = CONFIDENCE, inflation: float = 1.0
) -> Finding:
    """Student's interval of the mean paired difference, and the p of the paired t test."""
    interval = difference_interval(level, baseline, confidence, inflation)
    return Finding(interval, paired_t(level - baseline, inflation))


def paired_t(differences: np.ndarray, inflation: float = 1.0) -> float:
    """Two-sided p of Student's paired t test.

    1 if all differences are 0, 0 if all are equal otherwise; NaN for fewer than two pairs.
    """
    if len(differences) < 2:
        return np.nan
    error = standard_error(differences) * float(np.sqrt(inflation))
    return _p(float(differences.mean()), error, degrees_of_freedom(len(differences), inflation))


def _p(deviation: float, error: float, freedom: float) -> float:
    """Two-sided p of Student's t = deviation / error; of no spread 1 for no deviation, else 0."""
    if deviation == 0 or error == 0:
        return float(deviation == 0)
    return float(2 * stdtr(freedom, -abs(deviation) / error))


def ratio_interval(
    level: np.ndarray,
    baseline: np.ndarray,
    confidence: float = CONFIDENCE,
    inflation: float = 1.0,
    seed: int = 0,
) -> Interval:
    """Ratio of means with its interval, see ``ratio_finding``."""
    return ratio_finding(level, baseline, confidence, inflation, seed).interval


def ratio_finding(
    level: np.ndarray,
    baseline: np.ndarray,
    confidence: float = CONFIDENCE,
    inflation: float = 1.0,
    seed: int = 0,
) -> Finding:
    """Ratio of means, mean(level) / mean(baseline), by a symmetric studentised bootstrap.

    Pairs are drawn with replacement, and the interval is r ± q · se, with q the quantile of
    |r* − r| / se* over the resamples: P. Hall, "On symmetric bootstrap confidence intervals",
    J. R. Stat. Soc. B 50(1), 35–45, 1988. se is that of ``linearised``. With fewer than 5 pairs,
    or where too many resamples have no spread, q is Student's.

    p is that of Student's t = (r − 1) / (k · se), with k = q / Student's quantile: below 1 − confidence
    just when the interval leaves out 1, and not bounded by the number of resamples.

    Returns
    -------
    NaN throughout unless mean(baseline) > 0; no ends and no p from one pair; for equal values the ratio
    1 with p = 1, for values exactly proportional otherwise an interval without width and p = 0.
    """
    several = len(level) > 1
    if (level == baseline).all():
        end = 1.0 if several else np.nan
        return Finding(Interval(1.0, end, end), end)
    if not baseline.mean() > 0:
        return NOTHING
    ratio = float(level.mean() / baseline.mean())
    if not several:
        return Finding(Interval(ratio, np.nan, np.nan), np.nan)
    error = standard_error(linearised(level, baseline))
    if error > 0:
        quantile = _studentised_quantile(level, baseline, ratio, confidence, seed)
        scale = quantile / t_quantile(len(level) - 1, confidence)
        error *= (scale if np.isfinite(scale) else 1.0) * float(np.sqrt(inflation))
    freedom = degrees_of_freedom(len(level), inflation)
    half = t_quantile(freedom, confidence) * error
    low = max(0.0, ratio - half) if (level >= 0).all() else ratio - half
    return Finding(Interval(ratio, low, ratio + half), _p(ratio - 1.0, error, freedom))


def linearised(level: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """Values of which the mean is the ratio of means r and the spread is its: r + (a − r·b) / mean(b).

    The delta method for a ratio, W. G. Cochran, *Sampling Techniques*, 3rd ed., 1977, section 2.11.

    Returns
    -------
    float64[pairs]
    """
    ratio = level.mean() / baseline.mean()
    linearised: np.ndarray = ratio + (level - ratio * baseline) / baseline.mean()
    return linearised


def _studentised_quantile(
    level: np.ndarray, baseline: np.ndarray, ratio: float, confidence: float, seed: int
) -> float:
    """Quantile of |r* − r| / se*; infinite or NaN if there is none."""
    count = len(level)
    if count < FEWEST_TO_RESAMPLE:
        return np.nan
    drawn = _resamples(seed, count)
    one, other = level[drawn], baseline[drawn]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = one.mean(axis=1) / other.mean(axis=1)
        residuals = one - ratios[:, None] * other  # their mean is 0 by the choice of the ratio
        errors = np.sqrt((residuals**2).sum(axis=1) / (count - 1) / count) / other.mean(axis=1)
        errors[errors <= NOISE * np.abs(ratios)] = 0.0
        pivots = np.abs(ratios - ratio) / errors
    pivots[(errors == 0) & (np.abs(ratios - ratio) <= NOISE * abs(ratio))] = 0.0
    pivots.sort()  # what is not a number comes last
    return float(pivots[int(np.ceil(confidence * (RESAMPLES + 1))) - 1])


@lru_cache(maxsize=8)
def _resamples(seed: int, count: int) -> np.ndarray:
    """Which of ``count`` pairs are in each resample: int64[RESAMPLES, count].

    They depend on the seed and the count alone, so that no comparison changes another.
    """
    return stream(seed, f"bootstrap of {count} pairs").integers(count, size=(RESAMPLES, count))
