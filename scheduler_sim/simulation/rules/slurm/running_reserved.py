"""Jobs that run stand in the plans of the backfill scheduler, with bf_running_job_reserve."""

from __future__ import annotations

from scheduler_sim.engine.engine import Sizes
from scheduler_sim.simulation.rules.numbers import Numbers, Run


class RunningReserved(Numbers):
    """Needs room for a list of those that run."""

    part = "running_reserved"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = run.policy.backfill == "slurm" and run.policy.slurm.reserves_running

    def room(self, sizes: Sizes) -> int:
        """All may run."""
        return sizes.rows
