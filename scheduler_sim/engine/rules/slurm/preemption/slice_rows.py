"""Who is at work in a partition: the jobs on its list that have no core in common, first come first.

Read in Slurm's gang.c (``_update_active_row``, ``_cycle_job_list``). Jobs at work in partitions of higher
tiers come before all of them: nobody of a lower tier works on cores of theirs.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, first_between, put
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.rules.slurm.preemption.slice_state import (
    ACTIVE,
    FILLER,
    NOBODY,
    OUT,
    TimeSlicesCore,
)
from scheduler_sim.engine.rules.slurm.preemption.slice_work import is_suspended, stop_work, take_up_work

# -- the list of a partition


@part
def append_turn(core: TimeSlicesCore, partition: int, row: int) -> None:
    """A job stands last on the list."""
    it, turn = core.time_slices.of[partition], core.time_slices.turn
    turn[row].before, turn[row].after = it.last, NOBODY
    if it.last == NOBODY:
        it.first = row
    else:
        turn[it.last].after = row
    it.last = row
    it.jobs += 1


@part
def strike_turn(core: TimeSlicesCore, partition: int, row: int) -> None:
    """A job stands on the list no longer."""
    it, turn = core.time_slices.of[partition], core.time_slices.turn
    before, after = turn[row].before, turn[row].after
    if before == NOBODY:
        it.first = after
    else:
        turn[before].after = after
    if after == NOBODY:
        it.last = before
    else:
        turn[after].before = before
    it.jobs -= 1


# -- the cores of those at work


@part
def fits_beside_active(core: TimeSlicesCore, partition: int, row: int) -> bool:
    """Whether nobody who is at work there has any of its cores."""
    part, placed = core.time_slices, core.jobs[row].placed
    if part.of[partition].active == 0:
        return True
    slot = core.shared_nodes.request[placed].slot
    for i in range(slot, slot + core.placements[placed].nodes):
        node = core.shared_nodes.slots[i]
        for word in range(part.had.shape[2]):
            if part.had[partition, node, word] & core.rows.names[i, word] != NONE:
                return False
    return True


@part
def add_active(core: TimeSlicesCore, partition: int, row: int) -> None:
    """Its cores are those of one who is at work; of the first, nobody else's."""
    part, placed = core.time_slices, core.jobs[row].placed
    if part.of[partition].active == 0:
        for node in range(part.had.shape[1]):
            for word in range(part.had.shape[2]):
                part.had[partition, node, word] = NONE
    slot = core.shared_nodes.request[placed].slot
    for i in range(slot, slot + core.placements[placed].nodes):
        node = core.shared_nodes.slots[i]
        for word in range(part.had.shape[2]):
            part.had[partition, node, word] |= core.rows.names[i, word]
        if core.cons_tres.rules.whole_sockets:
            _fill_sockets(core, partition, node)
    part.of[partition].active += 1


@part
def _fill_sockets(core: TimeSlicesCore, partition: int, node: int) -> None:
    """Of a socket of which a core is had, all are."""
    had, machine = core.time_slices.had[partition, node], core.cons_tres.machine[node]
    for socket in range(machine.sockets):
        first, last = socket * machine.cores, (socket + 1) * machine.cores
        if first_between(had, first, last) < last:
            put(had, first, last)


@part
def _begin_row(core: TimeSlicesCore, partition: int) -> None:
    """Only those of higher tiers are at work."""
    part, tier = core.time_slices, core.rows.of[partition].tier
    part.of[partition].active = 0
    for other in range(len(part.of)):
        if core.rows.of[other].tier <= tier:
            continue
        row = part.of[other].first
        while row != NOBODY:
            if part.turn[row].casts:
                add_active(core, partition, row)
            row = part.turn[row].after


@part
def shadows_on(core: TimeSlicesCore, partition: int) -> int:
    """How many jobs of higher tiers are at work."""
    part, tier, found = core.time_slices, core.rows.of[partition].tier, 0
    for other in range(len(part.of)):
        if core.rows.of[other].tier > tier:
            row = part.of[other].first
            while row != NOBODY:
                found += part.turn[row].casts
                row = part.turn[row].after
    return found


# -- who is at work


@part
def settle_all(core: TimeSlicesCore) -> None:
    """In all partitions, the highest tier first: who is at work stays so, and others fill what is left."""
    for at in range(len(core.rows.by_tier)):
        partition = int(core.rows.by_tier[at])
        if core.time_slices.of[partition].jobs > 0:
            _begin_row(core, partition)
            _keep(core, partition, ACTIVE)
            _keep(core, partition, FILLER)
            _fill(core, partition)
        else:
            core.time_slices.of[partition].active = 0


@part
def _keep(core: TimeSlicesCore, partition: int, state: int) -> None:
    """Those in a state stay at work, unless those before them have a core of theirs."""
    turn, row = core.time_slices.turn, core.time_slices.of[partition].first
    while row != NOBODY:
        if turn[row].state == state:
            if fits_beside_active(core, partition, row):
                add_active(core, partition, row)
                turn[row].casts = 1
            else:
                turn[row].state, turn[row].casts = OUT, 0
                stop_work(core, row)
        row = turn[row].after


@part
def _fill(core: TimeSlicesCore, partition: int) -> None:
    """Others work, too, where their cores are free."""
    turn, row = core.time_slices.turn, core.time_slices.of[partition].first
    while row != NOBODY:
        if turn[row].state == OUT and fits_beside_active(core, partition, row):
            add_active(core, partition, row)
            turn[row].state, turn[row].casts = FILLER, 1
            if is_suspended(core, row):
                take_up_work(core, row)
        row = turn[row].after


@part
def take_turns(core: TimeSlicesCore, partition: int) -> None:
    """Who has had a turn goes to the end of the list, and the first on it have theirs."""
    _end_turns(core, partition)
    turn, part = core.time_slices.turn, core.time_slices
    _begin_row(core, partition)
    row = part.of[partition].first
    while row != NOBODY:
        if fits_beside_active(core, partition, row):
            add_active(core, partition, row)
            turn[row].state = ACTIVE
        row = turn[row].after
    row = part.of[partition].first
    while row != NOBODY:
        if turn[row].state == OUT and not is_suspended(core, row):
            turn[row].casts = 0
            stop_work(core, row)
        row = turn[row].after
    row = part.of[partition].first
    while row != NOBODY:
        if turn[row].state == ACTIVE and is_suspended(core, row):
            turn[row].casts = 1
            take_up_work(core, row)
        row = turn[row].after


@part
def _end_turns(core: TimeSlicesCore, partition: int) -> None:
    """Those who worked only as their cores were free keep their places."""
    it, turn = core.time_slices.of[partition], core.time_slices.turn
    row = it.first
    for _ in range(it.jobs):
        following = turn[row].after
        if turn[row].state == ACTIVE:
            strike_turn(core, partition, row)
            append_turn(core, partition, row)
        turn[row].state = OUT
        row = following
