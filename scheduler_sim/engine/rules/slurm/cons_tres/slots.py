"""The starts that Slurm's two schedulers find on nodes that jobs share.

The plan of the backfill scheduler holds whole nodes here too: a job that is planned has all of its nodes to
itself there, though it needs but one core of them. What runs is not in it, and is found by testing what is
free now, or once jobs have ended.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import copy, count, count_common, keep_common, take_out
from scheduler_sim.engine.core.hooks import answered_by, on, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.laws import advances
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.coscheduling.members import is_member
from scheduler_sim.engine.rules.slurm.backfill_pass import (
    any_unallocated,
    fixed_slot,
    is_behind_window,
    is_extra,
    is_out_of_sight,
    next_try,
    none_leave,
    overlaps_plan,
    start_beside,
    starts_on_picked,
)
from scheduler_sim.engine.rules.slurm.cons_tres.bounds import (
    find_bounds,
    first_unbounded,
    goes_by_bounds,
    note_try,
)
from scheduler_sim.engine.rules.slurm.cons_tres.deal import deal
from scheduler_sim.engine.rules.slurm.cons_tres.foreseen import expected_start, fits_now, may_fit_by
from scheduler_sim.engine.rules.slurm.cons_tres.lifecycle import may_fit
from scheduler_sim.engine.rules.slurm.cons_tres.room import pick_chosen
from scheduler_sim.engine.rules.slurm.cons_tres.state import FOR_NOW, TO_START, ConsTresCore
from scheduler_sim.engine.rules.slurm.cons_tres.windows import open_windows, put_unreserved_from
from scheduler_sim.engine.rules.slurm.het.het_jobs import note_start
from scheduler_sim.engine.rules.slurm.limit_questions import may_plan, start_or_plan
from scheduler_sim.engine.rules.slurm.main_pass import (
    close_taken,
    open_nodes,
    picked_among,
    waits_for_nodes,
)
from scheduler_sim.engine.rules.slurm.node_space import (
    has_whole_nodes,
    next_attempt,
    plan_is_full,
    record_at,
    record_of,
)
from scheduler_sim.engine.rules.slurm.power_cap import power_delay
from scheduler_sim.engine.rules.slurm.reasons import ITS_TURN, waits_for
from scheduler_sim.engine.rules.slurm.slot_search import keep_open
from scheduler_sim.engine.rules.slurm.state import Partition

# -- a start now


@on(open_nodes, "cons_tres")
def open_all_but_completing(core: ConsTresCore) -> None:
    """Nodes in service are FREE, whatever runs there; those of a job that is completing give nothing."""
    sets = core.slurm.sets
    copy(sets.free, sets.up, 0, len(sets.up))
    take_out(sets.free, sets.leaving, 0, len(sets.up))


@on(close_taken, "cons_tres")
def share_on(core: ConsTresCore, it: Partition) -> None:
    """What a job has left of its nodes may be given away."""


@on(picked_among, "cons_tres")
def picks_shares(core: ConsTresCore, placement: int, nodes: Words) -> bool:
    """Choose nodes, and what it has of them, beside what runs there."""
    way, available = core.slurm.way[placement], core.slurm.sets.available
    it = core.slurm.partition[way.partition]
    copy(available, nodes, it.low, it.high)
    keep_common(available, core.slurm.nodes.masks[way.mask], it.low, it.high)
    return _picks_shares(core, placement, available)


@part
def _picks_shares(core: ConsTresCore, placement: int, nodes: Words) -> bool:
    core.cons_tres.attempt.asks = TO_START
    if not fits_now(core, placement, nodes):
        return False
    if not deal(core, core.cons_tres.asked[placement].need, core.shared_nodes.request[placement].slot):
        return False
    pick_chosen(core, core.slurm.partition[core.slurm.way[placement].partition])
    return True


@on(waits_for_nodes, "cons_tres", unless="reservations")
def waits_for_shares(core: ConsTresCore, row: int, placement: int) -> bool:
    """Not one that never fits there: it is named with other partitions."""
    waits_for(core, row, ITS_TURN)
    return may_fit(core, placement)


@on(starts_on_picked, "cons_tres")
def starts_on_shares(core: ConsTresCore, row: int, placement: int) -> bool:
    """Its nodes are chosen anew among all that it could be planned on but those that are completing."""
    it, sets = core.slurm.partition[core.slurm.way[placement].partition], core.slurm.sets
    copy(sets.available, sets.unreserved, it.low, it.high)
    take_out(sets.available, sets.leaving, it.low, it.high)
    return _picks_shares(core, placement, sets.available)


@on(has_whole_nodes, "cons_tres")
def gets_whole_nodes(core: ConsTresCore, placement: int) -> bool:
    """Others have room left on them."""
    return bool(core.cons_tres.need[core.cons_tres.asked[placement].need].whole)


@on(any_unallocated, "cons_tres")
def any_without_jobs(core: ConsTresCore, it: Partition) -> bool:
    """Nodes whose last job is completing run none."""
    return count_common(core.slurm.sets.picked, core.slurm.sets.idle, it.low, it.high) > 0


# -- a slot of the backfill scheduler


@question
def fits_in_slot(core: ConsTresCore, placement: int, nodes: Words) -> bool:
    """Whether it fits now, as the backfill scheduler tries it."""
    return fits_now(core, placement, nodes)


@part
def slot_beside_all(core: ConsTresCore, row: int, placement: int, ahead: bool, start: int, later: int) -> int:
    """When what is tried at ``start`` fits on nodes UNRESERVED, by planned ends if it may plan.

    INF if not by ``later``: by then other nodes come free, and it is tried anew. The nodes are PICKED.
    """
    unreserved = core.slurm.sets.unreserved
    core.cons_tres.bounding.enough, core.cons_tres.attempt.asks = INF, FOR_NOW
    if ahead and not may_fit_by(core, placement, unreserved, later):
        return INF
    core.cons_tres.bounding.enough = 0
    if not tried_ahead(core, start) and fits_in_slot(core, placement, unreserved):
        pick_chosen(core, core.slurm.partition[core.slurm.way[placement].partition])
        return core.clock.now
    return expected_start(core, placement, unreserved, start, later) if ahead else INF


@part
def tried_ahead(core: ConsTresCore, start: int) -> bool:
    """Whether what is free now does not matter to a try: since 24.11 at any start but now."""
    return bool(core.slurm.rules.future_starts and start > core.clock.now)


slot_on_unreserved = answered_by(slot_beside_all)
"""When a placement fits on nodes UNRESERVED: on those PICKED."""


@on(fixed_slot, "cons_tres")
def shared_slot(
    core: ConsTresCore, row: int, placement: int, ahead: bool, earliest_s: int, delay: int
) -> int:
    """The earliest start that Slurm finds, with its nodes in PICKED; INF without start or reservation.

    What starts are found for one of a heterogeneous job is known to its others, also those by which other
    nodes come free.
    """
    it, now = core.slurm.partition[core.slurm.way[placement].partition], core.clock.now
    number = core.cons_tres.asked[placement].need
    need = core.cons_tres.need[number]
    start, counted, together = max(now, earliest_s), False, is_member(core, row)
    bounded = goes_by_bounds(core, placement) and ahead and not together
    since = start  # no time from then on has had enough nodes
    open_windows(core)
    record, tried = record_at(core, start), start - 1
    if bounded:
        find_bounds(core, placement)
    while advances(core, row, tried, start):
        tried = start
        moved = start_beside(core, placement, start)
        if moved == INF or is_behind_window(core, moved):
            return INF
        if moved != start:
            start, record = moved, record_at(core, moved)
        following = next_attempt(core, placement, record, start)
        later = next_try(core, placement, start, following)
        put_unreserved_from(core, placement, record, start)
        keep_open(core, it)
        if not counted and count(core.slurm.sets.unreserved, it.low, it.high) >= need.min_nodes:
            core.slurm.memory.tested += 0 if is_extra(core) else 1
            counted = True
        keep_common(core.slurm.sets.unreserved, core.cons_tres.holders[number], it.low, it.high)
        until = INF if together and not core.slurm.rules.future_starts else later
        time = slot_on_unreserved(core, row, placement, ahead, start, until) if counted else INF
        if later < time < INF:
            note_start(core, row, max(time, start))
            time = INF
        if bounded:
            since = note_try(core, placement, since, start, later)
        if time == INF:
            if later == INF or not ahead:
                return INF
            start, record = later, record_of(core, later, following)
            if bounded and counted:
                start, record = first_unbounded(core, placement, start, record)
            continue
        wait = power_delay(core, placement, max(time, start))
        if wait > 0:
            if not ahead or wait == INF:
                return INF
            start = max(time, start) + wait
            if start > core.slurm.memory.window_end:
                return INF
            since, record = start, record_at(core, start)
            continue
        if time < start:
            core.slurm.memory.self_change = 1
            time = start
        tested_first = core.slurm.rules.overlap_first and time > now
        if not (tested_first and overlaps_plan(core, placement, start, time)):
            at_once = time == now and none_leave(core, it)
            if at_once:
                time = now if together else start_or_plan(core, row, placement, later)
                if time in (now, INF):
                    note_start(core, row, now)
                    return time
            time = max(time, now + 1)
            note_start(core, row, time)
            if not ahead or is_extra(core):
                return INF
            if is_out_of_sight(core, time) or not (at_once or may_plan(core, row, placement)):
                return INF
            if tested_first or plan_is_full(core) or not overlaps_plan(core, placement, start, time):
                return time
        start = since = time if time > start else time + core.slurm.rules.bf_resolution
        record = record_at(core, start)
    return INF
