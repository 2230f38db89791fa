"""Which costs of operations matter: a linear model of run time with standard errors (Clement and Quinn 1995).

T = Σ β_i x_i, x_i how often operation i is done; least squares, and for each β the t test that it is 0.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from scheduler_sim.arrays import Floats
from scheduler_sim.errors import InputError


def significance(value: ArrayLike, std_error: ArrayLike, df: int) -> Floats:
    """Return how often chance alone gives a coefficient as far from 0: a t test of two sides.

    ``value`` and ``std_error`` in one unit, ``df`` observations less coefficients.
    """
    from scipy.stats import t

    ratio = np.abs(np.asarray(value, np.float64)) / np.asarray(std_error, np.float64)
    return np.asarray(2 * t.sf(ratio, df), dtype=np.float64)


def operation_costs(counts: Mapping[str, ArrayLike], time: ArrayLike) -> pd.DataFrame:
    """Fit the costs of operations to run times.

    Parameters
    ----------
    counts : of each operation, float64[n]; a constant is a column of ones.
    time : float64[n], s.

    Returns
    -------
    A row an operation: ``value`` (s an operation), ``std_error``, ``p`` of the t test. What is far above 0.05
    is not told from nothing by these runs, and may be left out.

    Raises
    ------
    InputError : fewer runs than costs, columns of other lengths, or operations that go together in all runs.
    """
    x, y = (
        np.column_stack([np.asarray(one, np.float64) for one in counts.values()]),
        np.asarray(time, np.float64),
    )
    n, k = x.shape
    if len(y) != n or n <= k:
        raise InputError(f"operation costs: found {len(y)} run times for {k} costs; allowed: more than {k}")
    scale = np.abs(x).max(axis=0)
    if not scale.all() or np.linalg.matrix_rank(x / scale) < k:
        raise InputError(
            f"operation costs: of {', '.join(counts)} some go together in all runs, or never occur; allowed:"
            " operations whose counts differ"
        )
    q, r = np.linalg.qr(x / scale)
    value = np.linalg.solve(r, q.T @ y)
    variance = float(np.sum((y - x / scale @ value) ** 2)) / (n - k)
    error = np.sqrt(variance * np.square(np.linalg.inv(r)).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = significance(value, error, n - k)
    return pd.DataFrame(
        {"value": value / scale, "std_error": error / scale, "p": np.nan_to_num(p, nan=1.0)},
        index=list(counts),
    )
