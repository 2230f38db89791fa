"""How far a trace is from a law, as a number and in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

_POINTS = 400

VERDICTS = FOLLOWS, CLOSELY, NEAR, DIFFERS = "follows", "follows closely", "is near", "differs"
"""How well a law is followed, best first."""

Share = Callable[[np.ndarray], np.ndarray]
"""Gives the share of a law up to values."""


class Distance(NamedTuple):
    """Largest difference of two distributions, where it lies, and both shares there."""

    distance: float
    at: float
    found: float
    law: float


def ks_distance(values: np.ndarray, up_to: Share, step: float = 1) -> Distance:
    """Return the Kolmogorov-Smirnov distance of values from a law, at up to 400 of their quantiles.

    Both distributions may jump, so that each point is looked at, and ``step`` before it.
    """
    values = np.sort(values)
    point = np.unique(values[np.linspace(0, len(values) - 1, _POINTS).astype(np.int64)])
    point = np.unique(np.concatenate([point, np.maximum(point - step, 0)]))
    found = np.searchsorted(values, point, side="right") / len(values)
    law = up_to(point)
    worst = int(np.argmax(np.abs(found - law)))
    return Distance(
        float(abs(found[worst] - law[worst])), float(point[worst]), float(found[worst]), float(law[worst])
    )


def halves_distance(values: np.ndarray) -> float:
    """Return the distance of the distributions of the first and the second half of values."""
    one, other = np.sort(values[: len(values) // 2]), np.sort(values[len(values) // 2 :])
    up_to = (np.searchsorted(half, values, side="right") / len(half) for half in (one, other))
    return float(np.abs(np.subtract(*up_to)).max())


def verdict(distance: float, p_value: float) -> str:
    """Return in words how well a law is followed: by the p-value if it allows, else by the distance."""
    if p_value >= 0.05:
        return FOLLOWS
    if distance < 0.03:
        return CLOSELY
    return NEAR if distance < 0.1 else DIFFERS
