"""Passes without reservations: fcfs (rule 4) and first fit."""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import start
from scheduler_sim.engine.core.placement import cost_of
from scheduler_sim.engine.core.queue import close_gaps, insert, newcomers_come_last, refresh, sort_candidates
from scheduler_sim.engine.core.record import fits, has_room
from scheduler_sim.engine.core.scheme import pass_of
from scheduler_sim.engine.core.state import EARLIEST_END, LEAST_COST
from scheduler_sim.engine.rules.grace import GraceCore, may_pass_blocked
from scheduler_sim.engine.rules.shared_nodes.packing import choose_nodes_now
from scheduler_sim.engine.rules.shared_nodes.state import SharedCore


class GreedyCore(SharedCore, GraceCore):
    """A core with all that these passes look at."""


@pass_of("fcfs_and_first_fit", plans=False)
@part
def greedy_pass(core: GreedyCore) -> None:
    """Start what fits, in queue order; under fcfs nothing passes a blocked component."""
    if not (core.clock.dirty or core.rules.dynamic or core.rules.two_orders) and newcomers_come_last(core):
        for i in range(core.queue.at.new):
            row = core.queue.newcomers[i]
            if not _try(core, row):
                insert(core, row)
        return
    refresh(core)
    for pool in range(len(core.pools)):
        core.pools[pool].blocked = 0
    put_off = 0
    place = core.queue.at.head
    while place < core.queue.at.tail and not _nothing_can_start(core):
        row = core.queue.waiting[place]
        place += 1
        if core.rules.two_orders and all_failed(core, row):
            core.queue.candidates[put_off] = row
            put_off += 1
        else:
            _try(core, row)
    if put_off > 0:
        sort_candidates(core, put_off)
        for i in range(put_off):
            _try(core, core.queue.candidates[i])
    close_gaps(core, place)


@part
def _better_now(core: GreedyCore, placement: int, best: int) -> int:
    """The better of two placements that can start now; ties go to the earlier in the list."""
    if best < 0:
        return placement
    strategy = core.rules.strategy
    if strategy == EARLIEST_END and core.placements[placement].limit < core.placements[best].limit:
        return placement
    if strategy == LEAST_COST and cost_of(core, placement) < cost_of(core, best):
        return placement
    return best


@part
def _nothing_can_start(core: GreedyCore) -> bool:
    """Every module is full, blocked, or has no job waiting that has not been tried."""
    for module in range(core.clock.modules):
        if core.rules.first_fit:
            if has_room(core, module):
                return False
        elif not core.pools[module].blocked and (core.rules.complex or core.pools[module].queued > 0):
            return False
    return True


@part
def _try(core: GreedyCore, row: int) -> bool:
    """Start ``row`` in its best free, unblocked placement; else it blocks what it asks for."""
    best = -1
    for placement in range(core.jobs[row].first, core.jobs[row].last):
        if not is_blocked(core, placement) and fits(core, placement):
            best = _better_now(core, placement, best)
    if best >= 0:
        choose_nodes_now(core, best)
        start(core, row, best)
        return True
    for placement in range(core.jobs[row].first, core.jobs[row].last):
        block(core, placement)
    return False


@part
def all_failed(core: GreedyCore, row: int) -> bool:
    """First fit with two orders: in each module ``row`` asks for, a job before it failed to start."""
    for placement in range(core.jobs[row].first, core.jobs[row].last):
        if not core.pools[core.placements[placement].module].blocked:
            return False
    return True


@part
def is_blocked(core: GreedyCore, placement: int) -> bool:
    """Under fcfs: whether a job before it waits for what a placement asks for."""
    if core.rules.first_fit and may_pass_blocked(core, core.placements[placement].module):
        return False
    if core.pools[core.placements[placement].module].blocked:
        return True
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > 0 and core.pools[core.clock.modules + i].blocked:
            return True
    return False


@part
def block(core: GreedyCore, placement: int) -> None:
    """A job waits for what a placement asks for."""
    core.pools[core.placements[placement].module].blocked = 1
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > 0:
            core.pools[core.clock.modules + i].blocked = 1
