"""A try by ranks: it looks no further than the nodes that are idle by the next, and remembers what it found.

Nearly all attempts fail because too few of the nodes that are idle by then stay free of reservations. So
that is looked at first, and noted: a plan only fills up during a pass, and what is too little for one job
is too little for all that need as much for as long.
"""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.bits import (
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
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.accelerate.interval_tree import intervals_by, longest_interval
from scheduler_sim.engine.rules.slurm.accelerate.release_order import (
    keep_nodes,
    put_ranks,
    ranked,
    words_before,
)
from scheduler_sim.engine.rules.slurm.accelerate.state import INTERVAL_ROWS, NOTES, AcceleratedCore
from scheduler_sim.engine.rules.slurm.advance_reservations import leave_out_reserved
from scheduler_sim.engine.rules.slurm.node_space import beyond, last_second, record_at
from scheduler_sim.engine.rules.slurm.planned_ends import ended_by
from scheduler_sim.engine.rules.slurm.slot_search import (
    are_unreserved,
    left_beside_reserved,
    others_leave,
    put_offered,
    stay_free,
)
from scheduler_sim.engine.rules.slurm.state import VECTOR, Partition

AT_ONCE = 4  # sets, between two counts
FEW = 6  # records that are quicker to look at one by one


@on(stay_free, "accelerate", unless="reservations")
def ranks_stay_free(core: AcceleratedCore, placement: int, record: int, start: int, following: int) -> bool:
    """Whether enough ranks before those of jobs that end later are free of reservations."""
    later = core.slurm.plan.record[following].begin if following >= 0 else INF
    way, it = core.slurm.way[placement], core.placements[placement]
    partition, row = core.slurm.partition[way.partition], core.slurm.plan.record[record].row
    last = last_second(core, start, it.limit)
    for i in range(NOTES):
        note = core.accelerate.note[row, way.partition, i]
        too_few = it.nodes > note.most or (it.nodes > note.left and last >= note.reach)
        if too_few and note.start == start and note.later >= later:
            return False
    ended = _ended_at(core, following) if following >= 0 else core.accelerate.progress.ends
    core.slurm.memory.ended = ended
    stop = core.accelerate.ranks.idle_end[partition.module, ended]
    found, reach = left_free(core, placement, record, start, stop)
    if found >= it.nodes:
        return True
    if way.mask == partition.members:
        # one on few nodes holds for many, but says less: there is one of each size, about
        size = min(highest_in(np.uint64(it.nodes)), NOTES - 1)
        note = core.accelerate.note[row, way.partition, size]
        if not (note.start == start and note.later >= later):
            note.start, note.most, note.left = start, INF, INF
        note.later = later
        if reach == -INF:
            note.most = found
        else:
            note.left, note.reach = found, reach
    return False


@part
def _ended_at(core: AcceleratedCore, record: int) -> int:
    """How many jobs are planned to have ended when a record begins."""
    mark = core.accelerate.mark[core.slurm.plan.record[record].row]
    if mark.ordering != core.accelerate.progress.ordering:
        mark.ordering = core.accelerate.progress.ordering
        mark.ended = ended_by(core, core.slurm.plan.record[record].begin)
    return mark.ended


@on(are_unreserved, "accelerate", unless="reservations")
def ranks_are_unreserved(core: AcceleratedCore, placement: int, record: int, start: int) -> bool:
    """Whether enough of all ranks are."""
    stop = core.slurm.partition[core.slurm.way[placement].partition].high << 6
    return left_free(core, placement, record, start, stop)[0] >= core.placements[placement].nodes


@on(put_offered, "accelerate", unless="reservations")
def put_ranks_offered(core: AcceleratedCore, placement: int, target: Words) -> None:
    """``target`` becomes the nodes of all ranks that no reservation holds; a try looks at the first."""
    it, now = core.slurm.partition[core.slurm.way[placement].partition], core.clock.now
    left, _ = left_free(core, placement, record_at(core, now), now, it.high << 6)
    copy(target, core.slurm.sets.up, it.low, it.high)
    keep_nodes(core, target, core.slurm.sets.staying, it, it.high << 6, left)


@on(left_beside_reserved, "accelerate")
def ranks_beside_reserved(core: AcceleratedCore, placement: int, start: int) -> int:
    """Take the ranks of nodes out that advance reservations hold, as far as the try has looked."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    low, high = it.low, words_before(it, core.accelerate.progress.stop)
    kept, ranks, staying = core.slurm.sets.rest, core.slurm.sets.either, core.slurm.sets.staying
    copy(kept, core.slurm.nodes.masks[it.module], low, it.high)
    leave_out_reserved(core, kept, start, start + core.placements[placement].limit)
    put_ranks(core, ranks, kept, low, it.high)
    keep_common(staying, ranks, low, high)
    return count(staying, low, high)


@on(others_leave, "accelerate", unless="reservations")
def ranks_left_behind(core: AcceleratedCore, placement: int) -> bool:
    """Whether ranks that stay free for the try are behind those of jobs that have ended by its end."""
    way = core.slurm.way[placement]
    it, mask = core.slurm.partition[way.partition], core.slurm.nodes.choice[way.choice].mask
    return any_left_behind(core, it, core.accelerate.ranks.masks[ranked(core, it, mask)])


@part
def any_left_behind(core: AcceleratedCore, it: Partition, members: Words) -> bool:
    """Whether any of these ranks are."""
    stop, up = core.accelerate.ranks.idle_end[it.module, core.slurm.memory.ended], core.accelerate.ranks.up
    cut = FULL << np.uint64(stop & 63)
    for word in range(stop >> 6, it.high):
        here = members[word] & up[word] & cut
        cut = FULL
        for i in range(core.accelerate.progress.rows):
            here &= core.accelerate.space[core.accelerate.listed[i].row, word]
        if here != NONE:
            return True
    return False


@part
def left_free(core: AcceleratedCore, placement: int, record: int, start: int, stop: int) -> tuple[int, int]:
    """How many nodes with ranks before ``stop`` no reservation holds, as far as it was looked.

    STAYING has the ranks. Returns the time to which it was looked, too: -INF for the record in which
    ``start`` lies.
    """
    way, it = core.slurm.way[placement], core.placements[placement]
    partition, staying = core.slurm.partition[way.partition], core.slurm.sets.staying
    plan, low, high = core.slurm.plan, partition.low, words_before(partition, stop)
    core.accelerate.progress.rows, core.accelerate.progress.stop = 0, stop
    inside = plan.record[record + 1].begin > start
    copy(staying, plan.space[plan.record[record].row] if inside else core.accelerate.ranks.up, low, high)
    keep_common(staying, core.accelerate.ranks.masks[ranked(core, partition, way.mask)], low, high)
    _end_at(staying, stop, high)
    left, reach = count(staying, low, high), -INF
    if left < it.nodes or not inside:
        return left, reach
    last = last_second(core, start, it.limit)
    for i in range(1, _list_rows(core, record, last), AT_ONCE):
        low = _first_vector(staying, low, high)
        left = _keep_listed(core, i, low, high)
        reach = core.accelerate.listed[i + AT_ONCE - 1].reach
        if left < it.nodes:
            return left, reach
    behind = record_at(core, last) + 1
    if behind < core.slurm.memory.records:
        beyond(core, plan.record[behind].begin, start, it.limit)
    return left, reach


@part
def _end_at(ranks: Words, stop: int, high: int) -> None:
    """Leave the ranks from ``stop`` on out of a set that is looked at up to the word ``high``."""
    word = stop >> 6
    if word < high:
        ranks[word] &= (ONE << np.uint64(stop & 63)) - ONE
        clear(ranks, word + 1, high)


@part
def _first_vector(ranks: Words, low: int, high: int) -> int:
    """The first word of the first vector that is not empty."""
    word = low
    while word < high and ranks[word] == NONE:
        word += 1
    return word - (word - low) % VECTOR


@part
def _list_rows(core: AcceleratedCore, record: int, last: int) -> int:
    """List the sets of the plan for a job that is there from ``record`` to the time ``last``.

    Behind the first one they are whole groups of AT_ONCE: the last may stand there more than once.
    Returns how many there are.
    """
    listed, plan, interval = core.accelerate.listed, core.slurm.plan.record, core.accelerate.interval
    rows = 1
    listed[0].row = INTERVAL_ROWS + plan[record].row
    following, behind = record + 1, record_at(core, last) + 1
    if behind - following > FEW and core.accelerate.progress.intervals > 0:
        first = core.accelerate.mark[plan[following].row].interval
        stop = intervals_by(core, behind - 1, last + 1)
        while first < stop and plan[following].begin < interval[first].begin:
            rows, following = _list_record(core, rows, following), following + 1
        if first < stop:
            while first < stop:
                listed[rows].row, first = longest_interval(first, stop)
                listed[rows].reach = interval[first].begin - 1
                rows += 1
            following = behind - 1
            while plan[following].begin > interval[stop].begin:
                following -= 1
    for i in range(following, behind):
        rows = _list_record(core, rows, i)
    core.accelerate.progress.rows = rows
    while (rows - 1) % AT_ONCE:
        listed[rows].row, listed[rows].reach = listed[rows - 1].row, listed[rows - 1].reach
        rows += 1
    return rows


@part
def _list_record(core: AcceleratedCore, rows: int, record: int) -> int:
    """List the set of a record behind so many others; returns how many there are."""
    listed, it = core.accelerate.listed[rows], core.slurm.plan.record[record]
    listed.row, listed.reach = INTERVAL_ROWS + it.row, it.begin
    return rows + 1


@part
def _keep_listed(core: AcceleratedCore, first: int, low: int, high: int) -> int:
    """Keep what AT_ONCE sets that are listed have in common with STAYING; returns how much that is."""
    staying, listed, space = core.slurm.sets.staying, core.accelerate.listed, core.accelerate.space
    one, two = space[listed[first].row], space[listed[first + 1].row]
    three, four = space[listed[first + 2].row], space[listed[first + 3].row]
    total = 0
    for word in words(low, high):
        staying[word] &= one[word] & two[word] & three[word] & four[word]
        total += ones_in(staying[word])
    return total
