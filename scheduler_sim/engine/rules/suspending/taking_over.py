"""A job at the front of the queue starts at once on nodes of those that it may preempt.

First it takes idle nodes, then such that suspended jobs hold and on which nobody works, then those of jobs
at work, which are suspended.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import add, clear, copy, take_out
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import start
from scheduler_sim.engine.core.queue import remove
from scheduler_sim.engine.rules.making_room import choose, may_preempt, room_is_made
from scheduler_sim.engine.rules.suspending.nodes import move_first
from scheduler_sim.engine.rules.suspending.state import (
    NOBODY,
    SuspendingCore,
    is_suspended,
    module_of_job,
)
from scheduler_sim.engine.rules.suspensions import suspend


@on(room_is_made, "suspending")
def others_are_suspended(core: SuspendingCore, row: int) -> bool:
    """Whether a job that waits has started on nodes of others."""
    it = core.placements[core.jobs[row].first]
    left = core.making_room.left
    missing = it.nodes - left[it.module]
    lent = _borrow_where_nobody_works(core, row, it.module, missing)
    if lent < missing:
        chosen = choose(core, row, missing - lent)
        if chosen == 0:
            low, high = core.suspending.low[it.module], core.suspending.low[it.module + 1]
            clear(core.suspending.sets.lent, low, high)
            return False
        _borrow_of(core, chosen, missing - lent)
    core.suspending.at.lent = missing
    remove(core, row)
    start(core, row, core.jobs[row].first)
    left[it.module] = it.nodes  # which the walk takes off
    return True


@part
def _borrow_where_nobody_works(core: SuspendingCore, row: int, module: int, nodes: int) -> int:
    """Add nodes of suspended jobs to LENT, of the last to start first; returns how many there are."""
    suspending, lent = core.suspending, 0
    if suspending.at.suspended == 0:
        return 0
    low, high = suspending.low[module], suspending.low[module + 1]
    covered, rest = suspending.sets.covered, suspending.sets.rest
    clear(covered, low, high)
    place = suspending.at.last
    while place != NOBODY and lent < nodes:
        other = suspending.holder[place].row
        if module_of_job(core, other) == module:
            if is_suspended(core, other) and may_preempt(core, row, other):
                copy(rest, suspending.nodes_of[place], low, high)
                take_out(rest, covered, low, high)
                lent += move_first(rest, suspending.sets.lent, low, high, nodes - lent)
            add(covered, suspending.nodes_of[place], low, high)
        place = suspending.holder[place].before
    return lent


@part
def _borrow_of(core: SuspendingCore, chosen: int, nodes: int) -> None:
    """Suspend those that were chosen, and add so many of their nodes to LENT."""
    suspending, left = core.suspending, nodes
    for i in range(chosen):
        victim = core.making_room.victim[i]
        if core.making_room.taken[victim]:
            core.making_room.taken[victim] = 0
            module = module_of_job(core, victim)
            low, high = suspending.low[module], suspending.low[module + 1]
            copy(suspending.sets.rest, suspending.nodes_of[suspending.hold[victim].place], low, high)
            left -= move_first(suspending.sets.rest, suspending.sets.lent, low, high, left)
            suspend(core, victim, suspending.pause)
            suspending.at.suspended += 1
