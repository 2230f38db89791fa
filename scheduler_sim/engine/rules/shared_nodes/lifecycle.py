"""Nodes that are told apart, in the life of a job: it takes its part of each, and gives it back."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.laws import NODE_JOBS, PARTS_FREE, PARTS_IN_USE, keep_count
from scheduler_sim.engine.core.lifecycle import count_busy, free_nodes, give_back, take_nodes
from scheduler_sim.engine.core.moments import write_more
from scheduler_sim.engine.core.record import has_more_to_write
from scheduler_sim.engine.rules.shared_nodes.able import note_change, told_apart
from scheduler_sim.engine.rules.shared_nodes.devices import changed_now, taken_of_device
from scheduler_sim.engine.rules.shared_nodes.state import (
    CORES,
    DOWN,
    GPUS,
    LEAVING,
    MEMORY,
    SharedCore,
)


@on(take_nodes, "shared_nodes")
def take_parts(core: SharedCore, placement: int) -> None:
    """A job starts on the nodes that were chosen for its placement."""
    module = core.placements[placement].module
    if not told_apart(core, module):
        core.pools[module].free -= core.placements[placement].nodes
        return
    it = core.shared_nodes
    slot = it.request[placement].slot
    for i in range(slot, slot + core.placements[placement].nodes):
        node = it.slots[i]
        change_free(core, placement, i, -1)
        it.node[node].jobs += 1
        if it.node[node].jobs == 1:
            core.pools[module].free -= 1
            core.pools[module].busy += 1


@on(free_nodes, "shared_nodes")
def free_parts(core: SharedCore, placement: int) -> None:
    """A job gives back its part of each of its nodes; an idle one may leave service."""
    module = core.placements[placement].module
    if not told_apart(core, module):
        give_back(core, module, core.placements[placement].nodes)
        return
    it = core.shared_nodes
    slot = it.request[placement].slot
    for i in range(slot, slot + core.placements[placement].nodes):
        node = it.slots[i]
        change_free(core, placement, i, 1)
        it.node[node].jobs -= 1
        keep_count(core, NODE_JOBS, node, it.node[node].jobs)
        if it.node[node].jobs == 0:
            core.pools[module].busy -= 1
            end_use(core, module, node)


@part
def end_use(core: SharedCore, module: int, node: int) -> None:
    """A node on which nothing runs any more is idle, or out of service if it was to leave it."""
    it = core.shared_nodes.node[node]
    if it.service == LEAVING:
        it.service = DOWN
        core.pools[module].draining -= 1
        core.pools[module].down += 1
    else:
        core.pools[module].free += 1


@on(count_busy, "shared_nodes")
def count_busy_nodes(core: SharedCore, placement: int, sign: int) -> None:
    """Nodes that are told apart are busy as long as anything runs on them, which is counted there."""
    module = core.placements[placement].module
    if not told_apart(core, module):
        core.pools[module].busy += sign * core.placements[placement].nodes


@part
def change_free(core: SharedCore, placement: int, at: int, sign: int) -> None:
    """A placement has its part of the node in a slot (-1), or gives it back (1)."""
    it = core.shared_nodes
    node, module = it.slots[at], it.module[core.placements[placement].module]
    it.free[CORES, node] += sign * has_to_itself(core, placement)
    for kind in range(len(it.capacity)):
        it.free[kind, node] += sign * share_of(core, placement, at, kind)
        keep_count(core, PARTS_IN_USE, node, it.capacity[kind, node] - it.free[kind, node])
        if kind != CORES:
            keep_count(core, PARTS_FREE, node, it.free[kind, node])
    module.cores -= sign * share_of(core, placement, at, CORES)
    module.memory -= sign * share_of(core, placement, at, MEMORY)
    module.gpus -= sign * share_of(core, placement, at, GPUS)
    changed_now(core, node)
    note_change(core, node)


@question
def share_of(core: SharedCore, placement: int, at: int, kind: int) -> int:
    """What a job has of the node in a slot."""
    taken = taken_of(core, core.shared_nodes.request[placement].demand, at, kind)
    return int(taken - (kind == CORES and has_to_itself(core, placement)))


@question
def has_to_itself(core: SharedCore, placement: int) -> bool:
    """Whether the nodes of a job are for it alone, so that none fits beside it, whatever it asks for."""
    return bool(core.shared_nodes.demand[core.shared_nodes.request[placement].demand].exclusive)


@part
def taken_of(core: SharedCore, demand: int, at: int, kind: int) -> int:
    """What a job takes of the node in a slot; if it has it to itself more than there is: then none fits."""
    it = core.shared_nodes
    if it.demand[demand].exclusive:
        return int(it.capacity[kind, it.slots[at]] + (kind == CORES))
    if kind >= it.need.shape[1]:
        return taken_of_device(core, demand, at, kind)
    return int(it.need[demand, kind])


@on(has_more_to_write, "shared_nodes")
def parts_differ(core: SharedCore, module: int) -> bool:
    """Whether jobs have more or less of the nodes of a module than its last row says."""
    it = core.shared_nodes.module[module]
    return bool(it.written_cores != it.cores or it.written_memory != it.memory or it.written_gpus != it.gpus)


@on(write_more, "shared_nodes")
def write_parts(core: SharedCore, module: int, row: int) -> None:
    """Write what jobs have of the nodes of a module."""
    it, written = core.shared_nodes.module[module], core.shared_nodes.rows[row]
    it.written_cores = written.cores = it.cores
    it.written_memory = written.memory = it.memory
    it.written_gpus = written.gpus = it.gpus
