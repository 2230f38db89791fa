"""Nodes that are told apart, and leave service or come back; which ones is said from outside."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import event, question
from scheduler_sim.engine.core.jit import entry, part
from scheduler_sim.engine.rules.shared_nodes.able import note_change
from scheduler_sim.engine.rules.shared_nodes.state import AWAY, CORES, DOWN, LEAVING, UP, SharedCore


@question
def in_use_by(core: SharedCore, node: int) -> int:
    """How many jobs keep a node from being idle."""
    return int(core.shared_nodes.node[node].jobs)


@entry
def jobs_on(core: SharedCore, node: int) -> int:
    """How many jobs keep a node from being idle; asked from outside."""
    return in_use_by(core, node)


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
def take_node_out(core: SharedCore, node: int) -> None:
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
def put_node_back(core: SharedCore, node: int) -> None:
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
