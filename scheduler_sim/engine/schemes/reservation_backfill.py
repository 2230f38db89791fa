"""Reservations of any depth, planned anew at each pass (rules 5 and 6).

One algorithm with one number: the first ``depth`` components a module that cannot
start hold reservations; with depth ALL every component does (conservative backfill).
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import only_with
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import start
from scheduler_sim.engine.core.placement import cost_of, judged_time
from scheduler_sim.engine.core.profile import (
    build_profiles,
    earliest,
    not_before,
    occupy,
    step_at,
)
from scheduler_sim.engine.core.queue import close_gaps, insert, newcomers_come_last, refresh, sort_candidates
from scheduler_sim.engine.core.record import fits
from scheduler_sim.engine.core.releases import overran
from scheduler_sim.engine.core.scheme import pass_of
from scheduler_sim.engine.core.slots import forget_slots, next_slot
from scheduler_sim.engine.core.state import ALL, EARLIEST_END, FIRST_AVAILABLE, INF, LEAST_COST, WAITING
from scheduler_sim.engine.core.waiting import reserve_start, withdraw
from scheduler_sim.engine.rules.coscheduling.members import has_units, is_member, unit_fits
from scheduler_sim.engine.rules.coscheduling.reservations import occupy_reservations
from scheduler_sim.engine.rules.coscheduling.state import Unit
from scheduler_sim.engine.rules.coscheduling.units import (
    delayed_find_nodes,
    keep_reservations,
    occupy_unit,
    plans_starts_alone,
    start_unit,
    unit_not_before,
    unit_slot,
)
from scheduler_sim.engine.rules.power_saving.switching import (
    SwitchedUnitsCore,
    forget_who_is_called,
    is_called,
    let_none_pass,
    let_none_pass_unit,
    sleeps,
    switch_nodes,
    switches_off,
)
from scheduler_sim.engine.rules.shared_nodes.plan import NodePlanCore, name_nodes
from scheduler_sim.engine.rules.single_events import comes_one_by_one
from scheduler_sim.engine.schemes.fcfs_and_first_fit import GreedyCore, all_failed, block, is_blocked


class PlanCore(SwitchedUnitsCore, NodePlanCore, GreedyCore):
    """A core with all that a plan may have to look at."""


@pass_of("reservation_backfill")
@part
def plan_pass(core: PlanCore) -> None:
    """Plan every component anew, or only the newcomers where the plan still stands."""
    keep_reservations(core)
    if core.clock.now >= core.clock.due:
        core.clock.dirty = 1
    if _plan_stands(core):
        _go_on(core)
        return
    refresh(core)
    core.clock.due = INF
    for pool in range(len(core.pools)):
        core.pools[pool].reserved, core.pools[pool].shadow, core.pools[pool].blocked = 0, INF, 0
    if _is_simple(core) and not comes_one_by_one(core) and not _start_before_fronts(core):
        core.clock.profiled = 0
        return
    build_profiles(core, False)
    occupy_reservations(core)
    forget_slots(core)
    forget_who_is_called(core)
    _plan_all(core)
    close_gaps(core, core.queue.at.tail)
    switch_nodes(core)


@part
def start_reserved(core: PlanCore) -> int:
    """The reservations that begin now start; returns when the next one begins.

    After a single event of an instant one may have to wait for another end of that instant.
    """
    now, due = core.clock.now, INF
    for i in range(core.queue.at.head, core.queue.at.tail):
        row = core.queue.waiting[i]
        time = core.jobs[row].reserved_start
        if time == now and is_member(core, row):
            _start_unit_if_it_fits(core, row)
        elif time == now and fits(core, core.jobs[row].reserved_placement):
            start(core, row, core.jobs[row].reserved_placement)
        elif time > now:
            due = min(due, time)
    close_gaps(core, core.queue.at.tail)
    return due


@only_with("coscheduling")
def _start_unit_if_it_fits(core: PlanCore, leader: int) -> None:
    if unit_fits(core, leader):
        start_unit(core, leader)


@part
def _plan_stands(core: PlanCore) -> bool:
    """Nothing came free early and newcomers stand last: earlier slots would come out the same."""
    if not core.clock.profiled or core.clock.early:
        return False
    if core.rules.named or core.rules.dynamic or core.rules.by_run:
        return False
    if core.clock.dirty and (core.rules.depth != ALL or core.rules.strategy == FIRST_AVAILABLE):
        return False
    if core.rules.two_orders or plans_starts_alone(core) or switches_off(core) or overran(core):
        return False
    return newcomers_come_last(core)


@part
def _go_on(core: PlanCore) -> None:
    """The plan stands: reservations that begin now start, and newcomers are planned behind all others."""
    if core.clock.dirty:
        _plan_rest(core)
        due = start_reserved(core)
        core.clock.due = due if has_units(core) else INF
    for i in range(core.queue.at.new):
        row = core.queue.newcomers[i]
        if _is_simple(core) and not _may_start(core, row):
            core.clock.unplanned += 1
        else:
            _plan_rest(core)
            _plan(core, row)
        if core.jobs[row].state == WAITING:
            insert(core, row)


@part
def _is_simple(core: PlanCore) -> bool:
    """Whether each job gets one slot, in nodes that no plan can tell apart, behind all that come before it.

    Then only starts count. A job that cannot start may be planned when its slot is asked for, with the same
    result: until then nothing comes free but what was planned to.
    """
    if core.rules.complex or core.rules.named or core.rules.two_orders or switches_off(core):
        return False
    return core.rules.depth == ALL


@part
def _start_before_fronts(core: PlanCore) -> bool:
    """Start all that comes before the first job of its module that does not fit; whether one behind fits.

    No profile is needed: before there is a front nothing is reserved, and then free nodes only grow.
    """
    found = False
    for place in range(core.queue.at.head, core.queue.at.tail):
        row = core.queue.waiting[place]
        placement = core.jobs[row].first
        if not fits(core, placement):
            block(core, placement)
        elif is_blocked(core, placement):
            found = True
        else:
            start(core, row, placement)
    close_gaps(core, core.queue.at.tail)
    return found


@part
def _plan_rest(core: PlanCore) -> None:
    """Reserve for the jobs whose plan was put off: the last of the queue."""
    for place in range(core.queue.at.tail - core.clock.unplanned, core.queue.at.tail):
        row = core.queue.waiting[place]
        placement = core.jobs[row].first
        _reserve(core, row, placement, next_slot(core, placement, core.clock.now))
    core.clock.unplanned = 0


@part
def _last_that_may_start(core: PlanCore, end: int) -> int:
    """The place behind the last job before ``end`` that may start now."""
    if _is_simple(core):
        while end > core.queue.at.head and not _may_start(core, core.queue.waiting[end - 1]):
            end -= 1
    return end


@part
def _may_start(core: PlanCore, row: int) -> bool:
    """Whether a job fits now, by what is planned so far."""
    it = core.placements[core.jobs[row].first]
    steps, size = core.profile[it.module], core.pools[it.module].profile_size
    step = step_at(steps, size, core.clock.now)
    while step < size and steps[step].time < core.clock.now + judged_time(core, core.jobs[row].first):
        if steps[step].free < it.nodes:
            return False
        step += 1
    return True


@part
def _plan_all(core: PlanCore) -> None:
    put_off, place, end = 0, core.queue.at.head, _last_that_may_start(core, core.queue.at.tail)
    while place < end:
        row = core.queue.waiting[place]
        place += 1
        if core.rules.two_orders and _is_candidate(core, row):
            core.queue.candidates[put_off] = row
            put_off += 1
        else:
            _plan(core, row)
        end = _last_that_may_start(core, end)
    core.clock.unplanned = core.queue.at.tail - place
    if put_off > 0:
        sort_candidates(core, put_off)
        for i in range(put_off):
            _plan(core, core.queue.candidates[i])


@part
def _plan(core: PlanCore, row: int) -> None:
    """Start ``row`` now, or reserve its best slot while depth is left."""
    if is_member(core, row):
        _plan_unit(core, row)
        return
    now = core.clock.now
    best, best_time = -1, INF
    for placement in range(core.jobs[row].first, core.jobs[row].last):
        ahead = _may_reserve(core, row, placement)
        module = core.placements[placement].module
        if not ahead and (_is_blocked(core, placement) or not _is_worth_a_look(core, placement)):
            continue
        if _is_simple(core):
            time = next_slot(core, placement, now)
        else:
            time = earliest(core, placement, not_before(core, placement))
        _look_again(core, time)
        called = _waits_for(core, row, placement) and is_called(core, module, time)
        if not ahead and time > now and not called:
            continue
        if (time == now or not ahead) and not _may_pass(core, placement, time):
            continue
        if best < 0 or ranks_before(core, placement, time, best, best_time):
            best, best_time = placement, time
    if best < 0:
        withdraw(core, row)
        for placement in range(core.jobs[row].first, core.jobs[row].last):
            block(core, placement)
        return
    if best_time == now and fits(core, best):
        # What starts before there is a front is planned as what runs: by its limit.
        it = core.placements[best]
        reserved = core.pools[it.module].reserved > 0
        name_nodes(core, best, now)
        occupy(core, best, now, now + (judged_time(core, best) if reserved else it.limit), 1)
        start(core, row, best)
        return
    _reserve(core, row, best, best_time)


@part
def _reserve(core: PlanCore, row: int, placement: int, time: int) -> None:
    """Reserve a slot, which counts for the depth unless nodes are booted for it."""
    it = core.placements[placement]
    reserve_start(core, row, placement, time)
    if time < INF:
        name_nodes(core, placement, time)
        occupy(core, placement, time, time + judged_time(core, placement), 1)
    if is_called(core, it.module, time):
        let_none_pass(core, placement, time)
        return
    core.pools[it.module].reserved += 1
    core.pools[it.module].shadow = min(core.pools[it.module].shadow, time)


@part
def _is_worth_a_look(core: PlanCore, placement: int) -> bool:
    """Whether a placement for which no depth is left may start now, or be called."""
    return has_units(core) or sleeps(core, core.placements[placement].module) or fits(core, placement)


@part
def _look_again(core: PlanCore, time: int) -> None:
    """Have the clock stop at a slot: with offsets and reservations that may be when nothing ends."""
    if has_units(core) and not plans_starts_alone(core) and time > core.clock.now:
        core.clock.due = min(core.clock.due, time)


@only_with("coscheduling")
def _plan_unit(core: PlanCore, leader: int) -> None:
    """Start a unit now, or reserve its slot while depth is left in each module it asks for."""
    now, unit = core.clock.now, core.coscheduling.unit[core.coscheduling.member[leader].unit]
    time = unit_slot(core, leader, unit_not_before(core, leader))
    ahead, passes = True, True
    for i in range(unit.first, unit.last):
        placement = core.jobs[core.coscheduling.member_rows[i]].first
        ahead = ahead and _has_depth(core, placement)
        passes = passes and not _is_blocked(core, placement) and _may_pass(core, placement, time)
    if time == now and passes and unit_fits(core, leader) and delayed_find_nodes(core, leader):
        occupy_unit(core, leader, now, 1)
        start_unit(core, leader)
        return
    _look_again(core, time)
    called = (ahead or passes) and time > now and _unit_is_called(core, unit, time)
    if not ahead and not called:
        withdraw(core, leader)
        for i in range(unit.first, unit.last):
            block(core, core.jobs[core.coscheduling.member_rows[i]].first)
        return
    if time == now:
        time = unit_slot(core, leader, now + 1)
    if called:
        let_none_pass_unit(core, leader, time)
    else:
        for i in range(unit.rect, unit.rect_last):
            _count_reservation(core, unit, i, time)
    reserve_start(core, leader, core.jobs[leader].first, time)
    if time < INF:
        occupy_unit(core, leader, time, 1)


@part
def _unit_is_called(core: PlanCore, unit: Unit, time: int) -> bool:
    """Whether a unit waits for no more than a boot in one of its modules."""
    for i in range(unit.rect, unit.rect_last):
        if is_called(core, core.coscheduling.rect[i].pool, time):
            return True
    return False


@part
def _count_reservation(core: PlanCore, unit: Unit, i: int, time: int) -> None:
    """One reservation in each module, at the first rectangle there is in it."""
    number = core.coscheduling.rect[i].pool
    for other in range(unit.rect, i):
        if core.coscheduling.rect[other].pool == number:
            return
    core.pools[number].reserved += 1
    core.pools[number].shadow = min(core.pools[number].shadow, time + core.coscheduling.rect[i].offset)


@part
def ranks_before(core: PlanCore, one: int, time: int, other: int, other_time: int) -> bool:
    """Rule 9: whether the slot of ``one`` is better than that of ``other``, earlier in the list."""
    strategy = core.rules.strategy
    if strategy == FIRST_AVAILABLE:
        return time == core.clock.now and other_time != core.clock.now
    if (
        strategy == EARLIEST_END
        and time + core.placements[one].limit != other_time + core.placements[other].limit
    ):
        return time + core.placements[one].limit < other_time + core.placements[other].limit
    if strategy == LEAST_COST and cost_of(core, one) != cost_of(core, other):
        return cost_of(core, one) < cost_of(core, other)
    return time < other_time


@part
def _may_reserve(core: PlanCore, row: int, placement: int) -> bool:
    return _waits_for(core, row, placement) and _has_depth(core, placement)


@part
def _waits_for(core: PlanCore, row: int, placement: int) -> bool:
    """Whether ``row`` may wait for a slot of ``placement``, or else only start in it now."""
    return core.rules.strategy != FIRST_AVAILABLE or placement == core.jobs[row].first


@part
def _has_depth(core: PlanCore, placement: int) -> bool:
    depth = core.rules.depth
    return depth == ALL or core.pools[core.placements[placement].module].reserved < depth


@part
def _is_candidate(core: PlanCore, row: int) -> bool:
    """Whether a job before ``row`` has failed to start in each module it asks for."""
    if core.rules.first_fit:
        return all_failed(core, row)
    for placement in range(core.jobs[row].first, core.jobs[row].last):
        if _has_depth(core, placement):
            return False
    return True


@part
def _is_blocked(core: PlanCore, placement: int) -> bool:
    """Under fcfs: whether a job before it waits for what a placement asks for."""
    return core.rules.depth == 0 and is_blocked(core, placement)


@part
def _may_pass(core: PlanCore, placement: int, time: int) -> bool:
    """Without extra nodes: a job that passes a front and starts at ``time`` ends by its reservation."""
    pool = core.pools[core.placements[placement].module]
    ends = time + judged_time(core, placement)
    return core.rules.extra == 1 or pool.reserved == 0 or ends <= pool.shadow
