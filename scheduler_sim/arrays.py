"""Types of arrays that all of the package shares, and equal rows; the engine has types of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def alike(columns: Sequence[np.ndarray]) -> tuple[Ints, Ints]:
    """Number rows so that equal ones have the same; returns the numbers, int64[n], and the first of each."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    first = code[:0]
    for column in columns:
        values, which = np.unique(column, return_inverse=True)
        _, first, code = np.unique(code * len(values) + which, return_index=True, return_inverse=True)
    return code, first


def in_order_of_appearance(codes: np.ndarray, count: int) -> Ints:
    """Return the codes, 0 to ``count`` - 1, that occur in int[rows], in the order in which they first do."""
    if codes.strides == (0,):
        return np.asarray(codes[:1], dtype=np.int64)
    first = np.full(count, len(codes), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # the last one written stays: the first row
    order = np.argsort(first, kind="stable")
    return order[: np.count_nonzero(first < len(codes))]


def renumbered(codes: np.ndarray, count: int) -> tuple[np.ndarray, Ints]:
    """Number codes, int[rows], 0 to ``count`` - 1, from 0 in order of first appearance.

    Returns the numbers, int32[rows], and which code each number was, int64[numbers].
    """
    used = in_order_of_appearance(codes, count)
    place = np.zeros(count, dtype=np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    return place[codes], used
