"""Advance reservations: nodes held by name for one component, from a time on.

Nobody else may start on them unless its limit ends before. Here only components with a delay have
them (see ``workflows``); one lasts until its component has ended.
"""

from __future__ import annotations

from scheduler_sim.engine.appointments import expect, forget_appointment
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.bits import NONE, Bits, clear, copy, count, keep_common, ones_in
from scheduler_sim.engine.slurm.slots import AVAILABLE, IDLE, KILL_WAIT, PICKED
from scheduler_sim.engine.state import APPOINTMENTS, EXPECTED, INF, NOW, RUNNING, UNITS, WAITING, Core

FIRST_OF_ALL = 1 << 40  # added to its tier: in Slurm's order a reservation comes before all else


@part
def has_reservation(core: Core, row: int) -> bool:
    """Whether nodes are held for ``row``, and it may have no others."""
    return core.rules[UNITS] == 1 and core.member[row].until > 0


@part
def note_reservation(core: Core, row: int, placement: int, begin: int, end: int) -> None:
    """The nodes PICKED are held for ``row`` from ``begin`` to ``end``."""
    write_reserved(core, row)
    core.member[row].until = end
    core.comp[row].tier += FIRST_OF_ALL
    core.way[placement].tier += FIRST_OF_ALL
    expect(core, row, begin)


@part
def write_reserved(core: Core, row: int) -> None:
    """The nodes PICKED are those that are held for ``row``."""
    it, at = core.partition[core.way[core.comp[row].first].partition], core.member[row].booked
    for word in range(it.low, it.high):
        if core.sets[PICKED, word] != NONE:
            core.booked[at].word, core.booked[at].bits = word, core.sets[PICKED, word]
            at += 1
    core.member[row].booked_last = at


@part
def end_reservation(core: Core, row: int) -> None:
    """Its nodes are not held any more."""
    forget_appointment(core, row)
    core.member[row].until = 0
    core.comp[row].tier -= FIRST_OF_ALL
    core.way[core.comp[row].first].tier -= FIRST_OF_ALL


@part
def reserved_until(core: Core, row: int) -> int:
    """When it ends; while its component waits, it goes on."""
    until, now = core.member[row].until, core.clock[NOW]
    if until > now or core.comp[row].state == RUNNING:
        return until
    return now + core.place[core.comp[row].first].limit + core.slurm[KILL_WAIT]


@part
def put_reserved(core: Core, row: int, target: Bits) -> None:
    """Make a set, within its partition, the nodes that are held for ``row``."""
    it = core.partition[core.way[core.comp[row].first].partition]
    clear(target, it.low, it.high)
    for at in range(core.member[row].booked, core.member[row].booked_last):
        target[core.booked[at].word] = core.booked[at].bits


@part
def held_idle(core: Core, module: int) -> int:
    """Idle nodes of a module that are held for components whose reservations have begun, but who wait."""
    total = 0
    for i in range(core.clock[APPOINTMENTS]):
        row = core.lists[EXPECTED, i]
        if core.comp[row].state == WAITING and core.place[core.comp[row].first].module == module:
            for at in range(core.member[row].booked, core.member[row].booked_last):
                total += ones_in(core.booked[at].bits & core.sets[IDLE, core.booked[at].word])
    return total


@part
def leave_out_reserved(core: Core, target: Bits, begin: int, end: int) -> None:
    """Take the nodes out of a set that are held at some time between ``begin`` and ``end``."""
    for i in range(core.clock[APPOINTMENTS]):
        row = core.lists[EXPECTED, i]
        if core.member[row].appointment >= end:
            break
        if reserved_until(core, row) > begin:
            for at in range(core.member[row].booked, core.member[row].booked_last):
                target[core.booked[at].word] &= ~core.booked[at].bits


@part
def next_begin(core: Core, time: int) -> int:
    """When the next advance reservation begins, at ``time`` or later; INF if none does."""
    for i in range(core.clock[APPOINTMENTS]):
        begin = core.member[core.lists[EXPECTED, i]].appointment
        if begin >= time:
            return begin
    return INF


@part
def next_end(core: Core, placement: int, start: int) -> int:
    """When the first of all advance reservations ends, from ``start`` on; INF if none is in the way.

    One is in the way of a placement if it has nodes of its partition before the limit.
    """
    members, end = core.partition[core.way[placement].partition].members, start + core.place[placement].limit
    first, in_the_way = INF, False
    for i in range(core.clock[APPOINTMENTS]):
        row = core.lists[EXPECTED, i]
        until = reserved_until(core, row)
        if until >= start:
            first = min(first, until)
        if core.member[row].appointment < end and until > start:
            for at in range(core.member[row].booked, core.member[row].booked_last):
                in_the_way |= core.booked[at].bits & core.masks[members, core.booked[at].word] != NONE
    return first if in_the_way else INF


@part
def stands_until(core: Core) -> int:
    """When the next advance reservation begins or ends; now if one outlasts its time."""
    now, time = core.clock[NOW], next_begin(core, core.clock[NOW] + 1)
    for i in range(core.clock[APPOINTMENTS]):
        until = core.member[core.lists[EXPECTED, i]].until
        if until > now:
            time = min(time, until)
        elif core.comp[core.lists[EXPECTED, i]].state == WAITING:
            return now
    return time


@part
def picked_reserved(core: Core, row: int) -> bool:
    """Choose the nodes that are held for ``row``, if all are idle."""
    placement = core.comp[row].first
    it = core.partition[core.way[placement].partition]
    put_reserved(core, row, core.sets[PICKED])
    copy(core.sets[AVAILABLE], core.sets[PICKED], it.low, it.high)
    keep_common(core.sets[AVAILABLE], core.sets[IDLE], it.low, it.high)
    return count(core.sets[AVAILABLE], it.low, it.high) == core.place[placement].nodes


@part
def keeps_its_nodes(core: Core, row: int, end: int) -> bool:
    """Whether nodes on which ``row`` runs are held for nobody else before ``end``."""
    for i in range(core.clock[APPOINTMENTS]):
        other = core.lists[EXPECTED, i]
        if core.member[other].appointment >= end:
            break
        if other != row and _shares_nodes(core, row, other):
            return False
    return True


@part
def _shares_nodes(core: Core, row: int, other: int) -> bool:
    """Whether ``row`` runs on nodes that are held for another."""
    piece = core.job[row].piece
    while piece >= 0:
        for at in range(core.member[other].booked, core.member[other].booked_last):
            if (
                core.booked[at].word == core.piece[piece].word
                and core.booked[at].bits & core.piece[piece].bits
            ):
                return True
        piece = core.piece[piece].next
    return False
