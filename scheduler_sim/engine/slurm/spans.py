"""Spans of the plan: what stays free of reservations in several records in a row.

A try asks which nodes are free in all records from its start to its end, often a hundred of
them. Spans answer for many records at once. The shortest begin and end where every few records one
began in the plan of the pass before; two of them make one of the next size, and so on, as in a tree.
They are only there for speed, and change nothing.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.bits import copy
from scheduler_sim.engine.slurm.slots import PICKED, RECORDS, SPANS, SPANS_AT_MOST, UP
from scheduler_sim.engine.state import NOW, Core

WORTH_IT = 40  # records
SHORTEST = 2  # records


@part
def open_spans(core: Core) -> None:
    """For a plan in which nothing is reserved; the records are still those of the pass before.

    One more of the shortest than there are says where the last one ends.
    """
    every = core.slurm[RECORDS] // SPANS_AT_MOST + SHORTEST
    size = 0
    if core.slurm[RECORDS] > WORTH_IT:
        for record in range(0, core.slurm[RECORDS], every):
            if core.record[record].begin > core.clock[NOW]:
                core.span[size].begin = core.record[record].begin
                size += 1
    core.slurm[SPANS] = max(size - 1, 0)
    first, last = SPANS_AT_MOST, SPANS_AT_MOST + core.slurm[SPANS] - 1
    while first <= last and first > 0:
        for row in range(first, last + 1):
            copy(core.stretch[row], core.sets[UP], 0, core.stretch.shape[1])
        first, last = first // 2, last // 2


@part
def span_after(core: Core, time: int) -> int:
    """The first of the shortest spans that begins at ``time`` or later; how many there are if none does."""
    span, size = 0, core.slurm[SPANS]
    while size > 0:  # without branches
        half = (size + 1) // 2
        span += half * (core.span[span + half - 1].begin < time)
        size -= half
    return span


@part
def spans_by(core: Core, time: int) -> int:
    """How many of the shortest spans have ended by then."""
    size = core.slurm[SPANS]
    if size > 0 and core.span[size].begin <= time:
        return size
    return max(span_after(core, time + 1) - 1, 0)


@part
def longest_span(span: int, stop: int) -> tuple[int, int]:
    """The longest span that begins where one of the shortest does, and ends with ``stop`` or before.

    Returns its row, and the one of the shortest that comes after it.
    """
    row, length = SPANS_AT_MOST + span, 1
    while row % 2 == 0 and span + 2 * length <= stop:
        row, length = row // 2, 2 * length
    return row, span + length


@part
def reserve_in_spans(core: Core, size: int, begin: int, end: int) -> None:
    """Take the nodes PICKED, whose words are listed, out of all spans between two times."""
    first = max(span_after(core, begin + 1) - 1, 0)
    last = span_after(core, end) - 1
    if first > last or core.span[first + 1].begin <= begin:
        return
    first, last = SPANS_AT_MOST + first, SPANS_AT_MOST + last
    while first > 0:
        for i in range(size):
            word = core.spots[i]
            others = ~core.sets[PICKED, word]
            for row in range(first, last + 1):
                core.stretch[row, word] &= others
        first, last = first // 2, last // 2
