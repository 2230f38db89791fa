"""Reservations of single jobs: nodes held from a time on, before anything in the queue is planned.

A unit that starts makes them for its members that start later.
"""

from __future__ import annotations

from scheduler_sim.engine.core.events import KIND, drop_end, push_end
from scheduler_sim.engine.core.hooks import only_with
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.profile import build_profiles, earliest, occupy
from scheduler_sim.engine.core.state import INF, RESERVED
from scheduler_sim.engine.rules.coscheduling.state import UnitsCore

RESERVED_FROM = 4 * KIND
"""Event: the reservation of a job begins; the rest is its row."""


@part
def make_reservation(core: UnitsCore, row: int, time: int) -> None:
    """``row`` is expected at ``time``, and free of all that held it from then on."""
    core.jobs[row].state = RESERVED
    core.jobs[row].eligible, core.jobs[row].wait_resources = time, 0
    expect(core, row, time)


@part
def forget_reservation(core: UnitsCore, row: int) -> None:
    """``row`` has come, or never will."""
    size, kept = core.coscheduling.at.expected, 0
    for i in range(size):
        if core.coscheduling.expected[i] != row:
            core.coscheduling.expected[kept] = core.coscheduling.expected[i]
            kept += 1
    core.coscheduling.at.expected = kept
    drop_end(core, RESERVED_FROM + row)


@only_with("coscheduling")
def occupy_reservations(core: UnitsCore) -> None:
    """Take what is held out of the profiles; a late job gets the earliest slot beside the others."""
    now = core.clock.now
    for i in range(core.coscheduling.at.expected):
        row = core.coscheduling.expected[i]
        if core.coscheduling.member[row].reserved_from > now:
            hold_for(core, row, core.coscheduling.member[row].reserved_from, 1)
    for i in range(core.coscheduling.at.expected):
        row = core.coscheduling.expected[i]
        if core.coscheduling.member[row].reserved_from <= now:
            hold_for(core, row, earliest(core, core.jobs[row].first, now), 1)


@part
def move_next_reservations(core: UnitsCore, caller: int) -> None:
    """The members that come next in the caller's unit get the earliest slot there is, if it is earlier.

    The plan of jobs that wait does not count: it is made anew.
    """
    now, unit = core.clock.now, core.coscheduling.unit[core.coscheduling.member[caller].whole]
    offset = next_offset(core, caller)
    if offset == INF:
        return
    build_profiles(core, False)
    occupy_reservations(core)
    for i in range(unit.first, unit.last):
        row = core.coscheduling.member_rows[i]
        if _is_to_come(core, row) and core.coscheduling.member[row].offset == offset:
            held = core.coscheduling.member[row].reserved_from
            hold_for(core, row, held, -1)
            time = min(earliest(core, core.jobs[row].first, now), held)
            hold_for(core, row, time, 1)
            if time < held:
                forget_reservation(core, row)
                expect(core, row, time)
                core.jobs[row].eligible = time
    core.clock.profiled = 0
    core.clock.early = core.clock.dirty = core.clock.lost = 1  # reservations may count on these nodes


@part
def stays_free(core: UnitsCore, placement: int, begin: int, end: int, before: int) -> bool:
    """Whether a placement has its nodes from ``begin`` to ``end``, beside what runs and is reserved.

    Reservations of jobs that wait do not count. ``before``: a member of a unit that is about to start; what
    the members before it in its unit need counts, too. -1 = none.
    """
    if not _has_room(core, placement, begin, before):
        return False
    for i in range(core.coscheduling.at.expected):
        time = core.coscheduling.member[core.coscheduling.expected[i]].reserved_from
        if begin < time < end and not _has_room(core, placement, time, before):
            return False
    if before >= 0:
        unit = core.coscheduling.unit[core.coscheduling.member[before].unit]
        for i in range(unit.first, unit.last):
            time = core.clock.now + core.coscheduling.member[core.coscheduling.member_rows[i]].offset
            if core.coscheduling.member_rows[i] == before:
                break
            if begin < time < end and not _has_room(core, placement, time, before):
                return False
    return True


@part
def _has_room(core: UnitsCore, placement: int, time: int, before: int) -> bool:
    """Whether so many nodes and resources are planned to be free at ``time``."""
    it = core.placements[placement]
    if _room(core, it.module, time, before) < it.nodes:
        return False
    for i in range(core.demand.shape[1]):
        wanted = core.demand[placement, i]
        if wanted > 0 and _room(core, core.clock.modules + i, time, before) < wanted:
            return False
    return True


@part
def _room(core: UnitsCore, pool: int, time: int, before: int) -> int:
    """What is free in a pool at ``time`` by planned ends and reservations."""
    now, it = core.clock.now, core.pools[pool]
    free, leaving = it.free, it.draining
    for i in range(it.release_head, it.release_tail):
        one = core.releases[pool, i]
        if max(one.time, now + 1) > time:
            break
        gone = min(leaving, one.nodes)
        leaving -= gone
        free += one.nodes - gone
    for i in range(core.coscheduling.at.expected):
        row = core.coscheduling.expected[i]
        begin = max(core.coscheduling.member[row].reserved_from, now)
        free -= _taken(core, row, pool, begin, time)
    if before >= 0:
        unit = core.coscheduling.unit[core.coscheduling.member[before].unit]
        for i in range(unit.first, unit.last):
            row = core.coscheduling.member_rows[i]
            if row == before:
                break
            free -= _taken(core, row, pool, now + core.coscheduling.member[row].offset, time)
    return free


@part
def _taken(core: UnitsCore, row: int, pool: int, begin: int, time: int) -> int:
    """What ``row`` takes of a pool at ``time`` if it starts at ``begin``."""
    placement = core.jobs[row].first
    if not begin <= time < begin + core.placements[placement].limit:
        return 0
    if pool < core.clock.modules:
        return core.placements[placement].nodes if core.placements[placement].module == pool else 0
    taken: int = core.demand[placement, pool - core.clock.modules]
    return taken


@part
def next_offset(core: UnitsCore, caller: int) -> int:
    """The smallest offset behind the caller's, whatever has become of the member; INF if no member has."""
    unit, offset = core.coscheduling.unit[core.coscheduling.member[caller].whole], INF
    for i in range(unit.first, unit.last):
        other = core.coscheduling.member[core.coscheduling.member_rows[i]].offset
        if other > core.coscheduling.member[caller].offset:
            offset = min(offset, other)
    return offset


@part
def _is_to_come(core: UnitsCore, row: int) -> bool:
    return core.jobs[row].state == RESERVED and core.coscheduling.member[row].reserved_from > core.clock.now


@part
def expect(core: UnitsCore, row: int, time: int) -> None:
    """Note the reservation in its place, and have the clock stop then."""
    core.coscheduling.member[row].reserved_from = time
    place = core.coscheduling.at.expected
    while place > 0 and _comes_before(core, row, core.coscheduling.expected[place - 1]):
        core.coscheduling.expected[place] = core.coscheduling.expected[place - 1]
        place -= 1
    core.coscheduling.expected[place] = row
    core.coscheduling.at.expected += 1
    push_end(core, time, RESERVED_FROM + row)


@part
def _comes_before(core: UnitsCore, one: int, other: int) -> bool:
    a, b = core.coscheduling.member[one].reserved_from, core.coscheduling.member[other].reserved_from
    return a < b or (a == b and one < other)


@part
def hold_for(core: UnitsCore, row: int, begin: int, sign: int) -> None:
    """Take the rectangle of ``row`` out of the profiles (sign 1), or put it back (-1)."""
    if begin < INF:
        placement = core.jobs[row].first
        occupy(core, placement, begin, begin + core.placements[placement].limit, sign)
