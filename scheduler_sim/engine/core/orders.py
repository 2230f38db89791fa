"""Orders that depend on time: keys for jobs that wait, taken anew at each pass.

A filler writes ``keys[i]`` for the component ``rows[i]`` at ``now`` (s since the first
submission); ``columns`` are those of ``scheduler_sim.policy.order``. It is passed to the
compiled loop by address, so that one loop serves every order.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.engine.core.jit import Filler as Compiled
from scheduler_sim.engine.core.jit import filler as kept

SUBMIT, LIMIT, NODES = 0, 1, 2  # rows of ``columns``
NOW_COLUMN, WAIT_COLUMN = -1, -2
Filler = Any


def _nothing(now: int, rows: np.ndarray, columns: np.ndarray, keys: np.ndarray) -> None:
    """Orders that do not depend on time have their keys beforehand."""


def _wfp3(now: int, rows: np.ndarray, columns: np.ndarray, keys: np.ndarray) -> None:
    for i in range(len(rows)):
        row = rows[i]
        ratio = (now - columns[SUBMIT, row]) / columns[LIMIT, row]
        keys[i] = -(ratio * ratio * ratio) * columns[NODES, row]


def _unicef(now: int, rows: np.ndarray, columns: np.ndarray, keys: np.ndarray) -> None:
    for i in range(len(rows)):
        row = rows[i]
        wait, nodes = now - columns[SUBMIT, row], columns[NODES, row]
        keys[i] = -wait / (math.log2(max(nodes, 2.0)) * columns[LIMIT, row])


BUILT_IN = {"static": _nothing, "wfp3": _wfp3, "unicef": _unicef}


def built_in(name: str) -> Filler:
    """Return the filler of a built-in order, or of ``static``."""
    function = BUILT_IN[name]
    if not COMPILED:
        return function
    return Compiled() if function is _nothing else kept(function)


def compiled(function: Callable[..., float], reads: tuple[int, ...]) -> Filler:
    """Return the filler of a user's function of the columns ``reads``, in its parameters' order.

    Where it gives NaN or fails, the component goes last; dividing by 0 gives infinity.
    Raises whatever the compiler says of a function it cannot compile.
    """
    count = len(reads)
    places = np.array(reads, dtype=np.int64)
    if not COMPILED:
        return _interpreted(function, places)
    import numba
    from numba.np.unsafe import ndarray

    from scheduler_sim.engine.compiler.fillers import address_here

    to_fixed_tuple: Callable[[np.ndarray, int], tuple[float, ...]] = cast(Any, ndarray.to_fixed_tuple)
    score = numba.njit(error_model="numpy")(function)

    def fill(now: int, rows: np.ndarray, columns: np.ndarray, keys: np.ndarray) -> None:
        values = np.empty(count, dtype=np.float64)
        for i in range(len(rows)):
            for j in range(count):
                if places[j] == NOW_COLUMN:
                    values[j] = now
                elif places[j] == WAIT_COLUMN:
                    values[j] = now - columns[SUBMIT, rows[i]]
                else:
                    values[j] = columns[places[j], rows[i]]
            keys[i] = np.inf
            try:
                key = float(1.0 * score(*to_fixed_tuple(values, count)))  # it may be a truth
                if not np.isnan(key):
                    keys[i] = key
            except Exception:
                pass

    return Compiled(*address_here(fill))


def _interpreted(function: Callable[..., float], places: np.ndarray) -> Filler:
    def fill(now: int, rows: np.ndarray, columns: np.ndarray, keys: np.ndarray) -> None:
        for i, row in enumerate(rows):
            extra = {NOW_COLUMN: np.float64(now), WAIT_COLUMN: now - columns[SUBMIT, row]}
            keys[i] = np.inf
            with contextlib.suppress(Exception), np.errstate(all="ignore"):
                key = float(function(*[extra[j] if j < 0 else columns[j, row] for j in places]))
                if not np.isnan(key):
                    keys[i] = key

    return fill
