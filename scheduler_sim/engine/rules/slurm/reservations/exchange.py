"""Reservations that exchange nodes for others (reservation.c, ``_resv_node_replace``).

With REPLACE those that jobs have, or that are down, with REPLACE_DOWN those that are down alone: at each
check of what is over, and when a job starts in it. If there are too few others, half as many are asked for,
and so on.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import (
    NONE,
    ONE,
    add,
    clear,
    copy,
    count,
    keep_common,
    take_out,
)
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import RUNNING
from scheduler_sim.engine.rules.slurm.change import expect_change, note_change
from scheduler_sim.engine.rules.slurm.nodes import put_nodes_of
from scheduler_sim.engine.rules.slurm.reservations.state import (
    DAILY,
    HOURLY,
    NOTHING,
    THOSE_TAKEN,
    ReservationsCore,
)
from scheduler_sim.engine.rules.slurm.reservations.turns import DAY_S, HOUR_S
from scheduler_sim.engine.rules.slurm.state import Partition

DAYS_OF_WEEK = 7  # turns that count: those of a week


@part
def may_matter(core: ReservationsCore) -> bool:
    """Whether anybody runs, waits or is to come."""
    some_wait = core.queue.at.head < core.queue.at.tail
    return bool(some_wait or core.queue.at.seen < core.clock.jobs or core.clock.events > 0)


@part
def exchange(core: ReservationsCore, number: int) -> None:
    """A reservation gets other nodes for some of its own."""
    one, sets = core.reservations.table[number], core.reservations.sets
    nodes = core.reservations.nodes[number]
    if one.exchanges == NOTHING:
        return
    size, it = len(nodes), core.slurm.partition[one.partition]
    copy(sets.kept, nodes, 0, size)
    keep_common(sets.kept, core.slurm.sets.up, 0, size)
    if one.exchanges == THOSE_TAKEN:
        keep_common(sets.kept, core.slurm.sets.idle, 0, size)
        take_out(sets.kept, core.slurm.sets.leaving, 0, size)
    missing = count(nodes, 0, size) - count(sets.kept, 0, size)
    wanted = missing
    while wanted > 0 and not _found(core, number, it, wanted):
        wanted //= 2
    if wanted > 0:
        take_out(nodes, sets.kept, 0, size)
        copy(sets.kind, nodes, 0, size)
        clear(nodes, 0, size)
        add(nodes, sets.kept, 0, size)
        add(nodes, sets.came, 0, size)
        add_lowest(nodes, sets.kind, missing - count(sets.came, 0, size), 0, size)
    note_change(core, core.clock.now)
    expect_change(core)


@part
def _found(core: ReservationsCore, number: int, it: Partition, wanted: int) -> bool:
    """CAME: others that no reservation has then; MAINT and OVERLAP take reserved ones, too."""
    one, sets, low, high = core.reservations.table[number], core.reservations.sets, it.low, it.high
    clear(sets.came, 0, len(sets.came))
    _put_others(core, number, it)
    for i in range(len(core.reservations.table)):
        if i != number and core.reservations.table[i].stands and _meet(core, number, i):
            take_out(sets.kind, core.reservations.nodes[i], low, high)
    _add_of_kind(core, number, it, wanted)
    if (one.maint or one.overlap) and count(sets.came, low, high) < wanted:
        _put_others(core, number, it)
        take_out(sets.kind, sets.came, low, high)
        _add_of_kind(core, number, it, wanted - count(sets.came, low, high))
    return count(sets.came, low, high) > 0


@part
def _put_others(core: ReservationsCore, number: int, it: Partition) -> None:
    """KIND: nodes that it may have by number, in service, and not its own."""
    kind = core.reservations.sets.kind
    copy(kind, core.reservations.among[number], it.low, it.high)
    keep_common(kind, core.slurm.sets.up, it.low, it.high)
    take_out(kind, core.reservations.nodes[number], it.low, it.high)


@part
def _add_of_kind(core: ReservationsCore, number: int, it: Partition, wanted: int) -> None:
    """To CAME the lowest of a KIND on which no job is to run by its start, if they suffice."""
    one, sets, low, high = core.reservations.table[number], core.reservations.sets, it.low, it.high
    there = count(sets.kind, low, high)
    wanted = min(wanted, there)
    if wanted == 0:
        return
    if one.ignore_jobs and wanted == there:
        add(sets.came, sets.kind, low, high)
        return
    copy(sets.some, sets.kind, low, high)
    for row in range(core.clock.jobs):
        if _runs_until(core, row) >= one.start:
            put_nodes_of(core, row, sets.held)
            take_out(sets.some, sets.held, low, high)
    if one.ignore_jobs:  # nodes of jobs are taken job by job, until they suffice
        for row in range(core.clock.jobs):
            if count(sets.some, low, high) < wanted and _runs_until(core, row) >= one.start:
                put_nodes_of(core, row, sets.held)
                keep_common(sets.held, sets.kind, low, high)
                add(sets.some, sets.held, low, high)
    if count(sets.some, low, high) >= wanted:
        add_lowest(sets.came, sets.some, wanted, low, high)


@part
def _runs_until(core: ReservationsCore, row: int) -> int:
    """By its limit; -1 for one that does not run."""
    if core.jobs[row].state != RUNNING:
        return -1
    return int(core.jobs[row].start + core.placements[core.jobs[row].placed].limit)


@part
def _meet(core: ReservationsCore, number: int, other: int) -> bool:
    """Whether two stand at the same time, those HOURLY and DAILY at any time within a week."""
    one, two = core.reservations.table[number], core.reservations.table[other]
    for i in range(_turns(one.repeats)):
        for j in range(_turns(two.repeats)):
            move, their_move = i * _apart(one.repeats), j * _apart(two.repeats)
            if one.start + move < two.end + their_move and two.start + their_move < one.end + move:
                return True
    return False


@part
def _turns(repeats: int) -> int:
    return 24 * DAYS_OF_WEEK if repeats == HOURLY else DAYS_OF_WEEK if repeats == DAILY else 1


@part
def _apart(repeats: int) -> int:
    return HOUR_S if repeats == HOURLY else DAY_S if repeats == DAILY else 0


@part
def add_lowest(target: Words, source: Words, wanted: int, low: int, high: int) -> None:
    """Add so many nodes, those of the lowest numbers; all if there are no more."""
    left = wanted
    for word in range(low, high):
        bits = source[word]
        while bits != NONE and left > 0:
            target[word] |= bits & ~(bits - ONE)
            bits &= bits - ONE
            left -= 1
