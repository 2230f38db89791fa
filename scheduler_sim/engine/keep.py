"""Conservative backfill that keeps its promises (rule 6, ``replan: keep``)."""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import promise, withdraw
from scheduler_sim.engine.plan import ranks_before, start_promised
from scheduler_sim.engine.profile import build_profiles, earliest, occupy
from scheduler_sim.engine.queue import insert_newcomers, refresh, sort_newcomers
from scheduler_sim.engine.record import fits
from scheduler_sim.engine.releases import overran
from scheduler_sim.engine.state import (
    DYNAMIC,
    EARLY,
    FIRST_AVAILABLE,
    HEAD,
    INF,
    LOST,
    NEW,
    NEWCOMERS,
    NOW,
    PROFILED,
    QUEUE,
    STRATEGY,
    TAIL,
    Core,
)


@part
def keep_pass(core: Core, fill_keys) -> None:
    """Lift old promises if something came free early, promise to newcomers, start what is due."""
    if core.clock[LOST] or overran(core):
        _renew(core, fill_keys)
    elif core.clock[EARLY] or not core.clock[PROFILED]:
        _lift_all(core, fill_keys)
    sort_newcomers(core)
    for i in range(core.clock[NEW]):
        _promise_best(core, core.lists[NEWCOMERS, i], INF)
    insert_newcomers(core)
    start_promised(core)


@part
def _renew(core, fill_keys):
    """Promises are void: every one is made anew, in queue order."""
    build_profiles(core)
    _bring_in_order(core, fill_keys)
    for i in range(core.clock[HEAD], core.clock[TAIL]):
        withdraw(core, core.lists[QUEUE, i])
    for i in range(core.clock[HEAD], core.clock[TAIL]):
        _promise_best(core, core.lists[QUEUE, i], INF)


@part
def _lift_all(core, fill_keys):
    """One sweep in queue order: each promise in turn goes to its earliest slot."""
    build_profiles(core)
    _bring_in_order(core, fill_keys)
    head, tail = core.clock[HEAD], core.clock[TAIL]
    for i in range(head, tail):
        row = core.lists[QUEUE, i]
        if core.comp[row].promise < INF:
            occupy(core, core.comp[row].promised, core.comp[row].promise, 1)
    for i in range(head, tail):
        row = core.lists[QUEUE, i]
        latest = core.comp[row].promise
        if latest == core.clock[NOW]:
            continue
        if latest < INF:
            occupy(core, core.comp[row].promised, latest, -1)
        _promise_best(core, row, latest)


@part
def _bring_in_order(core, fill_keys):
    if core.rules[DYNAMIC]:
        newcomers = core.clock[NEW]
        core.clock[NEW] = 0
        refresh(core, fill_keys)
        core.clock[NEW] = newcomers


@part
def _promise_best(core, row, latest):
    """Promise the best slot that does not begin after ``latest``."""
    best, best_time = -1, INF
    for placement in range(core.comp[row].first, core.comp[row].last):
        if (
            core.rules[STRATEGY] == FIRST_AVAILABLE
            and placement != core.comp[row].first
            and not fits(core, placement)
        ):
            continue
        time = earliest(core, placement, core.clock[NOW])
        if (
            core.rules[STRATEGY] == FIRST_AVAILABLE
            and placement != core.comp[row].first
            and time > core.clock[NOW]
        ):
            continue
        if time <= latest and (best < 0 or ranks_before(core, placement, time, best, best_time)):
            best, best_time = placement, time
    promise(core, row, best, best_time)
    if best_time < INF:
        occupy(core, best, best_time, 1)
