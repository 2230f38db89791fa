"""What is kept of nodes that are told apart: what each has, and what is free on it.

Nodes are numbered over all modules whose nodes are told apart, in the order of the modules. What a node has
is counted by kind: thousandths of cores, KB of memory, thousandths of GPUs, then thousandths of each other
generic resource.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import Ints, Record, Table, Tiny, one, room, table
from scheduler_sim.engine.core.state import Core

CORES, MEMORY, GPUS = 0, 1, 2
"""The kinds that every node has; nodes are packed by the first."""

FIRST_FIT, BEST_FIT, WORST_FIT = 0, 1, 2

UP, LEAVING, DOWN = 0, 1, 2
"""States of a node; one that is leaving is out of service once nothing runs on it."""


class SharedRules(Record):
    """How nodes are chosen, and how far the lists reach."""

    packing: int
    freed: int  # nodes that have come free so far
    taken: int  # times that nodes were taken so far
    chosen: int  # nodes chosen last


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


class Request:
    """What a placement asks for on each of its nodes, besides the amounts."""

    slot: int  # where its nodes stand in ``slots``
    first: int  # the ranges of nodes that it may take: first .. last - 1
    last: int
    able: int  # at most so many nodes are able for it: exactly, when they were counted
    freed: int  # ... and of the nodes that came free since then none has been looked at
    taken: int  # as of when they were counted
    exclusive: Tiny


class SharedNodes(NamedTuple):
    """n nodes, p placements, c kinds."""

    rules: SharedRules
    module: Table[SharedModule]  # [m]
    node: Table[Node]  # [n]
    capacity: Ints  # [c, n]
    free: Ints  # [c, n]; cores below 0 where a job has the node to itself
    request: Table[Request]  # [p]
    need: Ints  # [p, c]
    range: Table[NodeRange]  # of nodes, for requests
    slots: Ints  # the nodes of each placement: those that it runs on, or that are reserved for it
    log: Ints  # the nodes that came free last, in a ring
    key: Ints  # [n] what able nodes are chosen by
    pick: Ints  # [n] the nodes chosen, in that order
    rows: Table[UsedRow]  # [rows] beside the timeline


class SharedCore(Core):
    """A core some of whose nodes are told apart."""

    shared_nodes: SharedNodes


class SharedSizes(NamedTuple):
    """How much room it has."""

    modules: int
    nodes: int
    kinds: int
    placements: int
    ranges: int
    slots: int
    timeline: int


LOG = 1 << 10
"""Nodes that came free, of which a count of able nodes can still be told."""


def blank_shared_nodes(sizes: SharedSizes) -> SharedNodes:
    """Return a part whose nodes have nothing."""
    empty = np.zeros((sizes.kinds, sizes.nodes), dtype=np.int64)
    return SharedNodes(
        rules=one(SharedRules),
        module=table(SharedModule, sizes.modules),
        node=table(Node, sizes.nodes),
        capacity=empty,
        free=empty.copy(),
        request=table(Request, sizes.placements),
        need=np.zeros((sizes.placements, sizes.kinds), dtype=np.int64),
        range=table(NodeRange, sizes.ranges),
        slots=np.full(sizes.slots, -1, dtype=np.int64),
        log=np.zeros(LOG, dtype=np.int64),
        key=np.empty(sizes.nodes, dtype=np.int64),
        pick=np.empty(sizes.nodes, dtype=np.int64),
        rows=room(UsedRow, sizes.timeline),
    )
