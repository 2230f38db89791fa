"""One try of the backfill scheduler: who starts at ``start`` needs nodes that no reservation holds.

Slurm tries now, and at each boundary of the plan from which on there are other nodes, until the
predicted start comes before the next such boundary. Nearly all tries fail because too few of the
nodes that are idle by then stay free of reservations. So that is looked at first, and noted: a
plan only fills up during a pass, and what is too little for one component is too little for all
that need as much for as long.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.advance import leave_out_reserved
from scheduler_sim.engine.slurm.bits import NONE, copy, count, count_common, keep_common, words
from scheduler_sim.engine.slurm.node_space import beyond, last_second, next_try, record_at
from scheduler_sim.engine.slurm.planned_ends import ended_by, give_back_by
from scheduler_sim.engine.slurm.slots import AVAILABLE, ENDS, GIVEN, RECORDS, STAYING, UP, WINDOW_END
from scheduler_sim.engine.slurm.spans import longest_span, span_after, spans_by
from scheduler_sim.engine.state import APPOINTMENTS, INF, NOW, Core

COUNT_EVERY = 4  # records
FEW = 6  # records that are quicker to look at one by one


@part
def stay_free(core: Core, placement: int, record: int, start: int, later: int) -> bool:
    """Whether enough nodes that are idle by ``later`` are free of reservations from ``start`` on.

    ``start`` lies in ``record``. They are in AVAILABLE, and all that are idle by then in GIVEN.
    """
    way, it = core.way[placement], core.place[placement]
    partition, note = core.partition[way.partition], core.note[core.record[record].row, way.partition]
    known = note.start == start and note.later >= later
    last = last_second(core, start, it.limit)
    if known and (it.nodes > note.most or (it.nodes > note.left and last >= note.reach)):
        return False
    give_back_by(core, core.slurm[ENDS] if later == INF else ended_by(core, later))
    found, reach = left_free(core, placement, record, start, GIVEN)
    if found >= it.nodes:
        available = core.sets[AVAILABLE]
        copy(available, core.sets[STAYING], partition.low, partition.high)
        keep_common(available, core.sets[GIVEN], partition.low, partition.high)
        return _clear_behind(core, placement, start)
    if way.mask == partition.members:
        if not known:
            note.start, note.most, note.left = start, INF, INF
        note.later = later
        if reach == -INF:
            note.most = found
        else:
            note.left, note.reach = found, reach
    return False


@part
def _clear_behind(core: Core, placement: int, start: int) -> bool:
    """Whether the nodes AVAILABLE still suffice beside advance reservations that begin behind the plan."""
    it, partition = core.place[placement], core.partition[core.way[placement].partition]
    if core.clock[APPOINTMENTS] > 0 and start + it.limit > core.slurm[WINDOW_END]:
        available = core.sets[AVAILABLE]
        leave_out_reserved(core, available, core.slurm[WINDOW_END], start + it.limit)
        return count(available, partition.low, partition.high) >= it.nodes
    return True


@part
def would_do(core: Core, placement: int, ahead: bool) -> bool:
    """Whether enough nodes are free of reservations, whoever runs on them, at some start that is tried."""
    nodes, start = core.place[placement].nodes, core.clock[NOW]
    record = record_at(core, start)
    while left_free(core, placement, record, start, UP)[0] < nodes:
        record = next_try(core, placement, record, start) if ahead else -1
        if record < 0:
            return False
        start = core.record[record].begin
    return True


@part
def others_leave(core: Core, placement: int) -> bool:
    """Whether nodes that ``stay_free`` found so are held by components that end after those in GIVEN."""
    way = core.way[placement]
    it, mask = core.partition[way.partition], core.masks[core.choice[way.choice].mask]
    staying, given = core.sets[STAYING], core.sets[GIVEN]
    for i in words(it.low, it.high):
        if staying[i] & mask[i] & ~given[i] != NONE:
            return True
    return False


@part
def left_free(core: Core, placement: int, record: int, start: int, source: int) -> tuple[int, int]:
    """How many nodes of a set no reservation holds, as far as it was looked, and up to what time that is.

    STAYING has them, and those like them outside the set. The time is -INF for the record in which
    ``start`` lies.
    """
    way, need, length = core.way[placement], core.place[placement].nodes, core.place[placement].limit
    it, staying, wanted = core.partition[way.partition], core.sets[STAYING], core.sets[source]
    inside = core.record[record + 1].begin > start
    copy(staying, core.space[core.record[record].row] if inside else core.sets[UP], it.low, it.high)
    keep_common(staying, core.masks[way.mask], it.low, it.high)
    left = count_common(staying, wanted, it.low, it.high)
    if left < need or not inside:
        return left, -INF
    last, rows, reach = last_second(core, start, length), 0, -INF
    following, behind = record + 1, record_at(core, last) + 1
    span = stop = 0
    if behind - following > FEW:
        span, stop = span_after(core, start), spans_by(core, last + 1)
    in_spans = False
    while following < behind:
        if span < stop and (in_spans or core.record[following].begin >= core.span[span].begin):
            in_spans = True
            row, span = longest_span(span, stop)
            keep_common(staying, core.stretch[row], it.low, it.high)
            reach = core.span[span].begin - 1
            if span == stop:
                following = max(following, record_at(core, reach + 1))
        else:
            keep_common(staying, core.space[core.record[following].row], it.low, it.high)
            reach, following = core.record[following].begin, following + 1
        rows += 1
        if rows % COUNT_EVERY == 0 and count_common(staying, wanted, it.low, it.high) < need:
            break
    else:
        if behind < core.slurm[RECORDS]:
            beyond(core, core.record[behind].begin, start, length)
    return count_common(staying, wanted, it.low, it.high), reach
