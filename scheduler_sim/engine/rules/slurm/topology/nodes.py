"""Whole nodes are chosen by where they lie, whichever of Slurm's schedulers does it."""

from __future__ import annotations

from scheduler_sim.engine.core.bits import (
    NONE,
    ONE,
    add,
    clear,
    copy,
    count,
    keep_common,
    lowest_in,
    take_out,
)
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import submitted
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.slurm.lifecycle import turn_away
from scheduler_sim.engine.rules.slurm.nodes import (
    behind_heaviest,
    keep_of_weight,
    pick,
    pick_best_fit,
    suffices,
    would_do,
)
from scheduler_sim.engine.rules.slurm.state import Partition
from scheduler_sim.engine.rules.slurm.topology.leaves import (
    add_up,
    best_leaf,
    count_usable,
    forget_counts,
    forget_usable,
    found_top,
    leaf_alone,
    use_leaf,
)
from scheduler_sim.engine.rules.slurm.topology.state import NOWHERE, TopologyCore
from scheduler_sim.engine.rules.slurm.topology.waiting import (
    goes_by_topology,
    may_have_leaves,
    note_try,
)


@on(submitted, "topology", unless="cons_tres")
def refuse_what_no_switch_holds(core: TopologyCore, row: int) -> None:
    """A job that would have no nodes in any partition that it names, were all idle, is rejected."""
    first, last = core.jobs[row].first, core.jobs[row].last
    if first == last:
        return
    for placement in range(first, last):
        if not goes_by_topology(core, placement):
            return
        way = core.slurm.way[placement]
        for choice in range(way.first, way.last):
            way.choice = choice
            if _leaves_picked(core, placement, core.slurm.nodes.masks[way.mask]) > 0:
                return
    turn_away(core, row)


@on(pick, "topology")
def pick_by_topology(core: TopologyCore, placement: int, source: Words) -> bool:
    """Choose nodes leaf by leaf; False if no switch has enough, or the job waits for fewer leaves."""
    if not goes_by_topology(core, placement):
        pick_best_fit(core, placement, source)
        return True
    note_try(core, placement)
    leaves = _leaves_picked(core, placement, source)
    return leaves > 0 and may_have_leaves(core, placement, leaves)


@on(would_do, "topology")
def would_do_by_topology(core: TopologyCore, placement: int, source: Words) -> bool:
    """Nodes are chosen to see it."""
    return suffices(core, placement, source) and pick(core, placement, source)


@part
def _leaves_picked(core: TopologyCore, placement: int, source: Words) -> int:
    """Choose nodes of a set that suffices; on how many leaves they are, 0 if no switch has enough of them."""
    way, wanted = core.slurm.way[placement], core.placements[placement].nodes
    it, usable = core.slurm.partition[way.partition], core.topology.usable
    clear(core.slurm.sets.picked, it.low, it.high)
    copy(usable, source, it.low, it.high)
    keep_common(usable, core.slurm.nodes.masks[core.slurm.nodes.choice[way.choice].mask], it.low, it.high)
    forget_usable(core)
    _count_leaves(core, it)
    if not found_top(core, wanted, wanted, 0):
        return 0
    _leave_out_what_is_not_inside(core, it)
    leaves = picked = 0
    if behind_heaviest(core, it) - it.lightest > 1 and not core.topology.rules.blocks:
        picked = _picked_of_lower_weights(core, it, wanted)
        forget_counts(core)
        _count_leaves(core, it)
        _use_leaves_of_picked(core, it)
    if core.topology.rules.dragonfly:
        return _picked_in_turn(core, it, picked, wanted - picked)
    if picked > 0:
        wanted -= picked
        for leaf in range(len(core.topology.switch)):
            if core.topology.switch[leaf].used:
                leaves += 1
                wanted -= _taken_of_leaf(core, it, leaf, wanted)
    while wanted > 0:
        leaf = best_leaf(core, wanted, 0)
        use_leaf(core, leaf)
        leaves += 1
        wanted -= _taken_of_leaf(core, it, leaf, wanted)
    return leaves


@part
def _picked_in_turn(core: TopologyCore, it: Partition, picked: int, wanted: int) -> int:
    """Choose so many more nodes on one leaf, or one of each leaf in turn; on how many leaves all are."""
    switch, alone = core.topology.switch, leaf_alone(core)
    if alone != NOWHERE and switch[alone].usable - picked >= wanted:
        wanted -= _taken_of_leaf(core, it, alone, wanted)
    while wanted > 0:
        for leaf in range(len(switch)):
            if wanted > 0 and switch[leaf].level == 0 and switch[leaf].inside:
                wanted -= _taken_of_leaf(core, it, leaf, 1)
    _use_leaves_of_picked(core, it)
    leaves = 0
    for leaf in range(len(switch)):
        leaves += switch[leaf].used
    return leaves


@part
def _count_leaves(core: TopologyCore, it: Partition) -> None:
    """Count the nodes USABLE under each switch."""
    for weight in range(it.lightest, behind_heaviest(core, it)):
        _put_usable_of_weight(core, it, weight)
        for word in range(it.low, it.high):
            bits = core.slurm.sets.rest[word]
            while bits != NONE:
                count_usable(core, core.topology.leaf[(word << 6) + lowest_in(bits)], weight, 0)
                bits &= bits - ONE
    add_up(core)


@part
def _put_usable_of_weight(core: TopologyCore, it: Partition, weight: int) -> None:
    """REST: the nodes USABLE that are of a weight now."""
    copy(core.slurm.sets.rest, core.topology.usable, it.low, it.high)
    keep_of_weight(core, it, core.slurm.sets.rest, weight)


@part
def _leave_out_what_is_not_inside(core: TopologyCore, it: Partition) -> None:
    """USABLE are from now on nodes under the top alone."""
    for word in range(it.low, it.high):
        bits = core.topology.usable[word]
        while bits != NONE:
            bit = bits & (~bits + ONE)
            leaf = core.topology.leaf[(word << 6) + lowest_in(bits)]
            if core.topology.switch[leaf].inside == 0:
                core.topology.usable[word] &= ~bit
            bits &= ~bit


@part
def _picked_of_lower_weights(core: TopologyCore, it: Partition, wanted: int) -> int:
    """Take all nodes USABLE of the weights that do not suffice, the lowest first; returns how many.

    Those of larger weights than the one with which they suffice are no more USABLE.
    """
    sets, taken, enough = core.slurm.sets, 0, False
    for weight in range(it.lightest, behind_heaviest(core, it)):
        _put_usable_of_weight(core, it, weight)
        there = count(sets.rest, it.low, it.high)
        if enough:
            take_out(core.topology.usable, sets.rest, it.low, it.high)
        elif taken + there >= wanted:
            enough = True
        else:
            add(sets.picked, sets.rest, it.low, it.high)
            taken += there
    return taken


@part
def _use_leaves_of_picked(core: TopologyCore, it: Partition) -> None:
    """Leaves of nodes PICKED are used."""
    for word in range(it.low, it.high):
        bits = core.slurm.sets.picked[word]
        while bits != NONE:
            leaf = core.topology.leaf[(word << 6) + lowest_in(bits)]
            if core.topology.switch[leaf].used == 0:
                use_leaf(core, leaf)
            bits &= bits - ONE


@part
def _taken_of_leaf(core: TopologyCore, it: Partition, leaf: int, wanted: int) -> int:
    """Add up to so many nodes USABLE of a leaf to PICKED, the first; returns how many."""
    switch, picked, taken = core.topology.switch[leaf], core.slurm.sets.picked, 0
    for word in range(max(it.low, switch.low), min(it.high, switch.high)):
        bits = core.topology.usable[word] & ~picked[word]
        while bits != NONE and taken < wanted:
            bit = bits & (~bits + ONE)
            if core.topology.leaf[(word << 6) + lowest_in(bits)] == leaf:
                picked[word] |= bit
                taken += 1
            bits &= ~bit
    return taken
