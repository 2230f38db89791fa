"""What components ask for under Slurm where jobs share nodes: how it fits on them is for Slurm to find."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.placement.node_demand import NodeDemands
from scheduler_sim.placement.node_requests import NodeRequests
from scheduler_sim.system.gres import GPU, is_gpu
from scheduler_sim.system.node_resources import CORES, MEMORY
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload


class SlurmRequests(NodeRequests):
    """The requests of n components: of shared nodes only partition, constraint, cores and memory are told.

    As in Slurm, nodes without the GPUs that are asked for are among those that its schedulers look at.
    """

    def __init__(self, workload: Workload, system: System, rows: Ints) -> None:
        super().__init__(workload, system, rows)
        self._types = system.gpu_types_under_slurm
        sets = [one for module in system.modules if module.shared for one in module.sets]
        self._on_nodes = {GPU, *(name for one in sets for name, amount in one.gres.items() if amount > 0)}

    def nodes_for(self, processors: Ints, partition: Ints) -> Ints:
        """Return the least nodes for so many processors: one where jobs share nodes."""
        return np.where(self._shared[partition], 1, processors)

    def demands(self, owner: Ints, partition: Ints, processors: Ints, nodes: Ints) -> NodeDemands:
        """Return which nodes the ways of components may take."""
        shared = self._shared[partition]
        columns = [np.zeros_like(owner) for _ in self.system.counted + self.system.gpu_types]
        columns[CORES], columns[MEMORY] = (
            np.where(shared, 0, np.maximum(asked[owner], 0)) for asked in (self.cores, self._memory)
        )
        nowhere = [
            {name: 1.0 for name, amount in one.items() if self._is_nowhere(name, amount)}
            for one in self._gres
        ]
        kind, kinds = self._choices(owner, partition, columns, nowhere)
        amounts = np.zeros((len(owner), len(self.system.counted) + len(self._types)), dtype=np.int64)
        exclusive = shared & (self.cores[owner] < 0) & (not self.by_processors)
        return NodeDemands(kind, kinds, amounts, exclusive, self.gpu_types(owner, partition))

    def _is_nowhere(self, name: str, amount: float) -> bool:
        """Whether no node that jobs share has a resource or a type of GPU, though others may."""
        return name not in self._on_nodes and (amount > 0 or is_gpu(name))
