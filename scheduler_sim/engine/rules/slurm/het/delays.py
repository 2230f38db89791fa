"""Jobs with delays as the DEEP-EST addition to Slurm runs them.

When the components without a delay could start, nothing does: each component gets an advance
reservation, from its delay on, and is from then on a job by itself, or with those of the same delay, that
starts in the first pass in its reservation. If one finds no nodes, no reservation is made, and the next
pass tries again. Nodes count on which nothing is planned to run by then, and that are not reserved;
what the backfill scheduler has planned for jobs that wait does not.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import (
    NONE,
    ONE,
    add,
    clear,
    copy,
    count_common,
    keep_common,
    take_out,
)
from scheduler_sim.engine.core.hooks import only_with
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import make_eligible
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import INF, RESERVED, RUNNING, WAITING
from scheduler_sim.engine.core.waiting import add_newcomer, withdraw
from scheduler_sim.engine.rules.coscheduling.reservations import hold_for, next_offset
from scheduler_sim.engine.rules.coscheduling.state import Unit
from scheduler_sim.engine.rules.slurm.advance_reservations import (
    end_reservation,
    has_reservation,
    leave_out_reserved,
    note_reservation,
    put_reserved,
    reserved_until,
    write_reserved,
)
from scheduler_sim.engine.rules.slurm.change import expect_change, holds_until, note_change
from scheduler_sim.engine.rules.slurm.limit_questions import is_limited_for_good
from scheduler_sim.engine.rules.slurm.nodes import suffices
from scheduler_sim.engine.rules.slurm.planned_ends import everywhere
from scheduler_sim.engine.rules.slurm.state import Partition, SlurmCore


@part
def book_workflow(core: SlurmCore, leader: int) -> None:
    """Make a reservation for every component of a job, or for none."""
    unit, now = core.coscheduling.unit[core.coscheduling.member[leader].unit], core.clock.now
    for i in range(unit.first, unit.last):
        row = core.coscheduling.member_rows[i]
        if is_limited_for_good(core, row, placement_of(core, row)):
            return
    for i in range(unit.first, unit.last):
        row, begin = (
            core.coscheduling.member_rows[i],
            now + core.coscheduling.member[core.coscheduling.member_rows[i]].offset,
        )
        placement = placement_of(core, row)
        if not _picked_for(core, placement, begin, core.slurm.sets.nothing):
            for j in range(unit.first, i):
                end_reservation(core, core.coscheduling.member_rows[j])
            holds_until(core, now)  # the next pass tries again
            return
        note_reservation(core, row, placement, begin, _end(core, placement, begin))
    unit.start = now
    for i in range(unit.first, unit.last):
        row = core.coscheduling.member_rows[i]
        withdraw(core, row)
        core.jobs[row].state = RESERVED
        core.coscheduling.member[row].unit = core.slurm.het[row].group
    expect_change(core)
    note_change(core, now)


@part
def placement_of(core: SlurmCore, row: int) -> int:
    """Where a component is planned, or could be."""
    job = core.jobs[row]
    return job.reserved_placement if job.reserved_placement >= 0 else job.first


@part
def queue_reserved(core: SlurmCore, row: int) -> None:
    """Its reservation begins: it is queued, before all that have none; without a delay it always was."""
    if core.jobs[row].eligible >= 0:
        core.jobs[row].state = WAITING
        core.pools[core.placements[core.jobs[row].first].module].touched = 1
        add_newcomer(core, row)
    else:
        core.jobs[row].wait_resources = 0
        make_eligible(core, row)


@part
def move_next_advance_reservations(core: SlurmCore, caller: int) -> None:
    """What comes next in the caller's workflow gets the earliest time there is, if it is earlier."""
    offset, unit, now = (
        next_offset(core, caller),
        core.coscheduling.unit[core.coscheduling.member[caller].whole],
        core.clock.now,
    )
    if offset == INF:
        return
    held = INF
    for i in range(unit.first, unit.last):
        if _is_to_come(core, core.coscheduling.member_rows[i], offset):
            held = core.coscheduling.member[core.coscheduling.member_rows[i]].reserved_from
            end_reservation(core, core.coscheduling.member_rows[i])
    if held == INF:
        return
    begin = now
    while begin < held and not _all_fit(core, unit, offset, begin):
        begin = min(_next_gain(core, begin), held)
    for i in range(unit.first, unit.last):
        row = core.coscheduling.member_rows[i]
        if not _is_to_come(core, row, offset) or has_reservation(core, row):
            continue
        placement = core.jobs[row].first
        if begin == held:
            put_reserved(core, row, core.slurm.sets.picked)
        else:
            _picked_for(core, placement, begin, core.slurm.sets.nothing)
        note_reservation(core, row, placement, begin, _end(core, placement, begin))
    expect_change(core)


@part
def _is_to_come(core: SlurmCore, row: int, offset: int) -> bool:
    """Whether it is one of those that come next, and is not there yet."""
    to_come = (
        core.jobs[row].state == RESERVED and core.coscheduling.member[row].reserved_from > core.clock.now
    )
    return to_come and core.coscheduling.member[row].offset == offset


@part
def _all_fit(core: SlurmCore, unit: Unit, offset: int, begin: int) -> bool:
    """Whether all that come next find nodes for reservations that begin then, beside one another."""
    clear(core.slurm.sets.either, 0, len(core.slurm.sets.idle))
    for i in range(unit.first, unit.last):
        row = core.coscheduling.member_rows[i]
        if _is_to_come(core, row, offset):
            if not _picked_for(core, core.jobs[row].first, begin, core.slurm.sets.either):
                return False
            it = core.slurm.partition[core.slurm.way[core.jobs[row].first].partition]
            add(core.slurm.sets.either, core.slurm.sets.picked, it.low, it.high)
    return True


@only_with("coscheduling", otherwise=False)
def replaced_lost(core: SlurmCore, row: int) -> bool:
    """Hold other nodes for ``row``, which waits in its reservation, if some of its own have left service."""
    placement = core.jobs[row].first
    it = core.slurm.partition[core.slurm.way[placement].partition]
    put_reserved(core, row, core.slurm.sets.picked)
    if (
        count_common(core.slurm.sets.picked, core.slurm.sets.up, it.low, it.high)
        == core.placements[placement].nodes
    ):
        return False
    last = core.slurm.het[row].booked_last
    core.slurm.het[row].booked_last = core.slurm.het[row].booked  # its own are free for it
    if _picked_for(core, placement, core.clock.now, core.slurm.sets.nothing):
        write_reserved(core, row)
        return True
    core.slurm.het[row].booked_last = last
    return False


@only_with("coscheduling")
def occupy_advance_reservations(core: SlurmCore) -> None:
    """Take what is reserved out of a plan of numbers of nodes; what runs is in it by its planned end."""
    for i in range(core.coscheduling.at.expected):
        row = core.coscheduling.expected[i]
        if core.jobs[row].state != RUNNING:
            hold_for(core, row, max(core.coscheduling.member[row].reserved_from, core.clock.now), 1)


@part
def _end(core: SlurmCore, placement: int, begin: int) -> int:
    """When a reservation made for a placement ends."""
    return begin + core.placements[placement].limit + core.slurm.rules.KillWait


@part
def _next_gain(core: SlurmCore, time: int) -> int:
    """When nodes next come free by the planned ends of what runs, or of reservations; INF if never."""
    every, gain = everywhere(core), INF
    for i in range(core.pools[every].release_head, core.pools[every].release_tail):
        if core.releases[every, i].time >= time:
            gain = core.releases[every, i].time + 1
            break
    for i in range(core.coscheduling.at.expected):
        until = reserved_until(core, core.coscheduling.expected[i])
        if until > time:
            gain = min(gain, until)
    return gain


@part
def _picked_for(core: SlurmCore, placement: int, begin: int, beside: Words) -> bool:
    """Choose nodes for a reservation that begins then, beside those of a set.

    What is planned to end in that second is in its way.
    """
    every, available = everywhere(core), core.slurm.sets.available
    way = core.slurm.way[placement]
    it, end = core.slurm.partition[way.partition], _end(core, placement, begin)
    copy(available, core.slurm.sets.up, it.low, it.high)
    keep_common(available, core.slurm.nodes.masks[core.slurm.nodes.choice[way.choice].mask], it.low, it.high)
    for i in range(core.pools[every].release_tail - 1, core.pools[every].release_head - 1, -1):
        if core.releases[every, i].time < begin:
            break
        piece = core.slurm.job[core.releases[every, i].row].piece
        while piece >= 0:
            available[core.slurm.nodes.piece[piece].word] &= ~core.slurm.nodes.piece[piece].bits
            piece = core.slurm.nodes.piece[piece].next
    leave_out_reserved(core, available, begin, end)
    take_out(available, beside, it.low, it.high)
    if not suffices(core, placement, available):
        return False
    _pick_lowest(core, placement)
    return True


@part
def _pick_lowest(core: SlurmCore, placement: int) -> None:
    """Choose the first of the nodes AVAILABLE, which suffice: a reservation does not look for a best fit."""
    it, choice = (
        core.slurm.partition[core.slurm.way[placement].partition],
        core.slurm.nodes.choice[core.slurm.way[placement].choice],
    )
    clear(core.slurm.sets.picked, it.low, it.high)
    wanted = core.placements[placement].nodes
    for i in range(choice.first, choice.last):
        there = count_common(
            core.slurm.sets.picked, core.slurm.nodes.masks[core.slurm.nodes.need[i].mask], it.low, it.high
        )
        missing = max(core.slurm.nodes.need[i].count - there, 0)
        wanted -= missing
        _add_lowest(core, it, core.slurm.nodes.need[i].mask, missing)
    _add_lowest(core, it, choice.mask, wanted)


@part
def _add_lowest(core: SlurmCore, it: Partition, mask: int, wanted: int) -> None:
    """Add to PICKED the first so many of the nodes AVAILABLE that are in a mask."""
    picked = core.slurm.sets.picked
    for word in range(it.low, it.high):
        rest = core.slurm.sets.available[word] & core.slurm.nodes.masks[mask, word] & ~picked[word]
        while rest != NONE and wanted > 0:
            lowest = rest & (~rest + ONE)
            picked[word] |= lowest
            rest &= ~lowest
            wanted -= 1
