"""Units: components that start by one plan, at once or each so many seconds after the start of all.

In the queue a unit is one entry, in its leader's place. Its slot is the earliest start at which
every member finds its nodes free, each at its offset: one rectangle in the plan for each
member, and for members of one pool that overlap, the sum.
"""

from __future__ import annotations

from scheduler_sim.engine.appointments import appoint, forget_appointment, hold_for, stays_free
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import start
from scheduler_sim.engine.profile import earliest_in, take
from scheduler_sim.engine.record import fits
from scheduler_sim.engine.state import (
    APPOINTED,
    APPOINTMENTS,
    DIRTY,
    EARLY,
    EXPECTED,
    INF,
    LOST,
    NOW,
    RESERVED,
    Core,
)
from scheduler_sim.engine.waiting import be_late


@part
def unit_slot(core: Core, leader: int, after: int) -> int:
    """Earliest start of a unit, not before ``after``, at which all who are planned with it fit; INF if never.

    A fix-point: each rectangle in turn moves the start to where it can; when none moves it, all agree.
    """
    first, last = _planned_rects(core, leader)
    time, moved = after, True
    while moved:
        moved = False
        for i in range(first, last):
            one = core.rect[i]
            begin = earliest_in(core, one.pool, time + one.offset, one.length, one.nodes)
            if begin == INF:
                return INF
            if begin > time + one.offset:
                time, moved = begin - one.offset, True
    return time


@part
def occupy_unit(core: Core, leader: int, time: int, sign: int) -> None:
    """Take what a unit needs out of the profiles (sign 1), for a start at ``time``, or put it back (-1)."""
    first, last = _planned_rects(core, leader)
    for i in range(first, last):
        one = core.rect[i]
        take(core, one.pool, time + one.offset, time + one.offset + one.length, sign * one.nodes)


@part
def _planned_rects(core: Core, leader: int) -> tuple[int, int]:
    """First rectangle of those who are planned with the leader, and one behind their last."""
    unit = core.unit[core.member[leader].unit]
    if core.rules[RESERVED]:
        return unit.at_once, unit.at_once_last
    return unit.rect, unit.rect_last


@part
def may_be_appointed(core: Core, leader: int) -> bool:
    """Where only those are planned who start at once: whether the others find nodes if they do so now."""
    unit, now = core.unit[core.member[leader].unit], core.clock[NOW]
    if not core.rules[RESERVED]:
        return True
    for i in range(unit.first, unit.last):
        row = core.crew[i]
        begin, placement = now + core.member[row].offset, core.comp[row].first
        if begin > now and not stays_free(core, placement, begin, begin + core.place[placement].limit, row):
            return False
    return True


@part
def start_unit(core: Core, leader: int) -> None:
    """Start who starts at once, and appoint the others."""
    unit, now = core.unit[core.member[leader].unit], core.clock[NOW]
    unit.start = now
    core.comp[leader].promise, core.comp[leader].promised = INF, -1
    for i in range(unit.first, unit.last):
        row = core.crew[i]
        if core.member[row].offset == 0:
            start(core, row, core.comp[row].first)
        else:
            appoint(core, row, now + core.member[row].offset)
            if core.rules[RESERVED]:  # else it was planned with the others
                hold_for(core, row, now + core.member[row].offset, 1)


@part
def keep_appointments(core: Core) -> None:
    """Who is expected by now starts, if the nodes are there; plans are made anew around who is late."""
    now, i = core.clock[NOW], 0
    while i < core.clock[APPOINTMENTS] and core.member[core.lists[EXPECTED, i]].appointment <= now:
        row = core.lists[EXPECTED, i]
        if fits(core, core.comp[row].first):
            core.comp[row].wait_resources = now - core.member[row].appointment
            forget_appointment(core, row)
            start(core, row, core.comp[row].first)
        else:
            if core.comp[row].state == APPOINTED:
                be_late(core, row)
            core.clock[EARLY] = core.clock[DIRTY] = core.clock[LOST] = 1  # promises may count on its nodes
            i += 1
