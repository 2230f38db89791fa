"""All jobs of a simulation as columns: for one who looks at many at once."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.engine.core.state import REJECTED, RUNNING, WAITING
from scheduler_sim.engine.engine import FullCore
from scheduler_sim.schedulers.job import Job
from scheduler_sim.schedulers.view import View


class Columns:
    """What a pass knows of all n jobs, in order of submission, as it is when one looks.

    A job is its row, ``Job.number``. Before it starts, its module, nodes, limit and run time are those of its
    first placement.
    """

    def __init__(self, view: View) -> None:
        self._view = view

    @cached_property
    def able(self) -> Bools:
        """bool[n], which of them may run at all: the others are rejected when they come."""
        jobs = self._jobs
        return np.array((jobs["last"] > jobs["first"]) & (jobs["state"] != REJECTED))

    @cached_property
    def submit(self) -> Ints:
        """int64[n], s on the trace's clock."""
        return np.array(self._jobs["submit"])

    @property
    def start(self) -> Ints:
        """int64[n], s; -1 = it has not started."""
        return np.array(self._jobs["start"])

    def placed(self, name: str, rows: Any = slice(None)) -> Ints:
        """Return ``module`` (its number), ``nodes``, ``limit`` (s) or ``duration`` (s) of jobs: int64[rows].

        The duration is how long a job runs, which no scheduler knows: at most its limit.
        """
        jobs, placements = self._jobs, self._core.placements[name]
        where = np.where(jobs["start"][rows] >= 0, jobs["placed"][rows], jobs["first"][rows])
        column: Ints = placements[np.minimum(where, len(placements) - 1)]
        return column

    def job(self, row: int) -> Job:
        """Return a job, as it is in this pass."""
        return self._view._jobs[row]

    @property
    def waiting(self) -> Ints:
        """int64[waiting], rows of the jobs that wait, in the order of the policy."""
        at = self._core.queue.at
        rows = self._core.queue.waiting[at.head : at.tail]
        waiting: Ints = rows[self._core.jobs["state"][rows] == WAITING]
        return waiting

    def fit(self, rows: Ints) -> Bools:
        """Return which of these jobs could start now: bool[rows]."""
        fit = self.may_fit(rows)
        for place in np.flatnonzero(fit).tolist():
            fit[place] = self._view.fits(self.job(int(rows[place])))
        return fit

    def may_fit(self, rows: Ints) -> Bools:
        """Leave out jobs that are larger than what is idle, where all that counts is nodes: bool[rows]."""
        if self._core.rules.complex or self._core.rules.named:
            return np.ones(len(rows), dtype=np.bool_)
        free = np.array(self._core.pools["free"])
        few: Bools = self.placed("nodes", rows) <= free[self.placed("module", rows)]
        return few

    @property
    def free(self) -> list[int]:
        """Idle nodes in service of each module."""
        return list(self._view.free.values())[: int(self._core.clock.modules)]

    def planned_ends(self, module: int) -> tuple[Ints, Ints]:
        """When nodes of a module come free by planned ends, s, in order, and how many then: int64[k] each."""
        pool = self._core.pools[module]
        ends = self._core.releases[module][pool.release_head : pool.release_tail]
        return np.array(ends["time"]), np.array(ends["nodes"])

    @property
    def more_to_come(self) -> bool:
        """Whether some job runs, or is still to be submitted or released: whether there is another pass."""
        state = self._jobs["state"]
        return bool((self.able & (state <= RUNNING) & (state != WAITING)).any())

    @property
    def _core(self) -> FullCore:
        return self._view._core

    @property
    def _jobs(self) -> Any:
        return self._core.jobs[: int(self._core.clock.jobs)]
