"""A check of paired differences by ranks, and the correction of p values when there are many."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata

EXACT_UP_TO = 50
"""Pairs up to which Wilcoxon's distribution is counted out."""


def wilcoxon(differences: np.ndarray) -> float:
    """Two-sided p of Wilcoxon's signed-rank test; pairs without a difference are left out.

    F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1(6), 80–83, 1945.
    Equal sizes share their mean rank. Up to 50 differences the distribution is exact, ties and all;
    above, normal with the variance Σ rank² / 4. 1 if all differences are 0, NaN for fewer than two pairs.
    """
    if len(differences) < 2:
        return np.nan
    differences = differences[differences != 0]
    if len(differences) == 0:
        return 1.0
    doubled = np.rint(2 * rankdata(np.abs(differences))).astype(np.int64)  # mean ranks are halves
    total = int(doubled.sum())
    positive = int(doubled[differences > 0].sum())
    extreme = min(positive, total - positive)
    if len(doubled) > EXACT_UP_TO:
        spread = float(np.sqrt((doubled.astype(np.float64) ** 2).sum())) / 2
        return min(1.0, float(2 * ndtr((extreme + 1 - total / 2) / spread)))
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in doubled:  # each rank counts for the positive sum, or does not
        ways /= 2
        ways[rank:] += ways[:-rank].copy()
    return min(1.0, 2 * float(ways[: extreme + 1].sum()))


def holm(p_values: np.ndarray) -> np.ndarray:
    """Adjust p values so that the chance of any false finding in the family stays below the level.

    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6(2), 65–70, 1979: the i-th smallest of m is multiplied by m − i + 1, and none is
    below a smaller one's. NaN is no test, and stays NaN.

    Returns
    -------
    float64[tests], at most 1.
    """
    adjusted = np.full(len(p_values), np.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    order = tested[np.argsort(p_values[tested], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * factors))
    return adjusted
