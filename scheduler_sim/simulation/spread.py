"""Over how many leaves of a topology the nodes of each component are spread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.placement.repeating import repeated
from scheduler_sim.result.node_lists import node_list, runs_in
from scheduler_sim.system.system import System
from scheduler_sim.system.topology import DRAGONFLY, NO_SWITCH, joined_blocks, leaf_of_nodes
from scheduler_sim.texts import TextColumn


def spread_columns(system: System, module: TextColumn, lists: TextColumn) -> dict[str, Ints]:
    """Return the columns ``leaves``, ``groups`` and ``hops``, int64[n], of components with these nodes."""
    leaf, group, offset = _tables(system)
    texts = len(lists.categories)
    pairs, of = np.unique(module.codes.astype(np.int64) * texts + lists.codes, return_inverse=True)
    text, first, last = runs_in([str(one) for one in lists.categories])
    begin = np.searchsorted(text, np.arange(texts + 1))
    code = pairs % max(texts, 1)
    pair, run = repeated(begin[code + 1] - begin[code])
    run += begin[code][pair]
    which, number = repeated(last[run] - first[run] + 1)
    node = offset[pairs // max(texts, 1)][pair[which]] + first[run][which] + number
    leaves, groups = (_different(pair[which], table[node], len(pairs)) for table in (leaf, group))
    levels = [_different(pair[which], table[node], len(pairs)) for table in reached_by_level(system, leaf)]
    return {"leaves": leaves[of], "groups": groups[of], "hops": _hops(system, levels)[of]}


def _hops(system: System, levels: Sequence[Ints]) -> Ints:
    """int64[pairs]: the most links between two nodes, from on how many switches they are at each level."""
    apart: Ints = np.sum([many > 1 for many in levels], axis=0, dtype=np.int64)
    assert system.topology is not None
    within_group = system.topology.type == DRAGONFLY  # its switches have links to one another
    return 2 * apart - ((apart > 0) & within_group)


def reached_by_level(system: System, leaf: Ints) -> Iterator[Ints]:
    """Yield, level by level, the highest switch up to it above each node of some leaves; NO_SWITCH: none."""
    assert system.topology is not None
    switches = joined_blocks(system.switches, system.topology)
    level = np.array([switch.level for switch in switches], dtype=np.int64)
    above = np.array([switch.above for switch in switches], dtype=np.int64)
    reached = np.append(np.arange(len(switches)), NO_SWITCH)
    for at in range(int(level.max()) + 1):
        up = np.append(above, NO_SWITCH)[reached]
        goes_up = (up != NO_SWITCH) & (np.append(level, 0)[up] <= at)
        reached = np.where(goes_up, up, reached)
        yield reached[leaf]


def _different(pair: Ints, where: Ints, pairs: int) -> Ints:
    """int64[pairs]: on how many different ones of some places the nodes of each pair are."""
    there = where != NO_SWITCH
    many = int(where.max(initial=0)) + 1
    found = np.unique(pair[there] * many + where[there]) // many
    return np.bincount(found, minlength=pairs)


def _tables(system: System) -> tuple[Ints, Ints, Ints]:
    """The leaf of each node of all modules, the switch of the next level, and where each module begins."""
    leaf: list[int] = []
    for i, module in enumerate(system.modules):
        leaf += leaf_of_nodes(system.switches, i, module.nodes)
    above = [switch.above for switch in system.switches] + [NO_SWITCH]
    leaves = np.array(leaf, dtype=np.int64)
    offset = np.cumsum([0, *(module.nodes for module in system.modules)])
    return leaves, np.array(above, dtype=np.int64)[leaves], offset


def topology_told(system: System) -> dict[str, list[str]]:
    """Return what the manifest of a result says: the nodes of each leaf, by module, of those on switches.

    Leaves stand in the order of the tree: those under one switch beside one another.
    """
    order, told = _order(system), dict[str, list[str]]()
    for i, (module, on) in enumerate(zip(system.modules, system.on_switches, strict=True)):
        if on:
            leaves = [[one for one in system.switches[leaf].nodes if one.module == i] for leaf in order]
            own = [[number for one in leaf for number in one.numbers] for leaf in leaves]
            told[module.name] = [node_list(np.array(nodes)) for nodes in own if nodes]
    return told


def leaf_sizes(system: System) -> dict[str, list[int]]:
    """Return how many nodes of each module on switches each leaf has."""
    found: dict[str, list[int]] = {}
    for i, (module, on) in enumerate(zip(system.modules, system.on_switches, strict=True)):
        if on:
            own = [sum(len(one.numbers) for one in s.nodes if one.module == i) for s in system.switches]
            found[module.name] = [nodes for nodes in own if nodes]
    return found


def _order(system: System) -> list[int]:
    """The leaves, depth first."""
    below: dict[int, list[int]] = {}
    for i, switch in enumerate(system.switches):
        below.setdefault(switch.above, []).append(i)
    order, waiting = list[int](), below.get(NO_SWITCH, [])[::-1]
    while waiting:
        at = waiting.pop()
        if system.switches[at].level == 0:
            order.append(at)
        waiting += below.get(at, [])[::-1]
    return order
