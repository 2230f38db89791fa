"""How long jobs ask for, how much of it they use, and when they are cancelled."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammaincinv, ndtr, ndtri

from scheduler_sim.generation.portable import exp2, gamma

LEAST_ACCURACY = 1e-5


@dataclass(frozen=True)
class LogUniform:
    """Durations uniform in log₂: P(t ≤ s) = intercept + slope · log₂ s, rounded up to whole seconds."""

    slope: float
    intercept: float

    def at(self, where: np.ndarray, factor: float = 1.0) -> np.ndarray:
        """Return the durations (int64, s) at quantiles of the law, multiplied before rounding."""
        exact = factor * exp2((where - self.intercept) / self.slope)
        return np.maximum(np.ceil(exact), 1.0).astype(np.int64)

    def cdf(self, seconds: np.ndarray, factor: float = 1.0) -> np.ndarray:
        """Return the share of durations up to whole seconds."""
        share = self.intercept + self.slope * np.log2(np.floor(seconds) / factor)
        clipped: np.ndarray = np.clip(share, 0.0, 1.0)
        return clipped


@dataclass(frozen=True)
class Accuracy:
    """Run time over time limit: a gamma variate, at least 1e-5 and at most 1."""

    shape: float = 0.6
    scale: float = 0.6

    def draw(self, jobs: int, random: np.random.Generator) -> np.ndarray:
        """Draw accuracies, float64."""
        return np.clip(self.scale * gamma(random, self.shape, jobs), LEAST_ACCURACY, 1.0)

    def run_times(self, limits: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Draw the run times (int64, s) of jobs with these limits: at least 1 s."""
        run_times: np.ndarray = np.maximum(np.ceil(limits * self.draw(len(limits), random)), 1.0)
        return run_times.astype(np.int64)

    def cdf(self, accuracy: np.ndarray) -> np.ndarray:
        """Return the share of accuracies up to some."""
        share = gammainc(self.shape, np.maximum(accuracy, 0.0) / self.scale)
        return np.where(accuracy >= 1.0, 1.0, np.where(accuracy < LEAST_ACCURACY, 0.0, share))

    def at(self, where: np.ndarray) -> np.ndarray:
        """Return the accuracies at quantiles of the law."""
        accuracies: np.ndarray = np.clip(self.scale * gammaincinv(self.shape, where), LEAST_ACCURACY, 1.0)
        return accuracies


@dataclass(frozen=True)
class Cancellations:
    """Jobs that are cancelled, and how long after their submission; from probability 0 on, none."""

    probability: float = 0.0
    lag: LogUniform = LogUniform(0.065, -0.32)

    def draw(self, jobs: int, random: np.random.Generator) -> np.ndarray:
        """Draw the lag of each job (int64, s), −1 where it is not cancelled."""
        cancelled = random.random(jobs) < self.probability
        return np.where(cancelled, self.lag.at(random.random(jobs)), -1)


def correlated(where: np.ndarray, spearman: float, random: np.random.Generator) -> np.ndarray:
    """Draw uniforms with a rank correlation to given ones, by a Gaussian copula.

    The copula's parameter is 2 sin(π ρ / 6) for Spearman's ρ (Kruskal, JASA 53, 1958).
    """
    own = random.random(len(where))
    return own if spearman == 0.0 else _tied(where, own, spearman)


def correlated_quantiles(where: np.ndarray, spearman: float, number: int = 200) -> np.ndarray:
    """Return, for each uniform given, evenly spread quantiles of the one correlated with it: (n, number)."""
    return _tied(where[:, None], (np.arange(number) + 0.5) / number, spearman)


def _tied(where: np.ndarray, own: np.ndarray, spearman: float) -> np.ndarray:
    r = 2.0 * math.sin(math.pi * spearman / 6.0)
    given, other = ndtri(_inside(where)), ndtri(_inside(own))
    position: np.ndarray = np.minimum(ndtr(r * given + math.sqrt(1.0 - r * r) * other), 1.0 - 2.0**-53)
    return position


def _inside(uniform: np.ndarray) -> np.ndarray:
    inside: np.ndarray = np.maximum(uniform, 2.0**-54)
    return inside
