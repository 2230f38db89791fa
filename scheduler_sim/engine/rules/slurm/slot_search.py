"""One try of the backfill scheduler: who starts at ``start`` needs nodes that no reservation holds.

Slurm tries now, and at each boundary of the plan from which on there are other nodes, until the
predicted start comes before the next such boundary. Nearly all tries fail because too few of the
nodes that are idle by then stay free of reservations. So that is looked at first, and noted: a
plan only fills up during a pass, and what is too little for one component is too little for all
that need as much for as long.
"""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.coscheduling.members import somebody_is_expected
from scheduler_sim.engine.rules.slurm.accelerate.interval_tree import longest_span, spans_by
from scheduler_sim.engine.rules.slurm.accelerate.release_order import put_seats, seated, words_before
from scheduler_sim.engine.rules.slurm.bits import (
    FULL,
    NONE,
    ONE,
    clear,
    copy,
    count,
    highest_in,
    keep_common,
    ones_in,
    words,
)
from scheduler_sim.engine.rules.slurm.het.advance import leave_out_reserved, next_begin
from scheduler_sim.engine.rules.slurm.node_space import beyond, ended_at, last_second, next_try, record_at
from scheduler_sim.engine.rules.slurm.state import NOTES, VECTOR, SlurmCore

AT_ONCE = 4  # sets, between two counts
FEW = 6  # records that are quicker to look at one by one


@part
def stay_free(core: SlurmCore, placement: int, record: int, start: int, following: int) -> bool:
    """Whether enough nodes that are idle when a record begins are free of reservations from ``start`` on.

    ``start`` lies in ``record``; without a ``following`` one, whoever ends counts. Their seats are in
    STAYING, and ENDED is how many have ended by then.
    """
    later = core.slurm.plan.record[following].begin if following >= 0 else INF
    way, it = core.slurm.way[placement], core.placements[placement]
    partition, row = core.slurm.partition[way.partition], core.slurm.plan.record[record].row
    last = last_second(core, start, it.limit)
    for i in range(NOTES):
        note = core.slurm.accelerate.note[row, way.partition, i]
        too_few = it.nodes > note.most or (it.nodes > note.left and last >= note.reach)
        if too_few and note.start == start and note.later >= later:
            return False
    core.slurm.memory.ended = ended_at(core, following) if following >= 0 else core.slurm.memory.ends
    found, reach = left_free(
        core, placement, record, start, core.slurm.seats.back[partition.module, core.slurm.memory.ended]
    )
    if found >= it.nodes:
        return True
    if way.mask == partition.members:
        note = core.slurm.accelerate.note[row, way.partition, _class(it.nodes)]
        if not (note.start == start and note.later >= later):
            note.start, note.most, note.left = start, INF, INF
        note.later = later
        if reach == -INF:
            note.most = found
        else:
            note.left, note.reach = found, reach
    return False


@part
def _class(nodes: int) -> int:
    """Which note is of those who need about as many nodes: a note on few holds for many, but says less."""
    return min(highest_in(np.uint64(nodes)), NOTES - 1)


@part
def clear_of_reserved(core: SlurmCore, placement: int, start: int, stop: int) -> bool:
    """Whether the seats STAYING before ``stop`` still suffice beside advance reservations."""
    if not somebody_is_expected(core):
        return True
    it, partition = core.placements[placement], core.slurm.partition[core.slurm.way[placement].partition]
    low, high = partition.low, words_before(partition, stop)
    kept, seats, staying = core.slurm.sets.rest, core.slurm.sets.either_seats, core.slurm.sets.staying
    copy(kept, core.slurm.nodes.masks[partition.module], low, partition.high)
    leave_out_reserved(core, kept, start, start + it.limit)
    put_seats(core, seats, kept, low, partition.high)
    keep_common(staying, seats, low, high)
    if start == core.clock.now:  # as the clock moves on, the next will be in the way
        core.slurm.memory.valid = min(
            core.slurm.memory.valid, next_begin(core, start + it.limit) - it.limit + 1
        )
    return count(staying, low, high) >= it.nodes


@part
def would_do(core: SlurmCore, placement: int, ahead: bool) -> bool:
    """Whether enough nodes are free of reservations, whoever runs on them, at some start that is tried."""
    nodes, start = core.placements[placement].nodes, core.clock.now
    all_seats = core.slurm.partition[core.slurm.way[placement].partition].high << 6
    record = record_at(core, start)
    while left_free(core, placement, record, start, all_seats)[0] < nodes or not clear_of_reserved(
        core, placement, start, all_seats
    ):
        record = next_try(core, placement, record, start) if ahead else -1
        if record < 0:
            return False
        start = core.slurm.plan.record[record].begin
    return True


@part
def others_leave(core: SlurmCore, placement: int) -> bool:
    """Whether nodes that stay free for the try sit behind those of components that have ended by its end."""
    way = core.slurm.way[placement]
    it, mask = core.slurm.partition[way.partition], core.slurm.nodes.choice[way.choice].mask
    seats = core.slurm.seats.back[it.module, core.slurm.memory.ended]
    members, up = core.slurm.seats.masks[seated(core, it, mask)], core.slurm.sets.up_seats
    cut = FULL << np.uint64(seats & 63)
    for word in range(seats >> 6, it.high):
        here = members[word] & up[word] & cut
        cut = FULL
        for i in range(core.slurm.memory.rows):
            here &= core.slurm.plan.space[core.slurm.plan.listed[i].row, word]
        if here != NONE:
            return True
    return False


@part
def left_free(core: SlurmCore, placement: int, record: int, start: int, stop: int) -> tuple[int, int]:
    """How many nodes in seats before ``stop`` no reservation holds, as far as it was looked.

    STAYING has their seats. Returns the time to which it was looked, too: -INF for the record in which
    ``start`` lies.
    """
    way, need, length = (
        core.slurm.way[placement],
        core.placements[placement].nodes,
        core.placements[placement].limit,
    )
    it, staying = core.slurm.partition[way.partition], core.slurm.sets.staying
    low, high = it.low, words_before(it, stop)
    inside = core.slurm.plan.record[record + 1].begin > start
    copy(
        staying,
        core.slurm.plan.space[core.slurm.plan.record[record].row] if inside else core.slurm.sets.up_seats,
        low,
        high,
    )
    keep_common(staying, core.slurm.seats.masks[seated(core, it, way.mask)], low, high)
    _end_at(staying, stop, high)
    left, reach = count(staying, low, high), -INF
    core.slurm.memory.rows = 0
    if left < need or not inside:
        return left, reach
    last = last_second(core, start, length)
    for i in range(1, _list_rows(core, record, start, last), AT_ONCE):
        low = _first_vector(staying, low, high)
        left = _keep_listed(core, i, low, high)
        reach = core.slurm.plan.listed[i + AT_ONCE - 1].reach
        if left < need:
            return left, reach
    behind = record_at(core, last) + 1
    if behind < core.slurm.memory.records:
        beyond(core, core.slurm.plan.record[behind].begin, start, length)
    return left, reach


@part
def _end_at(seats: Words, stop: int, high: int) -> None:
    """Leave the seats from ``stop`` on out of a set that is looked at up to the word ``high``."""
    word = stop >> 6
    if word < high:
        seats[word] &= (ONE << np.uint64(stop & 63)) - ONE
        clear(seats, word + 1, high)


@part
def _first_vector(seats: Words, low: int, high: int) -> int:
    """The first word of the first vector with a seat."""
    word = low
    while word < high and seats[word] == NONE:
        word += 1
    return word - (word - low) % VECTOR


@part
def _list_rows(core: SlurmCore, record: int, start: int, last: int) -> int:
    """List the sets of the plan for who is there from ``start``, in ``record``, to ``last``.

    Behind the first one they are whole groups of AT_ONCE: the last may stand there more than once.
    Returns how many there are.
    """
    listed, rows = core.slurm.plan.listed, 1
    listed[0].row = core.slurm.plan.record[record].row
    following, behind = record + 1, record_at(core, last) + 1
    if behind - following > FEW and core.slurm.memory.spans > 0:
        span = core.slurm.plan.mark[core.slurm.plan.record[following].row].span
        stop = spans_by(core, behind - 1, last + 1)
        while (
            span < stop and core.slurm.plan.record[following].begin < core.slurm.accelerate.span[span].begin
        ):
            listed[rows].row, listed[rows].reach = (
                core.slurm.plan.record[following].row,
                core.slurm.plan.record[following].begin,
            )
            rows, following = rows + 1, following + 1
        if span < stop:
            while span < stop:
                listed[rows].row, span = longest_span(span, stop)
                listed[rows].reach = core.slurm.accelerate.span[span].begin - 1
                rows += 1
            following = behind - 1
            while core.slurm.plan.record[following].begin > core.slurm.accelerate.span[stop].begin:
                following -= 1
    for i in range(following, behind):
        listed[rows].row, listed[rows].reach = core.slurm.plan.record[i].row, core.slurm.plan.record[i].begin
        rows += 1
    core.slurm.memory.rows = rows
    while (rows - 1) % AT_ONCE:
        listed[rows].row, listed[rows].reach = listed[rows - 1].row, listed[rows - 1].reach
        rows += 1
    return rows


@part
def _keep_listed(core: SlurmCore, first: int, low: int, high: int) -> int:
    """Keep what AT_ONCE sets that are listed have in common with STAYING; returns how much that is."""
    staying, listed = core.slurm.sets.staying, core.slurm.plan.listed
    one, two = core.slurm.plan.space[listed[first].row], core.slurm.plan.space[listed[first + 1].row]
    three, four = core.slurm.plan.space[listed[first + 2].row], core.slurm.plan.space[listed[first + 3].row]
    total = 0
    for word in words(low, high):
        staying[word] &= one[word] & two[word] & three[word] & four[word]
        total += ones_in(staying[word])
    return total
