"""What holds components besides dependencies and hands: begin times, singletons and limits of arrays.

Users and names, and arrays, are numbered; numbers stay what they are when more components come.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.engine.core.records import lengthened
from scheduler_sim.engine.core.state import HOLD, RUNNING
from scheduler_sim.engine.engine import FullCore, Sizes, has
from scheduler_sim.engine.rules.holds import LACKS_PLACE
from scheduler_sim.simulation.rules.numbers import Jobs, Numbering, Numbers, Run, numbered
from scheduler_sim.texts import combined


class Holds(Numbers):
    """Numbers users and names that have singletons, and arrays, and writes what holds components.

    To Slurm's schedulers the limit of an array means something else: there tasks need no places in it.
    """

    part = "holds"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = slurm = run.policy.backfill == "slurm"
        self._places = not slurm
        self._trace: list[Jobs] = []
        self._later: list[tuple[str, str]] = []
        self._groups: Numbering = {}
        self._arrays: Numbering = {}

    def describe(self, jobs: Jobs) -> tuple[np.ndarray, np.ndarray] | None:
        """Return bool[n], the singletons, and int64[n], the number of the array of each, -1 = of none.

        None as long as no component asks for anything.
        """
        if jobs.edges is None:
            self._trace = [Jobs(jobs.workload, jobs.placements)]  # for whose they are alone
        else:
            self._later += zip(
                *(np.asarray(jobs.workload.columns[name]) for name in ("user", "name")), strict=True
            )
        alone = np.isin(jobs.placements.rows, jobs.workload.singletons())
        later = jobs.column("begin_time") > jobs.column("submit_time")
        in_array = jobs.column("array_job_id") >= 0
        limited = in_array & (jobs.column("array_limit") > 0)
        self.needed |= bool((alone | later | limited).any())
        if not self.needed:
            return None
        numbered(self._groups, jobs.text("user")[alone], jobs.text("name")[alone])
        arrays = np.full(len(alone), -1, dtype=np.int64)
        arrays[in_array] = numbered(self._arrays, jobs.column("array_job_id")[in_array])
        return alone, arrays

    def room(self, sizes: Sizes) -> int:
        """As many terms as components; groups and arrays are added as they come."""
        return sizes.rows

    def write(self, core: FullCore, jobs: Jobs, described: tuple[np.ndarray, np.ndarray]) -> FullCore:
        """Write what holds components; dependencies stand there already."""
        core = core._replace(
            holds=core.holds._replace(
                array=lengthened(core.holds.array, len(self._arrays)),
                group=lengthened(core.holds.group, len(self._groups)),
            )
        )
        rows, (alone, arrays) = jobs.rows, described
        term, comp = core.holds.term[rows], core.jobs[rows]
        in_array = arrays >= 0
        limits = jobs.column("array_limit")[in_array]
        core.holds.array["limit"][arrays[in_array]] = np.where(limits > 0, limits, -1)
        begin = jobs.column("begin_time")
        later = begin > jobs.column("submit_time")
        term["begin"] = np.where(later, begin, -1)
        term["array"] = arrays
        self._line_up(core, rows)
        alone = self._alone(core, rows, alone) if self._places else alone
        either = alone & (comp["missing"] % HOLD > 0) & (jobs.column("dependency_any") != 0)
        if has(core, "slurm"):
            core.slurm.job["satisfiable"][rows] += either
        term["singleton"] = alone
        comp["missing"] += HOLD * later + (alone & ~either)
        if self._places:
            self._need_places(core, rows, arrays)
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

    def _groups_of(self, jobs: Jobs) -> np.ndarray:
        """int64[n]: the number of each one's user and name, -1 where no singleton has them."""
        codes, pairs = combined(jobs.text("user"), jobs.text("name"))
        number = np.array([self._groups.get(pair, -1) for pair in pairs], dtype=np.int64)
        numbers: np.ndarray = number[codes]
        return numbers

    def _line_up(self, core: FullCore, rows: slice) -> None:
        """Chain those of one user and name, where there are singletons among them."""
        group = np.asarray(core.holds.term)["group"]
        group[rows] = core.holds.term["following"][rows] = -1
        if not self._groups:
            return
        later = np.array([self._groups.get(pair, -1) for pair in self._later], dtype=np.int64)
        group[: rows.stop] = np.concatenate([*map(self._groups_of, self._trace), later])
        members = np.flatnonzero(group[: rows.stop] >= 0)
        _chain(core, core.holds.group, group, core.holds.term["following"], members)
        runs = members[core.jobs["state"][members] == RUNNING]
        core.holds.group["running"] = np.bincount(group[runs], minlength=len(core.holds.group))


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
