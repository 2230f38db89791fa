"""Under Slurm, how long a job that is slowed for a power cap would run at its own clock."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.rules.slowing import SlowingCore, own_run
from scheduler_sim.engine.rules.slurm.state import SlurmCore


class SlowedSlurmCore(SlowingCore, SlurmCore):
    """A core with both."""


@on(own_run, "slurm", "slowing")
def run_by_itself(core: SlowedSlurmCore, row: int) -> int:
    """When it is killed is worked out with its planned end."""
    return int(core.slurm.way[core.jobs[row].placed].run + core.slurm.job[row].launch)
