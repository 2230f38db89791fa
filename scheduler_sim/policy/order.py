"""Orders of the queue: the key of each component, smaller first (rule 3).

Units: r = time limit (s), n = nodes, s = submit - first submit of the trace (s),
w = now - submit (s). wfp3 and unicef from Tang et al. (Cluster 2009), f1 to f4 from
Carastan-Santos and de Camargo (SC'17), by the formulas as those papers print them.
Logarithms are taken one by one by the C library: vectorised ones differ in the last
bit from one processor to the next, and so would the queue.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from scheduler_sim.arrays import Floats
from scheduler_sim.errors import ConfigError, did_you_mean

Key = Callable[[Floats, Floats, Floats], Floats]

COLUMNS = ("submit", "limit", "nodes", "memory_kb", "priority")
"""What a user's own order may read of a component: submit (s since the first of the
trace), limit (s), nodes, memory_kb (per node, -1 = not stated), priority (of its partition)."""

TIMES = ("now", "wait")
"""... and what makes an order depend on time: now (s since the first submission) and wait (s)."""


def _log10(values: Floats) -> Floats:
    return np.fromiter(map(math.log10, values.tolist()), dtype=np.float64, count=len(values))


def _log2(values: Floats) -> Floats:
    return np.fromiter(map(math.log2, values.tolist()), dtype=np.float64, count=len(values))


def _submitted(s: Floats) -> Floats:
    return _log10(np.maximum(s, 1.0))


STATIC: dict[str, Key] = {
    "fifo": lambda s, r, n: np.zeros(len(r)),
    "sjf": lambda s, r, n: r,
    "ljf": lambda s, r, n: -r,
    "smallest": lambda s, r, n: n,
    "largest": lambda s, r, n: -n,
    "f1": lambda s, r, n: _log10(r) * n + 870 * _submitted(s),
    "f2": lambda s, r, n: np.sqrt(r) * n + 25600 * _submitted(s),
    "f3": lambda s, r, n: r * n + 6.86e6 * _submitted(s),
    "f4": lambda s, r, n: r * np.sqrt(n) + 5.3e5 * _submitted(s),
}
MOVING: dict[str, Key] = {
    "wfp3": lambda w, r, n: -((w / r) * (w / r) * (w / r)) * n,
    "unicef": lambda w, r, n: -w / (_log2(np.maximum(n, 2.0)) * r),
}
"""Orders that depend on time; the engine has the same formulas compiled."""


def keys(order: str, *, submit: Floats, limit: Floats, nodes: Floats, wait: Floats) -> Floats:
    """Return the keys of a built-in order; the smallest goes first.

    Parameters
    ----------
    order : a name in ``STATIC`` or ``MOVING``
    submit : float64[n], s since the first submission of the trace
    limit, wait : float64[n], s; nodes : float64[n]
    """
    if order in MOVING:
        return MOVING[order](wait, limit, nodes)
    return STATIC[order](submit, limit, nodes)


def parameters_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the columns a user's order reads, by the names of its parameters. Raises ConfigError."""
    allowed = (*COLUMNS, *TIMES)
    try:
        names = tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # some functions written in C do not tell
        raise ConfigError(
            f"order function {function!r}: its parameters cannot be read; allowed: {', '.join(allowed)}"
        ) from None
    for name in names:
        if name not in allowed:
            raise ConfigError(
                f"order function {getattr(function, '__name__', function)!r}: parameter {name!r}; "
                f"allowed: {', '.join(allowed)}{did_you_mean(name, allowed)}"
            )
    return names


def depends_on_time(order: str, function: Callable[..., Any] | None) -> bool:
    """Whether keys must be taken anew at each pass."""
    if function is not None:
        return any(name in TIMES for name in parameters_of(function))
    return order in MOVING


def static_keys(order: str, function: Callable[..., Any] | None, columns: Floats) -> Floats:
    """Return the keys of an order that does not depend on time.

    Parameters
    ----------
    order : its name; function : the user's own, or None
    columns : float64[len(COLUMNS), n]

    Raises
    ------
    ConfigError if a user's function fails or gives something that is not a number.
    """
    if function is None:
        submit, limit, nodes = columns[:3]
        return STATIC[order](submit, limit, nodes)
    places = [COLUMNS.index(name) for name in parameters_of(function)]
    name = getattr(function, "__name__", str(function))
    try:
        with np.errstate(all="ignore"):
            keys = np.array([function(*row) for row in columns[places].T], dtype=np.float64)
    except Exception as error:  # whatever the user's function raises
        raise ConfigError(f"order function {name!r} fails: {type(error).__name__}: {error}") from error
    if np.isnan(keys).any():
        row = int(np.flatnonzero(np.isnan(keys))[0])
        raise ConfigError(f"order function {name!r} returns NaN for component {row} of the queue (from 0)")
    return keys
