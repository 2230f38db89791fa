"""Whether a job fits on nodes that others share, now or once some of those that run have ended.

Running jobs leave in groups, by planned ends, each group twice as wide as the one before; with the first
group after which the job fits, the end of the last of the group is its expected start (``_will_run_test`` of
cons_common/job_test.c).
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, ONE, copy, count_common, keep_common, lowest_in
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.records import Ints, Words
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.cons_tres.choice import choose_nodes
from scheduler_sim.engine.rules.slurm.cons_tres.levels import end_of, refresh
from scheduler_sim.engine.rules.slurm.cons_tres.room import (
    copy_node,
    copy_room,
    leave_later,
    leave_node,
    place_of,
    room_now,
)
from scheduler_sim.engine.rules.slurm.cons_tres.state import AMONG_ABLE, ConsTresCore, Room
from scheduler_sim.engine.rules.slurm.planned_ends import ended_by, everywhere, planned_end, running
from scheduler_sim.engine.rules.slurm.predicted import FIRST_GROUP_S, end_as_seen, first_barrier, wider
from scheduler_sim.engine.rules.slurm.state import Partition


@part
def fits_now(core: ConsTresCore, placement: int, nodes: Words) -> bool:
    """Whether a placement fits on some of these nodes now: they are CHOSEN."""
    number = core.cons_tres.asked[placement].need
    need = core.cons_tres.need[number]
    if not need.even:
        return _fits(core, number, room_now(core), nodes)
    it = core.slurm.partition[core.slurm.way[placement].partition]
    refresh(core, need.level)
    able = core.cons_tres.able[need.level]
    if count_common(able, nodes, it.low, it.high) < need.min_nodes:
        return False
    if need.even == AMONG_ABLE:
        among = core.slurm.sets.best
        copy(among, nodes, it.low, it.high)
        keep_common(among, able, it.low, it.high)
        return choose_nodes(core, number, room_now(core), among, False)
    return choose_nodes(core, number, room_now(core), nodes, False)


@part
def _fits(core: ConsTresCore, need: int, room: Room, nodes: Words) -> bool:
    """Whether it fits with what is free in a room; it must also fit if all cores there were free."""
    if not choose_nodes(core, need, room, nodes, False) or not choose_nodes(core, need, room, nodes, True):
        return False
    return choose_nodes(core, need, room, nodes, False)


@part
def expected_start(core: ConsTresCore, placement: int, nodes: Words, later: int) -> int:
    """When what does not fit on these nodes now will: on those CHOSEN; INF if not by ``later``."""
    need = core.cons_tres.need[core.cons_tres.asked[placement].need]
    it = core.slurm.partition[core.slurm.way[placement].partition]
    if not need.even:
        time = _start_by_trial(core, placement, it, nodes)
        return time if time <= later else INF
    refresh(core, need.level)
    enough = _enough_able_by(core, need.level, it, nodes, need.min_nodes)
    if enough == INF or enough > later:
        return INF
    first = _next_among(core, it, nodes, 0)
    barrier, width, size = first_barrier(core, planned_end(core, first)), FIRST_GROUP_S, running(core)
    while first < size:
        last = _last_of_group(core, it, nodes, first, ended_by(core, barrier + width))
        if last < 0:
            return INF
        end = planned_end(core, last)
        if end >= enough:
            if last + 1 < size and planned_end(core, last + 1) == end == enough:  # two end at once
                time = _start_by_trial(core, placement, it, nodes)
                return time if time <= later else INF
            time = end_as_seen(core, end)
            if time > later:
                return INF
            _choose_after(core, placement, it, nodes, end)
            return time
        first = last + 1
        width = wider(core, width)
        while first < size and planned_end(core, first) > barrier + width:
            width = wider(core, width)
    return INF


@part
def _last_of_group(core: ConsTresCore, it: Partition, nodes: Words, first: int, ended: int) -> int:
    """The last job of a group that counts, on these nodes: of those up to ``ended``, or the next behind them.

    Whether a group is whole is only asked behind a job that counts.
    """
    if ended > first and _runs_among(core, it, _placed(core, ended - 1), nodes):
        return ended - 1
    following, size = _next_among(core, it, nodes, ended), running(core)
    if following < size:
        return following
    for i in range(size - 1, first - 1, -1):
        if _runs_among(core, it, _placed(core, i), nodes):
            return i
    return -1


@part
def _next_among(core: ConsTresCore, it: Partition, nodes: Words, i: int) -> int:
    """The first job from the ``i``-th to end on that runs on any of these nodes, or how many run."""
    size = running(core)
    while i < size and not _runs_among(core, it, _placed(core, i), nodes):
        i += 1
    return i


@part
def _enough_able_by(core: ConsTresCore, level: int, it: Partition, nodes: Words, wanted: int) -> int:
    """The planned end with which so many of these nodes are able, INF if there is none."""
    part, heap, count = core.cons_tres, core.cons_tres.list, 0
    able_at, begin = part.able_at[level], core.shared_nodes.module[it.module].begin
    for word in range(it.low, it.high):
        bits = nodes[word]
        while bits != NONE:
            time = able_at[begin + ((word - it.low) << 6) + lowest_in(bits)]
            bits &= bits - ONE
            if count < wanted:
                count = _put_in(heap, count, time)
            elif time < heap[0]:
                _put_on_top(heap, count, time)
    return int(heap[0]) if count == wanted else INF


@inlined
def _put_in(heap: Ints, size: int, time: int) -> int:
    """Put a time into a heap with the latest on top; returns its size."""
    at = size
    while at > 0 and heap[(at - 1) >> 1] < time:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = time
    return size + 1


@inlined
def _put_on_top(heap: Ints, size: int, time: int) -> None:
    """The latest time makes room for an earlier one."""
    at, child = 0, 1
    while child < size:
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= time:
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = time


@part
def _choose_after(core: ConsTresCore, placement: int, it: Partition, nodes: Words, end: int) -> None:
    """Choose nodes in the room that there is once all have ended that are planned to by then."""
    part, among = core.cons_tres, core.slurm.sets.best
    number = part.asked[placement].need
    need, begin = part.need[number], core.shared_nodes.module[it.module].begin
    copy(among, nodes, it.low, it.high)
    for word in range(it.low, it.high):
        bits = nodes[word]
        while bits != NONE:
            bit = bits & ~(bits - ONE)
            bits &= bits - ONE
            node = begin + ((word - it.low) << 6) + lowest_in(bit)
            if need.even == AMONG_ABLE and part.able_at[need.level, node] > end:
                among[word] &= ~bit
                continue
            copy_node(core, node)
            slot = part.machine[node].first
            while slot >= 0 and end_of(core, slot) <= end:
                leave_node(core, core.jobs[part.tenant[slot].row].placed, slot)
                slot = part.tenant[slot].next
    choose_nodes(core, number, part.later, among, False)


@part
def _start_by_trial(core: ConsTresCore, placement: int, it: Partition, nodes: Words) -> int:
    """The same for any need: it is tried after each group."""
    copy_room(core, it.module)
    width, barrier, i, size = FIRST_GROUP_S, -1, 0, running(core)
    while i < size:
        last = -1
        while i < size:
            placed = _placed(core, i)
            i += 1
            if not _runs_among(core, it, placed, nodes):
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
        if _fits(core, core.cons_tres.asked[placement].need, core.cons_tres.later, nodes):
            return end_as_seen(core, planned_end(core, last))
    return INF


@part
def _placed(core: ConsTresCore, i: int) -> int:
    """The placement in which the ``i``-th job to end runs."""
    every = everywhere(core)
    return int(core.jobs[core.releases[every, core.pools[every].release_head + i].row].placed)


@part
def _runs_among(core: ConsTresCore, it: Partition, placement: int, nodes: Words) -> bool:
    """Whether a job runs on any of these nodes."""
    if core.placements[placement].module != it.module:
        return False
    slot = core.shared_nodes.request[placement].slot
    for i in range(slot, slot + core.placements[placement].nodes):
        word, bit = place_of(core, it, core.shared_nodes.slots[i])
        if nodes[word] & bit:
            return True
    return False
