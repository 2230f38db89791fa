"""Nodes that are told apart, and leave service or come back: which ones, where only their number is said."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import event, on, question
from scheduler_sim.engine.core.jit import entry, part
from scheduler_sim.engine.core.moments import nodes_idle, nodes_leave, nodes_removed, nodes_stay
from scheduler_sim.engine.rules.shared_nodes.able import note_change
from scheduler_sim.engine.rules.shared_nodes.state import AWAY, CORES, DOWN, LEAVING, UP, SharedCore


@on(nodes_removed, "shared_nodes")
def idle_nodes_are_down(core: SharedCore, module: int, nodes: int) -> None:
    """Idle nodes leave service: the first ones."""
    _change_first(core, module, nodes, UP, DOWN)


@on(nodes_leave, "shared_nodes")
def busy_nodes_leave(core: SharedCore, module: int, nodes: int) -> None:
    """Busy nodes leave service once they are idle: those with the fewest jobs, of equal ones the first."""
    it, jobs = core.shared_nodes, 1
    begin, end = it.module[module].begin, it.module[module].end
    while nodes > 0 and begin < end:  # elsewhere nodes are counted
        for node in range(begin, end):
            if nodes > 0 and it.node[node].service == UP and in_use_by(core, node) == jobs:
                _serve(core, node, LEAVING)
                nodes -= 1
        jobs += 1


@on(nodes_stay, "shared_nodes")
def leaving_nodes_stay(core: SharedCore, module: int, nodes: int) -> None:
    """Nodes that were to leave service stay: the first ones."""
    _change_first(core, module, nodes, LEAVING, UP)


@on(nodes_idle, "shared_nodes")
def nodes_are_back(core: SharedCore, module: int, nodes: int) -> None:
    """Nodes are back in service: the first of those that are out of it."""
    _change_first(core, module, nodes, DOWN, UP)


@question
def in_use_by(core: SharedCore, node: int) -> int:
    """How many jobs keep a node from being idle."""
    return int(core.shared_nodes.node[node].jobs)


@part
def _change_first(core: SharedCore, module: int, nodes: int, before: int, after: int) -> None:
    it = core.shared_nodes
    for node in range(it.module[module].begin, it.module[module].end):
        if (
            nodes > 0
            and it.node[node].service == before
            and (before == LEAVING or in_use_by(core, node) == 0)
        ):
            _serve(core, node, after)
            nodes -= 1


@part
def _serve(core: SharedCore, node: int, service: int) -> None:
    """A node is in another state of service; what is out of it, or leaves it, takes no jobs."""
    it = core.shared_nodes
    if (it.node[node].service == UP) != (service == UP):
        it.free[CORES, node] += AWAY if service == UP else -AWAY
        note_change(core, node)
    it.node[node].service = service
    service_changed(core, node)


@event
def service_changed(core: SharedCore, node: int) -> None:
    """A node is in service, or no longer."""


@entry
def take_node_down(core: SharedCore, node: int) -> None:
    """Take a node out of service that is in it: now if it is idle, else once it is."""
    it = core.shared_nodes
    pool = core.pools[it.node[node].module]
    if in_use_by(core, node) == 0:
        pool.free -= 1
        pool.down += 1
        _serve(core, node, DOWN)
    else:
        pool.draining += 1
        _serve(core, node, LEAVING)
    pool.touched = 1
    core.clock.dirty = core.clock.early = core.clock.lost = 1


@entry
def bring_node_back(core: SharedCore, node: int) -> None:
    """Put a node back into service that is out of it, or was to leave it."""
    it = core.shared_nodes
    pool = core.pools[it.node[node].module]
    if it.node[node].service == LEAVING:
        pool.draining -= 1
    else:
        pool.down -= 1
        pool.free += 1
    _serve(core, node, UP)
    pool.touched = 1
    core.clock.dirty = core.clock.early = 1
