"""Preemption where jobs share nodes: who is thought away leaves the later room of select/cons_tres.

A job may be preempted for what it has of a node, and one that is not needed there stays beside the job for
which another had to go.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, copy, count_common, keep_common, take_out
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.lost_runs import WHOLE, share_held
from scheduler_sim.engine.rules.shared_nodes.state import CORES
from scheduler_sim.engine.rules.slurm.backfill_pass import starts_on_picked
from scheduler_sim.engine.rules.slurm.cons_tres.bounds import may_make_room
from scheduler_sim.engine.rules.slurm.cons_tres.cutoff import any_may_start
from scheduler_sim.engine.rules.slurm.cons_tres.foreseen import (
    expected_start,
    fits_in,
    group_has_ended,
    will_do,
)
from scheduler_sim.engine.rules.slurm.cons_tres.levels import is_able, refresh
from scheduler_sim.engine.rules.slurm.cons_tres.room import (
    copy_room,
    leave_later,
    pick_chosen,
    place_of,
    room_later,
)
from scheduler_sim.engine.rules.slurm.cons_tres.slots import (
    fits_in_slot,
    gets_whole_nodes,
    slot_beside_all,
    slot_on_unreserved,
    starts_on_shares,
    tried_ahead,
)
from scheduler_sim.engine.rules.slurm.cons_tres.state import AHEAD, FOR_NOW, ConsTresCore
from scheduler_sim.engine.rules.slurm.limit_questions import limited_by_choice, may_plan
from scheduler_sim.engine.rules.slurm.main_pass import cannot_start
from scheduler_sim.engine.rules.slurm.node_space import has_whole_nodes
from scheduler_sim.engine.rules.slurm.planned_ends import everywhere, running
from scheduler_sim.engine.rules.slurm.preemption.candidates import (
    holds_any,
    is_candidate,
    is_safe,
    may_preempt_any,
    nodes_held,
    open_room,
    think_away,
)
from scheduler_sim.engine.rules.slurm.preemption.slots import (
    add_completing,
    candidates_leave,
    fits_in_room,
    those_ended_leave,
    when_others_leave,
)
from scheduler_sim.engine.rules.slurm.preemption.state import PreemptionCore
from scheduler_sim.engine.rules.slurm.preemption.victims import (
    keep_open_usable,
    make_room,
    may_help,
    picked_without,
)
from scheduler_sim.engine.rules.slurm.state import Partition


class PreemptionSharesCore(PreemptionCore, ConsTresCore):
    """A core with preemption whose jobs share nodes under Slurm."""


# -- the room once some have left: the later room of ``cons_tres``


@on(nodes_held, "preemption", "cons_tres")
def nodes_shared(core: PreemptionSharesCore, row: int, nodes: Words) -> int:
    """How many of these nodes a job has a share of."""
    placement, held = core.jobs[row].placed, 0
    it = core.slurm.partition[core.slurm.way[placement].partition]
    slot = core.shared_nodes.request[placement].slot
    for i in range(slot, slot + core.placements[placement].nodes):
        word, bit = place_of(core, it, core.shared_nodes.slots[i])
        if nodes[word] & bit:
            held += 1
    return held


@on(open_room, "preemption", "cons_tres")
def open_later_room(core: PreemptionSharesCore, placement: int, it: Partition) -> None:
    """It is as the room of now. ROOM are the nodes able for a need that so many able nodes meet."""
    need = core.cons_tres.need[core.cons_tres.asked[placement].need]
    copy_room(core, it.module)
    if need.even:
        refresh(core, need.level)
        copy(core.preemption.room, core.cons_tres.able_by[need.level, 0], it.low, it.high)


@on(add_completing, "preemption", "cons_tres")
def has_left_already(core: PreemptionSharesCore, it: Partition) -> None:
    """What is completing has left the room of now."""


@on(think_away, "preemption", "cons_tres")
def take_share_away(core: PreemptionSharesCore, row: int) -> None:
    """All that it has of its nodes is free there."""
    leave_later(core, core.jobs[row].placed)


@part
def _fits_later(core: PreemptionSharesCore, placement: int, nodes: Words) -> bool:
    """Whether a placement fits there, on some of these nodes: they are PICKED."""
    need = int(core.cons_tres.asked[placement].need)
    group_has_ended(core, need)
    if not fits_in(core, need, room_later(core), nodes) or not will_do(core, placement):
        return False
    pick_chosen(core, core.slurm.partition[core.slurm.way[placement].partition])
    return True


@part
def _find_able_without(core: PreemptionSharesCore, placement: int, row: int) -> None:
    """Nodes that a job has left which are able now are in ROOM."""
    need = core.cons_tres.asked[placement].need
    it = core.slurm.partition[core.slurm.way[placement].partition]
    slot = core.shared_nodes.request[core.jobs[row].placed].slot
    for i in range(slot, slot + core.placements[core.jobs[row].placed].nodes):
        node = core.shared_nodes.slots[i]
        word, bit = place_of(core, it, node)
        if core.preemption.room[word] & bit == NONE and is_able(core, need, room_later(core), node):
            core.preemption.room[word] |= bit


@part
def _enough_able(core: PreemptionSharesCore, placement: int) -> bool:
    """Whether enough nodes USABLE are able."""
    it, need = core.slurm.partition[core.slurm.way[placement].partition], core.cons_tres.asked[placement].need
    able = count_common(core.preemption.room, core.preemption.usable, it.low, it.high)
    return bool(able >= core.cons_tres.need[need].min_nodes)


@on(may_help, "preemption", "cons_tres")
def enough_would_be_able(core: PreemptionSharesCore, placement: int) -> bool:
    """It is known of needs that so many able nodes meet."""
    if not core.cons_tres.need[core.cons_tres.asked[placement].need].even:
        return True
    open_room(core, placement, core.slurm.partition[core.slurm.way[placement].partition])
    every = everywhere(core)
    head = core.pools[every].release_head
    for i in range(head, head + running(core)):
        row = core.releases[every, i].row
        if is_candidate(core, placement, row) and holds_any(core, row, core.preemption.usable):
            think_away(core, row)
            _find_able_without(core, placement, row)
    return _enough_able(core, placement)


@on(picked_without, "preemption", "cons_tres")
def picked_in_later_room(core: PreemptionSharesCore, placement: int, row: int) -> bool:
    """On nodes that are USABLE."""
    if core.cons_tres.need[core.cons_tres.asked[placement].need].even:
        _find_able_without(core, placement, row)
        if not _enough_able(core, placement):
            return False
    return _fits_later(core, placement, core.preemption.usable)


@on(fits_in_room, "preemption", "cons_tres")
def fits_in_later_room(core: PreemptionSharesCore, placement: int, it: Partition) -> bool:
    """On nodes STAYING."""
    return _fits_later(core, placement, core.slurm.sets.staying)


# -- the schedulers


@on(cannot_start, "preemption", "cons_tres")
def preempt_beside_in_main(core: PreemptionSharesCore, row: int, placement: int) -> None:
    """Those that it may have are usable that are not COMPLETING, nor behind a partition that is blocked."""
    way, usable = core.slurm.way[placement], core.preemption.usable
    it = core.slurm.partition[way.partition]
    copy(usable, core.slurm.sets.free, it.low, it.high)
    keep_common(usable, core.slurm.nodes.masks[way.mask], it.low, it.high)
    keep_open_usable(core, placement)
    make_room(core, row, placement)
    take_out(core.slurm.sets.free, core.slurm.sets.leaving, it.low, it.high)  # where others may not start now


@on(slot_on_unreserved, "preemption", "cons_tres")
def slot_without_candidates(
    core: PreemptionSharesCore, row: int, placement: int, ahead: bool, start: int, later: int
) -> int:
    """Now, if it fits on nodes UNRESERVED with all candidates gone; else when others leave, too."""
    if not may_preempt_any(core, placement):
        return slot_beside_all(core, row, placement, ahead, start, later)
    it, sets = core.slurm.partition[core.slurm.way[placement].partition], core.slurm.sets
    core.cons_tres.attempt.asks = FOR_NOW
    if not tried_ahead(core, start) and fits_in_slot(core, placement, sets.unreserved):
        pick_chosen(core, it)
        return core.clock.now
    copy(sets.staying, sets.unreserved, it.low, it.high)
    if not candidates_leave(core, placement, it):
        return expected_start(core, placement, sets.unreserved, start, later) if ahead else INF
    core.cons_tres.attempt.asks = AHEAD
    those_ended_leave(core, placement, start)
    if fits_in_room(core, placement, it):
        return core.clock.now if may_plan(core, row, placement) else INF
    time = when_others_leave(core, placement, it, start, later) if ahead else INF
    return time if time <= later else INF


@on(starts_on_picked, "preemption", "cons_tres")
def start_or_preempt_beside(core: PreemptionSharesCore, row: int, placement: int) -> bool:
    """Start on nodes UNRESERVED, chosen anew; else preempt who is there, and reserve those PICKED before."""
    if starts_on_shares(core, row, placement):
        return True
    it, sets = core.slurm.partition[core.slurm.way[placement].partition], core.slurm.sets
    usable, before = core.preemption.usable, core.slurm.sets.either
    copy(usable, sets.unreserved, it.low, it.high)
    take_out(usable, sets.leaving, it.low, it.high)
    copy(before, sets.picked, it.low, it.high)
    if not limited_by_choice(core, row, placement, False):
        make_room(core, row, placement)
        any_may_start(core, core.slurm.memory.entries)
    copy(sets.picked, before, it.low, it.high)
    return False


@on(has_whole_nodes, "preemption", "cons_tres")
def stands_whole_in_plan(core: PreemptionSharesCore, placement: int) -> bool:
    """What has just started does, unless it may be preempted, or others have room left on its nodes."""
    return gets_whole_nodes(core, placement) and is_safe(core, placement)


@on(may_make_room, "preemption", "cons_tres")
def may_make_others_go(core: PreemptionSharesCore, placement: int) -> bool:
    """Whether there are any that a job may preempt."""
    return may_preempt_any(core, placement)


# -- what is lost


@on(share_held, "preemption", "cons_tres")
def shares_held(core: PreemptionSharesCore, placement: int) -> tuple[int, int]:
    """By its part of the cores of each node, all of one of which no cores are known."""
    slot, parts, cores = core.shared_nodes.request[placement].slot, 0, 0
    for i in range(slot, slot + core.placements[placement].nodes):
        there = core.shared_nodes.capacity[CORES, core.shared_nodes.slots[i]]
        parts += core.cons_tres.share[i, CORES] * WHOLE // there if there > 0 else WHOLE
        cores += core.cons_tres.share[i, CORES]
    return parts, cores
