"""Which jobs may be preempted for which under Slurm: groups are partitions."""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.slurm.preemption.state import CANCEL, REQUEUE, PreemptionSizes
from scheduler_sim.errors import ConfigError
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.rules.shared_nodes import shares_under_slurm
from scheduler_sim.simulation.rules.slurm.masks import Masks

NEEDED = {"version": "22.05", "fixed_nodes": True, "grouped_ends": True}
"""Keys beside which jobs are preempted."""

MODES = {"REQUEUE": REQUEUE, "CANCEL": CANCEL}


class Preemption(Numbers):
    """Writes the partitions' tiers as who preempts whom."""

    part = "preemption"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._keys = run.policy.slurm
        self.needed = self._keys.preempts and run.policy.backfill == "slurm"
        if self.needed:
            self._refuse_what_is_not_there()

    def _refuse_what_is_not_there(self) -> None:
        """Preemption is on whole nodes, by the rules of 22.05, and of single components."""
        mode = f"policy.slurm.PreemptMode: found {self._keys.PreemptMode}"
        if shares_under_slurm(self.run.system, self.run.policy):
            raise ConfigError(f"{mode} where jobs share nodes; allowed here: OFF")
        if self.run.units.members:
            raise ConfigError(f"{mode} where components start together; allowed here: OFF")
        for key, needed in NEEDED.items():
            if getattr(self._keys, key) != needed:
                found = getattr(self._keys, key)
                raise ConfigError(f"policy.slurm.{key}: found {found} beside preemption; allowed: {needed}")

    def describe(self, jobs: Jobs) -> None:
        """Jobs are of the groups that their placements are in."""

    def room(self, sizes: Sizes) -> PreemptionSizes:
        """A group for each partition."""
        partitions, words = len(self.run.system.partitions), int(Masks(self.run.system).low[-1])
        return PreemptionSizes(sizes.rows, sizes.placements, partitions, words)

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write the rules and the groups."""
        keys, rules, group = self._keys, core.preemption.rules, core.preemption.group
        rules.youngest_first = int(keys.preempt_youngest_first)
        rules.strict_order = int(keys.preempt_strict_order)
        rules.reorder_count = keys.preempt_reorder_count
        rules.pause = keys.KillWait + keys.MessageTimeout
        tiers = np.array([partition.priority for partition in self.run.system.partitions], dtype=np.int64)
        group["mode"], group["rank"] = MODES[keys.PreemptMode], tiers
        group["exempt"] = keys.PreemptExemptTime
        core.preemption.may[:] = (tiers[:, None] > tiers[None, :]).ravel()
        core.slurm.rules.plans_started = 0  # what may be preempted does not stand in the plan
        return core

    def write(self, core: FullCore, jobs: Jobs, described: None) -> FullCore:
        """Write the group of each placement."""
        core.preemption.of[jobs.where] = jobs.placements.partition
        core.preemption.job["tried_at"][jobs.rows] = -INF
        core.preemption.job["requeue"][jobs.rows] = 1
        return core

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """The new ways of a component may be in other partitions."""
        core.preemption.of[jobs.where] = jobs.placements.partition
        return core
