"""Jobs that are suspended for others under Slurm: who is above whom, preemption and rows of cores say."""

from __future__ import annotations

from typing import Any

from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.slurm.preemption.gang_state import GangSizes
from scheduler_sim.engine.rules.suspensions import NOT_SUSPENDED
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.slurm_keys import GANG, SUSPEND
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.rules.shared_nodes import shares_under_slurm
from scheduler_sim.simulation.rules.slurm.masks import Masks
from scheduler_sim.system.shared_cores import shares_cores
from scheduler_sim.workload.fields import TOGETHER

MODES = ("OFF", "SUSPEND")
"""Modes of partitions beside which jobs are suspended."""


class Gang(Numbers):
    """Says whether there is such a thing."""

    part = "gang"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._keys, shares = run.policy.slurm, shares_under_slurm(run.system, run.policy)
        under_slurm = run.policy.backfill == "slurm"
        self.needed = under_slurm and self._keys.gangs
        if self.needed or (under_slurm and self._keys.PreemptMode == SUSPEND):
            self._refuse_what_is_not_there(shares)
        self.needed &= not shares or shares_cores(run.system, gang=True)

    def _refuse_what_is_not_there(self, shares: bool) -> None:
        keys, run = self._keys, self.run
        found = f"policy.slurm.PreemptMode: found {keys.PreemptMode}"
        needed = "preempt/none" if keys.PreemptMode == GANG else "preempt/partition_prio"
        if keys.script_alone:
            raise ConfigError(
                "policy.slurm.script_alone: found true where jobs are suspended; allowed here: false"
            )
        if keys.PreemptType != needed:
            raise ConfigError(f"{found} beside PreemptType {keys.PreemptType}; allowed: {needed}")
        if keys.PreemptMode == GANG and not shares:
            raise ConfigError(
                f"{found} where each job has whole nodes; allowed here: OFF, REQUEUE, CANCEL, {SUSPEND}"
            )
        mixed = shares and not all(module.shared for module in run.system.modules)
        beside = {
            "modules whose nodes jobs share, and others": mixed,
            "checkpoints": any(one is not None for one in run.checkpoints),
        }
        for words in (name for name, is_there in beside.items() if is_there):
            raise ConfigError(f"{found} beside {words}; allowed here: OFF, REQUEUE, CANCEL")
        run.refuse(TOGETHER, f"{found} beside components that start together; allowed here: OFF")
        for one in run.system.partitions if keys.suspends else ():
            if (mode := one.slurm.get("PreemptMode", "SUSPEND")) not in MODES:
                raise ConfigError(
                    f"partitions.{one.name}.slurm.PreemptMode: found {mode} beside PreemptMode"
                    f" {keys.PreemptMode}; allowed here: {', '.join(MODES)}"
                )

    def room(self, sizes: Sizes) -> GangSizes:
        """For all jobs."""
        return GangSizes(sizes.rows, sizes.modules, int(Masks(self.run.system).low[-1]))

    def write(self, core: FullCore, jobs: Jobs, described: Any) -> FullCore:
        """None of them is suspended."""
        core.gang.pause["since"][jobs.rows] = NOT_SUSPENDED
        return core
