"""Seats: the nodes in the order in which they come free, for the sets of a backfill pass.

In each module idle nodes have the first seats, then those about to be idle, then those of each
component that runs, by planned end, and last those that nobody gives back. So who is back by some
time sits in front, and who is back first in a set is its first bit. A set of nodes is in node order,
unless its name says seats; the plan, and all that a try reads of it, is in the order of seats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.slurm.bits import FULL, NONE, ONE, clear, copy, equal, lowest_in, rotate
from scheduler_sim.engine.rules.slurm.nodes import everywhere
from scheduler_sim.engine.rules.slurm.state import VECTOR, Partition, SlurmCore

MOST_AT_ONCE = 63  # seats that move


@part
def take_seats(core: SlurmCore) -> None:
    """Everybody takes a seat anew, by who runs now."""
    every, seated = everywhere(core), core.slurm.sets.rest
    plan, head = core.releases[every], core.pools[every].release_head
    core.slurm.memory.ends = core.pools[every].release_tail - head
    core.slurm.memory.seating += 1
    clear(seated, 0, len(seated))
    for number in range(len(core.slurm.partition)):
        it = core.slurm.partition[number]
        if _is_first_of_its_module(core, number):
            seat = it.low << 6
            for word in range(it.low, it.high):
                seat = _seat_word(core, seated, word, core.slurm.sets.idle[word], seat)
            for word in range(it.low, it.high):
                seat = _seat_word(core, seated, word, core.slurm.sets.leaving[word], seat)
            core.slurm.seats.back[it.module, 0] = seat
    for i in range(core.slurm.memory.ends):
        for module in range(core.clock.modules):
            core.slurm.seats.back[module, i + 1] = core.slurm.seats.back[module, i]
        row, module = plan[head + i].row, 0
        if core.clock.modules > 1:
            module = core.placements[core.jobs[row].placed].module
        piece = core.slurm.job[row].piece
        while piece >= 0:
            word, bits = core.slurm.nodes.piece[piece].word, core.slurm.nodes.piece[piece].bits
            core.slurm.seats.back[module, i + 1] = _seat_word(
                core, seated, word, bits, core.slurm.seats.back[module, i + 1]
            )
            piece = core.slurm.nodes.piece[piece].next
    for number in range(len(core.slurm.partition)):
        it = core.slurm.partition[number]
        if _is_first_of_its_module(core, number):
            seat = core.slurm.seats.back[it.module, core.slurm.memory.ends]
            for word in range(it.low, it.high):  # those that are no nodes have the highest numbers
                seat = _seat_word(core, seated, word, FULL, seat)
            _seat_those_up(core, it)


@part
def _is_first_of_its_module(core: SlurmCore, number: int) -> bool:
    """Whether no partition before this one has its nodes in the same module."""
    for other in range(number):
        if core.slurm.partition[other].module == core.slurm.partition[number].module:
            return False
    return True


@part
def _seat_word(core: SlurmCore, seated: Words, word: int, bits: Any, seat: int) -> int:
    """Give those of a word who have none the seats from ``seat`` on; returns the next that is free."""
    bits &= ~seated[word]
    seated[word] |= bits
    while bits != NONE:
        node = (word << 6) + lowest_in(bits)
        bits &= bits - ONE
        core.slurm.seats.node_in[seat], core.slurm.seats.seat_of[node] = node, seat
        seat += 1
    return seat


@part
def _seat_those_up(core: SlurmCore, it: Partition) -> None:
    """The nodes in service; if that is the whole module, they have its first seats."""
    if equal(core.slurm.sets.up, core.slurm.nodes.masks[it.module], it.low, it.high):
        copy(core.slurm.sets.up_seats, core.slurm.sets.up, it.low, it.high)
    else:
        put_seats(core, core.slurm.sets.up_seats, core.slurm.sets.up, it.low, it.high)


@part
def put_seats(core: SlurmCore, target: Words, nodes: Words, low: int, high: int) -> None:
    """``target`` becomes the seats of a set of nodes."""
    clear(target, low, high)
    for word in range(low, high):
        bits = nodes[word]
        while bits != NONE:
            seat = core.slurm.seats.seat_of[(word << 6) + lowest_in(bits)]
            bits &= bits - ONE
            target[seat >> 6] |= ONE << np.uint64(seat & 63)


@part
def seat_picked(core: SlurmCore, it: Partition) -> None:
    """Make PICKED_SEATS the seats of the nodes PICKED, and list the words it has."""
    seats, picked, size = core.slurm.sets.picked_seats, core.slurm.sets.picked, 0
    for i in range(core.slurm.memory.spots):
        seats[core.slurm.plan.spots[i]] = NONE
    for word in range(it.low, it.high):
        bits = picked[word]
        while bits != NONE:
            seat = core.slurm.seats.seat_of[(word << 6) + lowest_in(bits)]
            bits &= bits - ONE
            if seats[seat >> 6] == NONE:
                core.slurm.plan.spots[size] = seat >> 6
                size += 1
            seats[seat >> 6] |= ONE << np.uint64(seat & 63)
    core.slurm.memory.spots = size


@part
def put_nodes(core: SlurmCore, target: Words, seats: Words, it: Partition, stop: int) -> None:
    """``target`` becomes the nodes in the seats of a set before ``stop``."""
    clear(target, it.low, it.high)
    for word in range(it.low, (stop + 63) >> 6):
        bits = seats[word]
        if word == stop >> 6:
            bits &= (ONE << np.uint64(stop & 63)) - ONE
        while bits != NONE:
            node = core.slurm.seats.node_in[(word << 6) + lowest_in(bits)]
            bits &= bits - ONE
            target[node >> 6] |= ONE << np.uint64(node & 63)


@part
def seated(core: SlurmCore, it: Partition, mask: int) -> int:
    """The row of ``seats_of`` with a mask, which it had in ``masks``; a whole module has its first seats."""
    if core.slurm.seats.seated_at[mask] != core.slurm.memory.seating:
        core.slurm.seats.seated_at[mask] = core.slurm.memory.seating
        if mask < core.clock.modules:
            copy(core.slurm.seats.masks[mask], core.slurm.nodes.masks[mask], it.low, it.high)
        else:
            put_seats(core, core.slurm.seats.masks[mask], core.slurm.nodes.masks[mask], it.low, it.high)
    return mask


@part
def words_before(it: Partition, stop: int) -> int:
    """The word behind those with seats before ``stop``, in whole vectors if it can be."""
    used = ((stop + 63) >> 6) - it.low
    return min(it.low + (used + VECTOR - 1) // VECTOR * VECTOR, it.high)


@part
def component_in(core: SlurmCore, module: int, seat: int) -> int:
    """Who gives back a seat, as a number in the order of planned ends."""
    found, size = 0, core.slurm.memory.ends
    while size > 0:  # without branches
        half = (size + 1) // 2
        found += half & core.slurm.seats.back[module, found + half] - seat - 1 >> 63
        size -= half
    return found


@part
def planned_end(core: SlurmCore, i: int) -> int:
    """Of the ``i``-th to end."""
    every = everywhere(core)
    return core.releases[every, core.pools[every].release_head + i].time


@part
def ended_by(core: SlurmCore, time: int) -> int:
    """How many are planned to have ended by then."""
    every = everywhere(core)
    ended, size, head = 0, core.slurm.memory.ends, core.pools[every].release_head - 1
    while size > 0:  # without branches
        half = (size + 1) // 2
        ended += half & core.releases[every, head + ended + half].time - time - 1 >> 63
        size -= half
    return ended


@part
def sit_with(core: SlurmCore, it: Partition, row: int, rows: int) -> None:
    """The nodes PICKED, idle until now, move to the seats of ``row``, which runs from now on.

    ``rows`` sets of the plan are listed: they move along.
    """
    every, module = everywhere(core), it.module
    head, i = core.pools[every].release_head, 0
    while core.releases[every, head + i].row != row:
        i += 1
    core.slurm.memory.ends += 1
    core.slurm.memory.seating += 1
    for other in range(core.clock.modules):
        for j in range(core.slurm.memory.ends, i, -1):
            core.slurm.seats.back[other, j] = core.slurm.seats.back[other, j - 1]
    for j in range(i + 1):
        core.slurm.seats.back[module, j] -= core.placements[core.jobs[row].placed].nodes
    stop, moved = core.slurm.seats.back[module, i + 1], 0
    seat_picked(core, it)
    for word in range(it.low, it.high):
        bits = core.slurm.sets.picked_seats[word]
        while bits != NONE:
            first = lowest_in(bits)
            length = min(lowest_in(~(bits >> np.uint64(first))), MOST_AT_ONCE)
            bits &= ~(((ONE << np.uint64(length)) - ONE) << np.uint64(first))
            _move(core, rows, (word << 6) + first - moved, length, stop)
            moved += length


@part
def _move(core: SlurmCore, rows: int, first: int, length: int, stop: int) -> None:
    """Move so many seats from ``first`` on to before ``stop``; those in between move up to the front."""
    rotate(core.slurm.sets.up_seats, first, length, stop)
    for i in range(rows):
        rotate(core.slurm.plan.space[core.slurm.plan.listed[i].row], first, length, stop)
    for i in range(length):
        core.slurm.seats.moved[i] = core.slurm.seats.node_in[first + i]
    for seat in range(first, stop - length):
        core.slurm.seats.node_in[seat] = core.slurm.seats.node_in[seat + length]
    for i in range(length):
        core.slurm.seats.node_in[stop - length + i] = core.slurm.seats.moved[i]
    for seat in range(first, stop):
        core.slurm.seats.seat_of[core.slurm.seats.node_in[seat]] = seat
