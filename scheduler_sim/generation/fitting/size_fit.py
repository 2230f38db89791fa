"""Learning the law of sizes by maximum likelihood, and how size and requested time go together."""

from __future__ import annotations

from math import isqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from scheduler_sim.generation.fitting.estimates import NORMAL_95, Estimate, maximise, profile_interval
from scheduler_sim.generation.portable import exp2
from scheduler_sim.generation.sizes import SizeLaw, nearest_power_of_two

_NEXT_TO_NOTHING = 1e12
_PLACES = 20_000  # in the law of sizes, at which the correlation is worked out
_BOUNDS = [(0.025, 20.0), (0.0, 1.0), (0.0, 1.0)]  # slope (up to 2^40 nodes), intercept, power of two


class SizeLikelihood:
    """Log-likelihood of sizes under a :class:`SizeLaw` on a machine of some nodes.

    Each size has two ways to come about: the law gives it, or a size that is moved to it as the
    nearest power of two. Both are stretches of the law: (``below``, ``at``] and (``low``, ``up``].
    """

    def __init__(self, size: np.ndarray, nodes: int) -> None:
        """``size``: int64, from 1 to ``nodes``."""
        self.size, self.count = np.unique(size, return_counts=True)
        stretches = [_stretches(k, nodes) for k in self.size.tolist()]
        self._edges = _log2_or_infinity(np.array(stretches, dtype=np.float64).T)

    def probabilities(self, slope: float, intercept: float, power_of_two: float) -> np.ndarray:
        """Return the probability of each of ``self.size``."""
        below, at, low, up = np.clip(intercept + slope * self._edges, 0.0, 1.0)
        probabilities: np.ndarray = (1.0 - power_of_two) * (at - below) + power_of_two * (up - low)
        return probabilities

    def __call__(self, parameters: np.ndarray) -> float:
        """Return the log-likelihood of slope, intercept and power of two.

        Where some size cannot be it is next to nothing, and less the further the law is from that
        size, so that a search finds its way back.
        """
        p = self.probabilities(*parameters)
        if (p > 0.0).all():
            return float(self.count @ np.log(p))
        slope, intercept, _ = parameters
        below, at = intercept + slope * self._edges[:2]
        return -_NEXT_TO_NOTHING * (1.0 + max(float(below.max()) - 1.0, -float(at.min()), 0.0))


def _stretches(k: int, nodes: int) -> tuple[float, float, float, float]:
    """Return the sizes of the law that become k: (below, at] as they are, (low, up] by rounding."""
    below, at = k - 1.0, np.inf if k == nodes else float(k)
    power = 1 << (k - 1).bit_length()  # k itself, or the next power of two above
    if k == nodes:
        return below, at, float(isqrt(power * power // 2)), np.inf
    if k == power:
        return below, at, float(isqrt(k * k // 2)), float(isqrt(2 * k * k))
    return below, at, 1.0, 1.0


def _log2_or_infinity(sizes: np.ndarray) -> np.ndarray:
    return np.where(sizes > 0.0, np.log2(np.maximum(sizes, 1.0)), -np.inf)


def fit_sizes(size: np.ndarray, nodes: int) -> tuple[SizeLaw, list[Estimate]]:
    """Return the law of sizes (int64, 1 to ``nodes``) of highest likelihood; intervals by its profile.

    Where every job is serial the slope cannot be told: it stays at its default, its interval nan.
    """
    largest = int(size.max())
    if largest == 1:
        law = SizeLaw(intercept=1.0, power_of_two=0.0)
        least = float(np.exp(-NORMAL_95 * NORMAL_95 / 2 / len(size)))
        return law, [
            Estimate("sizes.slope", law.slope, np.nan, np.nan),
            Estimate("sizes.intercept", 1.0, least, 1.0),
            Estimate("sizes.power_of_two", 0.0, np.nan, np.nan),
        ]
    loglik = SizeLikelihood(size, nodes)
    serial = float((size == 1).mean())
    powers = float((nearest_power_of_two(size) == size).mean())
    start = np.array([(1.0 - serial) / np.log2(largest), serial, min(powers, 0.9)])
    best = maximise(loglik, start, _BOUNDS)
    names = ("slope", "intercept", "power_of_two")
    estimates = [
        Estimate(f"sizes.{name}", float(best[i]), *profile_interval(loglik, best, i, _BOUNDS))
        for i, name in enumerate(names)
    ]
    slope, intercept, power_of_two = best.tolist()
    return SizeLaw(slope, intercept, power_of_two), estimates


def fit_correlation(size: np.ndarray, limit: np.ndarray, law: SizeLaw, nodes: int) -> Estimate:
    """Return the size-time correlation at which the model's traces have the rank correlation found here.

    Many jobs share a size, so that the rank correlation of sizes and limits is nearer 0 than that
    of their places in the laws, which is the parameter. Interval of Spearman's ρ by Fisher's
    transformation, variance (1 + ρ²/2)/(n − 3): Bonett and Wright, Psychometrika 65 (2000).
    """
    rho = spearman(size, limit)
    error = NORMAL_95 * np.sqrt((1.0 + rho * rho / 2) / max(len(size) - 3, 1))
    z = np.arctanh(np.clip(rho, -1 + 1e-12, 1 - 1e-12))
    ends = [_latent(float(r), law, nodes) for r in (rho, np.tanh(z - error), np.tanh(z + error))]
    return Estimate("size_time_correlation", *ends)


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    """Return the rank correlation of two arrays; 0 where one of them is constant."""
    a, b = rankdata(one), rankdata(other)
    if a.min() == a.max() or b.min() == b.max():
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def expected_spearman(correlation: float, law: SizeLaw, nodes: int) -> float:
    """Return the rank correlation of sizes and time limits that the model expects of its traces.

    In the Gaussian copula of parameter r the mean place of the limit, given place u of the
    size, is Φ(r Φ⁻¹(u) / √(2 − r²)); the rank of a size is the middle of its share.
    """
    u = (np.arange(_PLACES) + 0.5) / _PLACES
    exact = np.clip((u - law.intercept) / law.slope, 0.0, 60.0)
    drawn = np.ceil(np.minimum(exp2(exact), 2.0 * nodes)).astype(np.int64)
    size = np.minimum([drawn, nearest_power_of_two(drawn)], nodes)
    weight = np.array([[1.0 - law.power_of_two], [law.power_of_two]]) / _PLACES
    _, kind = np.unique(size, return_inverse=True)
    kind = kind.reshape(size.shape)
    share = np.bincount(kind.ravel(), np.broadcast_to(weight, size.shape).ravel())
    rank = np.cumsum(share) - share / 2 - 0.5
    spread = np.sqrt(float(share @ rank**2) / 12.0)
    if spread < 1e-6:
        return 0.0
    r = 2.0 * np.sin(np.pi * correlation / 6.0)
    limit = ndtr(r * ndtri(u) / np.sqrt(2.0 - r * r)) - 0.5
    return float((weight * rank[kind] * limit).sum() / spread)


def _latent(rho: float, law: SizeLaw, nodes: int) -> float:
    if rho == 0.0 or expected_spearman(1.0, law, nodes) == 0.0:
        return 0.0
    end = float(np.copysign(1.0, rho))
    if abs(expected_spearman(end, law, nodes)) <= abs(rho):
        return end
    return float(brentq(lambda c: expected_spearman(c, law, nodes) - rho, 0.0, end, xtol=1e-5))
