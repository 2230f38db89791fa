"""Which of the able nodes a job takes where they lie together: ``policy.topology: compact``.

The lowest switch that holds the job gives it its nodes; of equally low ones the fullest. Under it, whatever
holds all that is left is entered, the fullest first; while nothing does, the emptiest gives all that it has.
In the last leaf the packing chooses. What has no switch above it stands under one that has no name.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.hooks import on, only_with
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Ints, Table, Words, table
from scheduler_sim.engine.rules.shared_nodes.able import has_bit, set_bit
from scheduler_sim.engine.rules.shared_nodes.packing import choose, choose_by_packing, pick_first
from scheduler_sim.engine.rules.shared_nodes.scores import choose_devices
from scheduler_sim.engine.rules.shared_nodes.state import SharedCore

NOWHERE = -1


class Switch:
    """A switch, a block or a group, and what a choice knows of it."""

    level: int  # 0 = a leaf
    above: int  # of the last, itself
    usable: int  # able nodes under it
    emptied: int  # 1 = all of them are taken


class Leaves(NamedTuple):
    """s switches, by level, then in the order of the site; n nodes."""

    switch: Table[Switch]  # [s] the last stands above all
    leaf: Ints  # [n] NOWHERE = it is on none
    able: Words  # [n / 64] bits: able nodes of the last leaf


class LeavesCore(SharedCore):
    """A core that chooses nodes by where they lie."""

    leaves: Leaves


def blank_leaves(room: tuple[int, int]) -> Leaves:
    """Return the part for so many switches and nodes."""
    switches, nodes = room
    return Leaves(
        table(Switch, switches),
        np.full(nodes, NOWHERE, dtype=np.int64),
        np.zeros((nodes + 63) >> 6, dtype=np.uint64),
    )


@only_with("leaves", otherwise=False)
def goes_by_leaf(core: SharedCore) -> bool:
    """Whether one that asks for fewer nodes may get others than the first of those that more would get."""
    return True


@on(choose, "leaves")
def choose_by_leaf(core: LeavesCore, placement: int, able: Words, free: Ints, view: int) -> bool:
    """Choose the nodes of a placement among able ones, leaf by leaf; False if too few."""
    part, wanted = core.shared_nodes, core.placements[placement].nodes
    asked = part.demand[part.request[placement].demand]
    if asked.first == asked.last or core.leaves.leaf[part.range[asked.first].begin] == NOWHERE:
        return choose_by_packing(core, placement, able, free, view)
    _count_usable(core, placement, able)
    if core.leaves.switch[len(core.leaves.switch) - 1].usable < wanted:
        return False
    last, rest = _last_leaf(core, wanted)
    slot = part.request[placement].slot
    at = slot
    for i in range(asked.first, asked.last):
        for node in range(part.range[i].begin, part.range[i].end):
            leaf, is_able = core.leaves.leaf[node], has_bit(able, node)
            set_bit(core.leaves.able, node, is_able and leaf == last)
            if is_able and core.leaves.switch[leaf].emptied:
                part.slots[at] = node
                at += 1
    pick_first(core, placement, core.leaves.able, free, view, rest)
    for i in range(rest):
        part.slots[at + i] = part.pick[i]
    for i in range(slot, slot + wanted):
        choose_devices(core, placement, i, free, view)
    return True


@part
def _count_usable(core: LeavesCore, placement: int, able: Words) -> None:
    """Count the able nodes under each switch; none is emptied."""
    part, switch = core.shared_nodes, core.leaves.switch
    for i in range(len(switch)):
        switch[i].usable = switch[i].emptied = 0
    asked = part.demand[part.request[placement].demand]
    for i in range(asked.first, asked.last):
        for node in range(part.range[i].begin, part.range[i].end):
            if has_bit(able, node):
                switch[core.leaves.leaf[node]].usable += 1
    for i in range(len(switch) - 1):
        switch[switch[i].above].usable += switch[i].usable


@part
def _last_leaf(core: LeavesCore, wanted: int) -> tuple[int, int]:
    """Empty switches until one leaf holds the rest; returns it, and how many nodes those are."""
    switch, at, rest = core.leaves.switch, _lowest_that_holds(core, wanted), wanted
    while switch[at].level > 0:
        below, emptiest = NOWHERE, NOWHERE
        for i in range(at):
            if switch[i].above != at or switch[i].emptied:
                continue
            if switch[i].usable >= rest and (below == NOWHERE or switch[i].usable < switch[below].usable):
                below = i
            if emptiest == NOWHERE or switch[i].usable > switch[emptiest].usable:
                emptiest = i
        if below == NOWHERE:
            switch[emptiest].emptied = 1
            rest -= switch[emptiest].usable
        else:
            at = below
    for i in range(len(switch) - 2, -1, -1):
        switch[i].emptied |= switch[switch[i].above].emptied
    return at, rest


@part
def _lowest_that_holds(core: LeavesCore, wanted: int) -> int:
    """Of the switches that hold so many, one of the lowest level: the fullest, the first of the site."""
    switch, best = core.leaves.switch, NOWHERE
    for i in range(len(switch)):
        if switch[i].usable < wanted:
            continue
        as_low = best == NOWHERE or switch[i].level == switch[best].level
        if as_low and (best == NOWHERE or switch[i].usable < switch[best].usable):
            best = i
    return best
