"""Who is on a node and with what: jobs enter a room when they start, and leave it when they end.

The room of now, and the room that a prediction makes of it. What is free now stands in ``shared_nodes``.
"""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.bits import ONE, clear
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.shared_nodes.state import CORES, THOUSANDTHS
from scheduler_sim.engine.rules.slurm.cons_tres.choice import choose_nodes
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore, Room
from scheduler_sim.engine.rules.slurm.state import Partition


@part
def fits(core: ConsTresCore, placement: int, room: Room, nodes: Words) -> bool:
    """Whether a placement fits on some of these nodes with what is free in a room: they are CHOSEN.

    It must also fit if all cores of them were free.
    """
    need = core.cons_tres.asked[placement].need
    if not choose_nodes(core, need, room, nodes, False) or not choose_nodes(core, need, room, nodes, True):
        return False
    return choose_nodes(core, need, room, nodes, False)


@part
def pick_chosen(core: ConsTresCore, it: Partition) -> None:
    """The nodes CHOSEN become the set PICKED."""
    part, picked = core.cons_tres, core.slurm.sets.picked
    clear(picked, it.low, it.high)
    for i in range(part.attempt.taken):
        word, bit = place_of(core, it, part.chosen[i])
        picked[word] |= bit


@part
def place_of(core: ConsTresCore, it: Partition, node: int) -> tuple[int, np.uint64]:
    """Word and bit of a node in sets of nodes."""
    number = node - core.shared_nodes.module[it.module].begin
    return it.low + (number >> 6), ONE << np.uint64(number & 63)


@part
def room_now(core: ConsTresCore) -> Room:
    """The room of now."""
    now = core.cons_tres.now
    return Room(core.shared_nodes.free, now.cores, now.jobs, now.used)


@part
def change_room(core: ConsTresCore, placement: int, room: Room, sign: int) -> None:
    """A job enters a room with its shares of nodes (-1), or leaves it (1); what is free changes elsewhere."""
    part, slot = core.cons_tres, core.shared_nodes.request[placement].slot
    it, kinds = part.need[part.asked[placement].need], len(room.free)
    for i in range(slot, slot + core.placements[placement].nodes):
        node = core.shared_nodes.slots[i]
        for socket in range(len(room.cores)):
            room.cores[socket, node] += sign * part.share[i, kinds + socket]
        room.jobs[it.kind, node] -= sign
        if part.sharing[it.partition].most_cpus > 0:
            room.used[it.partition, node] -= sign * part.share[i, CORES] // THOUSANDTHS


# -- once some jobs have ended


@part
def copy_room(core: ConsTresCore, module: int) -> None:
    """The later room becomes that of now, as far as the nodes of a module go."""
    now, later = room_now(core), core.cons_tres.later
    begin, end = core.shared_nodes.module[module].begin, core.shared_nodes.module[module].end
    _copy_rows(now.free, later.free, begin, end)
    _copy_rows(now.cores, later.cores, begin, end)
    _copy_rows(now.jobs, later.jobs, begin, end)
    _copy_rows(now.used, later.used, begin, end)


@part
def _copy_rows(source: np.ndarray, target: np.ndarray, begin: int, end: int) -> None:
    for row in range(len(source)):
        for node in range(begin, end):
            target[row, node] = source[row, node]


@part
def leave_later(core: ConsTresCore, placement: int) -> None:
    """In the later room a job has ended."""
    part, slot = core.cons_tres, core.shared_nodes.request[placement].slot
    change_room(core, placement, part.later, 1)
    for i in range(slot, slot + core.placements[placement].nodes):
        for kind in range(len(part.later.free)):
            part.later.free[kind, core.shared_nodes.slots[i]] += part.share[i, kind]


@part
def empty_room(core: ConsTresCore, module: int) -> None:
    """In the later room nothing runs, and all nodes are in service."""
    part, later = core.cons_tres, core.cons_tres.later
    begin, end = core.shared_nodes.module[module].begin, core.shared_nodes.module[module].end
    _copy_rows(core.shared_nodes.capacity, later.free, begin, end)
    for node in range(begin, end):
        for socket in range(len(later.cores)):
            later.cores[socket, node] = part.machine[node].cores
        later.jobs[:, node] = 0
        later.used[:, node] = 0
