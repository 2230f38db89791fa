"""Nodes that several jobs hold: taken at a start, given back where nobody else holds them."""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, ONE, add, clear, copy, count, take_out
from scheduler_sim.engine.core.events import drop_end
from scheduler_sim.engine.core.hooks import on, only_with
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import free_nodes, give_back, take_nodes
from scheduler_sim.engine.core.limits import time_granted
from scheduler_sim.engine.core.moments import limit_changed, started, stopped, stops
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.suspending.state import (
    NOBODY,
    SuspendingCore,
    is_suspended,
    module_of_job,
)
from scheduler_sim.engine.rules.suspensions import end_span


@on(take_nodes, "suspending")
def take_idle(core: SuspendingCore, placement: int) -> None:
    """What a job does not get of others it takes of the idle nodes."""
    it = core.placements[placement]
    core.pools[it.module].free -= it.nodes - core.suspending.at.lent


@on(started, "suspending")
def hold_nodes(core: SuspendingCore, row: int) -> None:
    """It has the nodes that others lent it, and the first of those that nobody holds."""
    suspending, module = core.suspending, module_of_job(core, row)
    low, high = suspending.low[module], suspending.low[module + 1]
    hold = suspending.hold[row]
    hold.place, hold.own, hold.ahead = _new_place(core, row), core.placements[core.jobs[row].placed].nodes, 0
    mine = suspending.nodes_of[hold.place]
    copy(mine, suspending.sets.lent, low, high)
    clear(suspending.sets.lent, low, high)
    hold.own -= suspending.at.lent
    suspending.at.lent = 0
    copy(suspending.sets.rest, suspending.sets.there, low, high)
    take_out(suspending.sets.rest, suspending.sets.held, low, high)
    move_first(suspending.sets.rest, mine, low, high, hold.own)
    add(suspending.sets.held, mine, low, high)
    suspending.pause[row].seconds = 0
    plan_own_nodes(core, row)


@part
def move_first(source: Words, target: Words, low: int, high: int, nodes: int) -> int:
    """Move the first nodes of a set into another, so many or all; returns how many those were."""
    left = nodes
    for word in range(low, high):
        bits = source[word]
        while bits != NONE and left > 0:
            lowest = bits & (~bits + ONE)
            bits ^= lowest
            source[word] ^= lowest
            target[word] |= lowest
            left -= 1
    return nodes - left


@on(stops, "suspending")
def let_nodes_go(core: SuspendingCore, row: int) -> None:
    """Its nodes are idle where nobody else holds them."""
    suspending, module = core.suspending, module_of_job(core, row)
    low, high, rest = suspending.low[module], suspending.low[module + 1], suspending.sets.rest
    place = suspending.hold[row].place
    copy(rest, suspending.nodes_of[place], low, high)
    clear(suspending.nodes_of[place], low, high)  # the next to have the place may be in another module
    _give_up_place(core, place)
    if suspending.at.suspended > 0:
        other = suspending.at.first
        while other != NOBODY:
            take_out(rest, suspending.nodes_of[other], low, high)
            other = suspending.holder[other].after
    take_out(suspending.sets.held, rest, low, high)
    suspending.at.back = count(rest, low, high)


@on(free_nodes, "suspending")
def free_where_nobody_else_is(core: SuspendingCore, placement: int) -> None:
    """The others stay with those who hold them."""
    give_back(core, core.placements[placement].module, core.suspending.at.back)


@on(stopped, "suspending")
def leave_others_alone(core: SuspendingCore, row: int) -> None:
    """One that is stopped while it is suspended leaves its nodes to those above and below it."""
    suspending = core.suspending
    if not is_suspended(core, row):
        return
    end_span(core, row, suspending.pause, suspending.log, suspending.spans)
    suspending.at.suspended -= 1
    _own_nodes_again(core, module_of_job(core, row))


@part
def _own_nodes_again(core: SuspendingCore, module: int) -> None:
    """Count again which nodes nobody held before each holder in a module."""
    suspending = core.suspending
    low, high, covered = suspending.low[module], suspending.low[module + 1], suspending.sets.covered
    clear(covered, low, high)
    place = suspending.at.first
    while place != NOBODY:
        row = suspending.holder[place].row
        if module_of_job(core, row) == module:
            copy(suspending.sets.rest, suspending.nodes_of[place], low, high)
            take_out(suspending.sets.rest, covered, low, high)
            suspending.hold[row].own = count(suspending.sets.rest, low, high)
            add(covered, suspending.nodes_of[place], low, high)
            plan_own_nodes(core, row)
        place = suspending.holder[place].after


# -- the holders, in the order of their starts


@part
def _new_place(core: SuspendingCore, row: int) -> int:
    """A place for a job that starts, behind all others."""
    at, holder = core.suspending.at, core.suspending.holder
    if at.spare == NOBODY:
        place = at.places
        at.places += 1
    else:
        place = at.spare
        at.spare = holder[place].after
    holder[place].row, holder[place].before, holder[place].after = row, at.last, NOBODY
    if at.last == NOBODY:
        at.first = place
    else:
        holder[at.last].after = place
    at.last = place
    return place


@part
def _give_up_place(core: SuspendingCore, place: int) -> None:
    at, holder = core.suspending.at, core.suspending.holder
    before, after = holder[place].before, holder[place].after
    if before == NOBODY:
        at.first = after
    else:
        holder[before].after = after
    if after == NOBODY:
        at.last = before
    else:
        holder[after].before = before
    holder[place].after = at.spare
    at.spare = place


# -- planned ends


@only_with("releases")
def plan_own_nodes(core: SuspendingCore, row: int) -> None:
    """At its planned end those of its nodes come back that nobody held before it."""
    module = module_of_job(core, row)
    planned = core.jobs[row].start + time_granted(core, row, core.jobs[row].placed)
    for i in range(core.pools[module].release_head, core.pools[module].release_tail):
        release = core.releases[module, i]
        if release.time == planned and release.row == row:
            release.nodes = core.suspending.hold[row].own
            return


@on(limit_changed, "suspending")
def plan_own_nodes_by_new_limit(core: SuspendingCore, row: int) -> None:
    """Its planned end has moved; one that is suspended goes on waiting for its nodes."""
    plan_own_nodes(core, row)
    if is_suspended(core, row):
        drop_end(core, row)
