"""Seats: the nodes in the order in which they come free, for the sets of a backfill pass.

In each module idle nodes have the first seats, then those about to be idle, then those of each
component that runs, by planned end, and last those that nobody gives back. So who is back by some
time sits in front, and who is back first in a set is its first bit. A set of nodes is in node order,
unless its name says seats; the plan, and all that a try reads of it, is in the order of seats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import everywhere
from scheduler_sim.engine.slurm.bits import (
    FULL,
    NONE,
    ONE,
    Bits,
    clear,
    copy,
    equal,
    lowest_in,
    rotate,
)
from scheduler_sim.engine.slurm.slots import (
    ENDS,
    IDLE,
    LEAVING,
    PICKED,
    PICKED_SEATS,
    REST,
    SEATING,
    SPOTS,
    UP,
    UP_SEATS,
    VECTOR,
)
from scheduler_sim.engine.state import MODULES, Core, Table

MOST_AT_ONCE = 63  # seats that move


@part
def take_seats(core: Core) -> None:
    """Everybody takes a seat anew, by who runs now."""
    every, seated = everywhere(core), core.sets[REST]
    plan, head = core.release[every], core.pool[every].release_head
    core.slurm[ENDS] = core.pool[every].release_tail - head
    core.slurm[SEATING] += 1
    clear(seated, 0, len(seated))
    for number in range(len(core.partition)):
        it = core.partition[number]
        if _is_first_of_its_module(core, number):
            seat = it.low << 6
            for word in range(it.low, it.high):
                seat = _seat_word(core, seated, word, core.sets[IDLE, word], seat)
            for word in range(it.low, it.high):
                seat = _seat_word(core, seated, word, core.sets[LEAVING, word], seat)
            core.back[it.module, 0] = seat
    for i in range(core.slurm[ENDS]):
        for module in range(core.clock[MODULES]):
            core.back[module, i + 1] = core.back[module, i]
        row, module = plan[head + i].row, 0
        if core.clock[MODULES] > 1:
            module = core.place[core.comp[row].placed].module
        piece = core.job[row].piece
        while piece >= 0:
            word, bits = core.piece[piece].word, core.piece[piece].bits
            core.back[module, i + 1] = _seat_word(core, seated, word, bits, core.back[module, i + 1])
            piece = core.piece[piece].next
    for number in range(len(core.partition)):
        it = core.partition[number]
        if _is_first_of_its_module(core, number):
            seat = core.back[it.module, core.slurm[ENDS]]
            for word in range(it.low, it.high):  # those that are no nodes have the highest numbers
                seat = _seat_word(core, seated, word, FULL, seat)
            _seat_those_up(core, it)


@part
def _is_first_of_its_module(core: Core, number: int) -> bool:
    """Whether no partition before this one has its nodes in the same module."""
    for other in range(number):
        if core.partition[other].module == core.partition[number].module:
            return False
    return True


@part
def _seat_word(core: Core, seated: Bits, word: int, bits: Any, seat: int) -> int:
    """Give those of a word who have none the seats from ``seat`` on; returns the next that is free."""
    bits &= ~seated[word]
    seated[word] |= bits
    while bits != NONE:
        node = (word << 6) + lowest_in(bits)
        bits &= bits - ONE
        core.node_in[seat], core.seat_of[node] = node, seat
        seat += 1
    return seat


@part
def _seat_those_up(core: Core, it: Table) -> None:
    """The nodes in service; if that is the whole module, they have its first seats."""
    if equal(core.sets[UP], core.masks[it.module], it.low, it.high):
        copy(core.sets[UP_SEATS], core.sets[UP], it.low, it.high)
    else:
        put_seats(core, core.sets[UP_SEATS], core.sets[UP], it.low, it.high)


@part
def put_seats(core: Core, target: Bits, nodes: Bits, low: int, high: int) -> None:
    """``target`` becomes the seats of a set of nodes."""
    clear(target, low, high)
    for word in range(low, high):
        bits = nodes[word]
        while bits != NONE:
            seat = core.seat_of[(word << 6) + lowest_in(bits)]
            bits &= bits - ONE
            target[seat >> 6] |= ONE << np.uint64(seat & 63)


@part
def seat_picked(core: Core, it: Table) -> None:
    """Make PICKED_SEATS the seats of the nodes PICKED, and list the words it has."""
    seats, picked, size = core.sets[PICKED_SEATS], core.sets[PICKED], 0
    for i in range(core.slurm[SPOTS]):
        seats[core.spots[i]] = NONE
    for word in range(it.low, it.high):
        bits = picked[word]
        while bits != NONE:
            seat = core.seat_of[(word << 6) + lowest_in(bits)]
            bits &= bits - ONE
            if seats[seat >> 6] == NONE:
                core.spots[size] = seat >> 6
                size += 1
            seats[seat >> 6] |= ONE << np.uint64(seat & 63)
    core.slurm[SPOTS] = size


@part
def put_nodes(core: Core, target: Bits, seats: Bits, it: Table, stop: int) -> None:
    """``target`` becomes the nodes in the seats of a set before ``stop``."""
    clear(target, it.low, it.high)
    for word in range(it.low, (stop + 63) >> 6):
        bits = seats[word]
        if word == stop >> 6:
            bits &= (ONE << np.uint64(stop & 63)) - ONE
        while bits != NONE:
            node = core.node_in[(word << 6) + lowest_in(bits)]
            bits &= bits - ONE
            target[node >> 6] |= ONE << np.uint64(node & 63)


@part
def seated(core: Core, it: Table, mask: int) -> int:
    """The row of ``seats_of`` with a mask, which it had in ``masks``; a whole module has its first seats."""
    if core.seated_at[mask] != core.slurm[SEATING]:
        core.seated_at[mask] = core.slurm[SEATING]
        if mask < core.clock[MODULES]:
            copy(core.seats_of[mask], core.masks[mask], it.low, it.high)
        else:
            put_seats(core, core.seats_of[mask], core.masks[mask], it.low, it.high)
    return mask


@part
def words_before(it: Table, stop: int) -> int:
    """The word behind those with seats before ``stop``, in whole vectors if it can be."""
    used = ((stop + 63) >> 6) - it.low
    return min(it.low + (used + VECTOR - 1) // VECTOR * VECTOR, it.high)


@part
def component_in(core: Core, module: int, seat: int) -> int:
    """Who gives back a seat, as a number in the order of planned ends."""
    found, size = 0, core.slurm[ENDS]
    while size > 0:  # without branches
        half = (size + 1) // 2
        found += half & core.back[module, found + half] - seat - 1 >> 63
        size -= half
    return found


@part
def planned_end(core: Core, i: int) -> int:
    """Of the ``i``-th to end."""
    every = everywhere(core)
    return core.release[every, core.pool[every].release_head + i].time


@part
def ended_by(core: Core, time: int) -> int:
    """How many are planned to have ended by then."""
    every = everywhere(core)
    ended, size, head = 0, core.slurm[ENDS], core.pool[every].release_head - 1
    while size > 0:  # without branches
        half = (size + 1) // 2
        ended += half & core.release[every, head + ended + half].time - time - 1 >> 63
        size -= half
    return ended


@part
def sit_with(core: Core, it: Table, row: int, rows: int) -> None:
    """The nodes PICKED, idle until now, move to the seats of ``row``, which runs from now on.

    ``rows`` sets of the plan are listed: they move along.
    """
    every, module = everywhere(core), it.module
    head, i = core.pool[every].release_head, 0
    while core.release[every, head + i].row != row:
        i += 1
    core.slurm[ENDS] += 1
    core.slurm[SEATING] += 1
    for other in range(core.clock[MODULES]):
        for j in range(core.slurm[ENDS], i, -1):
            core.back[other, j] = core.back[other, j - 1]
    for j in range(i + 1):
        core.back[module, j] -= core.place[core.comp[row].placed].nodes
    stop, moved = core.back[module, i + 1], 0
    seat_picked(core, it)
    for word in range(it.low, it.high):
        bits = core.sets[PICKED_SEATS, word]
        while bits != NONE:
            first = lowest_in(bits)
            length = min(lowest_in(~(bits >> np.uint64(first))), MOST_AT_ONCE)
            bits &= ~(((ONE << np.uint64(length)) - ONE) << np.uint64(first))
            _move(core, rows, (word << 6) + first - moved, length, stop)
            moved += length


@part
def _move(core: Core, rows: int, first: int, length: int, stop: int) -> None:
    """Move so many seats from ``first`` on to before ``stop``; those in between move up to the front."""
    rotate(core.sets[UP_SEATS], first, length, stop)
    for i in range(rows):
        rotate(core.space[core.listed[i].row], first, length, stop)
    for i in range(length):
        core.moved[i] = core.node_in[first + i]
    for seat in range(first, stop - length):
        core.node_in[seat] = core.node_in[seat + length]
    for i in range(length):
        core.node_in[stop - length + i] = core.moved[i]
    for seat in range(first, stop):
        core.seat_of[core.node_in[seat]] = seat
