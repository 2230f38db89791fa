"""How much longer components take whose nodes lie apart, by their types of application."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.applications.conversion import NO_TYPE
from scheduler_sim.applications.spread import GROUPS, HOPS, LEAVES
from scheduler_sim.arrays import Ints
from scheduler_sim.engine.core.state import TIMEOUT
from scheduler_sim.engine.engine import FullCore, Sizes, has
from scheduler_sim.engine.rules.shared_nodes.spread import (
    BY_GROUPS,
    BY_HOPS,
    BY_LEAVES,
    NO_LAW,
    SpreadSizes,
)
from scheduler_sim.errors import ConfigError
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.rules.shared_nodes import offsets_of, shares_under_slurm
from scheduler_sim.simulation.spread import reached_by_level
from scheduler_sim.system.topology import DRAGONFLY, leaf_of_nodes
from scheduler_sim.workload.fields import TOGETHER

PAST_LIMIT = "spread_past_limit"
"""What counts components that would have ended within their limit, had they been on one leaf."""

MEASURES = {LEAVES: BY_LEAVES, GROUPS: BY_GROUPS, HOPS: BY_HOPS}
OF_PERCENT = 10_000
"""Millionths."""


class Spread(Numbers):
    """Writes the laws of components, and under which switches nodes are."""

    part = "spread"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        laws = [(i, one) for i, one in enumerate(run.spreads) if one is not None]
        self.needed = bool(laws)
        self._reached = np.zeros((1, 0), dtype=np.int64)
        if not laws:
            return
        found = f"models: applications.types[{laws[0][0]}].spread: found"
        if run.system.topology is None:
            raise ConfigError(
                f"{found} for system {run.system.name}, which has no topology; allowed: a system with one"
            )
        if run.policy.backfill == "slurm":
            _refuse_components(run, found)
        for i, _ in laws:
            if run.checkpoints[i] is not None:
                raise ConfigError(
                    f"models: applications.types[{i}]: found spread beside checkpoint; allowed: one of them"
                )
        self._reached = self._reached_of_nodes()

    def _reached_of_nodes(self) -> Ints:
        """int64[levels, nodes that are told apart]: the switches that are reached from each."""
        system = self.run.system
        offset = self._first_nodes()
        leaf = np.full(int(offset[-1]), -1, dtype=np.int64)
        for i, module in enumerate(system.modules):
            if offset[i] < offset[i + 1]:
                here = slice(offset[i], offset[i] + module.nodes)
                leaf[here] = leaf_of_nodes(system.switches, i, module.nodes)
        return np.stack(list(reached_by_level(system, leaf)))

    def _first_nodes(self) -> Ints:
        """int64[m + 1]: number of the first node of each module; whole nodes of Slurm have places in sets."""
        run = self.run
        if run.policy.backfill == "slurm" and not shares_under_slurm(run.system, run.policy):
            from scheduler_sim.simulation.rules.slurm.masks import WORD, Masks

            return WORD * Masks(run.system).low
        return offsets_of(run.system, run.policy)

    def room(self, sizes: Sizes) -> SpreadSizes:
        """For all placements, nodes and switches."""
        levels, nodes = self._reached.shape
        switches = int(self._reached.max(initial=0)) + 1
        return SpreadSizes(sizes.placements, levels, switches, nodes)

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write under which switches nodes are."""
        topology = self.run.system.topology
        core.spread.at.in_groups = topology is not None and topology.type == DRAGONFLY
        core.spread.reached[:] = self._reached
        return core

    def write(self, core: FullCore, jobs: Jobs, described: Any) -> FullCore:
        """Write the laws of components, and how long they take on one leaf."""
        kind = jobs.placements.type_number[jobs.placements.owner]
        laws = [(NO_LAW, 0) if one is None else _law(one.by, one.percent) for one in self.run.spreads]
        by, millionths = np.array([*laws, (NO_LAW, 0)], dtype=np.int64)[kind].T  # the last is of NO_TYPE
        assert NO_TYPE == -1
        law = core.spread.law
        law["by"][jobs.where], law["millionths"][jobs.where] = by, millionths
        law["run"][jobs.where] = jobs.placements.run
        return core

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Other placements of one component have its law, too."""
        return self.write(core, jobs, None)


def _refuse_components(run: Run, found: str) -> None:
    """Under Slurm all components of a heterogeneous job take as long as the first."""
    run.refuse(
        TOGETHER,
        f"{found} under policy slurm where components of heterogeneous jobs start together; allowed: one of"
        " the two",
    )


def _law(by: str, percent: float) -> tuple[int, int]:
    return MEASURES[by], round(percent * OF_PERCENT)


def past_limit(core: FullCore) -> int:
    """Count those that were killed by their limits, but would not have been on one leaf."""
    if not has(core, "spread"):
        return 0
    jobs = core.jobs[: core.clock.jobs]
    placed = np.where(jobs["placed"] >= 0, jobs["placed"], 0)
    law, limit = core.spread.law[placed], core.placements["limit"][placed] + core.rules.overrun
    killed = (jobs["state"] == TIMEOUT) & (jobs["placed"] >= 0) & (law["by"] != NO_LAW)
    return int(np.count_nonzero(killed & (law["run"] <= limit)))


def spread_warnings(counts: Any) -> list[str]:
    """Return what a reader should know first of what it costs that nodes lie apart."""
    if not (past := int(counts.get(PAST_LIMIT, 0))):
        return []
    words = "component takes" if past == 1 else "components take"
    return [f"{past:,} {words} longer than the time limit because their nodes are far apart (TIMEOUT)"]
