"""EASY by shadow time and extra nodes (rule 5), and its dialects.

For components with one placement and no shared resources: every row is its own
placement. ``plan`` does the general case by reservations in a profile, with equal
results where both apply.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import start
from scheduler_sim.engine.queue import (
    close_gaps,
    goes_before,
    insert,
    insert_newcomers,
    refresh,
    sort_candidates,
    sort_newcomers,
)
from scheduler_sim.engine.releases import overran
from scheduler_sim.engine.state import (
    BY_RUN,
    CANDIDATES,
    DIRTY,
    DYNAMIC,
    EXTRA,
    HEAD,
    INF,
    MODULES,
    NEW,
    NEWCOMERS,
    NOW,
    QUEUE,
    STATIC_SHADOW,
    TAIL,
    TWO_ORDERS,
    WAITING,
    Core,
    Filler,
)


@part
def easy_pass(core: Core, fill_keys: Filler, fill_second: Filler) -> None:
    """One walk over the queue, or over the newcomers alone where nothing else can change."""
    if _fronts_stand(core):
        size = core.clock[NEW]
        _sweep(core, fill_second, NEWCOMERS, 0, size)
        for i in range(size):
            row = core.lists[NEWCOMERS, i]
            if core.comp[row].state == WAITING:
                insert(core, row)
        return
    if core.rules[DYNAMIC]:
        refresh(core, fill_keys)
    else:
        insert_newcomers(core)
    for module in range(core.clock[MODULES]):
        core.pool[module].reserved = core.pool[module].front
        core.pool[module].front = -1
    close_gaps(core, _sweep(core, fill_second, QUEUE, core.clock[HEAD], core.clock[TAIL]))


@part
def _fronts_stand(core: Core) -> bool:
    """Nothing came free and newcomers stand behind the fronts: all earlier decisions stay as they are.

    Judged by run time, a candidate may outlast the shadow time by its limit and so move it.
    """
    rules = core.rules
    if core.clock[DIRTY] or rules[DYNAMIC] or rules[BY_RUN] or rules[TWO_ORDERS] == 2 or overran(core):
        return False
    sort_newcomers(core)
    for i in range(core.clock[NEW]):
        row = core.lists[NEWCOMERS, i]
        front = core.pool[core.place[row].module].front
        if front >= 0 and goes_before(core, row, front):
            return False
    return True


@part
def _sweep(core: Core, fill_second: Filler, which: int, low: int, high: int) -> int:
    """Fronts and candidates in ``low .. high`` of a list; returns where it could stop."""
    put_off = 0
    place = low
    while place < high and (core.rules[TWO_ORDERS] or not _all_closed(core)):
        row = core.lists[which, place]
        place += 1
        it = core.place[row]
        pool = core.pool[it.module]
        if pool.front < 0:
            if it.nodes <= pool.free:
                start(core, row, row)
            else:
                pool.front = row
                _set_shadow(core, it.module, row)
        elif core.rules[TWO_ORDERS]:
            core.lists[CANDIDATES, put_off] = row
            put_off += 1
        elif it.nodes <= pool.free:
            _backfill(core, row)
    if put_off > 0:
        sort_candidates(core, fill_second, put_off)
        for i in range(put_off):
            row = core.lists[CANDIDATES, i]
            if core.place[row].nodes <= core.pool[core.place[row].module].free:
                _backfill(core, row)
    return place


@part
def _all_closed(core: Core) -> bool:
    """No module has both somebody to try and a node to give."""
    for module in range(core.clock[MODULES]):
        pool = core.pool[module]
        if (pool.front < 0 and pool.queued > 0) or (pool.front >= 0 and pool.free > 0):
            return False
    return True


@part
def _backfill(core: Core, row: int) -> None:
    """Start a candidate that fits now, if it ends by the shadow time or leaves the front its nodes."""
    it = core.place[row]
    pool = core.pool[it.module]
    if core.clock[NOW] + it.test > pool.shadow:
        if core.rules[EXTRA] == 0 or it.nodes > pool.extra:
            return
        pool.extra -= it.nodes
    start(core, row, row)


@part
def _set_shadow(core: Core, module: int, row: int) -> None:
    """When planned ends free enough nodes for the front, and how many are then left over."""
    plan, pool = core.release[module], core.pool[module]
    soonest = core.clock[NOW] + 1  # also for what is past its planned end
    needed = core.place[row].nodes
    available = pool.free - pool.draining
    shadow = INF
    if core.rules[STATIC_SHADOW] and pool.reserved == row:
        shadow = pool.shadow
    for i in range(pool.release_head, pool.release_tail):
        time = max(plan[i].time, soonest)
        if time > shadow:
            break
        available += plan[i].nodes
        if shadow == INF and available >= needed:
            shadow = time
    pool.shadow = shadow
    pool.extra = max(0, available - needed)
