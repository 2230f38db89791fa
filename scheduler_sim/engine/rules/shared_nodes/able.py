"""Which nodes have what a job asks for, and whether there are enough of them.

Jobs that wait are asked again and again, and many ask for the same. So for each demand the set of able nodes
is kept, and brought up to date by a log of the nodes on which something changed.
"""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.bits import NONE, ONE
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.record import has_room, nodes_fit
from scheduler_sim.engine.core.records import Ints, Words
from scheduler_sim.engine.rules.shared_nodes.state import LOG, SharedCore


@inlined
def told_apart(core: SharedCore, module: int) -> bool:
    """Whether the nodes of a module are told apart, and not only counted."""
    nodes = core.shared_nodes.module[module]
    return nodes.begin < nodes.end


@inlined
def has_enough(core: SharedCore, demand: int, node: int, free: Ints) -> bool:
    """Whether a node has what is asked for on each node, by what is free on it."""
    need = core.shared_nodes.need
    for kind in range(need.shape[1]):
        if need[demand, kind] > free[kind, node]:
            return False
    return True


@inlined
def is_able_now(core: SharedCore, demand: int, node: int) -> bool:
    """Whether a node is able for a demand now."""
    it = core.shared_nodes
    if it.demand[demand].exclusive and it.node[node].jobs > 0:
        return False
    return has_enough(core, demand, node, it.free)


@on(nodes_fit, "shared_nodes")
def enough_nodes_are_able(core: SharedCore, placement: int) -> bool:
    """Whether a placement fits now: its module has as many nodes that are able for it."""
    asked = core.placements[placement]
    if not told_apart(core, asked.module):
        return asked.nodes <= core.pools[asked.module].free
    return count_able(core, core.shared_nodes.request[placement].demand) >= asked.nodes


@on(has_room, "shared_nodes")
def may_have_room(core: SharedCore, module: int) -> bool:
    """Nodes that are told apart may have room for a job as long as any is in service."""
    return told_apart(core, module) or core.pools[module].free > 0


@part
def count_able(core: SharedCore, demand: int) -> int:
    """How many nodes are able for a demand now; their set is up to date then."""
    part = core.shared_nodes
    it, able = part.demand[demand], part.able[demand]
    for i in range(pick_changed(core, demand, it.read)):
        node = part.pick[i]
        it.able -= has_bit(able, node)
        it.able += set_bit(able, node, is_able_now(core, demand, node))
    it.read = part.rules.changes
    return it.able


@part
def pick_changed(core: SharedCore, demand: int, read: int) -> int:
    """Pick the nodes that a demand may take and that changed since the log was read; returns how many.

    All that it may take, where more has changed than is remembered.
    """
    part, count = core.shared_nodes, 0
    if part.rules.changes - read > min(LOG, len(part.pick)):
        for i in range(part.demand[demand].first, part.demand[demand].last):
            for node in range(part.range[i].begin, part.range[i].end):
                part.pick[count] = node
                count += 1
        return count
    for i in range(read, part.rules.changes):
        node = part.log[i % LOG]
        if may_take(core, demand, node):
            part.pick[count] = node
            count += 1
    return count


@inlined
def has_bit(bits: Words, node: int) -> bool:
    """Whether a node is in a set."""
    return bool((bits[node >> 6] >> np.uint64(node & 63)) & ONE != NONE)


@inlined
def set_bit(bits: Words, node: int, there: bool) -> bool:
    """Put a node into a set, or take it out; returns whether it is in it now."""
    bit = ONE << np.uint64(node & 63)
    if there:
        bits[node >> 6] |= bit
    else:
        bits[node >> 6] &= ~bit
    return there


@part
def may_take(core: SharedCore, demand: int, node: int) -> bool:
    """Whether a node is among those that may be taken, whatever runs there."""
    it = core.shared_nodes
    for i in range(it.demand[demand].first, it.demand[demand].last):
        if it.range[i].begin <= node < it.range[i].end:
            return True
    return False


@part
def note_change(core: SharedCore, node: int) -> None:
    """What is free on a node has changed."""
    it = core.shared_nodes
    it.log[it.rules.changes % LOG] = node
    it.rules.changes += 1
