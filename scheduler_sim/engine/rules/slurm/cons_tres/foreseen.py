"""Whether a job fits on nodes that others share, now or once some of those that run have ended.

Running jobs leave in groups, by planned ends, each group twice as wide as the one before; with the first
group after which the job fits, the end of the last of the group is its expected start (``_will_run_test`` of
cons_common/job_test.c).
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, ONE, copy, count_common, keep_common, lowest_in
from scheduler_sim.engine.core.hooks import agreement, event, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.cons_tres.able_by import (
    count_about_able_by,
    enough_able_by,
    keep_able_by,
)
from scheduler_sim.engine.rules.slurm.cons_tres.alike import pick_alike, weigh_alike
from scheduler_sim.engine.rules.slurm.cons_tres.choice import choose_nodes, takes_first_that_fits
from scheduler_sim.engine.rules.slurm.cons_tres.leaving import next_among, placed_of, runs_among
from scheduler_sim.engine.rules.slurm.cons_tres.levels import refresh
from scheduler_sim.engine.rules.slurm.cons_tres.room import (
    copy_room,
    leave_later,
    pick_chosen,
    room_later,
    room_now,
)
from scheduler_sim.engine.rules.slurm.cons_tres.state import AHEAD, AMONG_ABLE, ConsTresCore, Room
from scheduler_sim.engine.rules.slurm.cons_tres.tenants import forget_changed, leave_by
from scheduler_sim.engine.rules.slurm.planned_ends import ended_by, planned_end, running
from scheduler_sim.engine.rules.slurm.predicted import FIRST_GROUP_S, end_as_seen, first_barrier, wider
from scheduler_sim.engine.rules.slurm.state import Partition


@part
def fits_now(core: ConsTresCore, placement: int, nodes: Words) -> bool:
    """Whether a placement fits on some of these nodes now: they are CHOSEN."""
    number = core.cons_tres.asked[placement].need
    need = core.cons_tres.need[number]
    nodes_sought(core, placement, nodes)
    if not need.even:
        if need.by_able and _too_few_able_now(core, placement, nodes):
            return False
        return fits_in(core, number, room_now(core), nodes) and will_do(core, placement)
    it = core.slurm.partition[core.slurm.way[placement].partition]
    refresh(core, need.level)
    able = core.cons_tres.able_by[need.level, 0]
    if count_common(able, nodes, it.low, it.high) < need.min_nodes:
        return False
    if need.even == AMONG_ABLE:
        among = core.slurm.sets.best
        copy(among, nodes, it.low, it.high)
        keep_common(among, able, it.low, it.high)
        return choose_nodes(core, number, room_now(core), among, False)
    return choose_nodes(core, number, room_now(core), nodes, False)


@part
def _too_few_able_now(core: ConsTresCore, placement: int, nodes: Words) -> bool:
    """Whether fewer of these nodes are able than a placement takes at least."""
    need = core.cons_tres.need[core.cons_tres.asked[placement].need]
    it = core.slurm.partition[core.slurm.way[placement].partition]
    refresh(core, need.level)
    return count_common(core.cons_tres.able_by[need.level, 0], nodes, it.low, it.high) < need.min_nodes


@part
def goes_by_able(core: ConsTresCore, placement: int) -> bool:
    """Whether a placement takes so many able nodes at least, and nothing comes of a try where they lack."""
    need = core.cons_tres.need[core.cons_tres.asked[placement].need]
    return bool(need.by_able and (need.even or only_a_start_matters(core, placement)))


@question
def only_a_start_matters(core: ConsTresCore, placement: int) -> bool:
    """Whether it makes no difference that a placement was tried in vain."""
    return True


@event
def nodes_sought(core: ConsTresCore, placement: int, nodes: Words) -> None:
    """Some of these nodes are sought for a placement now."""


@agreement
def will_do(core: ConsTresCore, placement: int) -> bool:
    """Whether the nodes CHOSEN will do for a placement that is not even, on which it fits."""
    return True


@question
def fits_in(core: ConsTresCore, need: int, room: Room, nodes: Words) -> bool:
    """Whether it fits in a room: on nodes CHOSEN."""
    return fits_on_free(core, need, room, nodes)


@part
def fits_on_free(core: ConsTresCore, need: int, room: Room, nodes: Words) -> bool:
    """Whether it fits with what is free in a room; it must also fit if all cores there were free."""
    if not choose_nodes(core, need, room, nodes, False) or not choose_nodes(core, need, room, nodes, True):
        return False
    return choose_nodes(core, need, room, nodes, False)


@part
def may_fit_by(core: ConsTresCore, placement: int, nodes: Words, later: int) -> bool:
    """Whether enough nodes are able once all have left that are planned to by ``later``."""
    need = core.cons_tres.need[core.cons_tres.asked[placement].need]
    if later == INF or not goes_by_able(core, placement):
        return True
    refresh(core, need.level)
    it = core.slurm.partition[core.slurm.way[placement].partition]
    return count_about_able_by(core, need.level, it, nodes, later) >= need.min_nodes


@part
def expected_start(core: ConsTresCore, placement: int, nodes: Words, start: int, later: int) -> int:
    """When what is tried at ``start`` will fit on these nodes: on those PICKED; INF if not by ``later``.

    Since 24.11 what is planned to end by the start that is tried has ended, and of the others only those
    count that are planned to end by the next try.
    """
    core.cons_tres.attempt.asks = AHEAD
    need = core.cons_tres.need[core.cons_tres.asked[placement].need]
    it = core.slurm.partition[core.slurm.way[placement].partition]
    if not need.even:
        enough = 0
        if goes_by_able(core, placement):
            refresh(core, need.level)
            enough = enough_able_by(core, need.level, it, nodes, need.min_nodes, later)
        core.cons_tres.bounding.enough = enough
        time = _start_by_trial(core, placement, it, nodes, enough, start, later) if enough < INF else INF
        return time if time <= later else INF
    refresh(core, need.level)
    enough = core.cons_tres.bounding.enough = enough_able_by(
        core, need.level, it, nodes, need.min_nodes, later
    )
    if enough == INF:
        return INF
    if core.slurm.rules.future_starts and enough <= start:
        _pick_after(core, placement, it, nodes, start)
        return start
    first = next_among(core, it, nodes, ended_at_start(core, start))
    if first >= ends_that_count(core, later):
        return INF
    last = _last_of_group_with(core, it, nodes, first, enough, later)
    end = planned_end(core, last)
    if _is_shared_end(core, it, nodes, last):
        time = _start_by_trial(core, placement, it, nodes, enough, start, later)
        return time if time <= later else INF
    if end_as_seen(core, end) > later:
        return INF
    _pick_after(core, placement, it, nodes, end)
    return end_as_seen(core, last_end_of_chosen(core, it, start, end))


@part
def _is_shared_end(core: ConsTresCore, it: Partition, nodes: Words, last: int) -> bool:
    """Whether one that leaves behind the last of a group, on these nodes, is planned to end with it."""
    following = last + 1
    if following == running(core) or planned_end(core, following) > planned_end(core, last):
        return False
    following = next_among(core, it, nodes, following)
    return bool(following < running(core) and planned_end(core, following) == planned_end(core, last))


@part
def ended_at_start(core: ConsTresCore, start: int) -> int:
    """How many of the jobs that run have ended at a start that is tried."""
    return ended_by(core, start) if core.slurm.rules.future_starts else 0


@part
def ends_that_count(core: ConsTresCore, later: int) -> int:
    """How many of them count, if there is another try ``later``."""
    if later < INF and core.slurm.rules.future_starts:
        return ended_by(core, later)
    return running(core)


@part
def last_end_of_chosen(core: ConsTresCore, it: Partition, start: int, end: int) -> int:
    """The end of the last to leave the nodes PICKED, of those planned to end behind a start up to ``end``."""
    if not core.slurm.rules.end_of_chosen:
        return end
    part, begin, last = core.cons_tres, core.shared_nodes.module[it.module].begin, -INF
    for word in range(it.low, it.high):
        bits = core.slurm.sets.picked[word]
        while bits != NONE:
            slot = part.machine[begin + ((word - it.low) << 6) + lowest_in(bits)].first
            bits &= bits - ONE
            while slot >= 0 and part.tenant[slot].end <= end:
                last, slot = max(last, part.tenant[slot].end), part.tenant[slot].next
    return int(last) if last > start else end


@part
def _last_of_group_with(
    core: ConsTresCore, it: Partition, nodes: Words, first: int, end: int, later: int
) -> int:
    """The last job of the group in which one leaves that runs on these nodes and is planned to end then.

    The ``first`` that runs there tells where groups end. It leaves in the first that is wide enough, or in
    the one before, if that is not whole without it.
    """
    barrier, width, before = _groups_around(core, first, end)
    if before > 0:
        last = _last_of_group(core, it, nodes, ended_by(core, barrier + before), later)
        if planned_end(core, last) >= end:
            return last
    return _last_of_group(core, it, nodes, ended_by(core, barrier + width), later)


@part
def _groups_around(core: ConsTresCore, first: int, time: int) -> tuple[int, int, int]:
    """From where groups count, how wide the first is that reaches a time, and the one before (-1: none)."""
    barrier = first_barrier(core, planned_end(core, first))
    width, before = FIRST_GROUP_S, -1
    while barrier + width < time:
        width, before = wider(core, width), width
    return barrier, width, before


@part
def _last_of_group(core: ConsTresCore, it: Partition, nodes: Words, ended: int, later: int) -> int:
    """The last job of a group that counts, on these nodes: of those up to ``ended``, or the next behind them.

    Whether a group is whole is only asked behind a job that counts. If none is behind, it is the last of all.
    """
    size = ends_that_count(core, later)
    ended = min(ended, size)
    last = next_among(core, it, nodes, max(ended - 1, 0))
    if last < size:
        return last
    last = ended - 2
    while not runs_among(core, it, placed_of(core, last), nodes):
        last -= 1
    return last


@part
def _pick_after(core: ConsTresCore, placement: int, it: Partition, nodes: Words, end: int) -> None:
    """Pick nodes in the room that there is once all have ended that are planned to by then."""
    part, among = core.cons_tres, core.slurm.sets.best
    number = part.asked[placement].need
    need, begin = part.need[number], core.shared_nodes.module[it.module].begin
    copy(among, nodes, it.low, it.high)
    if need.even == AMONG_ABLE:
        keep_able_by(core, need.level, it, among, end)
        if part.level[need.level].alike and weigh_alike(core) and not takes_first_that_fits(core, number):
            pick_alike(core, it, among, need.min_nodes)
            return
    forget_changed(core)
    for word in range(it.low, it.high):
        bits = among[word]
        while bits != NONE:
            leave_by(core, begin + ((word - it.low) << 6) + lowest_in(bits), end)
            bits &= bits - ONE
    choose_nodes(core, number, room_later(core), among, False)
    pick_chosen(core, it)


@part
def _start_by_trial(
    core: ConsTresCore, placement: int, it: Partition, nodes: Words, enough: int, start: int, later: int
) -> int:
    """The same for any need: it is tried after each group, but not before ``enough``: too few are able."""
    copy_room(core, it.module)
    need = int(core.cons_tres.asked[placement].need)
    width, barrier, i, size = FIRST_GROUP_S, -1, 0, ends_that_count(core, later)
    if core.slurm.rules.future_starts:
        i = ended_at_start(core, start)
        if _fits_once_ended(core, placement, it, nodes, i, start):
            return start
    while i < size:
        last = -1
        while i < size:
            placed = placed_of(core, i)
            i += 1
            if not runs_among(core, it, placed, nodes):
                continue
            if barrier < 0:
                barrier = first_barrier(core, planned_end(core, i - 1))
            last = i - 1
            leave_later(core, placed)
            if i < size and planned_end(core, i) > barrier + width:
                break
        if last < 0:
            return INF
        width = wider(core, width)
        while i < size and planned_end(core, i) > barrier + width:
            width = wider(core, width)
        group_has_ended(core, need)
        end = planned_end(core, last)
        if end < enough:
            continue
        if fits_in(core, need, room_later(core), nodes) and will_do(core, placement):
            pick_chosen(core, it)
            return end_as_seen(core, last_end_of_chosen(core, it, start, end))
    return INF


@part
def _fits_once_ended(
    core: ConsTresCore, placement: int, it: Partition, nodes: Words, ended: int, start: int
) -> bool:
    """Whether it fits in the later room once the first to end have left it: on those PICKED.

    Now, and with nobody gone, it has been tried already.
    """
    left = start > core.clock.now
    for i in range(ended):
        placed = placed_of(core, i)
        if runs_among(core, it, placed, nodes):
            leave_later(core, placed)
            left = True
    if not left:
        return False
    need = int(core.cons_tres.asked[placement].need)
    group_has_ended(core, need)
    if not (fits_in(core, need, room_later(core), nodes) and will_do(core, placement)):
        return False
    pick_chosen(core, it)
    return True


@event
def group_has_ended(core: ConsTresCore, need: int) -> None:
    """Jobs have left the later room together, before the need is tried there."""
