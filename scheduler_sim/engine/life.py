"""A component's transitions: submitted, held, in the queue, running, ended."""

from __future__ import annotations

from scheduler_sim.engine.events import push_end
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.record import short_so_far
from scheduler_sim.engine.releases import add_release, drop_release
from scheduler_sim.engine.state import (
    AFTER,
    AFTERNOTOK,
    AFTEROK,
    COMPLETED,
    COMPLEX,
    DIRTY,
    EARLY,
    FAILED,
    HELD,
    INF,
    LOST,
    MODULES,
    NEW,
    NEWCOMERS,
    NOTICES,
    NOW,
    READY,
    REJECTED,
    RUNNING,
    TIMEOUT,
    TOLD,
    UNSEEN,
    UNTIED,
    WAITING,
    Core,
)


@part
def submit(core: Core, row: int) -> None:
    """A component arrives: rejected if it can never run, held if it depends, else a newcomer."""
    if core.comp[row].state != UNSEEN:
        return  # cancelled before it came
    if core.comp[row].first == core.comp[row].last:
        core.comp[row].state = REJECTED
        _tell(core, row)
        _satisfy_ended(core, row)
    elif core.comp[row].missing > 0:
        core.comp[row].state = HELD
    else:
        make_eligible(core, row)


@part
def untie(core: Core, row: int) -> None:
    """The last dependency of ``row`` is satisfied; it may have been cancelled since."""
    if core.comp[row].state == HELD:
        make_eligible(core, row)


@part
def make_eligible(core: Core, row: int) -> None:
    """It may start from now on: it waits, and joins the queue in this step's pass."""
    core.comp[row].state = WAITING
    core.comp[row].eligible = core.clock[NOW]
    core.lists[NEWCOMERS, core.clock[NEW]] = row
    core.clock[NEW] += 1
    placement = core.comp[row].first
    module = core.place[placement].module
    if not core.rules[COMPLEX]:
        core.comp[row].wait_resources = -short_so_far(core, module, core.place[placement].nodes)
    _count(core, row, placement, 1)


@part
def start(core: Core, row: int, placement: int) -> None:
    """Start now: take nodes and resources, plan their return by the time limit."""
    now, module = core.clock[NOW], core.place[placement].module
    if not core.rules[COMPLEX]:
        core.comp[row].wait_resources += short_so_far(core, module, core.place[placement].nodes)
    _count(core, row, core.comp[row].first if core.comp[row].promised < 0 else core.comp[row].promised, -1)
    core.comp[row].state = RUNNING
    core.comp[row].start = now
    core.comp[row].end = now + core.place[placement].duration
    core.comp[row].placed = placement
    core.comp[row].promise, core.comp[row].promised = INF, -1
    planned = now + core.place[placement].limit
    core.pool[module].free -= core.place[placement].nodes
    core.pool[module].busy += core.place[placement].nodes
    core.pool[module].touched = 1
    add_release(core, module, planned, row, core.place[placement].nodes)
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > 0:
            pool = core.clock[MODULES] + i
            core.pool[pool].free -= core.demand[placement, i]
            add_release(core, pool, planned, row, core.demand[placement, i])
    push_end(core, core.comp[row].end, row)
    _tell(core, row)
    _satisfy_started(core, row)


@part
def run_out(core: Core, row: int) -> None:
    """A running component reaches its end by itself or by its limit."""
    if core.place[core.comp[row].placed].killed:
        finish(core, row, TIMEOUT)
    elif core.comp[row].fails:
        finish(core, row, FAILED)
    else:
        finish(core, row, COMPLETED)


@part
def finish(core: Core, row: int, state: int) -> None:
    """A running component ends now, in ``state``; its entry in the event heap is gone."""
    vacate(core, row, state)
    _tell(core, row)
    _satisfy_ended(core, row)


@part
def vacate(core: Core, row: int, state: int) -> None:
    """A running component gives back all it holds."""
    now, placement = core.clock[NOW], core.comp[row].placed
    module = core.place[placement].module
    planned = core.comp[row].start + core.place[placement].limit
    core.comp[row].state = state
    core.comp[row].end = now
    core.clock[DIRTY] = 1
    if now < planned:
        core.clock[EARLY] = 1
    elif now > planned:  # it overran: promises counted on its nodes
        core.clock[EARLY] = core.clock[LOST] = 1
    give_back(core, module, core.place[placement].nodes)
    core.pool[module].busy -= core.place[placement].nodes
    drop_release(core, module, planned, row)
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > 0:
            pool = core.clock[MODULES] + i
            give_back(core, pool, core.demand[placement, i])
            drop_release(core, pool, planned, row)


@part
def give_back(core: Core, pool: int, nodes: int) -> None:
    """Nodes become idle; those that are to be drained leave service instead."""
    leaving = min(nodes, core.pool[pool].draining)
    core.pool[pool].draining -= leaving
    core.pool[pool].down += leaving
    core.pool[pool].free += nodes - leaving
    if pool < core.clock[MODULES]:
        core.pool[pool].touched = 1


@part
def promise(core: Core, row: int, placement: int, time: int) -> None:
    """Hold a reservation for ``row``; it counts in the queue of that module."""
    held = core.comp[row].promised
    now_in = core.comp[row].first if held < 0 else held
    if now_in != placement:
        _count(core, row, now_in, -1)
        _count(core, row, placement, 1)
    core.comp[row].promise, core.comp[row].promised = time, placement


@part
def withdraw(core: Core, row: int) -> None:
    """Take the reservation of ``row`` back."""
    held = core.comp[row].promised
    if held >= 0 and held != core.comp[row].first:
        _count(core, row, held, -1)
        _count(core, row, core.comp[row].first, 1)
    core.comp[row].promise, core.comp[row].promised = INF, -1


@part
def settle_wait(core: Core, row: int) -> None:
    """Write down how long ``row`` has waited for nodes; from now on that is not read off the pool."""
    it = core.place[core.comp[row].first]
    core.comp[row].wait_resources += short_so_far(core, it.module, it.nodes)


@part
def leave_queue(core: Core, row: int, state: int) -> None:
    """One that waits, is held or has yet to come is cancelled; the caller takes it out of the queue."""
    if core.comp[row].state == WAITING:
        placement = core.comp[row].first
        _count(core, row, placement if core.comp[row].promised < 0 else core.comp[row].promised, -1)
        core.clock[DIRTY] = core.clock[EARLY] = 1
    if core.comp[row].state != UNSEEN:
        core.comp[row].end = core.clock[NOW]
    core.comp[row].promise, core.comp[row].promised = INF, -1
    core.comp[row].state = state
    _tell(core, row)
    _satisfy_ended(core, row)


@part
def requeue(core: Core, row: int) -> None:
    """What ``finish`` ended waits again from now on; the lost attempt counts as a wait for nodes."""
    placement = core.comp[row].first
    core.comp[row].wait_resources += core.clock[NOW] - core.comp[row].start
    core.comp[row].state = WAITING
    core.comp[row].start = core.comp[row].end = core.comp[row].placed = -1
    if not core.rules[COMPLEX]:
        core.comp[row].wait_resources -= short_so_far(
            core, core.place[placement].module, core.place[placement].nodes
        )
    core.lists[NEWCOMERS, core.clock[NEW]] = row
    core.clock[NEW] += 1
    _count(core, row, placement, 1)


@part
def _count(core: Core, row: int, placement: int, sign: int) -> None:
    module = core.place[placement].module
    core.pool[module].queued += sign
    core.pool[module].queued_nodes += sign * core.place[placement].nodes
    core.pool[module].touched = 1


@part
def _tell(core: Core, row: int) -> None:
    if core.comp[row].watch:
        core.lists[NOTICES, core.clock[TOLD]] = row
        core.clock[TOLD] += 1


@part
def _satisfy_started(core: Core, row: int) -> None:
    for edge in range(core.comp[row].after, core.comp[row].after_last):
        if core.edge[edge].kind == AFTER:
            _satisfy(core, edge)


@part
def _satisfy_ended(core: Core, row: int) -> None:
    """Rejected and cancelled components end without having started (and not successfully)."""
    well = core.comp[row].state == COMPLETED
    for edge in range(core.comp[row].after, core.comp[row].after_last):
        kind = core.edge[edge].kind
        if not ((kind == AFTEROK and not well) or (kind == AFTERNOTOK and well)):
            _satisfy(core, edge)


@part
def _satisfy(core: Core, edge: int) -> None:
    if core.edge[edge].satisfied:
        return
    core.edge[edge].satisfied = 1
    row = core.edge[edge].successor
    core.comp[row].missing -= 1
    if core.comp[row].missing == 0 and core.comp[row].state == HELD:
        core.lists[UNTIED, core.clock[READY]] = row
        core.clock[READY] += 1
