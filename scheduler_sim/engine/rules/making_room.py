"""Preemption under all policies but Slurm's: before a pass, running jobs make way for those at its front.

The queue is walked in order, in each module up to the first job that could not start even if all that it may
preempt were gone. So whoever others are preempted for starts in the pass that follows, whatever the scheme;
or once their grace is over, if they have any.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.events import KIND, drop_end
from scheduler_sim.engine.core.hooks import on, question
from scheduler_sim.engine.core.instant import log_is_full
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import finish, send_back
from scheduler_sim.engine.core.moments import pass_begins
from scheduler_sim.engine.core.queue import refresh
from scheduler_sim.engine.core.records import Ints, Table, one, table
from scheduler_sim.engine.core.state import PREEMPTED, WAITING, Core
from scheduler_sim.engine.rules.lost_runs import Log, LostRun, write_down

STOPPED = -1
"""In ``left``: nobody further back is helped in this module."""


class Terms:
    """Who may preempt whom, and what becomes of those."""

    by_order: int  # 1 = those that stand behind in the order, 0 = those of partitions of lower priority
    requeue: int  # 1 = they wait again, 0 = they are over


class MakingRoom(NamedTuple):
    """What a walk over the queue needs."""

    terms: Terms
    log: Log
    lost: Table[LostRun]  # [2 n]
    left: Ints  # [m] nodes, idle or to come, that those before have not taken, or STOPPED
    victim: Ints  # [n] rows
    taken: Ints  # [n] 1 = it is among them


class MakingRoomCore(Core):
    """A core in which jobs make way for others."""

    making_room: MakingRoom


class RoomSizes(NamedTuple):
    """How much room the part has."""

    rows: int
    modules: int


def blank_making_room(sizes: RoomSizes) -> MakingRoom:
    """Return the part; nobody has made way yet."""
    return MakingRoom(
        terms=one(Terms),
        log=one(Log),
        lost=table(LostRun, 2 * sizes.rows),
        left=np.zeros(sizes.modules, dtype=np.int64),
        victim=np.zeros(sizes.rows, dtype=np.int64),
        taken=np.zeros(sizes.rows, dtype=np.int64),
    )


@on(pass_begins, "making_room")
def make_room(core: MakingRoomCore) -> None:
    """Preempt for those that stand in front, as long as each of them can start."""
    left, open_modules, walked = core.making_room.left, core.clock.modules, 0
    _queue_up(core)
    for module in range(core.clock.modules):
        left[module] = _nodes_in_sight(core, module)
    while open_modules > 0 and core.queue.at.head + walked < core.queue.at.tail:
        row = core.queue.waiting[core.queue.at.head + walked]
        walked += 1
        it = core.placements[core.jobs[row].first]
        if left[it.module] == STOPPED:
            continue
        if it.nodes > left[it.module] and not room_is_made(core, row):
            left[it.module] = STOPPED
            open_modules -= 1
        else:
            left[it.module] -= it.nodes
            walked -= core.jobs[row].state != WAITING  # it has started, and stands in the queue no more


@part
def _queue_up(core: MakingRoomCore) -> None:
    """Newcomers take their places now; the pass then looks at the whole queue."""
    refresh(core)
    core.queue.at.new = 0
    core.clock.dirty = core.clock.early = 1


@part
def _nodes_in_sight(core: MakingRoomCore, module: int) -> int:
    """Idle nodes, and those to come that do not leave service then."""
    pool = core.pools[module]
    return pool.free + max(nodes_to_come(core, module) - pool.draining, 0)


@question
def nodes_to_come(core: MakingRoomCore, module: int) -> int:
    """How many nodes of a module are due so soon that nobody has to make way for them."""
    return 0


@question
def room_is_made(core: MakingRoomCore, row: int) -> bool:
    """Whether others were preempted so that enough nodes are LEFT; in the queue they stand behind it."""
    it = core.placements[core.jobs[row].first]
    left = core.making_room.left
    leaving = core.pools[it.module].draining - nodes_to_come(core, it.module)  # they leave service first
    missing = it.nodes - left[it.module] + max(leaving, 0)
    size = choose(core, row, missing)
    if size == 0:
        return False
    before = _nodes_in_sight(core, it.module)
    for i in range(size):
        victim = core.making_room.victim[i]
        if core.making_room.taken[victim]:
            core.making_room.taken[victim] = 0
            make_way(core, victim)
    _queue_up(core)
    left[it.module] += _nodes_in_sight(core, it.module) - before
    return True


@part
def choose(core: MakingRoomCore, row: int, missing: int) -> int:
    """TAKEN are running jobs that have so many nodes, among so many VICTIMS; 0 = all together have too few.

    The last in order are taken first, until they suffice; then those that are not needed are spared.
    """
    victim, taken, size = core.making_room.victim, core.making_room.taken, 0
    while missing > 0:
        last = _last_that_may_go(core, row)
        if last < 0:
            for i in range(size):
                taken[victim[i]] = 0
            return 0
        victim[size], taken[last] = last, 1
        missing -= nodes_of(core, last)
        size += 1
    for i in range(size):
        if missing + nodes_of(core, victim[i]) <= 0:
            missing += nodes_of(core, victim[i])
            taken[victim[i]] = 0
    return size


@part
def nodes_of(core: MakingRoomCore, row: int) -> int:
    """How many nodes a job has that runs."""
    return core.placements[core.jobs[row].placed].nodes


@part
def _last_that_may_go(core: MakingRoomCore, row: int) -> int:
    """Of those that may be preempted for a job and are not TAKEN, the last in order; -1 = there is none."""
    last, module = -1, core.placements[core.jobs[row].first].module
    for i in range(core.clock.events):
        other = core.heap[i].row
        if other < 0 or other >= KIND or core.making_room.taken[other]:
            continue
        if core.placements[core.jobs[other].placed].module != module or not may_preempt(core, row, other):
            continue
        if ends_soon(core, other):
            continue
        if last < 0 or _goes_before(core, other, last):
            last = other
    return last


@question
def ends_soon(core: MakingRoomCore, row: int) -> bool:
    """Whether the nodes of a job that runs are among those to come."""
    return False


@part
def may_preempt(core: MakingRoomCore, row: int, other: int) -> bool:
    """Whether a job that waits ranks above one that has started."""
    mine, theirs = core.ranks[row], core.ranks[other]
    if mine.tier != theirs.tier:
        return mine.tier > theirs.tier
    return core.making_room.terms.by_order == 1 and mine.key < theirs.key


@part
def _goes_before(core: MakingRoomCore, one_row: int, other: int) -> bool:
    """Whether the first is preempted rather: of lower priority, behind in the order, or started later."""
    a, b = core.ranks[one_row], core.ranks[other]
    if a.tier != b.tier:
        return a.tier < b.tier
    if core.making_room.terms.by_order and a.key != b.key:
        return a.key > b.key
    if core.jobs[one_row].start != core.jobs[other].start:
        return core.jobs[one_row].start > core.jobs[other].start
    return one_row > other


@question
def make_way(core: MakingRoomCore, row: int) -> None:
    """A job that runs is preempted."""
    end_now(core, row)


@part
def end_now(core: MakingRoomCore, row: int) -> None:
    """It waits again, in its old place, or is over."""
    drop_end(core, row)
    if core.making_room.terms.requeue:
        write_down(core, row, core.making_room.log, core.making_room.lost)
        send_back(core, row)
    else:
        finish(core, row, PREEMPTED)


@on(log_is_full, "making_room")
def lost_are_many(core: MakingRoomCore) -> bool:
    """Whether the runs lost before one more pass might have no room: each job that runs may lose one."""
    return core.making_room.log.lost + len(core.making_room.taken) > len(core.making_room.lost)
