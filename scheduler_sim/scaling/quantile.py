"""Quantiles of values that count differently."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Floats


def weighted_quantile(values: Floats, weight: Floats, share: float) -> Floats:
    """Return, for each column of values[m, k], the least value up to which the weights hold this share."""
    order = np.argsort(values, axis=0, kind="stable")
    held = np.cumsum(weight[order], axis=0)
    place = np.minimum((held < share * held[-1]).sum(axis=0), len(values) - 1)
    return np.asarray(np.take_along_axis(values, order, axis=0)[place, np.arange(values.shape[1])])
