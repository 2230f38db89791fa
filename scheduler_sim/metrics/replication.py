"""How many replicates are enough, and how many more to run.

The rule: at least 5 pairs, and an interval no wider than asked for. From n pairs with a half
width h, n·(h/w)² are projected to reach w: C. Stein, "A two-sample test for a linear
hypothesis whose power is independent of the variance", Ann. Math. Stat. 16(3), 243–258, 1945, for
h = t_{n−1}·s/√n. A round never more than doubles the replicates, as the first
estimates of the spread are poor; then the interval is computed again.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from scheduler_sim.metrics.intervals import CONFIDENCE, t_half_width
from scheduler_sim.metrics.verdicts import MINIMUM_PAIRS


def enough(values: np.ndarray, half_width: float, confidence: float = CONFIDENCE) -> bool:
    """Tell whether there are at least 5 values and Student's interval of their mean is narrow enough.

    Parameters
    ----------
    values : float64[n], one a replicate: paired differences, or ``intervals.linearised`` ratios.
    half_width : what the half width may be, in the unit of the values.
    """
    return needed(values, half_width, confidence) == 0


def needed(values: np.ndarray, half_width: float, confidence: float = CONFIDENCE) -> int:
    """Project how many more values make Student's interval narrow enough, at most as many as there are."""
    return projected(len(values), t_half_width(values, confidence), half_width)


def needed_for(comparison: pd.DataFrame, percent: float) -> int:
    """Project how many more replicates every row of a comparison needs.

    The interval is the reported one, of the change in percent. Rows of which the baseline is 0 on average,
    which have no change, ask for 5 pairs only.

    Parameters
    ----------
    comparison : the table of ``comparison.compare``.
    percent : what the half width of ``change_low`` to ``change_high`` may be.

    Returns
    -------
    The largest number over the rows; 0 if there are enough.
    """
    halves = (comparison["change_high"] - comparison["change_low"]) / 2
    no_ratio = comparison["change"].isna()
    return max(
        (
            projected(int(pairs), 0.0 if without and pairs > 1 else float(half), percent)
            for pairs, half, without in zip(comparison["pairs"], halves, no_ratio, strict=True)
        ),
        default=0,
    )


def projected(pairs: int, found: float, wanted: float) -> int:
    """Project how many more pairs narrow a half width found with so many to the one wanted.

    Parameters
    ----------
    pairs : how many there are. found : their half width; NaN if there is none.
    wanted : above 0.

    Returns
    -------
    0 if it is narrow enough with at least 5; else enough to have 5, and no more than double.
    """
    if pairs < MINIMUM_PAIRS:
        return MINIMUM_PAIRS - pairs
    if found <= wanted:
        return 0
    if not np.isfinite(found):
        return pairs
    total = int(np.ceil(min(2.0, (found / wanted) ** 2) * pairs))
    return max(1, total - pairs)
