"""What the topology keeps beside Slurm's schedulers: switches, which nodes are on which, who asks for few."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import Ints, Table, Words, one, table
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.allocation import words
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore
from scheduler_sim.engine.rules.slurm.state import SlurmCore

NOWHERE = -1
"""The leaf of a node on no switch, what is above the top, and no switch at all."""


class TopologyRules:
    """slurm.conf's words."""

    optional: int  # TopoOptional: 1 = it counts for jobs alone that ask for a number of switches
    blocks: int  # topology/block: 1 = leaves are base blocks, joined to larger ones
    dragonfly: int  # Dragonfly: 1 = a job that no leaf holds has nodes of all leaves in turn
    waits_until: int  # until when a job that was refused waits for fewer leaves


class Switch:
    """A switch, and what a choice knows of it."""

    level: int  # 0 = a leaf, or a base block
    above: int
    low: int  # words of the nodes of a leaf: low .. high - 1
    high: int
    usable: int  # nodes under it that a job could take
    weight: int  # the lowest of them
    cpus: int  # that they could give
    inside: int  # 1 = under the top
    used: int  # 1 = nodes of it are taken, or it has some that must be
    far: int  # links to the leaves that are used, in all
    links: int  # scratch: links to one leaf from it and from all above it, else NOWHERE


class SwitchJob:
    """What a job asks of the topology."""

    most: int  # leaves, 0 = any number
    wait: int  # s that it waits for that
    since: int  # when nodes were first sought for it; INF = never yet


class Topology(NamedTuple):
    """s switches in the order of the site, n jobs, w words of nodes."""

    rules: TopologyRules
    switch: Table[Switch]  # [s]
    upwards: Ints  # [s] switches, each before those above it
    size: Ints  # nodes of blocks: of a base block, then of those that are joined of 2, 4, ...
    leaf: Ints  # [64 w] of each node, NOWHERE = it is on none
    free: Ints  # [modules] 1 = none of its nodes is on a switch: the topology says nothing of it
    owner: Ints  # [p] job of a placement
    job: Table[SwitchJob]  # [n]
    usable: Words  # [w] nodes that a choice may take


class TopologyCore(SlurmCore):
    """A core with Slurm's schedulers, and a topology."""

    topology: Topology


class SharedTopologyCore(TopologyCore, ConsTresCore):
    """... whose nodes are shared."""


class TopologySizes(NamedTuple):
    """How much room it has."""

    rows: int
    placements: int
    modules: int
    switches: int
    sizes: int
    words: int


def blank_topology(sizes: TopologySizes) -> Topology:
    """Return the part; no node is on a switch, nobody asks for few."""
    made = Topology(
        rules=one(TopologyRules),
        switch=table(Switch, sizes.switches),
        upwards=np.zeros(sizes.switches, dtype=np.int64),
        size=np.zeros(sizes.sizes, dtype=np.int64),
        leaf=np.full(64 * sizes.words, NOWHERE, dtype=np.int64),
        free=np.zeros(sizes.modules, dtype=np.int64),
        owner=np.zeros(sizes.placements, dtype=np.int64),
        job=table(SwitchJob, sizes.rows),
        usable=words(1, sizes.words)[0],
    )
    made.switch["links"] = made.switch["above"] = NOWHERE
    made.job["since"] = INF
    made.rules.waits_until = -INF
    return made
