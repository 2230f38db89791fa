"""Passes without reservations: fcfs (rule 4) and first fit."""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import start
from scheduler_sim.engine.queue import (
    close_gaps,
    insert,
    insert_newcomers,
    newcomers_come_last,
    refresh,
    sort_candidates,
)
from scheduler_sim.engine.record import fits
from scheduler_sim.engine.state import (
    CANDIDATES,
    COMPLEX,
    DIRTY,
    DYNAMIC,
    EARLIEST_END,
    FIRST_FIT,
    HEAD,
    LEAST_COST,
    MODULES,
    NEW,
    NEWCOMERS,
    QUEUE,
    STRATEGY,
    TAIL,
    TWO_ORDERS,
    Core,
    Filler,
)


@part
def greedy_pass(core: Core, fill_keys: Filler, fill_second: Filler) -> None:
    """Start what fits, in queue order; under fcfs nothing passes a blocked component."""
    if not (core.clock[DIRTY] or core.rules[DYNAMIC] or core.rules[TWO_ORDERS]) and newcomers_come_last(core):
        for i in range(core.clock[NEW]):
            row = core.lists[NEWCOMERS, i]
            if not _try(core, row):
                insert(core, row)
        return
    if core.rules[DYNAMIC]:
        refresh(core, fill_keys)
    else:
        insert_newcomers(core)
    for pool in range(len(core.pool)):
        core.pool[pool].blocked = 0
    put_off = 0
    place = core.clock[HEAD]
    while place < core.clock[TAIL] and not _nothing_can_start(core):
        row = core.lists[QUEUE, place]
        place += 1
        if core.rules[TWO_ORDERS] and all_failed(core, row):
            core.lists[CANDIDATES, put_off] = row
            put_off += 1
        else:
            _try(core, row)
    if put_off > 0:
        sort_candidates(core, fill_second, put_off)
        for i in range(put_off):
            _try(core, core.lists[CANDIDATES, i])
    close_gaps(core, place)


@part
def _better_now(core: Core, placement: int, best: int) -> int:
    """The better of two placements that can start now; ties go to the earlier in the list."""
    if best < 0:
        return placement
    strategy = core.rules[STRATEGY]
    if strategy == EARLIEST_END and core.place[placement].limit < core.place[best].limit:
        return placement
    if strategy == LEAST_COST and core.place[placement].cost < core.place[best].cost:
        return placement
    return best


@part
def _nothing_can_start(core: Core) -> bool:
    """Every module is full, blocked, or has nobody waiting that has not been tried."""
    for module in range(core.clock[MODULES]):
        if core.rules[FIRST_FIT]:
            if core.pool[module].free > 0:
                return False
        elif not core.pool[module].blocked and (core.rules[COMPLEX] or core.pool[module].queued > 0):
            return False
    return True


@part
def _try(core: Core, row: int) -> bool:
    """Start ``row`` in its best free, unblocked placement; else it blocks what it asks for."""
    best = -1
    for placement in range(core.comp[row].first, core.comp[row].last):
        if not is_blocked(core, placement) and fits(core, placement):
            best = _better_now(core, placement, best)
    if best >= 0:
        start(core, row, best)
        return True
    for placement in range(core.comp[row].first, core.comp[row].last):
        block(core, placement)
    return False


@part
def all_failed(core: Core, row: int) -> bool:
    """First fit with two orders: in each module ``row`` asks for, somebody before it failed to start."""
    for placement in range(core.comp[row].first, core.comp[row].last):
        if not core.pool[core.place[placement].module].blocked:
            return False
    return True


@part
def is_blocked(core: Core, placement: int) -> bool:
    """Under fcfs: whether somebody before it waits for what a placement asks for."""
    if core.rules[FIRST_FIT]:
        return False
    if core.pool[core.place[placement].module].blocked:
        return True
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > 0 and core.pool[core.clock[MODULES] + i].blocked:
            return True
    return False


@part
def block(core: Core, placement: int) -> None:
    """Somebody waits for what a placement asks for."""
    core.pool[core.place[placement].module].blocked = 1
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > 0:
            core.pool[core.clock[MODULES] + i].blocked = 1
