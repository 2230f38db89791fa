"""Appointments: nodes that are held for a component from a time on, before anybody in the queue is planned.

A unit that starts makes them for its members that start later.
"""

from __future__ import annotations

from scheduler_sim.engine.events import APPOINTED_FOR, drop_end, push_end
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.profile import build_profiles, earliest, occupy
from scheduler_sim.engine.state import (
    APPOINTED,
    APPOINTMENTS,
    DIRTY,
    EARLY,
    EXPECTED,
    INF,
    LOST,
    MODULES,
    NOW,
    PROFILED,
    Core,
)


@part
def appoint(core: Core, row: int, time: int) -> None:
    """``row`` is expected at ``time``, and free of all that held it from then on."""
    core.comp[row].state = APPOINTED
    core.comp[row].eligible, core.comp[row].wait_resources = time, 0
    expect(core, row, time)


@part
def forget_appointment(core: Core, row: int) -> None:
    """``row`` has come, or never will."""
    size, kept = core.clock[APPOINTMENTS], 0
    for i in range(size):
        if core.lists[EXPECTED, i] != row:
            core.lists[EXPECTED, kept] = core.lists[EXPECTED, i]
            kept += 1
    core.clock[APPOINTMENTS] = kept
    drop_end(core, APPOINTED_FOR + row)


@part
def is_expected(core: Core, row: int) -> bool:
    """Whether ``row`` has an appointment, or is late for it."""
    for i in range(core.clock[APPOINTMENTS]):
        if core.lists[EXPECTED, i] == row:
            return True
    return False


@part
def occupy_appointments(core: Core) -> None:
    """Take what is held out of the profiles; who is late gets the earliest slot beside the others."""
    now = core.clock[NOW]
    for i in range(core.clock[APPOINTMENTS]):
        row = core.lists[EXPECTED, i]
        if core.member[row].appointment > now:
            hold_for(core, row, core.member[row].appointment, 1)
    for i in range(core.clock[APPOINTMENTS]):
        row = core.lists[EXPECTED, i]
        if core.member[row].appointment <= now:
            hold_for(core, row, earliest(core, core.comp[row].first, now), 1)


@part
def move_next_appointments(core: Core, caller: int) -> None:
    """Those who come next in the caller's unit get the earliest slot there is, if it is earlier.

    The plan of those who wait does not count: it is made anew.
    """
    now, unit = core.clock[NOW], core.unit[core.member[caller].whole]
    offset = next_offset(core, caller)
    if offset == INF:
        return
    build_profiles(core, False)
    occupy_appointments(core)
    for i in range(unit.first, unit.last):
        row = core.crew[i]
        if _is_to_come(core, row) and core.member[row].offset == offset:
            held = core.member[row].appointment
            hold_for(core, row, held, -1)
            time = min(earliest(core, core.comp[row].first, now), held)
            hold_for(core, row, time, 1)
            if time < held:
                forget_appointment(core, row)
                expect(core, row, time)
                core.comp[row].eligible = time
    core.clock[PROFILED] = 0
    core.clock[EARLY] = core.clock[DIRTY] = core.clock[LOST] = 1  # promises may count on these nodes


@part
def stays_free(core: Core, placement: int, begin: int, end: int, before: int) -> bool:
    """Whether a placement has its nodes from ``begin`` to ``end``, beside what runs and is appointed.

    Reservations of those who wait do not count. ``before``: a member of a unit that is about to start; what
    those need who come before it in the crew counts, too. -1 = none.
    """
    if not _has_room(core, placement, begin, before):
        return False
    for i in range(core.clock[APPOINTMENTS]):
        time = core.member[core.lists[EXPECTED, i]].appointment
        if begin < time < end and not _has_room(core, placement, time, before):
            return False
    if before >= 0:
        unit = core.unit[core.member[before].unit]
        for i in range(unit.first, unit.last):
            time = core.clock[NOW] + core.member[core.crew[i]].offset
            if core.crew[i] == before:
                break
            if begin < time < end and not _has_room(core, placement, time, before):
                return False
    return True


@part
def _has_room(core: Core, placement: int, time: int, before: int) -> bool:
    """Whether so many nodes and resources are planned to be free at ``time``."""
    it = core.place[placement]
    if _room(core, it.module, time, before) < it.nodes:
        return False
    for i in range(core.demand.shape[1]):
        wanted = core.demand[placement, i]
        if wanted > 0 and _room(core, core.clock[MODULES] + i, time, before) < wanted:
            return False
    return True


@part
def _room(core: Core, pool: int, time: int, before: int) -> int:
    """What is free in a pool at ``time`` by planned ends and appointments."""
    now, it = core.clock[NOW], core.pool[pool]
    free, leaving = it.free, it.draining
    for i in range(it.release_head, it.release_tail):
        one = core.release[pool, i]
        if max(one.time, now + 1) > time:
            break
        gone = min(leaving, one.nodes)
        leaving -= gone
        free += one.nodes - gone
    for i in range(core.clock[APPOINTMENTS]):
        row = core.lists[EXPECTED, i]
        begin = max(core.member[row].appointment, now)
        free -= _taken(core, row, pool, begin, time)
    if before >= 0:
        unit = core.unit[core.member[before].unit]
        for i in range(unit.first, unit.last):
            row = core.crew[i]
            if row == before:
                break
            free -= _taken(core, row, pool, now + core.member[row].offset, time)
    return free


@part
def _taken(core: Core, row: int, pool: int, begin: int, time: int) -> int:
    """What ``row`` takes of a pool at ``time`` if it starts at ``begin``."""
    placement = core.comp[row].first
    if not begin <= time < begin + core.place[placement].limit:
        return 0
    if pool < core.clock[MODULES]:
        return core.place[placement].nodes if core.place[placement].module == pool else 0
    return core.demand[placement, pool - core.clock[MODULES]]


@part
def next_offset(core: Core, caller: int) -> int:
    """The smallest offset behind the caller's, whatever has become of who has it; INF if nobody has."""
    unit, offset = core.unit[core.member[caller].whole], INF
    for i in range(unit.first, unit.last):
        other = core.member[core.crew[i]].offset
        if other > core.member[caller].offset:
            offset = min(offset, other)
    return offset


@part
def _is_to_come(core: Core, row: int) -> bool:
    return core.comp[row].state == APPOINTED and core.member[row].appointment > core.clock[NOW]


@part
def expect(core: Core, row: int, time: int) -> None:
    """Note the appointment in its place, and have the clock stop then."""
    core.member[row].appointment = time
    place = core.clock[APPOINTMENTS]
    while place > 0 and _comes_before(core, row, core.lists[EXPECTED, place - 1]):
        core.lists[EXPECTED, place] = core.lists[EXPECTED, place - 1]
        place -= 1
    core.lists[EXPECTED, place] = row
    core.clock[APPOINTMENTS] += 1
    push_end(core, time, APPOINTED_FOR + row)


@part
def _comes_before(core: Core, one: int, other: int) -> bool:
    a, b = core.member[one].appointment, core.member[other].appointment
    return a < b or (a == b and one < other)


@part
def hold_for(core: Core, row: int, begin: int, sign: int) -> None:
    """Take the rectangle of ``row`` out of the profiles (sign 1), or put it back (-1)."""
    if begin < INF:
        placement = core.comp[row].first
        occupy(core, placement, begin, begin + core.place[placement].limit, sign)
