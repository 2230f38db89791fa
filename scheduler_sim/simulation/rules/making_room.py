"""Who makes way for whom, under all policies but Slurm's."""

from __future__ import annotations

from typing import Any

from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.making_room import RoomSizes
from scheduler_sim.errors import BesideJobs, ConfigError
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.workload.fields import SEVERAL, TOGETHER


class MakingRoom(Numbers):
    """Writes the terms; jobs have what they need in every core."""

    part = "making_room"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = run.policy.preempt is not None
        if self.needed:
            where = {
                "where jobs share nodes, or a partition covers part of a module": any(run.system.told_apart),
                "where idle nodes are switched off": run.switching is not None,
            }
            for words in (words for words, is_so in where.items() if is_so):
                raise ConfigError(self._problem(words))
            run.refuse(TOGETHER, self._problem("together with components that start together"))

    def _problem(self, where: str) -> str:
        return f"policy.preempt: found {self.run.policy.preempt} {where}; allowed: one of the two"

    def describe(self, jobs: Jobs) -> Any:
        """Components that could run in several ways, or ask for shared resources, are refused."""
        if self.needed and not jobs.placements.rigid:
            words = "where components have several placements or ask for shared resources"
            raise BesideJobs(self._problem(words), SEVERAL)

    def room(self, sizes: Sizes) -> RoomSizes:
        """For all there are."""
        return RoomSizes(sizes.rows, sizes.modules)

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write the terms."""
        preempt = self.run.policy.preempt
        assert preempt is not None
        core.making_room.terms.by_order = int(preempt.by == "priority")
        core.making_room.terms.requeue = int(preempt.how == "requeue")
        return core

    def write(self, core: FullCore, jobs: Jobs, described: Any) -> FullCore:
        """There is nothing to write."""
        return core


class Grace(Numbers):
    """Writes how long those who make way may go on."""

    part = "grace"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = run.policy.preempt is not None and run.policy.preempt.grace_s > 0

    def room(self, sizes: Sizes) -> RoomSizes:
        """For all there are."""
        return RoomSizes(sizes.rows, sizes.modules)

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write the length."""
        preempt = self.run.policy.preempt
        assert preempt is not None
        core.grace.length.seconds = preempt.grace_s
        return core
