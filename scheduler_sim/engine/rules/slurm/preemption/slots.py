"""What the backfill scheduler sees of preemption: with all candidates gone a job can start now."""

from __future__ import annotations

from scheduler_sim.engine.core.bits import copy, count, keep_common, take_out
from scheduler_sim.engine.core.hooks import on, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.backfill_pass import slot_by_ends, slot_of_choice, starts_on_picked
from scheduler_sim.engine.rules.slurm.node_space import has_whole_nodes
from scheduler_sim.engine.rules.slurm.nodes import pick, suffices, would_do
from scheduler_sim.engine.rules.slurm.planned_ends import ended_by, everywhere, planned_end, running
from scheduler_sim.engine.rules.slurm.predicted import (
    FIRST_GROUP_S,
    end_as_seen,
    first_barrier,
    wider,
)
from scheduler_sim.engine.rules.slurm.preemption.candidates import (
    holds_any,
    is_candidate,
    is_safe,
    open_room,
    think_away,
)
from scheduler_sim.engine.rules.slurm.preemption.state import PreemptionCore
from scheduler_sim.engine.rules.slurm.preemption.victims import make_room
from scheduler_sim.engine.rules.slurm.slot_search import put_unreserved, stay_free
from scheduler_sim.engine.rules.slurm.state import Partition


@on(stay_free, "preemption")
def all_count(core: PreemptionCore, placement: int, record: int, start: int, following: int) -> bool:
    """Whether enough nodes are free of reservations, whoever runs there: STAYING."""
    it, sets = core.slurm.partition[core.slurm.way[placement].partition], core.slurm.sets
    core.slurm.memory.ended = running(core)
    put_unreserved(core, placement, record, start)
    copy(sets.staying, sets.unreserved, it.low, it.high)
    return count(sets.staying, it.low, it.high) >= core.placements[placement].nodes


@on(slot_of_choice, "preemption")
def slot_with_preemption(core: PreemptionCore, placement: int, ahead: bool) -> int:
    """Now, if it fits with all candidates gone; else when others leave, too."""
    if slot_by_ends(core, placement, False) < INF:
        return core.clock.now
    it = core.slurm.partition[core.slurm.way[placement].partition]
    if not candidates_leave(core, placement, it):
        return slot_by_ends(core, placement, True) if ahead else INF
    if fits_in_room(core, placement, it):
        return core.clock.now
    return when_others_leave(core, placement, it, core.clock.now, INF) if ahead else INF


@part
def candidates_leave(core: PreemptionCore, placement: int, it: Partition) -> bool:
    """All on nodes STAYING are thought away, so that their nodes are in ROOM; whether there are any."""
    any_there, every = False, everywhere(core)
    open_room(core, placement, it)
    add_completing(core, it)
    head = core.pools[every].release_head
    for i in range(head, head + running(core)):
        row = core.releases[every, i].row
        if is_away(core, placement, row):
            candidate_leaves(core, row)
            any_there = True
    return any_there


@question
def candidate_leaves(core: PreemptionCore, row: int) -> None:
    """What it has is in ROOM."""
    think_away(core, row)


@question
def add_completing(core: PreemptionCore, it: Partition) -> None:
    """What is about to be idle is in ROOM, too."""
    for word in range(it.low, it.high):
        core.preemption.room[word] |= core.slurm.sets.leaving[word]


@question
def fits_in_room(core: PreemptionCore, placement: int, it: Partition) -> bool:
    """Whether nodes STAYING that are in ROOM suffice: they are in LATER."""
    later = core.slurm.sets.later
    copy(later, core.slurm.sets.staying, it.low, it.high)
    keep_common(later, core.preemption.room, it.low, it.high)
    return would_do(core, placement, later)


@part
def those_ended_leave(core: PreemptionCore, placement: int, start: int) -> None:
    """At a start that is tried, since 24.11, those have left, too, that are planned to end by then."""
    for i in range(_ended(core, start)):
        row = _row(core, i)
        if not is_away(core, placement, row) and holds_any(core, row, core.slurm.sets.staying):
            think_away(core, row)


@part
def _ended(core: PreemptionCore, start: int) -> int:
    return ended_by(core, start) if core.slurm.rules.future_starts else 0


@part
def when_others_leave(core: PreemptionCore, placement: int, it: Partition, start: int, later: int) -> int:
    """Groups of those that are no candidates leave, each wider than the one before.

    Whether a group is whole is asked only behind one that frees nodes STAYING.
    """
    size, width, barrier = running(core), FIRST_GROUP_S, -1
    if core.slurm.rules.future_starts and later < INF:
        size = ended_by(core, later)
    first = i = _next_left(core, placement, _ended(core, start), size)
    while i < size:
        last = -1
        while i < size:
            here = i
            i = _next_left(core, placement, i + 1, size)
            if not holds_any(core, _row(core, here), core.slurm.sets.staying):
                continue
            if barrier < 0:
                barrier = first_barrier(core, planned_end(core, here))
            last = here
            think_away(core, _row(core, here))
            if i < size and planned_end(core, i) > barrier + width:
                break
        if last < 0:
            return INF
        width = wider(core, width)
        while i < size and planned_end(core, i) > barrier + width:
            width = wider(core, width)
        if fits_in_room(core, placement, it):
            return end_as_seen(core, planned_end(core, _last_that_matters(core, placement, first, last)))
    return INF


@part
def _last_that_matters(core: PreemptionCore, placement: int, first: int, last: int) -> int:
    """The last of those that have left who has nodes PICKED: since 25.05."""
    i = last if core.slurm.rules.end_of_chosen else first - 1
    while i >= first:
        row = _row(core, i)
        if not is_away(core, placement, row) and holds_any(core, row, core.slurm.sets.picked):
            return i
        i -= 1
    return last


@part
def _row(core: PreemptionCore, i: int) -> int:
    """Of the ``i``-th job to end."""
    every = everywhere(core)
    return core.releases[every, core.pools[every].release_head + i].row


@part
def _next_left(core: PreemptionCore, placement: int, i: int, size: int) -> int:
    """The first job to end from the ``i``-th on that has not been thought away as a candidate."""
    while i < size and is_away(core, placement, _row(core, i)):
        i += 1
    return i


@part
def is_away(core: PreemptionCore, placement: int, row: int) -> bool:
    """Whether it is a candidate that holds nodes STAYING."""
    return is_candidate(core, placement, row) and holds_any(core, row, core.slurm.sets.staying)


@on(has_whole_nodes, "preemption", unless="cons_tres")
def stands_in_plan(core: PreemptionCore, placement: int) -> bool:
    """What may be preempted does not, though it has just started."""
    return is_safe(core, placement)


@on(starts_on_picked, "preemption", unless="cons_tres")
def start_or_preempt(core: PreemptionCore, row: int, placement: int) -> bool:
    """Start on idle nodes LATER, chosen anew; else preempt who is there, and reserve those PICKED before."""
    it, sets = core.slurm.partition[core.slurm.way[placement].partition], core.slurm.sets
    usable = core.preemption.usable
    copy(usable, sets.later, it.low, it.high)
    take_out(usable, sets.leaving, it.low, it.high)
    copy(sets.available, usable, it.low, it.high)
    keep_common(sets.available, sets.idle, it.low, it.high)
    if suffices(core, placement, sets.available) and pick(core, placement, sets.available):
        return True
    choice = core.slurm.way[placement].choice
    make_room(core, row, placement)
    core.slurm.way[placement].choice = choice
    pick(core, placement, sets.later)
    return False
