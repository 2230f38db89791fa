"""Which nodes have what a job asks for on each of its nodes, and when planned ends will make them have it.

Most needs are met by so many nodes of their level, whichever these are. For each level the set of able nodes
is kept, and for each other node the planned end that makes it able; both are brought up to date by the log
of the nodes on which something changed.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.moments import end_forgotten, end_planned, started
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.shared_nodes.able import note_change
from scheduler_sim.engine.rules.shared_nodes.state import LOG
from scheduler_sim.engine.rules.slurm.cons_tres.offers import look, make_offer, may_use
from scheduler_sim.engine.rules.slurm.cons_tres.room import copy_node, leave_node, place_of, room_now
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore, Room


@part
def refresh(core: ConsTresCore, level: int) -> None:
    """Bring a level up to date."""
    part, shared = core.cons_tres, core.shared_nodes
    it, changes = part.level[level], shared.rules.changes
    if changes - it.read > LOG:
        module = core.slurm.partition[part.need[it.need].partition].module
        for node in range(shared.module[module].begin, shared.module[module].end):
            _look_again(core, level, node)
    else:
        for i in range(it.read, changes):
            _look_again(core, level, shared.log[i % LOG])
    it.read = changes


@part
def _look_again(core: ConsTresCore, level: int, node: int) -> None:
    """Something changed on a node: whether it is able, and if not, when it will be."""
    part = core.cons_tres
    need = part.level[level].need
    it = core.slurm.partition[part.need[need].partition]
    if core.shared_nodes.node[node].module != it.module:
        return
    word, bit = place_of(core, it, node)
    able = _has(core, need, room_now(core), node)
    if able:
        part.able[level, word] |= bit
        part.able_at[level, node] = 0
    else:
        part.able[level, word] &= ~bit
        part.able_at[level, node] = _comes_to_have(core, need, node)


@inlined
def _has(core: ConsTresCore, need: int, room: Room, node: int) -> bool:
    """Whether a node has what is asked for on each node."""
    if not (may_use(core, need, room, node) and make_offer(core, need, room, node, False)):
        return False
    part = core.cons_tres
    return look(core, need, node) >= part.level[part.need[need].level].cpus


@part
def _comes_to_have(core: ConsTresCore, need: int, node: int) -> int:
    """The first planned end with which it does, INF if there is none."""
    part = core.cons_tres
    copy_node(core, node)
    slot = part.machine[node].first
    while slot >= 0:
        leave_node(core, core.jobs[part.tenant[slot].row].placed, slot)
        end, slot = end_of(core, slot), part.tenant[slot].next
        if _has(core, need, part.later, node):
            return end
    return INF


@inlined
def end_of(core: ConsTresCore, slot: int) -> int:
    """The planned end of the job whose share that is."""
    row = core.cons_tres.tenant[slot].row
    return int(core.jobs[row].start + core.placements[core.jobs[row].placed].limit)


# -- lists of shares


@part
def list_shares(core: ConsTresCore, row: int) -> None:
    """The shares of a job that has started join the lists of their nodes."""
    part, placement = core.cons_tres, core.jobs[row].placed
    first = core.shared_nodes.request[placement].slot
    for slot in range(first, first + core.placements[placement].nodes):
        node = core.shared_nodes.slots[slot]
        part.tenant[slot].row = row
        end, before, here = end_of(core, slot), -1, part.machine[node].first
        while here >= 0 and end_of(core, here) <= end:
            before, here = here, part.tenant[here].next
        part.tenant[slot].next = here
        if before < 0:
            part.machine[node].first = slot
        else:
            part.tenant[before].next = slot


@part
def strike_shares(core: ConsTresCore, row: int) -> None:
    """The shares of a job leave the lists of their nodes."""
    part, placement = core.cons_tres, core.jobs[row].placed
    first = core.shared_nodes.request[placement].slot
    for slot in range(first, first + core.placements[placement].nodes):
        node = core.shared_nodes.slots[slot]
        before, here = -1, part.machine[node].first
        while here != slot:
            before, here = here, part.tenant[here].next
        if before < 0:
            part.machine[node].first = part.tenant[slot].next
        else:
            part.tenant[before].next = part.tenant[slot].next


@on(started, "cons_tres")
def join_lists(core: ConsTresCore, row: int) -> None:
    """A job has started."""
    list_shares(core, row)


@on(end_forgotten, "cons_tres")
def forget_end_of_shares(core: ConsTresCore, row: int) -> None:
    """A running job is about to have another limit."""
    strike_shares(core, row)


@on(end_planned, "cons_tres")
def plan_end_of_shares(core: ConsTresCore, row: int) -> None:
    """It has it now."""
    list_shares(core, row)
    first = core.shared_nodes.request[core.jobs[row].placed].slot
    for slot in range(first, first + core.placements[core.jobs[row].placed].nodes):
        note_change(core, core.shared_nodes.slots[slot])
