"""Prediction intervals of weighted linear regression, and the errors by which models are compared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scheduler_sim.arrays import Floats

EXACT = 1e-6
"""Errors (%) below this are rounding."""


def prediction_interval(
    columns: Floats, y: Floats, weight: Floats, at: Floats, noise: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return where a further measurement lies with this probability, if the model is right.

    Parameters
    ----------
    columns : float64[n, k], the regression's columns at the points; y : float64[n]
    weight : float64[n], one over the variance of each point, up to a factor that is estimated
    at : float64[m, k], the columns where to predict
    noise : float64[m], variance of a measurement there, in the unit of 1 / ``weight``
    level : such as 0.9

    With as many unknowns as points nothing is known: -inf and inf.
    """
    from scipy.stats import t

    n, k = columns.shape
    if n <= k:
        return np.full(len(at), -np.inf), np.full(len(at), np.inf)
    root = np.sqrt(weight)
    inverse = np.linalg.pinv((columns * root[:, None]).T @ (columns * root[:, None]), hermitian=True)
    found = inverse @ (columns.T @ (weight * y))
    variance = float(np.sum(weight * (y - columns @ found) ** 2)) / (n - k)
    middle = at @ found
    spread = np.sqrt(variance * (noise + np.einsum("ij,jk,ik->i", at, inverse, at)))
    half = t.ppf(0.5 + level / 2, n - k) * spread
    return middle - half, middle + half


def smape(predicted: Floats, actual: Floats) -> float:
    """Return the symmetric mean absolute percentage error."""
    return float(200 * np.mean(np.abs(predicted - actual) / (np.abs(predicted) + np.abs(actual))))


def left_out_error(
    fitted: Callable[[Floats], Callable[[Floats], Floats]], processes: Floats, values: Floats
) -> float:
    """Return the SMAPE of predicting each point from the others.

    ``fitted`` takes the rows to learn from, as bool[n], and returns the function learnt.
    """
    predicted = np.empty(len(values))
    for row in range(len(values)):
        others = np.arange(len(values)) != row
        predicted[row] = fitted(others)(processes[row : row + 1])[0]
    return smape(predicted, values)
