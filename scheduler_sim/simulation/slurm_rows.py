"""Components in the tables of Slurm's schedulers: those of a trace, and those that come later.

What rows refer to by number, such as users, keeps its number when more components come.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.engine.core.records import lengthened
from scheduler_sim.engine.engine import FullCore
from scheduler_sim.engine.rules.slurm.priority import fair_share, priority
from scheduler_sim.placement.placements import Placements
from scheduler_sim.policy.shares import Associations, associations
from scheduler_sim.policy.slurm_keys import SlurmKeys
from scheduler_sim.simulation.slurm_factors import write_factors
from scheduler_sim.simulation.slurm_masks import Masks
from scheduler_sim.simulation.terms import Asked, Numbers, Terms, numbered
from scheduler_sim.system.system import System
from scheduler_sim.units import MINUTE
from scheduler_sim.workload.table import Workload

KEPT = ("usage", "effective", "factor")
"""What associations have come to: they keep it when others join them."""


class Described(NamedTuple):
    """n components, in the order of their rows, by the numbers of what they refer to.

    Attributes
    ----------
    table : their columns
    placements : their ways
    users, charged : int64[n], the user, and the association
    asked : what holds them besides dependencies
    nodes : int64[p, 3], the mask of each placement, its first choice and the one after its last
    """

    table: pd.DataFrame
    placements: Placements
    users: np.ndarray
    charged: np.ndarray
    asked: Asked
    nodes: np.ndarray


class SlurmRows:
    """Numbers what components refer to, and writes them into the core.

    Attributes
    ----------
    users : the numbers given
    masks : sets of nodes
    tree : the associations, None where shares do not count
    """

    def __init__(self, system: System, keys: SlurmKeys) -> None:
        self._system, self._keys = system, keys
        self._terms = Terms(places=False)
        self._charged: Numbers = {}
        self.users: Numbers = {}
        self.masks = Masks(system)
        self.tree: Associations | None = None

    def describe(self, workload: Workload, placements: Placements) -> Described:
        """Number what components refer to; what is new gets the next numbers."""
        table = workload.table.iloc[placements.rows]
        asked = self._terms.describe(workload, placements)
        charged = np.zeros(len(table), dtype=np.int64)
        if by_share(self._keys):
            pairs = numbered(self._charged, table, "user", "account")
            users, accounts = zip(*self._charged, strict=True) if self._charged else ((), ())
            self.tree = associations(self._keys.accounts, users, accounts)
            charged = self.tree.row[pairs]
        numbers, nodes = numbered(self.users, table, "user"), self.masks.number(placements)
        return Described(table, placements, numbers, charged, asked, nodes)

    def write(self, core: FullCore, first: int, new: Described, where: Any) -> FullCore:
        """Write components into rows ``first ..``, their ways into rows ``where``, with room for both."""
        core = self._with_numbers(core)
        self._write_jobs(core, slice(first, first + len(new.table)), new)
        core = self._terms.write(core, first, new.asked)
        self._write_ways(core, new.placements, new.nodes, where)
        if not core.slurm.rules.basic:
            shared = self._association_factors(new.charged)
            write_factors(core, first, new.table, self._system, new.placements, self._keys, shared, where)
        return core

    def place_anew(
        self, core: FullCore, row: int, table: pd.DataFrame, placements: Placements, where: slice
    ) -> FullCore:
        """Write the new ways of one component into rows ``where``; their keys are that of its old one."""
        comp, nodes = core.jobs[row], self.masks.number(placements)
        key = core.slurm.way[comp.first].key if comp.last > comp.first else comp.key
        core = self.masks.write(core)
        self._write_ways(core, placements, nodes, where)
        core.slurm.way["key"][where] = key
        if not core.slurm.rules.basic:
            shared = self._association_factors(core.slurm.job["association"][row : row + 1])
            write_factors(core, row, table, self._system, placements, self._keys, shared, where)
        return core

    def _with_numbers(self, core: FullCore) -> FullCore:
        """A core with a record for each user, set of nodes and association."""
        core = self.masks.write(core)
        counter = lengthened(core.slurm.counter, len(self.users))
        core = core._replace(slurm=core.slurm._replace(counter=counter))
        if self.tree is None or 0 < len(core.slurm.accounts.assoc) == len(self.tree.parent):
            return core
        assoc, order = fair_share.association_table(self.tree.parent, self.tree.user, self.tree.shares)
        for name in KEPT:
            assoc[name][: len(core.slurm.accounts.assoc)] = core.slurm.accounts.assoc[name]
        accounts = core.slurm.accounts._replace(assoc=assoc, order=order)
        return core._replace(slurm=core.slurm._replace(accounts=accounts))

    def _write_jobs(self, core: FullCore, rows: slice, new: Described) -> None:
        job = core.slurm.job[rows]
        job["piece"] = -1
        job["user"], job["association"] = new.users, new.charged
        job["nice"] = new.table["nice"]

    def _write_ways(self, core: FullCore, placements: Placements, nodes: np.ndarray, where: Any) -> None:
        tiers = np.array([partition.priority for partition in self._system.partitions], dtype=np.int64)
        core.slurm.way["partition"][where] = placements.partition
        for name, column in zip(("mask", "first", "last"), nodes.T, strict=True):
            core.slurm.way[name][where] = column
        core.slurm.way["choice"][where] = nodes[:, 1]
        core.slurm.way["run"][where] = placements.run
        core.slurm.way["tier"][where] = tiers[placements.partition]
        core.placements["limit"][where] = core.placements["test"][where] = (
            -(-placements.limit // MINUTE) * MINUTE
        )

    def _association_factors(self, charged: np.ndarray) -> np.ndarray:
        if self.tree is None:
            return np.zeros(len(charged))
        top = 1 if "NO_NORMAL_ASSOC" in self._keys.PriorityFlags else int(self.tree.priority.max())
        return priority.normalised(self.tree.priority[charged], top)


def by_share(keys: SlurmKeys) -> bool:
    """Whether priorities depend on shares or associations."""
    return keys.PriorityType == "priority/multifactor" and (
        keys.PriorityWeightFairshare > 0 or keys.PriorityWeightAssoc > 0
    )
