"""Under which switch a job gets its nodes, and which leaf comes next (``_eval_nodes_topo``, Slurm 22.05).

Under the top the leaves near those that are used come first, and of these the best fit; blocks have no
distance, and one that a job fits in holds all of it. In a dragonfly (``_eval_nodes_dfly``) one leaf holds a
job, or all have a part.
"""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.topology.state import NOWHERE, TopologyCore

BETTER, ALIKE, WORSE = 1, 0, -1


@part
def forget_usable(core: TopologyCore) -> None:
    """A new choice: nothing is usable yet, nor used."""
    for i in range(len(core.topology.switch)):
        it = core.topology.switch[i]
        it.inside = it.used = it.far = 0
    forget_counts(core)


@part
def forget_counts(core: TopologyCore) -> None:
    """What is usable is counted anew."""
    for i in range(len(core.topology.switch)):
        core.topology.switch[i].usable = 0
        core.topology.switch[i].weight = INF
        core.topology.switch[i].cpus = 0


@part
def count_usable(core: TopologyCore, leaf: int, weight: int, cpus: int) -> None:
    """A node on a leaf is usable, with so many CPUs."""
    it = core.topology.switch[leaf]
    it.usable += 1
    it.cpus += cpus
    it.weight = min(it.weight, weight)


@part
def add_up(core: TopologyCore) -> None:
    """What is usable under a leaf is so under all above it; these have nothing yet."""
    for i in range(len(core.topology.upwards)):
        it = core.topology.switch[core.topology.upwards[i]]
        if it.above != NOWHERE:
            up = core.topology.switch[it.above]
            up.usable += it.usable
            up.cpus += it.cpus
            up.weight = min(up.weight, it.weight)


# -- the top


@part
def found_top(core: TopologyCore, wanted: int, asked: int, cpus: int) -> bool:
    """Whether there is a switch, or a block, with so many usable nodes, and CPUs; what is under it is INSIDE.

    ``asked``: how many nodes the job is for, by which its block is as large as it needs to be.
    """
    if core.topology.rules.blocks:
        return _found_block(core, wanted, asked)
    if core.topology.rules.dragonfly:
        top = _first_of_the_highest(core)
    else:
        top = _highest_of_lowest_weight(core, wanted, cpus if core.slurm.rules.leaves_by_cpus else 0)
    if top == NOWHERE or core.topology.switch[top].usable < wanted:
        return False
    core.topology.switch[top].inside = 1
    for i in range(len(core.topology.upwards) - 1, -1, -1):
        it = core.topology.switch[core.topology.upwards[i]]
        if it.above != NOWHERE and core.topology.switch[it.above].inside:
            it.inside = 1
    return True


@part
def _highest_of_lowest_weight(core: TopologyCore, wanted: int, cpus: int) -> int:
    """Of switches that have enough, with nodes of the lowest weight, the highest; of several the last."""
    best = NOWHERE
    for i in range(len(core.topology.switch)):
        it = core.topology.switch[i]
        if it.usable == 0 or it.usable < wanted or it.cpus < cpus:
            continue
        if best != NOWHERE:
            other = core.topology.switch[best]
            if it.weight > other.weight or (it.weight == other.weight and it.level < other.level):
                continue
        best = i
    return best


@part
def _first_of_the_highest(core: TopologyCore) -> int:
    """Of switches with usable nodes, however many, the highest; of several the first."""
    best = NOWHERE
    for i in range(len(core.topology.switch)):
        it = core.topology.switch[i]
        if it.usable > 0 and (best == NOWHERE or it.level > core.topology.switch[best].level):
            best = i
    return best


@part
def _found_block(core: TopologyCore, wanted: int, asked: int) -> bool:
    """Of blocks of the least size that holds the job, the one with fewest usable nodes that has enough."""
    blocks = len(core.topology.switch)
    joined = blocks
    for level in range(len(core.topology.size)):
        if core.topology.size[level] >= asked:
            joined = core.topology.size[level] // core.topology.size[0]
            break
    first, fewest = NOWHERE, INF
    for begin in range(0, blocks, joined):
        usable = 0
        for i in range(begin, min(begin + joined, blocks)):
            usable += core.topology.switch[i].usable
        if 0 < usable < fewest and usable >= wanted:
            first, fewest = begin, usable
    if first == NOWHERE:
        return False
    for i in range(first, min(first + joined, blocks)):
        core.topology.switch[i].inside = 1
    return True


# -- the next leaf


@part
def best_leaf(core: TopologyCore, remaining: int, cpus: int) -> int:
    """The leaf from which the next nodes come, of so many still wanted, and CPUs; NOWHERE: all are used.

    A nearer one comes first if it is no worse, since 24.05.3 if it, or what is above it, suffices.
    """
    best = NOWHERE
    for i in range(len(core.topology.switch)):
        it = core.topology.switch[i]
        if it.level > 0 or it.inside == 0 or it.used or it.usable == 0:
            continue
        if best == NOWHERE:
            best = i
            continue
        fit, suffices = _fit(core, i, best, remaining, cpus)
        far = core.topology.switch[best].far
        nearer = suffices if core.slurm.rules.near_leaves_first else fit != WORSE
        if (it.far < far and nearer) or (it.far == far and fit == BETTER):
            best = i
    return best


@part
def _fit(core: TopologyCore, one: int, other: int, remaining: int, cpus: int) -> tuple[int, bool]:
    """How a leaf fits, compared with another; and whether it, or what is above it, holds all that remains.

    What does is better, and of two the fuller. Where neither does, what is above them is asked the same; then
    the one with more nodes is better, and since 23.02 of two alike the lower.
    """
    switch, by_cpus = core.topology.switch, core.slurm.rules.leaves_by_cpus
    while True:
        here, there = switch[one].usable, switch[other].usable
        holds = here >= remaining and (not by_cpus or switch[one].cpus >= cpus)
        beside_holds = there >= remaining and (not by_cpus or switch[other].cpus >= cpus)
        if holds and beside_holds and here == there and by_cpus:
            return _sign(switch[other].level - switch[one].level), True
        if holds or beside_holds:
            if holds and beside_holds:
                return _sign(there - here), True
            return (BETTER if holds else WORSE), holds
        above = switch[one].above if switch[one].above != NOWHERE else one
        beside = switch[other].above if switch[other].above != NOWHERE else other
        if above == beside or (above == one and beside == other):
            if here == there and by_cpus:
                return _sign(switch[other].level - switch[one].level), False
            return _sign(here - there), False
        one, other = above, beside


@part
def take_off(core: TopologyCore, leaf: int, nodes: int) -> None:
    """So many nodes of a leaf are usable no more, nor of what is above it: since 24.05.3."""
    while core.slurm.rules.near_leaves_first and leaf != NOWHERE:
        it = core.topology.switch[leaf]
        it.usable = max(it.usable - nodes, 0)
        leaf = it.above


@part
def _sign(difference: int) -> int:
    if difference == 0:
        return ALIKE
    return BETTER if difference > 0 else WORSE


@part
def leaf_alone(core: TopologyCore) -> int:
    """In a dragonfly: the leaf that is tried alone, which is the used one, or the fullest if none is used.

    NOWHERE if several are.
    """
    used = fullest = NOWHERE
    for i in range(len(core.topology.switch)):
        it = core.topology.switch[i]
        if it.level > 0 or it.inside == 0:
            continue
        if it.used:
            if used != NOWHERE:
                return NOWHERE
            used = i
        if fullest == NOWHERE or it.usable > core.topology.switch[fullest].usable:
            fullest = i
    return used if used != NOWHERE else fullest


@part
def use_leaf(core: TopologyCore, leaf: int) -> None:
    """Nodes of a leaf are taken: all others are as far from it as there are links between."""
    switch = core.topology.switch
    switch[leaf].used = 1
    if core.topology.rules.blocks:
        return
    at, links = leaf, 0
    while at != NOWHERE:
        switch[at].links = links
        at, links = switch[at].above, links + 1
    for i in range(len(switch)):
        if switch[i].level > 0 or switch[i].inside == 0:
            continue
        at, links = i, 0
        while switch[at].links == NOWHERE:
            at, links = switch[at].above, links + 1
        switch[i].far += links + switch[at].links
    at = leaf
    while at != NOWHERE:
        switch[at].links = NOWHERE
        at = switch[at].above
