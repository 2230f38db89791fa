"""Where several jobs may have a core at once: the rows of each partition."""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.records import lengthened
from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.slurm.cons_tres.row_state import RowsSizes
from scheduler_sim.engine.rules.slurm.cons_tres.state import CLASSES
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.rules.shared_nodes import offsets_of, shares_under_slurm
from scheduler_sim.system.shared_cores import rows_of, shares_cores
from scheduler_sim.system.system import System

OF_SLOTS = ("names", "member", "before")
"""Tables with a row for each node of each placement."""


class Rows(Numbers):
    """Writes which rows there are; which cores jobs have is found as they start."""

    part = "rows"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        gang = run.policy.slurm.gangs
        self.needed = shares_under_slurm(run.system, run.policy) and shares_cores(run.system, gang=gang)

    def room(self, sizes: Sizes) -> RowsSizes:
        """For all nodes and partitions."""
        system = self.run.system
        return RowsSizes(
            nodes=int(offsets_of(system, self.run.policy)[-1]),
            partitions=len(system.partitions),
            rows=int(rows_of(system).sum()),
            sockets=max(one.sockets for module in system.modules for one in module.sets),
            words=core_words(system),
            slots=1,
        )

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Nobody is in any row."""
        system, part = self.run.system, core.rows
        last = np.cumsum(rows_of(system))
        several = rows_of(system) > 1
        part.of["first"], part.of["last"] = last - rows_of(system), last
        part.of["counted"] = np.where(several, CLASSES - 1 + np.cumsum(several), 0)
        part.of["tier"] = [one.priority for one in system.partitions]
        part.by_tier[:] = np.argsort(-np.asarray(part.of["tier"]), kind="stable")
        for room in (core.cons_tres.now, core.cons_tres.later):
            room.order[:] = np.arange(len(room.order))
        return core

    def write(self, core: FullCore, jobs: Jobs, described: None) -> FullCore:
        """Have room for the cores of all."""
        slots = len(core.shared_nodes.slots)
        longer = {name: lengthened(getattr(core.rows, name), slots) for name in OF_SLOTS}
        now, later = (
            room._replace(row=lengthened(room.row, slots))
            for room in (core.cons_tres.now, core.cons_tres.later)
        )
        shared = core.cons_tres._replace(now=now, later=later)
        return core._replace(rows=core.rows._replace(**longer), cons_tres=shared)

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Have room for what one component may have instead."""
        return self.write(core, jobs, None)


def core_words(system: System) -> int:
    """Return how many words of bits the cores of a node take."""
    most = max(
        int(one.cores_per_node) // one.threads_per_core for module in system.modules for one in module.sets
    )
    return (max(most, max(one.sockets for module in system.modules for one in module.sets)) + 63) >> 6
