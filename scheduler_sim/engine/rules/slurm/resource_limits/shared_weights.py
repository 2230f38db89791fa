"""The same of nodes that jobs share: a node counts as long as any job that counts there runs on it."""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import started, stopped
from scheduler_sim.engine.rules.slurm.cons_tres.offers import stated_weight
from scheduler_sim.engine.rules.slurm.cons_tres.room import place_of
from scheduler_sim.engine.rules.slurm.cons_tres.state import TO_START
from scheduler_sim.engine.rules.slurm.resource_limits.amounts import LimitedSharesCore
from scheduler_sim.engine.rules.slurm.resource_limits.weights import WeighedCore, weigh_at_last


class WeighedSharesCore(WeighedCore, LimitedSharesCore):
    """A core whose jobs share nodes, and in which some limit is one of nodes."""


@on(stated_weight, "node_weights", "cons_tres")
def present_weight(core: WeighedSharesCore, need: int, node: int) -> int:
    """One more than is stated if it is heavy; since 23.11 only where a job is to start."""
    if core.slurm.rules.completing_last and core.cons_tres.attempt.asks != TO_START:
        return core.cons_tres.machine[node].weight
    weigh_at_last(core)
    it = core.slurm.partition[core.cons_tres.need[need].partition]
    word, bit = place_of(core, it, node)
    weight: int = core.cons_tres.machine[node].weight
    return weight + 1 if core.node_weights.sets.heavy[word] & bit != NONE else weight


@on(started, "node_weights", "cons_tres")
def use_shared_nodes(core: WeighedSharesCore, row: int) -> None:
    """Its nodes count from now on."""
    _note_use(core, row)


@on(stopped, "node_weights", "cons_tres")
def use_shared_nodes_no_longer(core: WeighedSharesCore, row: int) -> None:
    """They count no more if no other job makes them."""
    _note_use(core, row)


@part
def _note_use(core: WeighedSharesCore, row: int) -> None:
    weigh_at_last(core)
    limits, weights, placement = core.resource_limits, core.node_weights, core.jobs[row].placed
    standing = limits.standing[limits.of[placement]]
    it = core.slurm.partition[core.slurm.way[placement].partition]
    slot = core.shared_nodes.request[placement].slot
    for i in range(standing.counted, standing.counted_last):
        counter = limits.counted[i]
        own = weights.row[counter]
        if own < 0:
            continue
        for at in range(slot, slot + core.placements[placement].nodes):
            node = core.shared_nodes.slots[at]
            word, bit = place_of(core, it, node)
            if limits.on_node[limits.counter[counter].nodes, node] > 0:
                weights.in_use[own, word] |= bit
            else:
                weights.in_use[own, word] &= ~bit
