"""How a request changes from one module to another: what a run without models has of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.arrays import Ints
from scheduler_sim.scaling.rounding import ROUNDING

NO_TYPE = -1
"""Of a component where the models have no types of application."""


class Conversion(NamedTuple):
    """How a request changes on another module: times so many nodes, times so much time."""

    nodes: float = 1.0
    time: float = 1.0
    time_of_one_node: float = 1.0


UNCHANGED = Conversion()


def relative_time(ratio: float, is_speed: bool) -> float:
    """Return the run time that a ratio of D2.3's Table 7 stands for, against that of ratio 1.

    From 1 on the ratio is a speed: 1/q. Below 1, ``is_speed``: 1/q, too; else "q times slower": 1 + q.
    """
    return 1.0 / ratio if ratio >= 1 or is_speed else 1.0 + ratio


def scaled(seconds: Ints, factor: NDArray[np.float64]) -> Ints:
    """Multiply times (s), rounded up to whole seconds; by 1 they stay as they are.

    Not up for what is rounding of the factor: 10 s x 3 / 3 are not 11 s.
    """
    exact = np.ceil(seconds * (1 - ROUNDING) * factor)
    return np.where(factor == 1, seconds, exact).astype(np.int64)


def converted_nodes(nodes: Ints, factor: NDArray[np.float64]) -> Ints:
    """Multiply nodes, rounded down, at least one."""
    return np.maximum(np.floor(np.round(nodes * factor, 6)), 1).astype(np.int64)


def names_in_order(names: Sequence[str], times: Sequence[float]) -> list[str]:
    """Sort names by time, the shortest first, ties as they come; NaN is left out."""
    able = [i for i, time in enumerate(times) if not np.isnan(time)]
    return [names[i] for i in sorted(able, key=lambda i: times[i])]
