"""Jobs that have the same cores, and take turns: who has which cores is found as they start."""

from __future__ import annotations

from typing import Any

from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.slurm.preemption.slice_state import SliceSizes
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.rules.shared_nodes import offsets_of, shares_under_slurm
from scheduler_sim.simulation.rules.slurm.rows import core_words
from scheduler_sim.system.shared_cores import shares_cores


class TimeSlices(Numbers):
    """Writes how long a turn lasts."""

    part = "time_slices"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        shares = shares_under_slurm(run.system, run.policy) and shares_cores(run.system, gang=True)
        self.needed = shares and run.policy.slurm.gangs

    def room(self, sizes: Sizes) -> SliceSizes:
        """For all jobs, and the cores of all nodes."""
        system = self.run.system
        nodes = int(offsets_of(system, self.run.policy)[-1])
        return SliceSizes(sizes.rows, nodes, len(system.partitions), core_words(system))

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Nobody is there."""
        core.time_slices.rules.every = self.run.policy.slurm.SchedulerTimeSlice
        return core

    def write(self, core: FullCore, jobs: Jobs, described: Any) -> FullCore:
        """All begin at the end of a list."""
        return core
