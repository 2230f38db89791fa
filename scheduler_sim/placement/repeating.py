"""What stands several times in a table, side by side."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Ints


def first_of(counts: Ints) -> Ints:
    """int64[n + 1]: where those of each begin, so many of each; the last is the end."""
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def repeated(counts: Ints) -> tuple[Ints, Ints]:
    """Repeat each position so many times; return the positions, and how many times each was before."""
    positions = np.repeat(np.arange(len(counts)), counts)
    return positions, np.arange(len(positions)) - first_of(counts)[positions]
