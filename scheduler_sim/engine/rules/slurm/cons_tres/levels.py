"""Which nodes have what a job asks for on each of its nodes, and when planned ends will make them have it.

Most needs are met by so many nodes of their level, whichever these are. For each level the set of able nodes
is kept, and for each other node the planned end that makes it able; both are brought up to date by the log
of the nodes on which something changed.
"""

from __future__ import annotations

from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.shared_nodes.state import LOG
from scheduler_sim.engine.rules.slurm.cons_tres.able_by import mark_anew, put_able_at
from scheduler_sim.engine.rules.slurm.cons_tres.offers import look, make_offer, may_use
from scheduler_sim.engine.rules.slurm.cons_tres.room import copy_node, room_later, room_now
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore, Room
from scheduler_sim.engine.rules.slurm.cons_tres.tenants import leave_first


@part
def refresh(core: ConsTresCore, level: int) -> None:
    """Bring a level up to date."""
    part, shared = core.cons_tres, core.shared_nodes
    it, changes = part.level[level], shared.rules.changes
    if changes == it.read:
        return
    nodes = shared.module[core.slurm.partition[part.need[it.need].partition].module]
    forgotten = changes - it.read > LOG
    if forgotten:
        for node in range(nodes.begin, nodes.end):
            part.able_at[level, node] = _able_from(core, level, node)
    else:
        for i in range(it.read, changes):
            node = shared.log[i % LOG]
            if nodes.begin <= node < nodes.end:
                put_able_at(core, level, node, _able_from(core, level, node))
    it.read = changes
    if forgotten or changes - it.marked > (nodes.end - nodes.begin) >> 2:
        mark_anew(core, level)
        it.marked = changes


@part
def _able_from(core: ConsTresCore, level: int, node: int) -> int:
    """When a node has what is asked for on each node: 0 if now, else by which planned end, INF by none."""
    part, need = core.cons_tres, core.cons_tres.level[level].need
    if is_able(core, need, room_now(core), node):
        return 0
    copy_node(core, node)
    slot = part.machine[node].first
    while slot >= 0:
        end, slot = part.tenant[slot].end, leave_first(core, slot)
        if is_able(core, need, room_later(core), node):
            return int(end)
    return INF


@inlined
def is_able(core: ConsTresCore, need: int, room: Room, node: int) -> bool:
    """Whether a node has what is asked for on each node."""
    if not (may_use(core, need, room, node) and make_offer(core, need, room, node, False)):
        return False
    part = core.cons_tres
    return look(core, need, node) >= part.level[part.need[need].level].cpus
