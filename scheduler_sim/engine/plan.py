"""Reservations of any depth, planned anew at each pass (rules 5 and 6).

One algorithm with one number: the first ``depth`` components a module that cannot
start hold reservations; with depth ALL every component does (conservative backfill).
"""

from __future__ import annotations

from scheduler_sim.engine.appointments import occupy_appointments
from scheduler_sim.engine.crew import starts_with_others
from scheduler_sim.engine.greedy import all_failed, block, is_blocked
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import start
from scheduler_sim.engine.profile import build_profiles, earliest, occupy
from scheduler_sim.engine.queue import (
    close_gaps,
    insert,
    insert_newcomers,
    newcomers_come_last,
    refresh,
    sort_candidates,
)
from scheduler_sim.engine.record import fits, unit_fits
from scheduler_sim.engine.releases import overran
from scheduler_sim.engine.state import (
    ALL,
    BY_RUN,
    CANDIDATES,
    DEPTH,
    DIRTY,
    DUE,
    DYNAMIC,
    EARLIEST_END,
    EARLY,
    EXTRA,
    FIRST_AVAILABLE,
    FIRST_FIT,
    HEAD,
    INF,
    LEAST_COST,
    NEW,
    NEWCOMERS,
    NOW,
    PROFILED,
    QUEUE,
    RESERVED,
    STRATEGY,
    SWITCHING,
    TAIL,
    TWO_ORDERS,
    UNITS,
    WAITING,
    Core,
    Filler,
    Table,
)
from scheduler_sim.engine.switching import (
    forget_who_is_called,
    is_called,
    let_nobody_pass,
    let_nobody_pass_unit,
    not_before,
    sleeps,
    switch_nodes,
    unit_not_before,
)
from scheduler_sim.engine.units import keep_appointments, may_be_appointed, occupy_unit, start_unit, unit_slot
from scheduler_sim.engine.waiting import promise, withdraw


@part
def plan_pass(core: Core, fill_keys: Filler, fill_second: Filler) -> None:
    """Plan every component anew, or only the newcomers where the plan still stands."""
    keep_appointments(core)
    if core.clock[NOW] >= core.clock[DUE]:
        core.clock[DIRTY] = 1
    if _plan_stands(core):
        if core.clock[DIRTY]:
            due = start_promised(core)
            core.clock[DUE] = due if core.rules[UNITS] else INF
        for i in range(core.clock[NEW]):
            row = core.lists[NEWCOMERS, i]
            _plan(core, row)
            if core.comp[row].state == WAITING:
                insert(core, row)
        return
    if core.rules[DYNAMIC]:
        refresh(core, fill_keys)
    else:
        insert_newcomers(core)
    core.clock[DUE] = INF
    build_profiles(core, False)
    occupy_appointments(core)
    for pool in range(len(core.pool)):
        core.pool[pool].reserved, core.pool[pool].shadow, core.pool[pool].blocked = 0, INF, 0
    forget_who_is_called(core)
    _plan_all(core, fill_second)
    close_gaps(core, core.clock[TAIL])
    if core.rules[SWITCHING]:
        switch_nodes(core)


@part
def start_promised(core: Core) -> int:
    """The reservations that begin now start; returns when the next one begins.

    After a single event of an instant one may have to wait for another end of that instant.
    """
    now, due = core.clock[NOW], INF
    for i in range(core.clock[HEAD], core.clock[TAIL]):
        row = core.lists[QUEUE, i]
        time = core.comp[row].promise
        if time == now and starts_with_others(core, row) and unit_fits(core, row):
            start_unit(core, row)
        elif time == now and fits(core, core.comp[row].promised):
            start(core, row, core.comp[row].promised)
        elif time > now:
            due = min(due, time)
    close_gaps(core, core.clock[TAIL])
    return due


@part
def _plan_stands(core: Core) -> bool:
    """Nothing came free early and newcomers stand last: earlier slots would come out the same."""
    if not core.clock[PROFILED] or core.clock[EARLY] or core.rules[DYNAMIC] or core.rules[BY_RUN]:
        return False
    if core.clock[DIRTY] and (core.rules[DEPTH] != ALL or core.rules[STRATEGY] == FIRST_AVAILABLE):
        return False
    if core.rules[TWO_ORDERS] or core.rules[RESERVED] or core.rules[SWITCHING] or overran(core):
        return False
    return newcomers_come_last(core)


@part
def _plan_all(core: Core, fill_second: Filler) -> None:
    put_off = 0
    for place in range(core.clock[HEAD], core.clock[TAIL]):
        row = core.lists[QUEUE, place]
        if core.rules[TWO_ORDERS] and _is_candidate(core, row):
            core.lists[CANDIDATES, put_off] = row
            put_off += 1
        else:
            _plan(core, row)
    if put_off > 0:
        sort_candidates(core, fill_second, put_off)
        for i in range(put_off):
            _plan(core, core.lists[CANDIDATES, i])


@part
def _plan(core: Core, row: int) -> None:
    """Start ``row`` now, or reserve its best slot while depth is left."""
    if starts_with_others(core, row):
        _plan_unit(core, row)
        return
    now = core.clock[NOW]
    best, best_time = -1, INF
    for placement in range(core.comp[row].first, core.comp[row].last):
        ahead = _may_reserve(core, row, placement)
        module = core.place[placement].module
        if not ahead and (_is_blocked(core, placement) or not _is_worth_a_look(core, placement)):
            continue
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
        for placement in range(core.comp[row].first, core.comp[row].last):
            block(core, placement)
        return
    pool = core.pool[core.place[best].module]
    if best_time == now and fits(core, best):
        # Whoever starts before there is a front is planned as what runs: by its limit.
        length = core.place[best].test if pool.reserved > 0 else core.place[best].limit
        occupy(core, best, now, now + length, 1)
        start(core, row, best)
        return
    promise(core, row, best, best_time)
    if best_time < INF:
        occupy(core, best, best_time, best_time + core.place[best].test, 1)
    if is_called(core, core.place[best].module, best_time):
        let_nobody_pass(core, best, best_time)
        return
    pool.reserved += 1
    pool.shadow = min(pool.shadow, best_time)


@part
def _is_worth_a_look(core: Core, placement: int) -> bool:
    """Whether a placement for which no depth is left may start now, or be called."""
    return core.rules[UNITS] or sleeps(core, core.place[placement].module) or fits(core, placement)


@part
def _look_again(core: Core, time: int) -> None:
    """Have the clock stop at a slot: with offsets and appointments that may be when nothing ends."""
    if core.rules[UNITS] and not core.rules[RESERVED] and time > core.clock[NOW]:
        core.clock[DUE] = min(core.clock[DUE], time)


@part
def _plan_unit(core: Core, leader: int) -> None:
    """Start a unit now, or reserve its slot while depth is left in each module it asks for."""
    now, unit = core.clock[NOW], core.unit[core.member[leader].unit]
    time = unit_slot(core, leader, unit_not_before(core, leader))
    ahead, passes = True, True
    for i in range(unit.first, unit.last):
        placement = core.comp[core.crew[i]].first
        ahead = ahead and _has_depth(core, placement)
        passes = passes and not _is_blocked(core, placement) and _may_pass(core, placement, time)
    if time == now and passes and unit_fits(core, leader) and may_be_appointed(core, leader):
        occupy_unit(core, leader, now, 1)
        start_unit(core, leader)
        return
    _look_again(core, time)
    called = (ahead or passes) and time > now and _unit_is_called(core, unit, time)
    if not ahead and not called:
        withdraw(core, leader)
        for i in range(unit.first, unit.last):
            block(core, core.comp[core.crew[i]].first)
        return
    if time == now:
        time = unit_slot(core, leader, now + 1)
    if called:
        let_nobody_pass_unit(core, leader, time)
    else:
        for i in range(unit.rect, unit.rect_last):
            _count_reservation(core, unit, i, time)
    promise(core, leader, core.comp[leader].first, time)
    if time < INF:
        occupy_unit(core, leader, time, 1)


@part
def _unit_is_called(core: Core, unit: Table, time: int) -> bool:
    """Whether a unit waits for no more than a boot in one of its modules."""
    for i in range(unit.rect, unit.rect_last):
        if is_called(core, core.rect[i].pool, time):
            return True
    return False


@part
def _count_reservation(core: Core, unit: Table, i: int, time: int) -> None:
    """One reservation in each module, at the first rectangle there is in it."""
    number = core.rect[i].pool
    for other in range(unit.rect, i):
        if core.rect[other].pool == number:
            return
    core.pool[number].reserved += 1
    core.pool[number].shadow = min(core.pool[number].shadow, time + core.rect[i].offset)


@part
def ranks_before(core: Core, one: int, time: int, other: int, other_time: int) -> bool:
    """Rule 9: whether the slot of ``one`` is better than that of ``other``, earlier in the list."""
    strategy = core.rules[STRATEGY]
    if strategy == FIRST_AVAILABLE:
        return time == core.clock[NOW] and other_time != core.clock[NOW]
    if strategy == EARLIEST_END and time + core.place[one].limit != other_time + core.place[other].limit:
        return time + core.place[one].limit < other_time + core.place[other].limit
    if strategy == LEAST_COST and core.place[one].cost != core.place[other].cost:
        return core.place[one].cost < core.place[other].cost
    return time < other_time


@part
def _may_reserve(core: Core, row: int, placement: int) -> bool:
    return _waits_for(core, row, placement) and _has_depth(core, placement)


@part
def _waits_for(core: Core, row: int, placement: int) -> bool:
    """Whether ``row`` may wait for a slot of ``placement``, or else only start in it now."""
    return core.rules[STRATEGY] != FIRST_AVAILABLE or placement == core.comp[row].first


@part
def _has_depth(core: Core, placement: int) -> bool:
    depth = core.rules[DEPTH]
    return depth == ALL or core.pool[core.place[placement].module].reserved < depth


@part
def _is_candidate(core: Core, row: int) -> bool:
    """Whether somebody before ``row`` has failed to start in each module it asks for."""
    if core.rules[FIRST_FIT]:
        return all_failed(core, row)
    for placement in range(core.comp[row].first, core.comp[row].last):
        if _has_depth(core, placement):
            return False
    return True


@part
def _is_blocked(core: Core, placement: int) -> bool:
    """Under fcfs: whether somebody before it waits for what a placement asks for."""
    return core.rules[DEPTH] == 0 and is_blocked(core, placement)


@part
def _may_pass(core: Core, placement: int, time: int) -> bool:
    """The dialect without extra nodes: who passes a front and starts at ``time`` ends by its reservation."""
    pool = core.pool[core.place[placement].module]
    return core.rules[EXTRA] or pool.reserved == 0 or time + core.place[placement].test <= pool.shadow
