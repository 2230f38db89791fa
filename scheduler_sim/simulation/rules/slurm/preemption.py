"""Which jobs may be preempted for which under Slurm: groups are partitions, or QOS."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.slurm.advance_reservations import FIRST_OF_ALL
from scheduler_sim.engine.rules.slurm.preemption.state import (
    CANCEL,
    OFF,
    REQUEUE,
    SUSPEND,
    PreemptionSizes,
)
from scheduler_sim.errors import ConfigError
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.rules.shared_nodes import shares_under_slurm
from scheduler_sim.simulation.rules.slurm.masks import Masks
from scheduler_sim.simulation.rules.slurm.qos import Owners
from scheduler_sim.system.shared_cores import shares_cores
from scheduler_sim.workload.fields import TOGETHER

HIGHEST_RANK = 0xFFFF
ABOVE_ALL_RESERVED = FIRST_OF_ALL << 1
"""For each level: whoever may preempt others goes before those in reservations, too."""

OF_QOS = {"OFF": OFF, "REQUEUE": REQUEUE, "CANCEL": CANCEL}
MODES = OF_QOS | {"SUSPEND": SUSPEND, "SUSPEND,GANG": SUSPEND}


class Preemption(Numbers):
    """Writes who preempts whom: by the tiers of partitions, or by the lists of QOS."""

    part = "preemption"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._keys = run.policy.slurm
        self.needed = self._keys.preempts and run.policy.backfill == "slurm"
        if self.needed:
            self._refuse_what_is_not_there()
        self._by_qos = self._keys.PreemptType == "preempt/qos"
        self._owners = Owners(self._keys)
        self._names = list(self._keys.qos)

    def _refuse_what_is_not_there(self) -> None:
        """Preemption is on whole nodes, by the rules of 22.05, and of single components."""
        mode = f"policy.slurm.PreemptMode: found {self._keys.PreemptMode}"
        shared = shares_under_slurm(self.run.system, self.run.policy) and shares_cores(self.run.system)
        if shared and not self._keys.suspends:
            raise ConfigError(
                f"{mode} where several jobs have a core at once (OverSubscribe of a partition);"
                " allowed here: OFF, SUSPEND,GANG, and GANG with PreemptType preempt/none"
            )
        self.run.refuse(TOGETHER, f"{mode} where components start together; allowed here: OFF")
        for partition in self.run.system.partitions:
            if partition.slurm.get("PreemptMode") == "SUSPEND" and not self._keys.suspends:
                raise ConfigError(
                    f"partitions.{partition.name}.slurm.PreemptMode: found SUSPEND beside PreemptMode"
                    f" {self._keys.PreemptMode}; allowed here: {', '.join(OF_QOS)}"
                )
        for name, one in self._keys.qos.items():
            if one.PreemptMode not in ("cluster", *OF_QOS):
                raise ConfigError(
                    f"policy.slurm.qos.{name}.PreemptMode: found {one.PreemptMode};"
                    f" allowed here: cluster, {', '.join(OF_QOS)}"
                )
        for key, found, needed in self._keys.older_rules():
            raise ConfigError(f"policy.slurm.{key}: found {found} beside preemption; allowed: {needed}")

    def describe(self, jobs: Jobs) -> Ints | None:
        """int64[p]: the group of each placement; the last is of all QOS that are not listed."""
        if not self.needed:
            return None
        if not self._by_qos:
            return jobs.placements.partition
        numbers = {name: number for number, name in enumerate(self._names)}
        own = [numbers.get(name, len(numbers)) for name in self._owners.of(jobs).qos]
        return np.array(own, dtype=np.int64)[jobs.placements.owner]

    def room(self, sizes: Sizes) -> PreemptionSizes:
        """A group for each partition, or each QOS and those that are not listed."""
        groups = len(self._names) + 1 if self._by_qos else len(self.run.system.partitions)
        return PreemptionSizes(sizes.rows, sizes.placements, groups, int(Masks(self.run.system).low[-1]))

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write the rules and the groups."""
        keys, rules, group = self._keys, core.preemption.rules, core.preemption.group
        rules.youngest_first = int(keys.preempt_youngest_first)
        rules.strict_order = int(keys.preempt_strict_order)
        rules.reorder_count = keys.preempt_reorder_count
        rules.pause = keys.KillWait + keys.MessageTimeout
        group["mode"], group["exempt"] = MODES[keys.PreemptMode], keys.PreemptExemptTime
        if self._by_qos:
            for number, one in enumerate(keys.qos.values()):
                group["rank"][number] = min(one.priority, HIGHEST_RANK)
                group["mode"][number] = MODES[own_mode(one.PreemptMode) or keys.PreemptMode]
                group["grace"][number] = one.GraceTime
                if one.PreemptExemptTime is not None:
                    group["exempt"][number] = one.PreemptExemptTime
        else:
            for number, partition in enumerate(self.run.system.partitions):
                group["rank"][number] = partition.priority
                group["mode"][number] = MODES[partition.slurm.get("PreemptMode") or keys.PreemptMode]
                group["grace"][number] = partition.slurm.get("GraceTime", 0)
        core.preemption.may[:] = self._may.ravel()
        return core

    @property
    def _may(self) -> np.ndarray:
        """bool[groups, groups]: whether the first may preempt the second."""
        if not self._by_qos:
            tiers = np.array([partition.priority for partition in self.run.system.partitions], dtype=np.int64)
            higher: np.ndarray = tiers[:, None] > tiers[None, :]
            return higher
        lists = [one.Preempt for one in self._keys.qos.values()]
        return np.array([[name in said for name in (*self._names, "")] for said in (*lists, ())], dtype=bool)

    @property
    def _meet(self) -> np.ndarray:
        """bool[partitions, partitions]: whether two have a node in common."""
        system = self.run.system
        nodes = [
            {(one.module, node) for _, numbers in system.sets_of(one.name) for node in numbers}
            for one in system.partitions
        ]
        return np.array([[not a.isdisjoint(b) for b in nodes] for a in nodes], dtype=bool)

    def write(self, core: FullCore, jobs: Jobs, described: Ints) -> FullCore:
        """Write the group of each placement."""
        core.preemption.of[jobs.where] = described
        self._put_first(core, jobs, described)
        core.preemption.job["tried_at"][jobs.rows] = -INF
        core.preemption.job["grace_end"][jobs.rows] = INF
        said = jobs.column("requeue")
        core.preemption.job["requeue"][jobs.rows] = np.where(said < 0, int(self._keys.JobRequeue), said)
        return core

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """The new ways of a component may be in other partitions."""
        described = self.describe(jobs)
        assert described is not None
        core.preemption.of[jobs.where] = described
        self._put_first(core, jobs, described)
        return core

    def _put_first(self, core: FullCore, jobs: Jobs, group: Ints | None) -> None:
        """Jobs that may preempt others come before them in the queue; by tiers they do already.

        But jobs in reservations would come first.
        """
        if group is None or not (self._by_qos or self.run.system.reservations):
            return
        may = self._may if self._by_qos else self._may & self._meet
        level = levels(may)[group] * ABOVE_ALL_RESERVED
        core.slurm.way["tier"][jobs.where] += level
        first, last = jobs.placements.first[:-1], jobs.placements.first[1:]
        core.ranks["tier"][jobs.rows] += np.where(last > first, np.append(level, 0)[first], 0)


def own_mode(said: str) -> str:
    """The PreemptMode of a QOS; OFF is as the cluster's, as Slurm takes it."""
    return "" if said in ("cluster", "OFF") else said


def levels(may: np.ndarray) -> Ints:
    """int64[g]: how many groups there are below each, one that it may preempt below the other."""
    found = np.zeros(len(may), dtype=np.int64)
    for _ in range(len(may)):  # in a circle it would never end
        below = np.where(may, found + 1, 0).max(axis=1, initial=0)
        if (below == found).all():
            break
        found = below
    return found
