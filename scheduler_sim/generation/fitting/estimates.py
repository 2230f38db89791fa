"""An estimated parameter with its interval, and the ways to an interval that several laws share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import gammaincinv

NORMAL_95 = 1.959964
_CHI2_95 = 3.841459  # of 1 degree of freedom
_NEVER = 1e30

LogLikelihood = Callable[[np.ndarray], float]


class Estimate(NamedTuple):
    """A parameter, named as in a recipe, its value, and the ends of its 95 % interval."""

    parameter: str
    value: float
    low: float
    high: float


def maximise(loglik: LogLikelihood, start: np.ndarray, bounds: list[tuple[float, float]]) -> np.ndarray:
    """Return where a log-likelihood with kinks is highest: the simplex method of Nelder and Mead.

    It starts once more from where it ended, as a simplex may have collapsed at a kink.
    """
    best = start
    for spread in (0.1, 0.01):
        step = spread * np.maximum(np.abs(best), 0.05)
        corners = np.vstack([best, best + np.diag(step)])
        beyond = corners > np.array([high for _, high in bounds])
        corners = np.where(beyond, best - step, corners)
        options = {"initial_simplex": corners, "xatol": 1e-7, "fatol": 1e-5, "maxiter": 2000}
        best = minimize(
            lambda x: min(-loglik(x), _NEVER), best, method="Nelder-Mead", bounds=bounds, options=options
        ).x
    return best


def profile_interval(
    loglik: LogLikelihood, best: np.ndarray, index: int, bounds: list[tuple[float, float]]
) -> tuple[float, float]:
    """Return the 95 % interval of a parameter: where the likelihood ratio of its best is below χ²(1)."""
    others = [i for i in range(len(best)) if i != index]
    rest = [bounds[i] for i in others]
    top = loglik(best)

    def lost(value: float) -> float:
        def fixed(x: np.ndarray) -> float:
            return loglik(np.array([*x[:index], value, *x[index:]]))

        return 2.0 * (top - fixed(maximise(fixed, best[others], rest))) - _CHI2_95

    return _crossing(lost, best[index], bounds[index][0]), _crossing(lost, best[index], bounds[index][1])


def _crossing(lost: Callable[[float], float], best: float, bound: float) -> float:
    """Return where ``lost`` passes 0 on the way from the best value to a bound, or the bound."""
    step = np.copysign(0.01 * max(abs(best), 0.05), bound - best)
    near, far = best, best + step
    while lost(far := min(far, bound) if step > 0 else max(far, bound)) < 0.0:
        if far == bound:
            return bound
        near, step = far, 2.0 * step
        far = near + step
    return float(brentq(lost, near, far, xtol=1e-6 + 1e-4 * abs(far - near)))


def information_interval(loglik: LogLikelihood, best: np.ndarray) -> list[tuple[float, float]]:
    """Return 95 % intervals from the observed information, of parameters given by their logarithms.

    Returns
    -------
    low and high of each parameter itself; (0, ∞) where the likelihood is flat.
    """
    step = 1e-3
    size = len(best)
    unit = step * np.eye(size)
    second = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            corners = [loglik(best + s * unit[i] + t * unit[j]) for s in (1, -1) for t in (1, -1)]
            second[i, j] = (corners[0] - corners[1] - corners[2] + corners[3]) / (4 * step * step)
    if np.linalg.eigvalsh(second).max() >= 0.0:
        return [(0.0, np.inf)] * size
    error = np.minimum(NORMAL_95 * np.sqrt(np.diag(np.linalg.inv(-second))), 500.0)
    return list(zip(np.exp(best - error).tolist(), np.exp(best + error).tolist(), strict=True))


def wilson_interval(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a probability: E. B. Wilson, JASA 22 (1927)."""
    z = NORMAL_95
    share, spare = count / of, z * z / of
    centre = (share + spare / 2) / (1 + spare)
    half = z * np.sqrt(share * (1 - share) / of + spare / (4 * of)) / (1 + spare)
    low, high = float(centre - half), float(centre + half)
    return (0.0 if count == 0 else low), (1.0 if count == of else high)


def count_interval(count: np.ndarray, dispersion: float) -> tuple[np.ndarray, np.ndarray]:
    """Return 95 % intervals of expected counts whose variance is ``dispersion`` times their mean.

    F. Garwood's interval of a Poisson mean (Biometrika 28, 1936), for counts in units of the dispersion.
    """
    units = np.asarray(count) / dispersion
    low = np.where(units > 0, gammaincinv(np.maximum(units, 1e-9), 0.025), 0.0)
    return low * dispersion, gammaincinv(units + 1.0, 0.975) * dispersion
