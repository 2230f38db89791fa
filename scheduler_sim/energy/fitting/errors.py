"""How far projections are from measurements."""

from __future__ import annotations

import numpy as np

from scheduler_sim.energy.pstates import Array


def rmse(measured: Array, projected: Array) -> float:
    """Return the root of the mean squared error, in the unit of both (D2.3 eq. 5.3)."""
    return float(np.sqrt(np.mean((measured - projected) ** 2)))


def rmse_percent(measured: Array, projected: Array) -> float:
    """Return 100 · RMSE over the largest value of either (D2.3 eq. 5.4).

    Dividing by the largest flatters: look at :func:`mape` beside it.
    """
    return 100.0 * rmse(measured, projected) / float(max(measured.max(), projected.max()))


def mape(measured: Array, projected: Array) -> float:
    """Return the mean of 100 · |projected − measured| / measured."""
    return float(100.0 * np.mean(np.abs(projected - measured) / measured))


def bias(measured: Array, projected: Array) -> float:
    """Return the mean of 100 · (projected − measured) / measured; above 0 is too much."""
    return float(100.0 * np.mean((projected - measured) / measured))
