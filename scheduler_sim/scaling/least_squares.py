"""Least squares with bounds, in the closed forms and by the solvers that the fits of curves need."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from scheduler_sim.arrays import Floats


def efficiency_line(h: Floats, eta: Floats, weight: Floats) -> tuple[float, float]:
    """Fit 1/eta = k + m h with k >= 1 and 0 <= m <= k; return k and m.

    Amdahl's efficiency is that line for h = g - 1, the pipeline's for h = 1 - 1/g. The squares of
    1 - eta (k + m h) are summed, the error relative to the run time, times ``weight``. The optimum
    is unconstrained, or on an edge of the region, where one unknown is left.

    Parameters
    ----------
    h, eta, weight : float64[n]
    """
    w = weight * eta * eta
    y = 1 / eta

    def cost(k: float, m: float) -> float:
        return float(np.sum(w * (y - k - m * h) ** 2))

    found = []
    total, mean_h, mean_y = w.sum(), np.sum(w * h) / w.sum(), np.sum(w * y) / w.sum()
    spread = np.sum(w * (h - mean_h) ** 2)
    if spread > 1e-12 * total * (1 + mean_h**2):
        m = float(np.sum(w * (h - mean_h) * (y - mean_y)) / spread)
        k = float(mean_y - m * mean_h)
        if k >= 1 and 0 <= m <= k:
            return k, m
        one = float(np.sum(w * h * (y - 1)) / max(np.sum(w * h * h), 1e-300))
        found.append((1.0, min(max(one, 0.0), 1.0)))
        both = max(float(np.sum(w * y * (1 + h)) / np.sum(w * (1 + h) ** 2)), 1.0)
        found.append((both, both))
    found.append((max(float(mean_y), 1.0), 0.0))
    return min(found, key=lambda line: cost(*line))


def not_negative(columns: Sequence[Floats], y: Floats, weight: Floats) -> Floats:
    """Return coefficients c >= 0 that minimise the sum of ``weight`` (y - sum of c x column) squared.

    Columns are scaled first: terms such as P^3 and 1 differ by ten orders of magnitude.
    """
    from scipy.optimize import nnls

    root = np.sqrt(weight)
    matrix = np.stack(columns, axis=1) * root[:, None]
    scale = np.sqrt((matrix**2).sum(axis=0))
    scale[scale == 0] = 1
    found, _ = nnls(matrix / scale, y * root)
    return np.asarray(found / scale, dtype=np.float64)


def bounded(
    residuals: Callable[[Floats], Floats],
    starts: Sequence[Sequence[float]],
    least: Sequence[float],
    most: Sequence[float],
) -> Floats:
    """Return the parameters of the least sum of squares found from several starts within bounds."""
    from scipy.optimize import least_squares

    runs = [least_squares(residuals, start, bounds=(least, most), x_scale="jac") for start in starts]
    return np.asarray(min(runs, key=lambda run: run.cost).x, dtype=np.float64)
