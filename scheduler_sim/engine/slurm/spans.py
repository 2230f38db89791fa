"""Spans of the plan: what stays free of reservations in several records in a row.

A try asks which nodes are free in all records from its start to its end, often a hundred of
them. Spans answer for many records at once. They begin and end where every few records one began in the
plan of the pass before; they are only there for speed, and change nothing.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.bits import copy
from scheduler_sim.engine.slurm.slots import PICKED, RECORDS, SPANS, SPANS_AT_MOST, UP
from scheduler_sim.engine.state import NOW, Core

WORTH_IT = 40  # records


@part
def open_spans(core: Core) -> None:
    """For a plan in which nothing is reserved; the records are still those of the pass before.

    One more than there are says where the last one ends.
    """
    every = core.slurm[RECORDS] // SPANS_AT_MOST + 4
    size, record, passed = 0, 0, 0
    while core.slurm[RECORDS] > WORTH_IT and record >= 0 and size < SPANS_AT_MOST:
        if core.record[record].begin > core.clock[NOW]:
            passed += 1
            if passed % every == 0:
                core.span[size].begin, core.span[size].record = core.record[record].begin, 0
                if size > 0:
                    core.span[size - 1].end = core.span[size].begin
                copy(core.stretch[size], core.sets[UP], 0, core.stretch.shape[1])
                size += 1
        record = core.record[record].next
    core.slurm[SPANS] = max(size - 1, 0)


@part
def span_after(core: Core, time: int) -> int:
    """The first span that begins at ``time`` or later; how many there are if none does."""
    low, high = 0, core.slurm[SPANS]
    while low < high:
        middle = (low + high) // 2
        if core.span[middle].begin < time:
            low = middle + 1
        else:
            high = middle
    return low


@part
def record_at_begin(core: Core, i: int) -> int:
    """The record in which a span begins."""
    it = core.span[i]
    while core.record[it.record].end <= it.begin and core.record[it.record].next >= 0:
        it.record = core.record[it.record].next
    return it.record


@part
def record_is_gone(core: Core, record: int, into: int) -> None:
    """It was joined to the one before."""
    for i in range(core.slurm[SPANS] + 1):
        if core.span[i].record == record:
            core.span[i].record = into


@part
def reserve_in_spans(core: Core, size: int, begin: int, end: int) -> None:
    """Take the nodes PICKED, whose words are listed, out of all spans between two times."""
    for i in range(core.slurm[SPANS]):
        if core.span[i].begin < end and core.span[i].end > begin:
            for j in range(size):
                core.stretch[i, core.spots[j]] &= ~core.sets[PICKED, core.spots[j]]
