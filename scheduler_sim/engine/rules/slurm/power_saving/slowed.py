"""Beside rules that ask what a job does: one that waits for boots draws nothing, and has nothing to lose."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.rules.slowing import SlowingCore, is_at_work
from scheduler_sim.engine.rules.slurm.power_saving.state import SlurmPowerCore
from scheduler_sim.engine.rules.slurm.preemption.victims import has_begun


class SlowedPowerCore(SlowingCore, SlurmPowerCore):
    """A core with both."""


@on(is_at_work, "slurm_power_saving", "slowing")
def is_at_work_there(core: SlowedPowerCore, row: int) -> bool:
    """Whether all its nodes are up."""
    return bool(core.slurm_power_saving.waits[row] == 0)


@on(has_begun, "slurm_power_saving", "preemption")
def has_begun_there(core: SlurmPowerCore, row: int) -> bool:
    """Likewise."""
    return bool(core.slurm_power_saving.waits[row] == 0)
