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
