"""Where processes run, and what messages take from one to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scheduler_sim.arrays import Floats, Ints

MICRO = 10**6
"""Picoseconds in a microsecond; also what bytes over MB/s are in picoseconds."""


@dataclass(frozen=True)
class Places:
    """Where processes run: node and module of each process, int64[processes]; module of each node,
    int64[nodes]."""

    node: Ints
    module: Ints
    module_of_node: Ints


@dataclass(frozen=True)
class Links:
    """What messages take by kind of path: within a node of each module, between its nodes, then pairs of
    modules.

    Attributes
    ----------
    latency, lookup, flight, overhead : int64[paths], ps
    bandwidth : float64[paths], MB/s, 0 = no time
    buses : int64[paths], messages at once, 0 = no limit
    modules : how many
    pair : path of each pair of modules
    """

    latency: Ints
    lookup: Ints
    flight: Ints
    overhead: Ints
    bandwidth: Floats
    buses: Ints
    modules: int
    pair: Mapping[tuple[int, int], int]

    def of(self, places: Places, one: Ints, other: Ints) -> Ints:
        """Return the path of messages between processes, int64."""
        first, second = places.module[one], places.module[other]
        path = np.where(places.node[one] == places.node[other], first, self.modules + first)
        low, high = np.minimum(first, second), np.maximum(first, second)
        for (a, b), number in self.pair.items():
            path = np.where((low == a) & (high == b), number, path)
        return path

    def transfer(self, path: Ints, size: Ints) -> Floats:
        """Return how long messages hold links and buses, ps, float64."""
        bandwidth = self.bandwidth[path]
        ps: Floats = np.divide(size * float(MICRO), bandwidth, out=np.zeros(len(size)), where=bandwidth > 0)
        return ps
