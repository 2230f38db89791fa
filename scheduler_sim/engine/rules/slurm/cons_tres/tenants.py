"""Who is on a node, by planned end, and what is free there once some of them have ended.

The room of a node once all have ended that are planned to by some time is the same up to the next planned
end, so that it is kept until something changes on the node.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.limits import time_granted
from scheduler_sim.engine.core.moments import end_forgotten, end_planned, started
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.shared_nodes.able import note_change
from scheduler_sim.engine.rules.shared_nodes.state import LOG
from scheduler_sim.engine.rules.slurm.cons_tres.room import copy_node, leave_node, put_unknown
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore

# -- lists of shares


@part
def list_shares(core: ConsTresCore, row: int) -> None:
    """The shares of a job that has started join the lists of their nodes."""
    part, placement = core.cons_tres, core.jobs[row].placed
    first, end = core.shared_nodes.request[placement].slot, core.jobs[row].start
    end += time_granted(core, row, placement)
    for slot in range(first, first + core.placements[placement].nodes):
        node = core.shared_nodes.slots[slot]
        part.tenant[slot].placement, part.tenant[slot].end = placement, end
        before, here = -1, part.machine[node].first
        while here >= 0 and part.tenant[here].end <= end:
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


# -- once some have ended


@inlined
def leave_first(core: ConsTresCore, slot: int) -> int:
    """In the later room the first on the list of a node has left it; returns who is the next."""
    tenant = core.cons_tres.tenant[slot]
    leave_node(core, tenant.placement, slot)
    return int(tenant.next)


@part
def forget_changed(core: ConsTresCore) -> None:
    """Of nodes on which something has changed the later room is unknown."""
    part, shared = core.cons_tres, core.shared_nodes
    changes = shared.rules.changes
    if changes - part.known.read > LOG:
        for node in range(len(part.machine)):
            put_unknown(core, node)
    else:
        for i in range(part.known.read, changes):
            put_unknown(core, shared.log[i % LOG])
    part.known.read = changes


@inlined
def leave_by(core: ConsTresCore, node: int, end: int) -> None:
    """In the later room all that are planned to end by then have left a node."""
    part = core.cons_tres
    machine = part.machine[node]
    if machine.known_from <= end < machine.known_to:
        return
    copy_node(core, node)
    slot, left = machine.first, -INF
    while slot >= 0 and part.tenant[slot].end <= end:
        left, slot = part.tenant[slot].end, leave_first(core, slot)
    machine.known_from, machine.known_to = left, part.tenant[slot].end if slot >= 0 else INF
