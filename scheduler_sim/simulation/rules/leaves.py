"""Which nodes lie together, under all policies but Slurm's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.errors import ConfigError
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.rules.shared_nodes import offsets_of
from scheduler_sim.system.topology import NO_SWITCH, Switch, joined_blocks, leaf_of_nodes


class Leaves(Numbers):
    """Writes the switches, and on which each node is."""

    part = "leaves"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = run.policy.topology == "compact"
        if self.needed and run.system.topology is None:
            raise ConfigError(
                f"policy.topology: found compact for system {run.system.name}, which has no topology;"
                " allowed: a system with one"
            )
        self._switches: tuple[Switch, ...] = ()
        if self.needed and run.system.topology is not None:
            self._switches = joined_blocks(run.system.switches, run.system.topology)

    def room(self, sizes: Sizes) -> tuple[int, int]:
        """For all switches, one above all of them, and all nodes."""
        return len(self._switches) + 1, int(offsets_of(self.run.system, self.run.policy)[-1])

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write them by level."""
        part = core.leaves
        levels = np.array([switch.level for switch in self._switches], dtype=np.int64)
        order = np.argsort(levels, kind="stable")
        place = np.append(np.argsort(order), len(order))  # NO_SWITCH is the last
        above = np.array([switch.above for switch in self._switches], dtype=np.int64)[order]
        part.switch["level"] = [*levels[order], levels.max() + 1]
        part.switch["above"] = [*place[above], len(order)]
        for begin, leaf in self._leaves():
            there = leaf != NO_SWITCH
            part.leaf[begin : begin + len(leaf)][there] = place[leaf[there]]
        return core

    def _leaves(self) -> Iterator[tuple[int, np.ndarray]]:
        """Of each module that is told apart, its first node, and the leaf of each."""
        system = self.run.system
        offset = offsets_of(system, self.run.policy)
        for i, module in enumerate(system.modules):
            if offset[i] < offset[i + 1]:
                leaf = leaf_of_nodes(self._switches, i, module.nodes)
                yield int(offset[i]), np.array(leaf, dtype=np.int64)
