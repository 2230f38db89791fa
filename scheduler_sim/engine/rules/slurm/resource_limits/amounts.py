"""What a job would have of the resources that are limited, and where it counts."""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, ONE, count, lowest_in
from scheduler_sim.engine.core.hooks import on, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.rules.slurm.cons_tres.slots import starts_on_shares
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore
from scheduler_sim.engine.rules.slurm.resource_limits.state import NODES, LimitedCore


@part
def take_asked(core: LimitedCore, placement: int) -> None:
    """What it asks for is what it WOULD HAVE: which nodes it gets is open."""
    limits = core.resource_limits
    limits.rules.chosen = 0
    for resource in range(len(limits.would_have)):
        limits.would_have[resource] = limits.asks[placement, resource]


@part
def take_planned(core: LimitedCore, placement: int) -> None:
    """What it asks for is what it WOULD HAVE, and as many nodes as are PICKED: since 24.11 these."""
    limits, it = core.resource_limits, core.slurm.partition[core.slurm.way[placement].partition]
    take_asked(core, placement)
    limits.rules.chosen = core.slurm.rules.plans_know_nodes
    for resource in range(len(limits.would_have)):
        if limits.dealt_as[resource] == NODES:
            limits.would_have[resource] = count(core.slurm.sets.picked, it.low, it.high)


@question
def take_picked(core: LimitedCore, placement: int) -> None:
    """What the nodes PICKED have is what it WOULD HAVE, where it has them to itself."""
    limits = core.resource_limits
    it = core.slurm.partition[core.slurm.way[placement].partition]
    take_asked(core, placement)
    if not limits.unlike[it.module]:
        return
    for resource in range(len(limits.would_have)):
        if limits.by_node[resource]:
            limits.would_have[resource] = 0
    for word in range(it.low, it.high):
        nodes = core.slurm.sets.picked[word]
        while nodes != NONE:
            node = (word << 6) + lowest_in(nodes)
            nodes &= nodes - ONE
            for resource in range(len(limits.would_have)):
                if limits.by_node[resource]:
                    limits.would_have[resource] += limits.node_has[node, resource]


class LimitedSharesCore(LimitedCore, ConsTresCore):
    """A core whose jobs share nodes, and are held to limits."""


@on(take_picked, "cons_tres", "resource_limits")
def take_dealt(core: LimitedSharesCore, placement: int) -> None:
    """The shares that were dealt of the nodes CHOSEN are what it WOULD HAVE."""
    limits, shares = core.resource_limits, core.cons_tres
    slot = core.shared_nodes.request[placement].slot
    take_asked(core, placement)
    limits.rules.chosen = 1
    for resource in range(len(limits.would_have)):
        kind = limits.dealt_as[resource]
        if kind >= 0:
            total = 0
            for i in range(slot, slot + shares.attempt.taken):
                total += shares.share[i, kind]
            limits.would_have[resource] = total // limits.unit[resource]
        elif kind == NODES:
            limits.would_have[resource] = shares.attempt.taken


@question
def knows_its_share(core: LimitedCore, row: int, placement: int) -> bool:
    """Whether it is settled what a job that may start now would have: the nodes PICKED."""
    return True


@on(knows_its_share, "cons_tres", "resource_limits")
def is_dealt_its_share(core: LimitedSharesCore, row: int, placement: int) -> bool:
    """Its nodes are chosen anew, and shares of them dealt, if they suffice."""
    return starts_on_shares(core, row, placement)


@question
def gets_what_it_asks(core: LimitedCore, placement: int) -> bool:
    """Whether it is known to have what it asks for of all that is limited, on whichever nodes."""
    return False


@on(gets_what_it_asks, "cons_tres", "resource_limits")
def is_dealt_as_asked(core: LimitedSharesCore, placement: int) -> bool:
    """So limits can be tested before nodes are chosen; not where some nodes count already for others."""
    as_asked = core.cons_tres.need[core.cons_tres.asked[placement].need].as_asked
    return bool(core.cons_tres.rules.bounds and as_asked and len(core.resource_limits.on_node) == 0)


@question
def nodes_counted_already(core: LimitedCore, placement: int, counter: int) -> int:
    """How many of the nodes that a job would have count already, as others of the same run there."""
    return 0


@on(nodes_counted_already, "cons_tres", "resource_limits")
def shared_with_others(core: LimitedSharesCore, placement: int, counter: int) -> int:
    """Jobs of the same run on some of the nodes PICKED."""
    row, there = core.resource_limits.counter[counter].nodes, 0
    if row < 0 or not core.resource_limits.rules.chosen:
        return 0
    it = core.slurm.partition[core.slurm.way[placement].partition]
    begin = core.shared_nodes.module[it.module].begin
    for word in range(it.low, it.high):
        nodes = core.slurm.sets.picked[word]
        while nodes != NONE:
            node = begin + ((word - it.low) << 6) + lowest_in(nodes)
            nodes &= nodes - ONE
            there += core.resource_limits.on_node[row, node] > 0
    return there


@question
def count_nodes(core: LimitedCore, placement: int, counter: int, nodes: int, sign: int) -> int:
    """A job that runs counts on its nodes from now on, or no longer (-1): so many more nodes are in use."""
    return sign * nodes


@on(count_nodes, "cons_tres", "resource_limits")
def count_shared_nodes(core: LimitedSharesCore, placement: int, counter: int, nodes: int, sign: int) -> int:
    """A node counts once, however many jobs of the same run there."""
    row, changed = core.resource_limits.counter[counter].nodes, 0
    if row < 0:
        return sign * nodes
    slot = core.shared_nodes.request[placement].slot
    for i in range(slot, slot + core.placements[placement].nodes):
        node = core.shared_nodes.slots[i]
        core.resource_limits.on_node[row, node] += sign
        if core.resource_limits.on_node[row, node] == (1 if sign > 0 else 0):
            changed += sign
    return changed
