"""The numbers of advance reservations, and which component names which."""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.slurm.advance_reservations import FIRST_OF_ALL
from scheduler_sim.engine.rules.slurm.reservations.looks import LOOK_S
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.rules.slurm.masks import Masks, bits


class Reservations(Numbers):
    """Writes the table, and the numbers of those that components name."""

    part = "reservations"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._all = run.system.reservations
        self.needed = bool(self._all)
        self._names = {one.name: number for number, one in enumerate(self._all)}

    def describe(self, jobs: Jobs) -> np.ndarray:
        """int64[n]: the number of the reservation that each names, -1 = none."""
        names = jobs.table("reservation")["reservation"].astype(str)
        return names.map(lambda name: self._names.get(name, -1)).to_numpy(dtype=np.int64)

    def room(self, sizes: Sizes) -> tuple[int, int, int]:
        """One row for each component and reservation."""
        return sizes.rows, len(self._all), int(Masks(self.run.system).low[-1])

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write the reservations."""
        size = core.reservations.nodes.shape[1]
        for number, one in enumerate(self._all):
            it = core.reservations.table[number]
            it.start, it.end = one.start, one.end
            flags = set(one.flags)
            it.everything = not one.nodes and "ANY_NODES" not in flags
            it.maint, it.overlap, it.flex = ("MAINT" in flags), ("OVERLAP" in flags), ("FLEX" in flags)
            it.any_nodes = "ANY_NODES" in flags
            it.purge = one.purge_comp_s if "PURGE_COMP" in flags else -1
            nodes = (
                one.nodes if one.nodes else range(self.run.system.modules[0].nodes) if it.everything else ()
            )
            core.reservations.nodes[number] = bits([range(n, n + 1) for n in nodes], 0, size)
        for time in range(core.slurm.rules.starts_at + LOOK_S, int(core.jobs["submit"].min()), LOOK_S):
            _see_before(core, time)
        return core

    def write(self, core: FullCore, jobs: Jobs, described: np.ndarray) -> FullCore:
        """Write what components name: they come before all others."""
        core.reservations.of[jobs.rows] = described
        core.ranks["tier"][jobs.rows] += FIRST_OF_ALL * (described >= 0)
        for row in np.flatnonzero(described >= 0) + jobs.first:
            comp = core.jobs[int(row)]
            core.slurm.way["tier"][comp.first : comp.last] += FIRST_OF_ALL
        return core


def _see_before(core: FullCore, time: int) -> None:
    """A look before the first submission: passes over the empty queue keep their place in time."""
    memory, rules, table = core.slurm.memory, core.slurm.rules, core.reservations.table
    if (table["start"] <= time).any() and not table["begun"][table["start"] <= time].all():
        memory.asked, memory.asked_at, memory.hears_at = 1, time, time
    table["begun"] |= table["start"] <= time
    table["over"] |= table["end"] <= time
    if memory.last_change >= memory.last_backfill:
        cycle = max(memory.last_backfill + rules.bf_interval, memory.seen_from)
        if cycle < time + rules.backfill_first:
            memory.last_backfill = cycle
    if ((table["start"] <= time) & (table["end"] > time)).any():
        memory.last_change, memory.seen_from = time, time + rules.backfill_first
