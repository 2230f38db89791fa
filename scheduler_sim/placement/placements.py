"""The type of the placements table, which its makers and readers share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.arrays import Ints
from scheduler_sim.placement.node_demand import NodeDemands

OF_PLACEMENTS = ("module", "partition", "nodes", "limit", "run")
OF_COMPONENTS = ("tier", "asked_module", "asked_nodes", "asked_limit", "asked_run", "type_number")
"""Columns of the table that are int64."""


@dataclass(frozen=True)
class Placements:
    """n components in trace order, p placements one after the other.

    Attributes
    ----------
    rows : int64[n], row of the workload's table
    first : int64[n + 1]; those of component i are ``first[i] .. first[i + 1] - 1``, in list order
    module, partition, nodes, limit, run : int64[p]; module number, partition number, nodes, s, s
    cost : float64[p], nodes x cost of a node x limit
    demand : int64[p, shared resources]
    tier : int64[n], priority of the first partition asked for
    asked_module, asked_nodes, asked_limit, asked_run : int64[n], of the first partition, also where it
        was dropped
    type_number : int64[n], of the type of application; 0 where models have none
    of_nodes : which nodes each placement may take, int64[p] and kinds; None where nodes are only counted
    held : bool[n], whether all placements are in partitions that are DOWN, so that it waits for ever
    rejected : number of components without a placement, by reason
    not_honoured : components that ask for part of a node, or for a kind of shared resource that the system
        does not declare, by kind
    khz : int64[p], P-state, kHz; None where it is not chosen
    """

    rows: Ints
    first: Ints
    module: Ints
    partition: Ints
    nodes: Ints
    limit: Ints
    run: Ints
    cost: NDArray[np.float64]
    demand: Ints
    tier: Ints
    asked_module: Ints
    asked_nodes: Ints
    asked_limit: Ints
    asked_run: Ints
    type_number: Ints
    held: NDArray[np.bool_]
    of_nodes: NodeDemands | None
    rejected: dict[str, int]
    not_honoured: dict[str, int]
    khz: Ints | None = None

    @property
    def rigid(self) -> bool:
        """Whether every component has at most one placement and none asks for shared resources."""
        return bool((np.diff(self.first) <= 1).all() and not self.demand.any())
