"""What each placement asks of its nodes, where the nodes of a module are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.system.module import NodeChoice
from scheduler_sim.system.node_resources import CORES, GPUS, MEMORY

Choices = tuple[NodeChoice, ...]
"""The alternatives of one placement, usually one."""

ANY_TYPE, SEVERAL_TYPES = 0, -1
"""Of GPUs, beside 1, 2 ... for those of ``System.gpu_types``, under Slurm ``gpu_types_under_slurm``."""


@dataclass(frozen=True)
class NodeDemands:
    """What p placements ask of their nodes.

    Attributes
    ----------
    kind : int64[p], position in ``kinds``
    kinds : the nodes of each kind of demand, told apart by partition, constraint and size of nodes
    amounts : int64[p, c], what is asked of each node where they are shared, by ``System.counted``;
        under Slurm nothing, of types of GPUs, too
    exclusive : bool[p], whether nodes are for one job alone
    gpu_type : int64[p], the type of its GPUs by number, ``ANY_TYPE`` or ``SEVERAL_TYPES``
    """

    kind: Ints
    kinds: tuple[Choices, ...]
    amounts: Ints
    exclusive: Bools
    gpu_type: Ints

    @property
    def cores(self) -> Ints:
        """int64[p], thousandths of cores asked for on each node."""
        return self.amounts[:, CORES]

    @property
    def memory(self) -> Ints:
        """int64[p], KB of memory asked for on each node."""
        return self.amounts[:, MEMORY]

    @property
    def gpus(self) -> Ints:
        """int64[p], thousandths of GPUs asked for on each node."""
        return self.amounts[:, GPUS]

    def picked(self, which: NDArray[np.bool_] | NDArray[np.int64] | slice) -> NodeDemands:
        """Return the demands of some of the placements."""
        own = (self.amounts[which], self.exclusive[which], self.gpu_type[which])
        return NodeDemands(self.kind[which], self.kinds, *own)

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


def joined_demands(tables: Sequence[NodeDemands | None]) -> NodeDemands | None:
    """Put the demands of tables one after the other; all have them, or none."""
    demands = [table for table in tables if table is not None]
    if not demands:
        return None
    number = dict[Choices, int]()
    numbers = [
        np.array([number.setdefault(kind, len(number)) for kind in one.kinds], dtype=np.int64)
        for one in demands
    ]
    return NodeDemands(
        np.concatenate([own[one.kind] for own, one in zip(numbers, demands, strict=True)]),
        tuple(number),
        np.concatenate([one.amounts for one in demands]),
        np.concatenate([one.exclusive for one in demands]),
        np.concatenate([one.gpu_type for one in demands]),
    )
