"""Which nodes each placement may take, where the nodes of a module differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.arrays import Ints
from scheduler_sim.system.module import NodeChoice
from scheduler_sim.system.system import System

Choices = tuple[NodeChoice, ...]
"""The alternatives of one placement, usually one."""


@dataclass(frozen=True)
class NodeDemands:
    """What p placements ask of their nodes.

    Attributes
    ----------
    kind : int64[p], position in ``kinds``
    kinds : the choices of each kind of demand, told apart by partition, constraint and size of nodes
    """

    kind: Ints
    kinds: tuple[Choices, ...]

    def picked(self, which: NDArray[np.bool_] | NDArray[np.int64] | slice) -> NodeDemands:
        """Return the demands of some of the placements."""
        return NodeDemands(self.kind[which], self.kinds)

    def can_be_met(self, nodes: Ints) -> NDArray[np.bool_]:
        """Tell for each placement of so many nodes whether some alternative has room for it, alone."""
        widest = max(map(len, self.kinds), default=0)
        least = np.ones((len(self.kinds), widest), dtype=np.int64)
        most = np.zeros((len(self.kinds), widest), dtype=np.int64)
        for i, choices in enumerate(self.kinds):
            for j, choice in enumerate(choices):
                least[i, j], most[i, j] = choice.least, choice.most
        asked = nodes[:, np.newaxis]
        fits: NDArray[np.bool_] = (least[self.kind] <= asked) & (asked <= most[self.kind])
        return np.asarray(fits.any(axis=1))


def node_demands(
    system: System, partition: Ints, constraints: Sequence[str], constraint: Ints, cores: Ints, memory: Ints
) -> NodeDemands:
    """Return the demands of p placements.

    Parameters
    ----------
    partition : int64[p], number of the partition
    constraints : each spelling of a constraint that occurs
    constraint : int64[p], position in ``constraints``
    cores, memory : int64[p], asked of each node, the memory in KB
    """
    sets = [one for module in system.modules for one in module.sets]
    cores_class = np.searchsorted(np.unique([one.cores_per_node for one in sets]), cores)
    memory_class = np.searchsorted(np.unique([one.memory_kb for one in sets]), memory)
    told_apart = np.stack((partition, constraint, cores_class, memory_class))
    _, first, kind = np.unique(told_apart, axis=1, return_index=True, return_inverse=True)
    kinds = (
        system.node_choices(
            system.partitions[partition[i]].name,
            constraints[constraint[i]],
            cores=int(cores[i]),
            memory_kb=int(memory[i]),
        )
        for i in first
    )
    return NodeDemands(kind.reshape(-1).astype(np.int64), tuple(kinds))


def joined_demands(tables: Sequence[NodeDemands | None]) -> NodeDemands | None:
    """Put the demands of tables one after the other; all have them, or none; kinds may be the same ones."""
    demands = [table for table in tables if table is not None]
    if not demands:
        return None
    first, kinds = dict[tuple[Choices, ...], int](), tuple[Choices, ...]()
    for one in demands:
        if one.kinds not in first:
            first[one.kinds], kinds = len(kinds), kinds + one.kinds
    return NodeDemands(np.concatenate([one.kind + first[one.kinds] for one in demands]), kinds)
