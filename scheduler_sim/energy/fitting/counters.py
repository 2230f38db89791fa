"""Which counters carry the information: principal components by a singular value decomposition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler_sim.arrays import Floats
from scheduler_sim.energy.points import Points
from scheduler_sim.errors import InputError

EXPLAINED = 0.97
"""Share of the variance that the components kept explain, as in DEEP-EST D2.3, section 5.2."""


@dataclass(frozen=True, eq=False)
class Components:
    """Principal components of counters, each counter at mean 0 and variance 1.

    Attributes
    ----------
    counters : (c,) names, those that do not vary left out.
    explained : (r,) share of the variance that each component explains, falling, sum 1.
    loadings : (r, c) directions, orthonormal rows.
    """

    counters: tuple[str, ...]
    explained: Floats
    loadings: Floats

    def kept(self, share: float = EXPLAINED) -> int:
        """Return the least number of components that explain this share."""
        return int(np.searchsorted(np.cumsum(self.explained), share - 1e-12) + 1)

    def select(self, share: float = EXPLAINED) -> list[str]:
        """Return one counter for each component kept: the one that weighs most in it and is not taken yet."""
        taken: list[int] = []
        for loading in self.loadings[: self.kept(share)]:
            weight = np.abs(loading)
            weight[taken] = -1.0
            taken.append(int(np.argmax(weight)))
        return [self.counters[place] for place in taken]


def principal_components(points: Points, counters: list[str] | None = None) -> Components:
    """Decompose the counters of points, all of them by default.

    Raises InputError where no counter varies.
    """
    names = points.counters if counters is None else counters
    x = points.terms(names)
    spread = x.std(axis=0)
    varying = spread > 1e-12 * np.maximum(np.abs(x).max(axis=0, initial=0.0), 1e-300)
    if len(points) < 2 or not varying.any():
        raise InputError("counters: none varies; allowed: at least one column of numbers that differ")
    standard = (x[:, varying] - x[:, varying].mean(axis=0)) / spread[varying]
    _, singular, directions = np.linalg.svd(standard, full_matrices=False)
    variance = singular**2
    kept = tuple(name for name, does in zip(names, varying.tolist(), strict=True) if does)
    return Components(kept, variance / variance.sum(), directions)
