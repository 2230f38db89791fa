"""Jobs with delays as the DEEP-EST addition to Slurm runs them.

When the components without a delay could start, nothing does: each component gets an advance
reservation, from its delay on, and is from then on a job by itself, or with those of the same delay, that
starts in the first pass in its reservation. If one finds no nodes, no reservation is made, and the next
pass tries again. Nodes count that nobody is planned to run on by then, and that are not reserved;
what the backfill scheduler has planned for those who wait does not.
"""

from __future__ import annotations

from scheduler_sim.engine.appointments import hold_for, next_offset
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import everywhere, make_eligible
from scheduler_sim.engine.slurm.advance import (
    end_reservation,
    has_reservation,
    leave_out_reserved,
    note_reservation,
    put_reserved,
    reserved_until,
    write_reserved,
)
from scheduler_sim.engine.slurm.bits import NONE, ONE, add, clear, copy, count_common, keep_common, take_out
from scheduler_sim.engine.slurm.change import expect_change, note_change
from scheduler_sim.engine.slurm.nodes import suffices
from scheduler_sim.engine.slurm.slots import (
    AVAILABLE,
    EITHER,
    KILL_WAIT,
    PICKED,
    UP,
    VALID,
)
from scheduler_sim.engine.state import (
    APPOINTED,
    APPOINTMENTS,
    EXPECTED,
    INF,
    NOW,
    RUNNING,
    WAITING,
    Core,
    Table,
)
from scheduler_sim.engine.waiting import line_up, withdraw

NOBODY = -1


@part
def book_workflow(core: Core, leader: int) -> None:
    """Make a reservation for every component of a job, or for none."""
    unit, now = core.unit[core.member[leader].unit], core.clock[NOW]
    for i in range(unit.first, unit.last):
        row, begin = core.crew[i], now + core.member[core.crew[i]].offset
        placement = placement_of(core, row)
        if not _picked_for(core, placement, begin, NOBODY):
            for j in range(unit.first, i):
                end_reservation(core, core.crew[j])
            core.slurm[VALID] = now  # the next pass tries again
            return
        note_reservation(core, row, placement, begin, _end(core, placement, begin))
    unit.start = now
    for i in range(unit.first, unit.last):
        row = core.crew[i]
        withdraw(core, row)
        core.comp[row].state = APPOINTED
        core.member[row].unit = core.member[row].group
    expect_change(core)
    note_change(core, now)


@part
def placement_of(core: Core, row: int) -> int:
    """Where a component is planned, or could be."""
    return core.comp[row].promised if core.comp[row].promised >= 0 else core.comp[row].first


@part
def come_for(core: Core, row: int) -> None:
    """Its reservation begins: it is in the queue, before all who have none; without a delay it always was."""
    if core.comp[row].eligible >= 0:
        core.comp[row].state = WAITING
        core.pool[core.place[core.comp[row].first].module].touched = 1
        line_up(core, row)
    else:
        core.comp[row].wait_resources = 0
        make_eligible(core, row)


@part
def move_next_reservations(core: Core, caller: int) -> None:
    """Those who come next in the caller's workflow get the earliest time there is, if it is earlier."""
    offset, unit, now = next_offset(core, caller), core.unit[core.member[caller].whole], core.clock[NOW]
    if offset == INF:
        return
    held = INF
    for i in range(unit.first, unit.last):
        if _is_to_come(core, core.crew[i], offset):
            held = core.member[core.crew[i]].appointment
            end_reservation(core, core.crew[i])
    if held == INF:
        return
    begin = now
    while begin < held and not _all_fit(core, unit, offset, begin):
        begin = min(_next_gain(core, begin), held)
    for i in range(unit.first, unit.last):
        row = core.crew[i]
        if not _is_to_come(core, row, offset) or has_reservation(core, row):
            continue
        placement = core.comp[row].first
        if begin == held:
            put_reserved(core, row, core.sets[PICKED])
        else:
            _picked_for(core, placement, begin, NOBODY)
        note_reservation(core, row, placement, begin, _end(core, placement, begin))
    expect_change(core)


@part
def _is_to_come(core: Core, row: int, offset: int) -> bool:
    """Whether it is one of those who come next, and is not there yet."""
    to_come = core.comp[row].state == APPOINTED and core.member[row].appointment > core.clock[NOW]
    return to_come and core.member[row].offset == offset


@part
def _all_fit(core: Core, unit: Table, offset: int, begin: int) -> bool:
    """Whether all who come next find nodes for reservations that begin then, beside one another."""
    clear(core.sets[EITHER], 0, core.sets.shape[1])
    for i in range(unit.first, unit.last):
        row = core.crew[i]
        if _is_to_come(core, row, offset):
            if not _picked_for(core, core.comp[row].first, begin, EITHER):
                return False
            it = core.partition[core.way[core.comp[row].first].partition]
            add(core.sets[EITHER], core.sets[PICKED], it.low, it.high)
    return True


@part
def replaced_lost(core: Core, row: int) -> bool:
    """Hold other nodes for ``row``, which waits in its reservation, if some of its own have left service."""
    placement = core.comp[row].first
    it = core.partition[core.way[placement].partition]
    put_reserved(core, row, core.sets[PICKED])
    if count_common(core.sets[PICKED], core.sets[UP], it.low, it.high) == core.place[placement].nodes:
        return False
    last = core.member[row].booked_last
    core.member[row].booked_last = core.member[row].booked  # its own are free for it
    if _picked_for(core, placement, core.clock[NOW], NOBODY):
        write_reserved(core, row)
        return True
    core.member[row].booked_last = last
    return False


@part
def occupy_reservations(core: Core) -> None:
    """Take what is reserved out of a plan of numbers of nodes; who runs is in it by its planned end."""
    for i in range(core.clock[APPOINTMENTS]):
        row = core.lists[EXPECTED, i]
        if core.comp[row].state != RUNNING:
            hold_for(core, row, max(core.member[row].appointment, core.clock[NOW]), 1)


@part
def _end(core: Core, placement: int, begin: int) -> int:
    """When a reservation made for a placement ends."""
    return begin + core.place[placement].limit + core.slurm[KILL_WAIT]


@part
def _next_gain(core: Core, time: int) -> int:
    """When nodes next come free by the planned ends of what runs, or of reservations; INF if never."""
    every, gain = everywhere(core), INF
    for i in range(core.pool[every].release_head, core.pool[every].release_tail):
        if core.release[every, i].time >= time:
            gain = core.release[every, i].time + 1
            break
    for i in range(core.clock[APPOINTMENTS]):
        until = reserved_until(core, core.lists[EXPECTED, i])
        if until > time:
            gain = min(gain, until)
    return gain


@part
def _picked_for(core: Core, placement: int, begin: int, beside: int) -> bool:
    """Choose nodes for a reservation that begins then, beside those of a set.

    Who is planned to end in that second is in its way.
    """
    every, available = everywhere(core), core.sets[AVAILABLE]
    way = core.way[placement]
    it, end = core.partition[way.partition], _end(core, placement, begin)
    copy(available, core.sets[UP], it.low, it.high)
    keep_common(available, core.masks[core.choice[way.choice].mask], it.low, it.high)
    for i in range(core.pool[every].release_tail - 1, core.pool[every].release_head - 1, -1):
        if core.release[every, i].time < begin:
            break
        piece = core.job[core.release[every, i].row].piece
        while piece >= 0:
            available[core.piece[piece].word] &= ~core.piece[piece].bits
            piece = core.piece[piece].next
    leave_out_reserved(core, available, begin, end)
    if beside != NOBODY:
        take_out(available, core.sets[beside], it.low, it.high)
    if not suffices(core, placement, AVAILABLE):
        return False
    _pick_lowest(core, placement)
    return True


@part
def _pick_lowest(core: Core, placement: int) -> None:
    """Choose the first of the nodes AVAILABLE, which suffice: a reservation does not look for a best fit."""
    it, choice = core.partition[core.way[placement].partition], core.choice[core.way[placement].choice]
    clear(core.sets[PICKED], it.low, it.high)
    wanted = core.place[placement].nodes
    for i in range(choice.first, choice.last):
        there = count_common(core.sets[PICKED], core.masks[core.need[i].mask], it.low, it.high)
        missing = max(core.need[i].count - there, 0)
        wanted -= missing
        _add_lowest(core, it, core.need[i].mask, missing)
    _add_lowest(core, it, choice.mask, wanted)


@part
def _add_lowest(core: Core, it: Table, mask: int, wanted: int) -> None:
    """Add to PICKED the first so many of the nodes AVAILABLE that are in a mask."""
    picked = core.sets[PICKED]
    for word in range(it.low, it.high):
        rest = core.sets[AVAILABLE, word] & core.masks[mask, word] & ~picked[word]
        while rest != NONE and wanted > 0:
            lowest = rest & (~rest + ONE)
            picked[word] |= lowest
            rest &= ~lowest
            wanted -= 1
