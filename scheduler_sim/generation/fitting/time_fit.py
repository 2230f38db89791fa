"""Learning how long jobs ask for and how much of it they use."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln

from scheduler_sim.generation.fitting.estimates import NORMAL_95, Estimate, information_interval
from scheduler_sim.generation.times import LEAST_ACCURACY, Accuracy, LogUniform

ALL_OF_IT = Accuracy(0.6, 1e12)
"""An accuracy law under which every job runs as long as it asked for."""

_WHERE = np.arange(1, 100) / 100
_RESAMPLES = 200
_SMOOTH = 30  # from this many seconds on a whole second is as good as a point of a density


def fit_durations(
    seconds: np.ndarray, random: np.random.Generator, name: str = "requests"
) -> tuple[LogUniform, list[Estimate]]:
    """Return the log-uniform law nearest to durations (int64, s, at least 1).

    It is the straight line through the percentiles 1 to 99 of their binary logarithms, by least
    squares: requests are often a few round values, where likelihood would see the extremes alone.
    Intervals by resampling. The shortest and longest duration of the law are given as well.
    """
    logs = np.sort(np.log2(np.maximum(seconds, 1) - 0.5))
    start, width = _line(logs)
    again = np.array(
        [_line(np.sort(logs[random.integers(len(logs), size=len(logs))])) for _ in range(_RESAMPLES)]
    )
    found = np.array([1.0 / width, -start / width, start, start + width])
    each = np.stack([1 / again[:, 1], -again[:, 0] / again[:, 1], again[:, 0], again.sum(axis=1)])
    error = NORMAL_95 * each.std(axis=1, ddof=1)
    ends = zip(
        ("slope", "intercept", "shortest", "longest"), found, found - error, found + error, strict=True
    )
    estimates = [
        Estimate(f"{name}.{what}", *(2.0**v if what.endswith("est") else float(v) for v in values))
        for what, *values in ends
    ]
    return LogUniform(float(found[0]), float(found[1])), estimates


def _line(logs: np.ndarray) -> tuple[float, float]:
    """Return where the line through percentiles starts (at 0 %) and how far it rises up to 100 %."""
    last = len(logs) - 1
    at = last * _WHERE
    low = at.astype(np.int64)
    percentiles = logs[low] + (at - low) * (logs[np.minimum(low + 1, last)] - logs[low])
    centred = _WHERE - _WHERE.mean()
    rise = max(float(centred @ percentiles / (centred @ centred)), 1e-3)
    return float(percentiles.mean() - rise * _WHERE.mean()), rise


class AccuracyLikelihood:
    """Log-likelihood of run times under a gamma law of accuracy, censored as whole seconds are.

    A run of t s under a limit of R s has an accuracy in ((t − 1)/R, t/R]; one that reached its
    limit, or overran it, has one above (R − 1)/R.
    """

    def __init__(self, run_time: np.ndarray, limit: np.ndarray) -> None:
        """``run_time`` and ``limit``: int64[n], s; a run time of 0 counts as one of 1 s."""
        run = np.clip(run_time, 1, limit)
        self.whole = int((run == limit).sum())
        smooth = (run >= _SMOOTH) & (run < limit)
        middle = (run[smooth] - 0.5) / limit[smooth]
        self._smooth = len(middle)
        self._sum, self._log_sum = float(middle.sum()), float(np.log(middle).sum())
        self._log_width = -float(np.log(limit[smooth]).sum())
        low, high = (run[~smooth] - 1) / limit[~smooth], run[~smooth] / limit[~smooth]
        low = np.where(low < LEAST_ACCURACY, 0.0, low)
        intervals = np.stack([low, np.maximum(high, LEAST_ACCURACY)])
        (self._low, self._high), self._count = np.unique(intervals, axis=1, return_counts=True)

    def __call__(self, logs: np.ndarray) -> float:
        """Return the log-likelihood of the logarithms of shape and scale; −∞ beyond all reason."""
        if np.abs(logs).max() > 27.0:
            return -np.inf
        shape, scale = np.exp(logs)
        law = Accuracy(shape, scale)
        p = law.cdf(self._high) - law.cdf(self._low)
        if (p <= 0.0).any():
            return -np.inf
        density = (shape - 1.0) * self._log_sum - self._sum / scale
        density -= self._smooth * (gammaln(shape) + shape * logs[1])
        return float(self._count @ np.log(p) + density + self._log_width)


def fit_accuracy(run_time: np.ndarray, limit: np.ndarray) -> tuple[Accuracy, list[Estimate]]:
    """Return the accuracy law of highest likelihood; intervals from the observed information.

    Where every run reached its limit, it is :data:`ALL_OF_IT` and the intervals are nan.
    """
    loglik = AccuracyLikelihood(run_time, limit)
    if loglik.whole == len(run_time):
        law = ALL_OF_IT
        return law, [
            Estimate(f"accuracy.{name}", getattr(law, name), np.nan, np.nan) for name in ("shape", "scale")
        ]
    start = np.log([0.6, 0.6])
    options = {"xatol": 1e-6, "fatol": 1e-6, "maxiter": 2000}
    best = minimize(lambda x: min(-loglik(x), 1e30), start, method="Nelder-Mead", options=options).x
    intervals = information_interval(loglik, best)
    values = np.exp(best).tolist()
    estimates = [
        Estimate(f"accuracy.{name}", value, *interval)
        for name, value, interval in zip(("shape", "scale"), values, intervals, strict=True)
    ]
    return Accuracy(*values), estimates
