"""What components ask for under Slurm where jobs share nodes: how it fits on them is for Slurm to find."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.placement.node_demand import NodeDemands
from scheduler_sim.placement.node_requests import NodeRequests
from scheduler_sim.system.node_resources import CORES, MEMORY, THOUSANDTHS


class SlurmRequests(NodeRequests):
    """The requests of n components: of shared nodes only partition, constraint and types of GPUs are told."""

    def nodes_for(self, processors: Ints, partition: Ints) -> Ints:
        """Return the least nodes for so many processors: one where jobs share nodes."""
        return np.where(self._shared[partition], 1, processors)

    def demands(self, owner: Ints, partition: Ints, processors: Ints, nodes: Ints) -> NodeDemands:
        """Return which nodes the ways of components may take."""
        shared = self._shared[partition]
        constraint, gres = self._constraint_of[owner], self._gres_of[owner] * shared
        columns = [np.zeros_like(owner) for _ in self.system.counted]
        columns[CORES], columns[MEMORY] = (
            np.where(shared, 0, np.maximum(asked[owner], 0)) for asked in (self.cores, self._memory)
        )
        told_apart = np.column_stack((partition, constraint, gres, self._classes(columns)))
        _, first, which = np.unique(told_apart, axis=0, return_index=True, return_inverse=True)
        kinds = (
            self.system.node_choices(
                self.system.partitions[partition[i]].name,
                self._constraints[constraint[i]],
                cores=columns[CORES][i] / THOUSANDTHS,
                memory_kb=int(columns[MEMORY][i]),
                gres=dict.fromkeys(self._gres[gres[i]], 1) if shared[i] else {},
            )
            for i in first
        )
        amounts = np.zeros((len(owner), len(self.system.counted)), dtype=np.int64)
        exclusive = np.zeros(len(owner), dtype=bool)
        return NodeDemands(which.reshape(-1).astype(np.int64), tuple(kinds), amounts, exclusive)
