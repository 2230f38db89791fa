"""What holds components besides dependencies and hands: begin times, singletons and limits of arrays.

Users and names, and arrays, are numbered; numbers stay what they are when more components come.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.engine.core.records import lengthened
from scheduler_sim.engine.core.state import HOLD, RUNNING
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.engine.rules.holds import LACKS_PLACE
from scheduler_sim.placement.placements import Placements
from scheduler_sim.workload.table import Workload

Numbers = dict[tuple[Any, ...], int]

_COLUMNS = ["submit_time", "begin_time", "user", "name", "array_job_id", "array_limit", "dependency_any"]


def are_asked(workload: Workload, rows: np.ndarray) -> bool:
    """Whether any of these rows asks for what stands in the table of terms."""
    begin, submit, limit, array = (
        workload.table[name].to_numpy()[rows]
        for name in ("begin_time", "submit_time", "array_limit", "array_job_id")
    )
    return bool((begin > submit).any() or ((limit > 0) & (array >= 0)).any() or len(workload.singletons()))


class Asked(NamedTuple):
    """What n components ask for, in the order of their rows.

    Attributes
    ----------
    table : the columns that say so
    alone : bool[n], the singletons
    arrays : int64[n], the number of the array of each, -1 = of none
    """

    table: pd.DataFrame
    alone: np.ndarray
    arrays: np.ndarray


class Terms:
    """Numbers users and names that have singletons, and arrays, and writes what holds components.

    Parameters
    ----------
    places : tasks need a place in an array that has a limit; to Slurm's schedulers it means something else
    """

    def __init__(self, *, places: bool = True) -> None:
        self._places = places
        self._tables: list[pd.DataFrame] = []
        self._groups: Numbers = {}
        self._arrays: Numbers = {}

    def describe(self, workload: Workload, placements: Placements) -> Asked:
        """Number what components refer to; what is new gets the next numbers."""
        table = workload.table[_COLUMNS].iloc[placements.rows]
        self._tables.append(table)
        alone = np.isin(placements.rows, workload.singletons())
        numbered(self._groups, table[alone], "user", "name")
        arrays = np.full(len(table), -1, dtype=np.int64)
        in_array = table["array_job_id"].to_numpy() >= 0
        arrays[in_array] = numbered(self._arrays, table[in_array], "array_job_id")
        return Asked(table, alone, arrays)

    def write(self, core: FullCore, first: int, asked: Asked) -> FullCore:
        """Write what holds the components in rows ``first ..``; dependencies stand there already."""
        core = core._replace(
            holds=core.holds._replace(
                array=lengthened(core.holds.array, len(self._arrays)),
                group=lengthened(core.holds.group, len(self._groups)),
            )
        )
        rows, table = slice(first, first + len(asked.table)), asked.table
        term, comp = core.holds.term[rows], core.jobs[rows]
        in_array = asked.arrays >= 0
        limits = table["array_limit"].to_numpy()[in_array]
        core.holds.array["limit"][asked.arrays[in_array]] = np.where(limits > 0, limits, -1)
        later = table["begin_time"].to_numpy() > table["submit_time"].to_numpy()
        term["begin"] = np.where(later, table["begin_time"], -1)
        term["array"] = asked.arrays
        self._line_up(core, rows)
        alone = self._alone(core, rows, asked.alone) if self._places else asked.alone
        either = alone & (comp["missing"] % HOLD > 0) & (table["dependency_any"].to_numpy() != 0)
        if has(core, "slurm"):
            core.slurm.job["satisfiable"][rows] += either
        term["singleton"] = alone
        comp["missing"] += HOLD * later + (alone & ~either)
        if self._places:
            self._need_places(core, rows, asked.arrays)
        return core

    def _alone(self, core: FullCore, rows: slice, alone: np.ndarray) -> np.ndarray:
        """bool[n]: the singletons; of those that start together the first of the line waits for them all."""
        unit = unit_of(core, rows)
        group = np.asarray(core.holds.term)["group"][rows]
        inside = np.flatnonzero((unit >= 0) & (group >= 0))
        if not len(inside):
            return alone
        alone = alone.copy()
        for _, members in pd.Series(inside).groupby([unit[inside], group[inside]]):
            alone[members], alone[members.iloc[0]] = False, alone[members].any()
        return alone

    def _need_places(self, core: FullCore, rows: slice, arrays: np.ndarray) -> None:
        """Tasks of arrays with a limit need a place there; one that starts with others needs none."""
        if not len(core.holds.array):
            return
        needs = (arrays >= 0) & (core.holds.array["limit"][arrays] > 0) & (unit_of(core, rows) < 0)
        core.holds.term["place"][rows] = needs * LACKS_PLACE
        core.jobs["missing"][rows] += HOLD * needs
        tasks = np.flatnonzero(np.asarray(core.holds.term)["place"][: rows.stop] > 0)
        _chain(core, core.holds.array, core.holds.term["array"], core.holds.term["next_task"], tasks)

    def _line_up(self, core: FullCore, rows: slice) -> None:
        """Chain those of one user and name, where there are singletons among them."""
        group = np.asarray(core.holds.term)["group"]
        group[rows] = core.holds.term["following"][rows] = -1
        if not self._groups:
            return
        group[: rows.stop] = np.concatenate([self._groups_of(table) for table in self._tables])
        members = np.flatnonzero(group[: rows.stop] >= 0)
        _chain(core, core.holds.group, group, core.holds.term["following"], members)
        runs = members[core.jobs["state"][members] == RUNNING]
        core.holds.group["running"] = np.bincount(group[runs], minlength=len(core.holds.group))

    def _groups_of(self, table: pd.DataFrame) -> np.ndarray:
        """int64[n]: number of the group of each component, -1 = none."""
        users, names = table["user"].cat, table["name"].cat
        known = pd.DataFrame(list(self._groups), columns=["user", "name"], dtype=object)
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


def _chain(core: FullCore, lines: Any, line: np.ndarray, following: np.ndarray, members: np.ndarray) -> None:
    """Chain the members of each line in order of submission, from its head on."""
    if not len(members):
        return
    members = members[np.lexsort((members, core.jobs["submit"][members], line[members]))]
    mine = line[members]
    starts = np.flatnonzero(np.diff(mine, prepend=-1))
    following[members] = np.append(members[1:], -1)
    following[members[np.append(starts[1:], len(members)) - 1]] = -1
    lines["head"][mine[starts]] = lines["first"][mine[starts]] = members[starts]


def unit_of(core: FullCore, rows: slice) -> np.ndarray:
    """int64[n]: the unit of each, -1 = none."""
    if not has(core, "coscheduling"):
        return np.full(rows.stop - rows.start, -1, dtype=np.int64)
    return np.asarray(core.coscheduling.member)["unit"][rows]


def numbered(known: Numbers, table: pd.DataFrame, *columns: str) -> np.ndarray:
    """int64[n]: the number of each combination of values, in order of appearance; ``known`` grows."""
    if not len(table):
        return np.empty(0, dtype=np.int64)
    codes, found = pd.factorize(pd.MultiIndex.from_frame(table[list(columns)]))
    numbers = [known.setdefault(tuple(values), len(known)) for values in found.tolist()]
    return np.array(numbers, dtype=np.int64)[codes]
