"""Measured values at points, with repetitions: their means, how many, and how far they lie apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scheduler_sim.arrays import Floats


@dataclass(frozen=True)
class Sample:
    """Measured values at n points of k parameters.

    The mean of repetitions counts, not their median: noise of run times that is nearly normal leaves
    the mean less uncertain, by a fifth with five repetitions.

    Attributes
    ----------
    points : float64[n, k], rising, the first parameter first
    values : float64[n], means of repetitions
    count : float64[n], how many
    spread : sum over all repetitions of the squares of their relative distances from their mean
    apart : float64[n], the same of each point
    """

    points: Floats
    values: Floats
    count: Floats
    spread: float
    apart: Floats | None = None

    @property
    def measurements(self) -> int:
        """All of them, repetitions and all."""
        return int(self.count.sum())

    @property
    def noise(self) -> float:
        """Relative standard deviation of one measurement by its repetitions; NaN without any."""
        free = self.measurements - len(self.values)
        return float(np.sqrt(self.spread / free)) if free else np.nan


def gathered(points: ArrayLike, values: ArrayLike) -> Sample:
    """Put measurements at the same point together.

    Parameters
    ----------
    points : float[m] or float[m, k]; values : float[m]
    """
    at, y = np.asarray(points, dtype=np.float64), np.asarray(values, dtype=np.float64)
    at = at.reshape(len(y), -1)
    unique, which = np.unique(at, axis=0, return_inverse=True)
    which = which.reshape(-1)
    count = np.bincount(which).astype(np.float64)
    mean = np.bincount(which, weights=y) / count
    mean = np.where(count == 1, y[np.argsort(which, kind="stable")[np.cumsum(count).astype(int) - 1]], mean)
    apart = np.bincount(which, weights=(y / mean[which] - 1) ** 2).astype(np.float64)
    return Sample(unique, mean, count, float(np.sum((y / mean[which] - 1) ** 2)), apart)


def part_of(sample: Sample, rows: slice) -> Sample:
    """Return some of the points, with their own repetitions."""
    if sample.apart is None:
        raise ValueError("a sample that was not gathered")
    apart = sample.apart[rows]
    return Sample(sample.points[rows], sample.values[rows], sample.count[rows], float(apart.sum()), apart)
