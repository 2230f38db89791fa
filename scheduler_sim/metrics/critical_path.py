"""When each component of a workflow would end on an empty machine."""

from __future__ import annotations

import numpy as np

from scheduler_sim.metrics.ties import AFTER, DYNAMIC, Edges, Ties, ties, unit_labels
from scheduler_sim.result.columns import Columns, numbers

_LONG_AGO = np.iinfo(np.int64).min // 2


def ideal_ends(components: Columns, edges: Edges = None, offset: np.ndarray | None = None) -> np.ndarray:
    """Let everything start the moment its dependencies allow, on nodes without end.

    A workflow begins at 0. A component follows the latest of its dependencies (the earliest,
    where any one is enough) by their delay. A dependency on an end is satisfied at the end,
    or when the data was ready, if that is known: a call came then. The components of a unit
    start together, each at its offset, once all of them may.

    Where a call brought a component forward, the offset it got counts. Dependencies that
    go in a circle, which no simulation runs, bind nothing.

    Parameters
    ----------
    components : the table of a result.
    edges : as of :func:`scheduler_sim.metrics.ties.ties`; None for no dependencies.
    offset : int64[components], s from the start of its unit; None where components of one
        job are started one by one: each is then a unit of its own.

    Returns
    -------
    int64[components], s; without meaning for workflows of which a component never ran.
    """
    start = numbers(components, "start_time")
    run: np.ndarray = numbers(components, "end_time") - start
    tied = ties(edges)
    binding = tied.kind != DYNAMIC
    if offset is not None:
        unit = unit_labels(numbers(components, "modular_job_id"), tied)
        offset = np.minimum(offset, start - _first_starts(start, unit)[unit])
    elif binding.any():
        unit, offset = np.arange(len(run)), np.zeros(len(run), dtype=np.int64)
    else:
        return run
    ends: np.ndarray = offset + run
    if not binding.any():
        return ends
    tied = tied.picked(binding)
    satisfied = offset[tied.after_row] + _lags(start, run, tied) + tied.delay
    ends += _unit_starts(unit, tied, satisfied)[unit]
    return ends


def _first_starts(start: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """When the first component of each unit started, int64[units]."""
    first = np.full(int(unit.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, unit, start)
    return first


def _lags(start: np.ndarray, run: np.ndarray, tied: Ties) -> np.ndarray:
    """Seconds from the start of the component waited for to what was waited for, int64[edges]."""
    after_row, ready = tied.after_row, tied.ready
    to_end = run[after_row]
    to_call = np.where(ready < 0, to_end, np.clip(ready - start[after_row], 0, to_end))
    return np.where(tied.kind == AFTER, 0, to_call)


def _unit_starts(unit: np.ndarray, tied: Ties, satisfied: np.ndarray) -> np.ndarray:
    """Start the units level by level of the dependencies.

    Parameters
    ----------
    unit : int64[components]
    tied : the dependencies
    satisfied : int64[edges], s from the start of the unit waited for

    Returns
    -------
    int64[units], s
    """
    count = int(unit.max()) + 1
    order = np.argsort(unit[tied.after_row], kind="stable")
    row, satisfied, source = tied.row[order], satisfied[order], unit[tied.after_row[order]]
    edges_of = np.searchsorted(source, np.arange(count + 1))
    sign = np.ones(len(unit), dtype=np.int64)
    sign[tied.row[tied.any != 0]] = -1  # the earliest of some times is the latest of their negatives

    free = np.full(len(unit), _LONG_AGO)
    open_edges = np.bincount(row, minlength=len(unit))
    open_rows = np.bincount(unit[open_edges > 0], minlength=count)
    starts = np.zeros(count, dtype=np.int64)
    level = np.flatnonzero(open_rows == 0)
    while len(level):
        edges = _ranges(edges_of[level], edges_of[level + 1])
        rows = row[edges]
        np.maximum.at(free, rows, sign[rows] * (starts[source[edges]] + satisfied[edges]))
        np.subtract.at(open_edges, rows, 1)
        rows = np.unique(rows[open_edges[rows] == 0])
        units = unit[rows]
        np.maximum.at(starts, units, sign[rows] * free[rows])
        np.subtract.at(open_rows, units, 1)
        level = np.unique(units[open_rows[units] == 0])
    return starts


def _ranges(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Join the ranges [first, last)."""
    size = last - first
    return np.repeat(last - np.cumsum(size), size) + np.arange(size.sum())
