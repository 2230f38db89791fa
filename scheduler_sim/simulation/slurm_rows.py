"""Components in the tables of Slurm's schedulers: those of a trace, and those that come later.

What rows refer to by number, such as users, keeps its number when more components come.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.engine import state as slot
from scheduler_sim.engine.dependencies import HOLD
from scheduler_sim.engine.slurm import fair_share, priority
from scheduler_sim.engine.slurm import slots as at
from scheduler_sim.engine.state import Core
from scheduler_sim.placement.table import Placements
from scheduler_sim.policy.shares import Associations, associations
from scheduler_sim.policy.slurm_keys import SlurmKeys
from scheduler_sim.simulation.slurm_factors import write_factors
from scheduler_sim.simulation.slurm_masks import Masks
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

MINUTE = 60
KEPT = ("usage", "effective", "factor")
"""What associations have come to: they keep it when others join them."""

Numbers = dict[tuple[Any, ...], int]


class Described(NamedTuple):
    """n components, in the order of their rows, by the numbers of what they refer to.

    Attributes
    ----------
    table : their columns
    placements : their ways
    users, arrays, charged : int64[n]; -1 = of no array; the association
    alone : bool[n], the singletons
    nodes : int64[p, 3], the mask of each placement, its first choice and the one after its last
    """

    table: pd.DataFrame
    placements: Placements
    users: np.ndarray
    arrays: np.ndarray
    charged: np.ndarray
    alone: np.ndarray
    nodes: np.ndarray


class SlurmRows:
    """Numbers what components refer to, and writes them into the core.

    Attributes
    ----------
    users, arrays, groups : the numbers given; groups are users and names with singletons among them
    masks : sets of nodes
    tree : the associations, None where shares do not count
    """

    def __init__(self, system: System, keys: SlurmKeys) -> None:
        self._system, self._keys = system, keys
        self._tables: list[pd.DataFrame] = []
        self._charged: Numbers = {}
        self.users: Numbers = {}
        self.arrays: Numbers = {}
        self.groups: Numbers = {}
        self.masks = Masks(system)
        self.tree: Associations | None = None

    def describe(self, workload: Workload, placements: Placements) -> Described:
        """Number what components refer to; what is new gets the next numbers."""
        table = workload.table.iloc[placements.rows]
        self._tables.append(table)
        alone = np.isin(placements.rows, workload.singletons())
        _numbered(self.groups, table[alone], "user", "name")
        arrays = np.full(len(table), -1, dtype=np.int64)
        in_array = table["array_job_id"].to_numpy() >= 0
        arrays[in_array] = _numbered(self.arrays, table[in_array], "array_job_id")
        charged = np.zeros(len(table), dtype=np.int64)
        if by_share(self._keys):
            pairs = _numbered(self._charged, table, "user", "account")
            users, accounts = zip(*self._charged, strict=True) if self._charged else ((), ())
            self.tree = associations(self._keys.accounts, users, accounts)
            charged = self.tree.row[pairs]
        numbers, nodes = _numbered(self.users, table, "user"), self.masks.number(placements)
        return Described(table, placements, numbers, arrays, charged, alone, nodes)

    def write(self, core: Core, first: int, new: Described, where: Any) -> Core:
        """Write components into rows ``first ..``, their ways into rows ``where``, with room for both."""
        core = self._with_numbers(core)
        self._write_jobs(core, slice(first, first + len(new.table)), new)
        self._write_ways(core, new.placements, new.nodes, where)
        if not core.slurm[at.BASIC]:
            shared = self._association_factors(new.charged)
            write_factors(core, first, new.table, self._system, new.placements, self._keys, shared, where)
        return core

    def _with_numbers(self, core: Core) -> Core:
        """A core with a record for each user, array, group, set of nodes and association."""
        core = self.masks.write(core)._replace(
            counter=_lengthened(core.counter, len(self.users)),
            array=_lengthened(core.array, len(self.arrays)),
            group=_lengthened(core.group, len(self.groups)),
        )
        if self.tree is None or 0 < len(core.assoc) == len(self.tree.parent):
            return core
        assoc, order = fair_share.association_table(self.tree.parent, self.tree.user, self.tree.shares)
        for name in KEPT:
            assoc[name][: len(core.assoc)] = core.assoc[name]
        return core._replace(assoc=assoc, order=order)

    def _write_jobs(self, core: Core, rows: slice, new: Described) -> None:
        job, comp, table = core.job[rows], core.comp[rows], new.table
        job["piece"] = -1
        job["user"], job["array"], job["association"] = new.users, new.arrays, new.charged
        job["nice"] = table["nice"]
        in_array = new.arrays >= 0
        limits = table["array_limit"].to_numpy()[in_array]
        core.array["limit"][new.arrays[in_array]] = np.where(limits > 0, limits, -1)
        waits = table["begin_time"].to_numpy() > table["submit_time"].to_numpy()
        job["begin"] = np.where(waits, table["begin_time"], -1)
        job["singleton"] = new.alone
        comp["held"] = table["hold"].to_numpy() != 0
        depends = comp["missing"] % HOLD > 0
        either = new.alone & depends & (table["dependency_any"].to_numpy() != 0)
        job["hopes"] += either
        comp["missing"] += HOLD * (waits + comp["held"]) + (new.alone & ~either)
        self._chain(core, rows)

    def _write_ways(self, core: Core, placements: Placements, nodes: np.ndarray, where: Any) -> None:
        tiers = np.array([partition.priority for partition in self._system.partitions], dtype=np.int64)
        core.way["partition"][where] = placements.partition
        for name, column in zip(("mask", "first", "last"), nodes.T, strict=True):
            core.way[name][where] = column
        core.way["choice"][where] = nodes[:, 1]
        core.way["run"][where] = placements.run
        core.way["tier"][where] = tiers[placements.partition]
        core.place["limit"][where] = core.place["test"][where] = -(-placements.limit // MINUTE) * MINUTE

    def _association_factors(self, charged: np.ndarray) -> np.ndarray:
        if self.tree is None:
            return np.zeros(len(charged))
        top = 1 if "NO_NORMAL_ASSOC" in self._keys.PriorityFlags else int(self.tree.priority.max())
        return priority.normalised(self.tree.priority[charged], top)

    def _chain(self, core: Core, rows: slice) -> None:
        """Chain those of one user and name, in order of submission, where there are singletons among them."""
        group = np.asarray(core.job)["group"]
        group[rows] = core.job["following"][rows] = -1
        if not self.groups:
            return
        group[: rows.stop] = np.concatenate([self._groups_of(table) for table in self._tables])
        members = np.flatnonzero(group[: rows.stop] >= 0)
        members = members[np.lexsort((members, core.comp["submit"][members], group[members]))]
        mine = group[members]
        starts = np.flatnonzero(np.diff(mine, prepend=-1))
        core.job["following"][members] = np.append(members[1:], -1)
        core.job["following"][members[np.append(starts[1:], len(members)) - 1]] = -1
        core.group["head"][mine[starts]] = core.group["first"][mine[starts]] = members[starts]
        runs = core.comp["state"][members] == slot.RUNNING
        core.group["running"] = np.bincount(mine[runs], minlength=len(core.group))

    def _groups_of(self, table: pd.DataFrame) -> np.ndarray:
        """int64[n]: number of the group of each component, -1 = none."""
        users, names = table["user"].cat, table["name"].cat
        known = pd.DataFrame(list(self.groups), columns=["user", "name"], dtype=object)
        user = users.categories.get_indexer(pd.Index(known["user"]))
        name = names.categories.get_indexer(pd.Index(known["name"]))
        width = len(names.categories)
        there = np.flatnonzero((user >= 0) & (name >= 0))
        there = there[np.argsort(user[there] * width + name[there])]
        if not len(there):
            return np.full(len(table), -1, dtype=np.int64)
        wanted = user[there] * width + name[there]
        pairs = np.asarray(users.codes, dtype=np.int64) * width + np.asarray(names.codes)
        place = np.minimum(np.searchsorted(wanted, pairs), len(wanted) - 1)
        return np.where(wanted[place] == pairs, there[place], -1)


def by_share(keys: SlurmKeys) -> bool:
    """Whether priorities depend on shares or associations."""
    return keys.PriorityType == "priority/multifactor" and (
        keys.PriorityWeightFairshare > 0 or keys.PriorityWeightAssoc > 0
    )


def _numbered(known: Numbers, table: pd.DataFrame, *columns: str) -> np.ndarray:
    """int64[n]: the number of each combination of values, in order of appearance; ``known`` grows."""
    if not len(table):
        return np.empty(0, dtype=np.int64)
    codes, found = pd.factorize(pd.MultiIndex.from_frame(table[list(columns)]))
    numbers = [known.setdefault(tuple(values), len(known)) for values in found.tolist()]
    return np.array(numbers, dtype=np.int64)[codes]


def _lengthened(table: Any, length: int) -> Any:
    """A table with at least so many records, and room for as many again if it had to grow."""
    if length <= len(table):
        return table
    more = np.zeros((2 * length - len(table), *table.shape[1:]), dtype=table.dtype)
    return np.concatenate((table, more)).view(np.recarray)
