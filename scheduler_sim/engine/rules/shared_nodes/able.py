"""Which nodes have what a job asks for, and whether there are enough of them.

A job that waits is asked again and again. So it is remembered how many nodes were able for it when they were
counted; since then only nodes that came free can have become able, and these are listed.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.record import has_room, measures_waits, nodes_fit
from scheduler_sim.engine.core.records import Ints
from scheduler_sim.engine.rules.shared_nodes.state import LOG, SharedCore


@inlined
def told_apart(core: SharedCore, module: int) -> bool:
    """Whether the nodes of a module are told apart, and not only counted."""
    nodes = core.shared_nodes.module[module]
    return nodes.begin < nodes.end


@inlined
def is_able(core: SharedCore, placement: int, node: int, free: Ints) -> bool:
    """Whether a node has what a placement asks for on each of its nodes, by what is free on it."""
    it = core.shared_nodes
    for kind in range(len(it.capacity)):
        if it.need[placement, kind] > free[kind, node]:
            return False
    return True


@inlined
def is_able_now(core: SharedCore, placement: int, node: int) -> bool:
    """Whether a node is able for a placement now."""
    it = core.shared_nodes
    if it.request[placement].exclusive and it.node[node].jobs > 0:
        return False
    return is_able(core, placement, node, it.free)


@on(nodes_fit, "shared_nodes")
def enough_nodes_are_able(core: SharedCore, placement: int) -> bool:
    """Whether a placement fits now: its module has as many nodes that are able for it."""
    asked = core.placements[placement]
    if not told_apart(core, asked.module):
        return asked.nodes <= core.pools[asked.module].free
    _look_at_freed(core, placement)
    it = core.shared_nodes.request[placement]
    if it.able < asked.nodes:
        return False
    if it.taken != core.shared_nodes.rules.taken:
        it.able, it.taken = _count_able(core, placement), core.shared_nodes.rules.taken
    return it.able >= asked.nodes


@on(has_room, "shared_nodes")
def may_have_room(core: SharedCore, module: int) -> bool:
    """Nodes that are told apart may have room for a job as long as any is in service."""
    return told_apart(core, module) or core.pools[module].free > 0


@on(measures_waits, "shared_nodes")
def waits_are_looked_at(core: SharedCore) -> bool:
    """Idle nodes do not tell whether a job fits: each is asked."""
    return False


@part
def _look_at_freed(core: SharedCore, placement: int) -> None:
    """Of the nodes that came free since a placement was looked at, those that are able may be new ones."""
    part = core.shared_nodes
    it, freed = part.request[placement], part.rules.freed
    if it.freed == freed:
        return
    if freed - it.freed > LOG:
        it.able, it.taken = _count_able(core, placement), part.rules.taken
    else:
        for i in range(it.freed, freed):
            node = part.log[i % LOG]
            if may_take(core, placement, node) and is_able_now(core, placement, node):
                it.able += 1
                it.taken = -1  # it may have been counted before
    it.freed = freed


@part
def may_take(core: SharedCore, placement: int, node: int) -> bool:
    """Whether a node is among those that a placement may take, whatever runs there."""
    it = core.shared_nodes
    for i in range(it.request[placement].first, it.request[placement].last):
        if it.range[i].begin <= node < it.range[i].end:
            return True
    return False


@part
def _count_able(core: SharedCore, placement: int) -> int:
    it, able = core.shared_nodes, 0
    for i in range(it.request[placement].first, it.request[placement].last):
        for node in range(it.range[i].begin, it.range[i].end):
            able += is_able_now(core, placement, node)
    return able
