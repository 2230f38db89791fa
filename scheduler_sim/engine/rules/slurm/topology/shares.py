"""Nodes that jobs share are chosen by where they lie: ``_eval_nodes_topo`` of select/cons_tres.

Nodes of lower weights that do not suffice are all taken. Their leaves are filled first, then one leaf after
the other, its nodes by number, until CPUs, nodes and generic resources suffice.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import count
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.cons_tres.choice import (
    cut,
    enough_nodes,
    has_generic,
    is_satisfied,
    next_weight,
    take,
    take_by_sets,
    takes_nodes,
)
from scheduler_sim.engine.rules.slurm.cons_tres.foreseen import nodes_sought, only_a_start_matters, will_do
from scheduler_sim.engine.rules.slurm.cons_tres.offers import look
from scheduler_sim.engine.rules.slurm.topology.leaves import (
    add_up,
    best_leaf,
    count_usable,
    forget_counts,
    forget_usable,
    found_top,
    leaf_alone,
    take_off,
    use_leaf,
)
from scheduler_sim.engine.rules.slurm.topology.state import NOWHERE, SharedTopologyCore
from scheduler_sim.engine.rules.slurm.topology.waiting import may_have_leaves, note_try


@on(nodes_sought, "topology", "cons_tres")
def note_first_try(core: SharedTopologyCore, placement: int, nodes: Words) -> None:
    """From the first time on that there are enough nodes to choose among, a job waits for few leaves."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    need = core.cons_tres.need[core.cons_tres.asked[placement].need]
    if need.by_switches and count(nodes, it.low, it.high) >= need.min_nodes:
        note_try(core, placement)


@on(only_a_start_matters, "topology", "cons_tres")
def asks_for_no_leaves(core: SharedTopologyCore, placement: int) -> bool:
    """One that waits for few leaves does so from its first try on."""
    return bool(core.topology.job[core.topology.owner[placement]].most == 0)


@on(will_do, "topology", "cons_tres")
def are_on_few_leaves(core: SharedTopologyCore, placement: int) -> bool:
    """Whether the nodes CHOSEN are on no more leaves than the job takes now."""
    number = core.cons_tres.asked[placement].need
    if not core.cons_tres.need[number].by_switches:
        return True
    leaves = 0
    for i in range(len(core.topology.switch)):
        core.topology.switch[i].used = 0
    for i in range(core.cons_tres.attempt.taken):
        it = core.topology.switch[_leaf_of(core, number, core.cons_tres.chosen[i])]
        leaves += it.used == 0
        it.used = 1
    return may_have_leaves(core, placement, leaves)


@on(takes_nodes, "topology", "cons_tres")
def take_by_topology(core: SharedTopologyCore, need: int) -> bool:
    """Take nodes of the list leaf by leaf; False if no switch has enough."""
    part, now = core.cons_tres, core.cons_tres.attempt
    if not part.need[need].by_switches:
        return take_by_sets(core, need)
    for i in range(now.left):
        look(core, need, part.list[i])
    forget_usable(core)
    _count_leaves(core, need)
    least = now.nodes - max(0, part.need[need].asked_nodes - now.least)
    if not found_top(core, least, now.nodes, now.cpus):
        return False
    for i in range(now.left):
        if core.topology.switch[_leaf_of(core, need, part.list[i])].inside == 0:
            part.offer[part.list[i]].usable = 0
    if not core.topology.rules.blocks and not _lower_weights_taken(core, need):
        return False
    if core.topology.rules.dragonfly:
        _take_in_turn(core, need)
    else:
        _take_leaf_by_leaf(core, need)
    return bool(now.cpus <= 0 and has_generic(core, need) and enough_nodes(core, need, 0))


@part
def _take_leaf_by_leaf(core: SharedTopologyCore, need: int) -> None:
    """Fill the leaves that are used, then the next ones."""
    now = core.cons_tres.attempt
    for leaf in range(len(core.topology.switch)):
        if core.topology.switch[leaf].used:
            before = now.taken
            _take_of_leaf(core, need, leaf, INF)
            take_off(core, leaf, now.taken - before)
    while now.most > 0 and not is_satisfied(core, need):
        leaf = best_leaf(core, now.nodes, now.cpus)
        if leaf == NOWHERE:
            break
        use_leaf(core, leaf)
        _take_of_leaf(core, need, leaf, INF)
        take_off(core, leaf, core.topology.switch[leaf].usable)


@part
def _take_in_turn(core: SharedTopologyCore, need: int) -> None:
    """In a dragonfly: one leaf, if it has enough, else a node of each leaf in turn, while there is one."""
    now, switch, alone = core.cons_tres.attempt, core.topology.switch, leaf_alone(core)
    if alone != NOWHERE and _suffice(core, need, INF, alone):
        _take_of_leaf(core, need, alone, INF)
    before = now.taken - 1
    while before < now.taken and now.most > 0 and not is_satisfied(core, need):
        before = now.taken
        for leaf in range(len(switch)):
            if switch[leaf].level == 0 and switch[leaf].inside:
                _take_of_leaf(core, need, leaf, 1)


@part
def _leaf_of(core: SharedTopologyCore, need: int, node: int) -> int:
    """The leaf of a node that is told apart."""
    it = core.slurm.partition[core.cons_tres.need[need].partition]
    return int(core.topology.leaf[(it.low << 6) + node - core.shared_nodes.module[it.module].begin])


@part
def _count_leaves(core: SharedTopologyCore, need: int) -> None:
    """Count the listed nodes of which CPUs can be used under each switch."""
    part = core.cons_tres
    for i in range(part.attempt.left):
        offer = part.offer[part.list[i]]
        if offer.usable > 0:
            count_usable(core, _leaf_of(core, need, part.list[i]), offer.weight, offer.usable)
    add_up(core)


@part
def _lower_weights_taken(core: SharedTopologyCore, need: int) -> bool:
    """Take all nodes of the weights that do not suffice, the lowest first; False if none would with them.

    Of larger weights than the one that suffices no node can be used.
    """
    part, now = core.cons_tres, core.cons_tres.attempt
    weight = next_weight(core, -INF)
    while not _suffice(core, need, weight, NOWHERE):
        if weight == INF:
            return False
        weight = next_weight(core, weight)
    for i in range(now.left):
        if part.offer[part.list[i]].weight > weight:
            part.offer[part.list[i]].usable = 0
    forget_counts(core)
    _count_leaves(core, need)
    for i in range(now.left):
        node = part.list[i]
        if now.most > 0 and part.offer[node].usable > 0 and part.offer[node].weight < weight:
            take(core, need, node, cut(core, need, node))
            leaf = _leaf_of(core, need, node)
            if core.topology.switch[leaf].used == 0:
                use_leaf(core, leaf)
    return True


@part
def _suffice(core: SharedTopologyCore, need: int, weight: int, leaf: int) -> bool:
    """Whether all that is usable of up to a weight, on a leaf or (NOWHERE) on all, would be enough."""
    part, now, nodes, cpus = core.cons_tres, core.cons_tres.attempt, 0, 0
    for i in range(now.left):
        if _is_among(core, need, part.list[i], weight, leaf):
            nodes += 1
            cpus += part.offer[part.list[i]].usable
    if cpus < now.cpus or not enough_nodes(core, need, nodes):
        return False
    return _has_generic_among(core, need, weight, leaf)


@part
def _is_among(core: SharedTopologyCore, need: int, node: int, weight: int, leaf: int) -> bool:
    """Whether a node can be used that has not been taken, of up to a weight, on a leaf or on all."""
    offer = core.cons_tres.offer[node]
    if offer.usable <= 0 or offer.taken or offer.weight > weight:
        return False
    return leaf == NOWHERE or _leaf_of(core, need, node) == leaf


@part
def _has_generic_among(core: SharedTopologyCore, need: int, weight: int, leaf: int) -> bool:
    part = core.cons_tres
    for kind in range(len(part.wanted)):
        if part.need[need].in_all == 0 or part.total[need, kind] == 0:
            continue
        there = 0
        for i in range(part.attempt.left):
            if _is_among(core, need, part.list[i], weight, leaf):
                there += part.there[kind, part.list[i]]
        if there < part.wanted[kind]:
            return False
    return True


@part
def _take_of_leaf(core: SharedTopologyCore, need: int, leaf: int, nodes: int) -> None:
    """Take up to so many nodes of a leaf, the first ones first, until the need is satisfied."""
    part, now = core.cons_tres, core.cons_tres.attempt
    until = now.taken + nodes
    for i in range(now.left):
        node = part.list[i]
        offer = part.offer[node]
        if offer.usable <= 0 or offer.taken or _leaf_of(core, need, node) != leaf:
            continue
        if now.most == 0 or now.taken >= until or is_satisfied(core, need):
            return
        take(core, need, node, cut(core, need, node))
