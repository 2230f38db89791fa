"""Spans of the plan: what stays free of reservations in several records in a row.

A try asks which nodes are free in all records from its start to its end, often a hundred of
them. Spans answer for many records at once. The shortest begin and end where every few records one
began in the plan of the pass before; two of them make one of the next size, and so on, as in a tree.
They are only there for speed, and change nothing. Their rows in ``space`` stand before those of the records.
"""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.rules.slurm.bits import copy, highest_in, lowest_in
from scheduler_sim.engine.rules.slurm.state import SPANS_AT_MOST, SlurmCore

WORTH_IT = 40  # records
SHORTEST = 2  # records


@part
def open_spans(core: SlurmCore) -> None:
    """For a plan in which nothing is reserved; the records are still those of the pass before.

    One more of the shortest than there are says where the last one ends.
    """
    every = core.slurm.memory.records // SPANS_AT_MOST + SHORTEST
    size = 0
    if core.slurm.memory.records > WORTH_IT:
        for record in range(0, core.slurm.memory.records, every):
            if core.slurm.plan.record[record].begin > core.clock.now:
                core.slurm.accelerate.span[size].begin = core.slurm.plan.record[record].begin
                size += 1
    core.slurm.memory.spans = max(size - 1, 0)
    for i in range(list_all_spans(core)):
        copy(
            core.slurm.plan.space[core.slurm.plan.listed[i].row],
            core.slurm.sets.up_seats,
            0,
            core.slurm.plan.space.shape[1],
        )


@part
def span_after(core: SlurmCore, time: int) -> int:
    """The first of the shortest spans that begins at ``time`` or later; how many there are if none does."""
    span, size = 0, core.slurm.memory.spans
    while size > 0:  # without branches
        half = (size + 1) // 2
        span += half & core.slurm.accelerate.span[span + half - 1].begin - time >> 63
        size -= half
    return span


@part
def spans_by(core: SlurmCore, record: int, time: int) -> int:
    """How many of the shortest spans have surely ended by a time, which lies in a record or ends it."""
    span = core.slurm.plan.mark[core.slurm.plan.record[record].row].span
    return span if core.slurm.accelerate.span[span].begin <= time else span - 1


@part
def longest_span(span: int, stop: int) -> tuple[int, int]:
    """The longest span that begins where one of the shortest does, and ends with ``stop`` or before.

    Returns its row, and the one of the shortest that comes after it.
    """
    row = SPANS_AT_MOST + span
    level = min(lowest_in(np.uint64(row)), highest_in(np.uint64(stop - span)))
    return row >> level, span + (1 << level)


@part
def list_all_spans(core: SlurmCore) -> int:
    """List the rows of all spans, of every size; returns how many there are."""
    return _list_rows(core, SPANS_AT_MOST, SPANS_AT_MOST + core.slurm.memory.spans - 1)


@part
def list_spans(core: SlurmCore, begin: int, end: int) -> int:
    """List the rows of all spans that have a second between two times; returns how many there are."""
    first = max(span_after(core, begin + 1) - 1, 0)
    last = span_after(core, end) - 1
    if first > last or core.slurm.accelerate.span[first + 1].begin <= begin:
        return 0
    return _list_rows(core, SPANS_AT_MOST + first, SPANS_AT_MOST + last)


@part
def _list_rows(core: SlurmCore, first: int, last: int) -> int:
    """List the rows from one of the shortest spans to another, and of all that they are part of."""
    rows, listed = 0, core.slurm.plan.listed
    while 0 < first <= last:
        for row in range(first, last + 1):
            listed[rows].row = row
            rows += 1
        first, last = first // 2, last // 2
    return rows
