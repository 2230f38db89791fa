"""EASY by shadow time and extra nodes (rule 5), and its dialects.

For components with one placement and no shared resources: every row is its own
placement. ``plan`` does the general case by reservations in a profile, with equal
results where both apply.
"""

from __future__ import annotations

from scheduler_sim.engine.core.front import may_pass_front, set_shadow
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import start
from scheduler_sim.engine.core.queue import (
    close_gaps,
    goes_before,
    insert,
    refresh,
    sort_candidates,
    sort_newcomers,
)
from scheduler_sim.engine.core.record import has_room, nodes_fit
from scheduler_sim.engine.core.records import Ints
from scheduler_sim.engine.core.releases import overran
from scheduler_sim.engine.core.scheme import pass_of
from scheduler_sim.engine.core.state import WAITING
from scheduler_sim.engine.rules.shared_nodes.packing import choose_nodes_now
from scheduler_sim.engine.rules.shared_nodes.state import SharedCore


@pass_of("easy")
@part
def easy_pass(core: SharedCore) -> None:
    """One walk over the queue, or over the newcomers alone where nothing else can change."""
    if _fronts_stand(core):
        size = core.queue.at.new
        _sweep(core, core.queue.newcomers, 0, size)
        for i in range(size):
            row = core.queue.newcomers[i]
            if core.jobs[row].state == WAITING:
                insert(core, row)
        return
    refresh(core)
    for module in range(core.clock.modules):
        core.pools[module].reserved = core.pools[module].front
        core.pools[module].front = -1
    close_gaps(core, _sweep(core, core.queue.waiting, core.queue.at.head, core.queue.at.tail))


@part
def _fronts_stand(core: SharedCore) -> bool:
    """Nothing came free and newcomers stand behind the fronts: all earlier decisions stay as they are.

    Judged by run time, a candidate may outlast the shadow time by its limit and so move it.
    """
    rules = core.rules
    if core.clock.dirty or rules.named or rules.dynamic or rules.by_run or rules.two_orders == 2:
        return False
    if overran(core):
        return False
    sort_newcomers(core)
    for i in range(core.queue.at.new):
        row = core.queue.newcomers[i]
        front = core.pools[core.placements[row].module].front
        if front >= 0 and goes_before(core, row, front):
            return False
    return True


@part
def _sweep(core: SharedCore, rows: Ints, low: int, high: int) -> int:
    """Fronts and candidates in ``low .. high`` of a list; returns the place behind the last that started."""
    put_off, place, stop = 0, low, low
    goes_on = _goes_on(core)
    while place < high and goes_on:
        row = rows[place]
        place += 1
        module = core.placements[row].module
        pool = core.pools[module]
        if pool.front < 0:
            if nodes_fit(core, row):
                choose_nodes_now(core, row)
                start(core, row, row)
                stop = place
            else:
                pool.front = row
                set_shadow(core, module, row)
        elif core.rules.two_orders:
            core.queue.candidates[put_off] = row
            put_off += 1
        elif _backfill(core, row):
            stop = place
        goes_on = _goes_on(core)
    if put_off > 0:
        stop = place
        sort_candidates(core, put_off)
        for i in range(put_off):
            _backfill(core, core.queue.candidates[i])
    return stop


@part
def _goes_on(core: SharedCore) -> bool:
    """Some module has both a job to try and a node to give; with two orders all are looked at."""
    if core.rules.two_orders:
        return True
    for module in range(core.clock.modules):
        pool = core.pools[module]
        if (pool.front < 0 and pool.queued > 0) or (pool.front >= 0 and has_room(core, module)):
            return True
    return False


@part
def _backfill(core: SharedCore, row: int) -> bool:
    """Start a candidate, if it fits now and the front does not have to wait for it."""
    if not may_pass_front(core, row):
        return False
    start(core, row, row)
    return True
