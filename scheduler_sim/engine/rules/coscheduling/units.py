"""Units: components that start by one plan, at once or each so many seconds after the start of all.

In the queue a unit is one entry, in its leader's place. Its slot is the earliest start at which
every member finds its nodes free, each at its offset: one rectangle in the plan for each
member, and for members of one pool that overlap, the sum.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import only_with, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import start
from scheduler_sim.engine.core.profile import earliest_in, take
from scheduler_sim.engine.core.record import fits
from scheduler_sim.engine.core.state import INF, RESERVED, WAITING
from scheduler_sim.engine.core.waiting import count_waiting
from scheduler_sim.engine.rules.coscheduling.reservations import (
    forget_reservation,
    hold_for,
    make_reservation,
    stays_free,
)
from scheduler_sim.engine.rules.coscheduling.state import UnitsCore


@question
def unit_not_before(core: UnitsCore, leader: int) -> int:
    """When a unit may start, whatever the plan."""
    return core.clock.now


@part
def unit_slot(core: UnitsCore, leader: int, after: int) -> int:
    """Earliest start of a unit, from ``after`` on, at which all that is planned with it fits; INF if never.

    A fix-point: each rectangle in turn moves the start to where it can; when none moves it, all agree.
    """
    first, last = _planned_rects(core, leader)
    time, moved = after, True
    while moved:
        moved = False
        for i in range(first, last):
            one = core.coscheduling.rect[i]
            begin = earliest_in(core, one.pool, time + one.offset, one.length, one.nodes)
            if begin == INF:
                return INF
            if begin > time + one.offset:
                time, moved = begin - one.offset, True
    return time


@part
def occupy_unit(core: UnitsCore, leader: int, time: int, sign: int) -> None:
    """Take what a unit needs out of the profiles (sign 1), for a start at ``time``, or put it back (-1)."""
    first, last = _planned_rects(core, leader)
    for i in range(first, last):
        one = core.coscheduling.rect[i]
        take(core, one.pool, time + one.offset, time + one.offset + one.length, sign * one.nodes)


@part
def _planned_rects(core: UnitsCore, leader: int) -> tuple[int, int]:
    """First rectangle of those that are planned with the leader, and one behind their last."""
    unit = core.coscheduling.unit[core.coscheduling.member[leader].unit]
    if core.coscheduling.at.reserved:
        return unit.at_once, unit.at_once_last
    return unit.rect, unit.rect_last


@part
def delayed_find_nodes(core: UnitsCore, leader: int) -> bool:
    """Where only those are planned that start at once: whether the others find nodes if they do so now."""
    unit, now = core.coscheduling.unit[core.coscheduling.member[leader].unit], core.clock.now
    if not core.coscheduling.at.reserved:
        return True
    for i in range(unit.first, unit.last):
        row = core.coscheduling.member_rows[i]
        begin, placement = now + core.coscheduling.member[row].offset, core.jobs[row].first
        if begin > now and not stays_free(
            core, placement, begin, begin + core.placements[placement].limit, row
        ):
            return False
    return True


@part
def start_unit(core: UnitsCore, leader: int) -> None:
    """Start the members that start at once, and make reservations for the others."""
    unit, now = core.coscheduling.unit[core.coscheduling.member[leader].unit], core.clock.now
    unit.start = now
    core.jobs[leader].reserved_start, core.jobs[leader].reserved_placement = INF, -1
    for i in range(unit.first, unit.last):
        row = core.coscheduling.member_rows[i]
        if core.coscheduling.member[row].offset == 0:
            start(core, row, core.jobs[row].first)
        else:
            make_reservation(core, row, now + core.coscheduling.member[row].offset)
            if core.coscheduling.at.reserved:  # else it was planned with the others
                hold_for(core, row, now + core.coscheduling.member[row].offset, 1)


@only_with("coscheduling")
def keep_reservations(core: UnitsCore) -> None:
    """Reservations that begin: the job starts if its nodes are there, else plans are made anew around it."""
    now, i = core.clock.now, 0
    while (
        i < core.coscheduling.at.expected
        and core.coscheduling.member[core.coscheduling.expected[i]].reserved_from <= now
    ):
        row = core.coscheduling.expected[i]
        if fits(core, core.jobs[row].first):
            core.jobs[row].wait_resources = now - core.coscheduling.member[row].reserved_from
            forget_reservation(core, row)
            start(core, row, core.jobs[row].first)
        else:
            if core.jobs[row].state == RESERVED:
                wait_late(core, row)
            core.clock.early = core.clock.dirty = core.clock.lost = 1  # reservations may count on its nodes
            i += 1


@part
def wait_late(core: UnitsCore, row: int) -> None:
    """Its reservation has begun, and its nodes are not free: it waits from now on."""
    core.jobs[row].state = WAITING
    count_waiting(core, core.jobs[row].first, 1)


@only_with("coscheduling", otherwise=False)
def plans_starts_alone(core: UnitsCore) -> bool:
    """Whether only what starts at once is planned, and the others are reserved for beside the plan."""
    return core.coscheduling.at.reserved == 1
