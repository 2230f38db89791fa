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
        first, rules = int(core.jobs["submit"].min()), core.slurm.rules
        for time in range(rules.starts_at + 1, first):
            if (time - rules.starts_at) % LOOK_S == 0:
                _see_before(core, time)
            if (time - rules.starts_at) % rules.limit_check_s == 0:
                _check_before(core, time)
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
    stands = table["stands"] == 1
    begins = stands & (table["start"] <= time)
    if (begins & (table["begun"] == 0)).any():
        memory.asked, memory.asked_at, memory.hears_at = 1, time, time
    table["begun"] |= begins
    table["over"] |= stands & (table["end"] <= time)
    if memory.last_change >= memory.last_backfill:
        cycle = max(memory.last_backfill + rules.bf_interval, memory.seen_from)
        if cycle < time + rules.backfill_first:
            memory.last_backfill = cycle
    if (begins & (table["end"] > time)).any():
        memory.last_change, memory.seen_from = time, time + rules.backfill_first


def _check_before(core: FullCore, time: int) -> None:
    """A look at what is over or without jobs, before there are any."""
    memory, rules = core.slurm.memory, core.slurm.rules
    for number in range(len(core.reservations.table)):
        one = core.reservations.table[number]
        if one.stands and one.start <= time and one.idle_since < 0:
            one.idle_since = time
        purged = one.purge >= 0 and one.idle_since >= 0 and one.end > time
        if one.stands and (
            (purged and time - one.idle_since >= one.purge) or (one.end < time and one.begun and one.over)
        ):
            one.stands = 0
            memory.last_change, memory.seen_from = time, time + rules.backfill_first
