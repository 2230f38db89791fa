"""The nodes of each kind, and who counts for limits of nodes, in the tables of the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scheduler_sim.engine.core.records import dtype_of, lengthened
from scheduler_sim.engine.engine import FullCore, Sizes, has
from scheduler_sim.engine.rules.slurm.resource_limits.weights import Counting, WeightSizes
from scheduler_sim.policy.shares import associations
from scheduler_sim.policy.slurm_keys import SlurmKeys
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.rules.slurm.masks import Masks, bits
from scheduler_sim.simulation.rules.slurm.standings import Made, limits_nodes
from scheduler_sim.system.system import System


class NodeWeights(Numbers):
    """Writes the kinds; whose jobs count is written with the limits (``with_counting``)."""

    part = "node_weights"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = weighs_nodes(run.policy.slurm, run.system)

    def room(self, sizes: Sizes) -> WeightSizes:
        """Counters are added as they come."""
        system = self.run.system
        return WeightSizes(int(Masks(system).low[-1]), sum(len(module.sets) for module in system.modules))

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write which nodes are of one kind."""
        low, kind, number = Masks(self.run.system).low, core.node_weights.kind, 0
        for i, module in enumerate(self.run.system.modules):
            for numbers in module.ranges:
                kind[number] = bits([numbers], int(low[i]), kind.shape[1])
                number += 1
        return core


def weighs_nodes(keys: SlurmKeys, system: System) -> bool:
    """Tell whether limits are enforced, and one of nodes is among them that is less than there are."""
    tree = associations(keys.accounts, (), ())
    return keys.charges_ends and limits_nodes(keys.qos, tree, nodes_of(system))


def nodes_of(system: System) -> int:
    """How many nodes there are: a limit of so many binds nobody."""
    return sum(module.nodes for module in system.modules)


def with_counting(core: FullCore, made: Sequence[Made], counters: int) -> FullCore:
    """A core that knows, for each standing, which counters count nodes; what is in use stays."""
    if not has(core, "node_weights"):
        return core
    part, listed, rows = core.node_weights, list[int](), list[tuple[int, int]]()
    row = np.full(counters, -1, dtype=np.int64)
    row[: len(part.row)] = part.row
    size = int(row.max(initial=-1)) + 1
    for one in made:
        first = len(listed)
        for counter in one.counts_nodes:
            if row[counter] < 0:
                row[counter], size = size, size + 1
            listed.append(int(row[counter]))
        rows.append((first, len(listed)))
    standing: Any = np.array(rows, dtype=dtype_of(Counting))
    return core._replace(
        node_weights=part._replace(
            standing=standing,
            counting=np.array(listed, dtype=np.int64),
            row=row,
            in_use=lengthened(part.in_use, size),
        )
    )
