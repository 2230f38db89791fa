"""Beside a power cap that slows what runs: jobs that wait for boots draw nothing yet."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.rules.slowing import SlowingCore, is_at_work
from scheduler_sim.engine.rules.slurm.power_saving.state import SlurmPowerCore


class SlowedPowerCore(SlowingCore, SlurmPowerCore):
    """A core with both."""


@on(is_at_work, "slurm_power_saving", "slowing")
def has_begun(core: SlowedPowerCore, row: int) -> bool:
    """Whether all its nodes are up."""
    return bool(core.slurm_power_saving.waits[row] == 0)
