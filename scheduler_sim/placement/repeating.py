"""What stands several times in a table, side by side."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Ints


def first_of(counts: Ints) -> Ints:
    """int64[n + 1]: where those of each begin, so many of each; the last is the end."""
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def as_slice(rows: Ints) -> slice | Ints:
    """Return row numbers, as a slice where they are the first ones in order."""
    count = len(rows)
    in_order = not count or (rows[-1] == count - 1 and rows[0] == 0 and bool((rows[1:] > rows[:-1]).all()))
    return slice(0, count) if in_order else rows


def repeated(counts: Ints) -> tuple[Ints, Ints]:
    """Repeat each position so many times; return the positions, and how many times each was before."""
    positions = np.repeat(np.arange(len(counts)), counts)
    return positions, np.arange(len(positions)) - first_of(counts)[positions]
