"""How many nodes jobs ask for: a law uniform in log₂ of the nodes, with a taste for powers of two."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from scheduler_sim.generation.portable import exp2

MACHINE = 0
"""As the largest size of a law: that of the machine."""

MOST_TABULATED = 1 << 24
"""Most nodes that a law is tabulated for."""

MOST_EXPONENT = 31.0
"""Of a size as a power of two: more than any machine has nodes."""


@dataclass(frozen=True)
class SizeLaw:
    """Cirne and Berman's law of sizes: P(nodes ≤ m) = intercept + slope · log₂ m.

    Attributes
    ----------
    slope, intercept : of the law; the largest size is 2^((1 − intercept) / slope), whatever the
        machine, and ``intercept`` is the share of serial jobs.
    power_of_two : share of jobs whose size is then moved to the nearest power of two (on a
        logarithmic scale).
    largest : if given, the largest size; it replaces the slope. 0 is the machine's own.
    """

    slope: float = 0.1
    intercept: float = 0.4
    power_of_two: float = 0.1
    largest: int | None = None

    def slope_on(self, nodes: int) -> float:
        """Return the slope on a machine of some nodes."""
        if self.largest is None:
            return self.slope
        return (1.0 - self.intercept) / math.log2(max(self.largest or nodes, 2))

    def draw(self, nodes: int, reduction: int, where: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Draw sizes, int64, at most ``nodes``.

        ``where`` has one uniform in [0, 1) a job, where its size stands in the law. A reduction
        factor of 2 halves every size above 1; odd ones are rounded by a fair coin.
        """
        size = self._at(where, nodes)
        to_power = random.random(len(where)) < self.power_of_two
        size = np.minimum(np.where(to_power, nearest_power_of_two(size), size), nodes)
        return halved(size, random.random(len(where)) < 0.5) if reduction == 2 else size

    def mean_at(self, where: np.ndarray, nodes: int, reduction: int) -> np.ndarray:
        """Return the mean size of jobs that stand somewhere in the law."""
        size = self._at(where, nodes)
        kept, rounded = (np.minimum(n, nodes) for n in (size, nearest_power_of_two(size)))
        means = [np.where((n > 1) & (reduction == 2), n / 2, n) for n in (kept, rounded)]
        mean: np.ndarray = (1.0 - self.power_of_two) * means[0] + self.power_of_two * means[1]
        return mean

    def _at(self, where: np.ndarray, nodes: int) -> np.ndarray:
        exponent = np.clip((where - self.intercept) / self.slope_on(nodes), -1.0, MOST_EXPONENT)
        sizes: np.ndarray = np.maximum(np.ceil(exp2(exponent)), 1.0).astype(np.int64)
        return sizes

    def pmf(self, nodes: int, reduction: int = 1) -> np.ndarray:
        """Return the probability of each size 0, 1, … up to the largest on a machine of some nodes."""
        slope = self.slope_on(nodes)
        reach = float(exp2(np.array([min((1.0 - self.intercept) / slope, MOST_EXPONENT)]))[0])
        largest = max(math.ceil(min(reach - 1e-9, 2 * nodes)), 1)  # all above count as the machine
        edges = self.intercept + slope * np.log2(np.arange(1, largest + 1))
        drawn = np.diff(np.clip(edges, 0.0, 1.0), prepend=0.0)
        drawn[-1] += max(0.0, 1.0 - edges[-1])
        size = np.arange(1, largest + 1)
        target = np.minimum(size, nodes)
        rounded = np.minimum(nearest_power_of_two(size), nodes)
        most = int(max(target.max(), rounded.max())) + 1
        p = np.bincount(target, (1.0 - self.power_of_two) * drawn, minlength=most)
        p = p + np.bincount(rounded, self.power_of_two * drawn, minlength=most)
        if reduction == 2:
            n = np.arange(len(p))
            low = np.where(n > 1, n // 2, n)
            high = np.where(n > 1, n - n // 2, n)
            p = np.bincount(low, p / 2, minlength=len(p)) + np.bincount(high, p / 2, minlength=len(p))
        return np.trim_zeros(p, "b")


def nearest_power_of_two(size: np.ndarray) -> np.ndarray:
    """Return the power of two nearest to each size on a logarithmic scale, by integers alone."""
    below = np.left_shift(1, np.frexp(size.astype(np.float64))[1].astype(np.int64) - 1)
    return np.where(size * size > 2 * below * below, 2 * below, below)


def halved(size: np.ndarray, coin: np.ndarray) -> np.ndarray:
    """Halve sizes above 1, odd ones rounded up where the coin says so."""
    return np.where(size > 1, size // 2 + (coin & (size % 2 == 1)), size)
