"""What is kept of nodes that are told apart: what each has, and what is free on it.

Nodes are numbered over all modules whose nodes are told apart, in the order of the modules. What a node has
is counted by kind: thousandths of cores, KB of memory, thousandths of GPUs, then thousandths of each other
generic resource. What is free on single devices stands behind what is asked for (``device_state``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import Ints, Record, Table, Tiny, Words, one, room, table
from scheduler_sim.engine.core.state import INF, Core
from scheduler_sim.engine.rules.shared_nodes.device_state import Devices

CORES, MEMORY, GPUS = 0, 1, 2
"""The kinds that every node has; nodes are packed by the first."""

THOUSANDTHS = 1000
"""Of a core, or of a piece of a generic resource."""

FIRST_FIT, BEST_FIT, WORST_FIT = 0, 1, 2
RANDOM, DOT_PRODUCT, GPU_CLUSTERING, GPU_PACKING, LEAST_LEFT, FRAGMENTATION_GRADIENT = 3, 4, 5, 6, 7, 8
"""``policy.packing``; from the third on by a score (``scores``)."""

UP, LEAVING, DOWN = 0, 1, 2
"""States of a node; one that is leaving is out of service once nothing runs on it."""

AWAY = 1 << 55
"""Taken off the free cores of a node that takes no jobs: none fits."""


class SharedRules(Record):
    """How nodes are chosen, and how far the lists reach."""

    packing: int
    changes: int  # of what is free on nodes, so far


class NodeRange:
    """Nodes from one number to before another."""

    begin: int
    end: int


class SharedModule:
    """A module: its nodes, none where they are only counted, and what jobs have of them."""

    begin: int
    end: int
    cores: int  # thousandths
    memory: int  # KB
    gpus: int  # thousandths
    written_cores: int
    written_memory: int
    written_gpus: int


class UsedRow:
    """Further columns of a row of the timeline: what jobs have of the nodes of its module."""

    cores: int  # thousandths
    memory: int  # KB
    gpus: int  # thousandths


class Node:
    """A node, besides what is free on it."""

    module: int
    jobs: int  # that run on it
    service: int  # UP, LEAVING or DOWN
    back: int  # out of service: when plans know that it is in it again, INF = they do not


class Request:
    """What a placement asks for: many ask for the same of each node."""

    demand: int
    slot: int  # where its nodes stand in ``slots``


class Demand:
    """What is asked for on each node, besides the amounts, and how many nodes have it."""

    first: int  # the ranges of nodes that may be taken: first .. last - 1
    last: int
    able: int  # nodes that are able now, as far as the log of changes was read
    read: int  # so far
    exclusive: Tiny


class SharedNodes(NamedTuple):
    """n nodes, p placements, d demands, c kinds, of which a are asked for by amount."""

    rules: SharedRules
    module: Table[SharedModule]  # [m]
    node: Table[Node]  # [n]
    capacity: Ints  # [c, n]
    free: Ints  # [c, n]; cores below 0 where a job has the node to itself
    request: Table[Request]  # [p]
    demand: Table[Demand]  # [d]
    need: Ints  # [d, a]
    able: Words  # [d, n / 64] bits: the nodes that are able, see ``able``
    range: Table[NodeRange]  # of nodes, for demands
    slots: Ints  # the nodes of each placement: those that it runs on, or that are reserved for it
    log: Ints  # the nodes on which something changed, in a ring
    key: Ints  # [n] what able nodes are chosen by
    pick: Ints  # [n] nodes to look at, or chosen ones
    rows: Table[UsedRow]  # [rows] beside the timeline


class SharedCore(Core):
    """A core some of whose nodes are told apart."""

    shared_nodes: SharedNodes
    devices: Devices  # absent where none are told apart


class SharedSizes(NamedTuple):
    """How much room it has."""

    modules: int
    nodes: int
    kinds: int
    amounts: int  # kinds that are asked for by amount; the first ones
    placements: int
    demands: int
    ranges: int
    slots: int
    timeline: int
    depth: int  # reservations of a module
    chosen_by: int  # kinds by which nodes are chosen, the first ones: cores, or all


LOG = 1 << 12
"""Changes that are remembered; a set of able nodes that is older is made anew."""

NEVER = -LOG - 1
"""In ``read``: the set of able nodes was never made."""


def steps_for(nodes: int, depth: int, slots: int) -> int:
    """Return how many steps a plan may have: of what runs, is planned, tried, and planned anew."""
    return 2 * nodes * (1 + depth) + 6 * slots


def blank_shared_nodes(sizes: SharedSizes) -> SharedNodes:
    """Return a part whose nodes have nothing."""
    empty = np.zeros((sizes.kinds, sizes.nodes), dtype=np.int64)
    node = table(Node, sizes.nodes)
    node["back"] = INF
    return SharedNodes(
        rules=one(SharedRules),
        module=table(SharedModule, sizes.modules),
        node=node,
        capacity=empty,
        free=empty.copy(),
        request=table(Request, sizes.placements),
        demand=table(Demand, sizes.demands),
        need=np.zeros((sizes.demands, sizes.amounts), dtype=np.int64),
        able=np.zeros((sizes.demands, (sizes.nodes + 63) >> 6), dtype=np.uint64),
        range=table(NodeRange, sizes.ranges),
        slots=np.full(sizes.slots, -1, dtype=np.int64),
        log=np.zeros(LOG, dtype=np.int64),
        key=np.zeros(sizes.nodes, dtype=np.int64),
        pick=np.zeros(sizes.nodes, dtype=np.int64),
        rows=room(UsedRow, sizes.timeline),
    )
