"""Who is on a node and with what: jobs enter a room when they start, and leave it when they end.

The room of now, and the room that a prediction makes of it. What is free now stands in ``shared_nodes``.
"""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.bits import ONE, clear
from scheduler_sim.engine.core.hooks import event, question
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.shared_nodes.state import CORES, THOUSANDTHS
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore, Room
from scheduler_sim.engine.rules.slurm.state import Partition


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
    return Room(
        core.shared_nodes.free, now.cores, now.jobs, now.used, now.taken, now.row, now.order, now.size
    )


@part
def room_later(core: ConsTresCore) -> Room:
    """The room that a prediction makes of it, handed over like that of now: one function does for both."""
    later = core.cons_tres.later
    return Room(
        later.free, later.cores, later.jobs, later.used, later.taken, later.row, later.order, later.size
    )


@part
def change_room(core: ConsTresCore, placement: int, room: Room, sign: int) -> None:
    """A job enters a room with its shares of nodes (-1), or leaves it (1); what is free changes elsewhere."""
    first = core.shared_nodes.request[placement].slot
    for slot in range(first, first + core.placements[placement].nodes):
        _change_node(core, placement, slot, room, sign)


@inlined
def _change_node(core: ConsTresCore, placement: int, slot: int, room: Room, sign: int) -> None:
    part, node = core.cons_tres, core.shared_nodes.slots[slot]
    room.jobs[part.need[part.asked[placement].need].kind, node] -= sign
    change_cores(core, placement, slot, room, sign)


@question
def change_cores(core: ConsTresCore, placement: int, slot: int, room: Room, sign: int) -> None:
    """A job takes its cores of a node (-1), or gives them back (1)."""
    part, node = core.cons_tres, core.shared_nodes.slots[slot]
    it, kinds = part.need[part.asked[placement].need], len(core.shared_nodes.free)
    for socket in range(len(room.cores)):
        room.cores[socket, node] += sign * part.share[slot, kinds + socket]
    if part.sharing[it.partition].most_cpus > 0:
        room.used[it.partition, node] -= sign * part.share[slot, CORES] // THOUSANDTHS


@event
def entering(core: ConsTresCore, placement: int) -> None:
    """A job is about to enter the room of now, with its shares."""


@event
def has_left(core: ConsTresCore, placement: int) -> None:
    """A job has left it."""


# -- once some jobs have ended


@part
def copy_room(core: ConsTresCore, module: int) -> None:
    """The later room becomes that of now, as far as the nodes of a module go."""
    for node in range(core.shared_nodes.module[module].begin, core.shared_nodes.module[module].end):
        copy_node(core, node)
    room_copied(core)


@event
def room_copied(core: ConsTresCore) -> None:
    """All nodes of a module are as they are now."""


@event
def node_copied(core: ConsTresCore, node: int) -> None:
    """A node is as it is now."""


@inlined
def copy_node(core: ConsTresCore, node: int) -> None:
    """In the later room a node is as it is now."""
    now, later = room_now(core), core.cons_tres.later
    for kind in range(len(now.free)):
        later.free[kind, node] = now.free[kind, node]
    for socket in range(len(now.cores)):
        later.cores[socket, node] = now.cores[socket, node]
    for kind in range(len(now.jobs)):
        later.jobs[kind, node] = now.jobs[kind, node]
    for partition in range(len(now.used)):
        later.used[partition, node] = now.used[partition, node]
    node_copied(core, node)
    put_unknown(core, node)


@inlined
def put_unknown(core: ConsTresCore, node: int) -> None:
    """As of when the later room of a node is, is not kept."""
    core.cons_tres.machine[node].known_to = -INF


@part
def leave_later(core: ConsTresCore, placement: int) -> None:
    """In the later room a job has ended."""
    first = core.shared_nodes.request[placement].slot
    for slot in range(first, first + core.placements[placement].nodes):
        leave_node(core, placement, slot)


@inlined
def leave_node(core: ConsTresCore, placement: int, slot: int) -> None:
    """In the later room a job has left one of its nodes."""
    part = core.cons_tres
    _change_node(core, placement, slot, room_later(core), 1)
    for kind in range(len(part.later.free)):
        part.later.free[kind, core.shared_nodes.slots[slot]] += part.share[slot, kind]


@part
def leave_cores(core: ConsTresCore, placement: int) -> None:
    """In the later room a job has its cores no longer, and keeps what else it has."""
    change_room(core, placement, room_later(core), 1)
    first = core.shared_nodes.request[placement].slot
    for slot in range(first, first + core.placements[placement].nodes):
        node = core.shared_nodes.slots[slot]
        core.cons_tres.later.free[CORES, node] += core.cons_tres.share[slot, CORES]


@part
def empty_room(core: ConsTresCore, module: int) -> None:
    """In the later room nothing runs, and all nodes are in service."""
    for node in range(core.shared_nodes.module[module].begin, core.shared_nodes.module[module].end):
        empty_node(core, node)


@part
def empty_node(core: ConsTresCore, node: int) -> None:
    """In the later room nothing runs on a node, and it is in service."""
    later = core.cons_tres.later
    for kind in range(len(later.free)):
        later.free[kind, node] = core.shared_nodes.capacity[kind, node]
    for socket in range(len(later.cores)):
        later.cores[socket, node] = core.cons_tres.machine[node].cores
    for kind in range(len(later.jobs)):
        later.jobs[kind, node] = 0
    for partition in range(len(later.used)):
        later.used[partition, node] = 0
    put_unknown(core, node)
