"""Conservative backfill that keeps its promises (rule 6, ``replan: keep``)."""

from __future__ import annotations

from scheduler_sim.engine.appointments import occupy_appointments
from scheduler_sim.engine.crew import starts_with_others
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.plan import ranks_before, start_promised
from scheduler_sim.engine.profile import build_profiles, earliest, occupy
from scheduler_sim.engine.queue import insert_newcomers, refresh
from scheduler_sim.engine.record import fits
from scheduler_sim.engine.releases import overran
from scheduler_sim.engine.state import (
    DUE,
    DYNAMIC,
    EARLY,
    FIRST_AVAILABLE,
    HEAD,
    INF,
    LOST,
    NEW,
    NOW,
    PROFILED,
    QUEUE,
    STRATEGY,
    SWITCHING,
    TAIL,
    Core,
    Filler,
)
from scheduler_sim.engine.switching import switch_nodes
from scheduler_sim.engine.units import keep_appointments, occupy_unit, unit_slot
from scheduler_sim.engine.waiting import promise, withdraw


@part
def keep_pass(core: Core, fill_keys: Filler) -> None:
    """Lift old promises if something came free early, promise to newcomers, start what is due."""
    keep_appointments(core)
    if core.rules[DYNAMIC]:
        refresh(core, fill_keys)
    else:
        insert_newcomers(core)
    head, tail = core.clock[HEAD], core.clock[TAIL]
    if core.clock[LOST] or overran(core):
        build_profiles(core, True)
        occupy_appointments(core)
        for i in range(head, tail):
            withdraw(core, core.lists[QUEUE, i])
    elif core.clock[EARLY] or not core.clock[PROFILED]:
        _lay_out(core)
        _lift_all(core)
    elif core.rules[SWITCHING]:  # who is off can be up a boot from now, which is later than before
        _lay_out(core)
    if core.clock[NEW] or core.clock[LOST] or core.clock[EARLY] or overran(core):
        for i in range(head, tail):
            row = core.lists[QUEUE, i]
            if core.comp[row].promised < 0:
                _promise_best(core, row, INF)
    core.clock[DUE] = start_promised(core)
    if core.rules[SWITCHING]:
        switch_nodes(core)


@part
def _lay_out(core: Core) -> None:
    """Profiles of what runs, what is appointed and what is promised."""
    build_profiles(core, True)
    occupy_appointments(core)
    for i in range(core.clock[HEAD], core.clock[TAIL]):
        _hold(core, core.lists[QUEUE, i], 1)


@part
def _lift_all(core: Core) -> None:
    """One sweep in queue order: each promise in turn goes to its earliest slot, never later."""
    for i in range(core.clock[HEAD], core.clock[TAIL]):
        row = core.lists[QUEUE, i]
        if core.comp[row].promised >= 0:
            _hold(core, row, -1)
            _promise_best(core, row, core.comp[row].promise)


@part
def _hold(core: Core, row: int, sign: int) -> None:
    """Take the promise of ``row`` out of the profiles, or put it back."""
    begin, placement = core.comp[row].promise, core.comp[row].promised
    if begin < INF and starts_with_others(core, row):
        occupy_unit(core, row, begin, sign)
    elif begin < INF:
        occupy(core, placement, begin, begin + core.place[placement].limit, sign)


@part
def _promise_best(core: Core, row: int, latest: int) -> None:
    """Promise the best slot that does not begin after ``latest``."""
    if starts_with_others(core, row):
        promise(core, row, core.comp[row].first, min(unit_slot(core, row, core.clock[NOW]), latest))
        _hold(core, row, 1)
        return
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
    _hold(core, row, 1)
