"""Intervals of the plan: what stays free of reservations in several records in a row.

A try asks which nodes are free in all records from its start to its end, often a hundred of
them. Intervals answer for many records at once. The shortest begin and end where every few records one
began in the plan of the pass before; two of them make one of the next size, and so on, as in a tree.
Their rows in ``space`` stand before those of the records.
"""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.bits import copy, highest_in, lowest_in
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.rules.slurm.accelerate.state import INTERVALS_AT_MOST, AcceleratedCore

WORTH_IT = 40  # records
SHORTEST = 2  # records


@part
def open_intervals(core: AcceleratedCore) -> None:
    """For a plan in which nothing is reserved; the records are still those of the pass before.

    One more of the shortest than there are says where the last one ends.
    """
    records, plan = core.slurm.memory.records, core.slurm.plan.record
    size = 0
    if records > WORTH_IT:
        for record in range(0, records, records // INTERVALS_AT_MOST + SHORTEST):
            if plan[record].begin > core.clock.now:
                core.accelerate.interval[size].begin = plan[record].begin
                size += 1
    core.accelerate.progress.intervals = max(size - 1, 0)
    space = core.accelerate.space
    for i in range(list_all_intervals(core)):
        copy(space[core.accelerate.listed[i].row], core.accelerate.ranks.up, 0, space.shape[1])


@part
def interval_after(core: AcceleratedCore, time: int) -> int:
    """The first of the shortest that begins at ``time`` or later; how many there are if none does."""
    found, size = 0, core.accelerate.progress.intervals
    while size > 0:  # without branches
        half = (size + 1) // 2
        found += half & core.accelerate.interval[found + half - 1].begin - time >> 63
        size -= half
    return found


@part
def intervals_by(core: AcceleratedCore, record: int, time: int) -> int:
    """How many of the shortest have surely ended by a time, which lies in a record or ends it."""
    found = core.accelerate.mark[core.slurm.plan.record[record].row].interval
    return found if core.accelerate.interval[found].begin <= time else found - 1


@part
def longest_interval(first: int, stop: int) -> tuple[int, int]:
    """The longest that begins where one of the shortest does, and ends with ``stop`` or before.

    Returns its row, and the one of the shortest that comes after it.
    """
    row = INTERVALS_AT_MOST + first
    level = min(lowest_in(np.uint64(row)), highest_in(np.uint64(stop - first)))
    return row >> level, first + (1 << level)


@part
def list_all_intervals(core: AcceleratedCore) -> int:
    """List the rows of all intervals, of every size; returns how many there are."""
    return _list_rows(core, INTERVALS_AT_MOST, INTERVALS_AT_MOST + core.accelerate.progress.intervals - 1)


@part
def list_intervals(core: AcceleratedCore, begin: int, end: int) -> int:
    """List the rows of all that have a second between two times; returns how many there are."""
    first = max(interval_after(core, begin + 1) - 1, 0)
    last = interval_after(core, end) - 1
    if first > last or core.accelerate.interval[first + 1].begin <= begin:
        return 0
    return _list_rows(core, INTERVALS_AT_MOST + first, INTERVALS_AT_MOST + last)


@part
def _list_rows(core: AcceleratedCore, first: int, last: int) -> int:
    """List the rows from one of the shortest to another, and of all that they are part of."""
    rows, listed = 0, core.accelerate.listed
    while 0 < first <= last:
        for row in range(first, last + 1):
            listed[rows].row = row
            rows += 1
        first, last = first // 2, last // 2
    return rows
