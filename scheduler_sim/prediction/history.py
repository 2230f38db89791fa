"""What jobs took before the instant: run times, limits, waits, and what was submitted when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.errors import InputError
from scheduler_sim.prediction.state import limits
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

FEWEST = 2
"""Of fewer jobs nothing can be learnt."""


@dataclass(frozen=True)
class History:
    """Jobs that have ended, a row each, in the order of submission.

    Attributes
    ----------
    jobs : what they asked for
    submit : int64[rows], s on the clock of the state
    run, limit : int64[rows], s; a run time is at most its limit; a limit of -1 = none
    wait : int64[rows], from submission to start, s; -1 = not recorded
    end : int64[rows], s on the clock of the state; of one whose wait is not recorded, as if it had not waited
    left_out : how many jobs are not there, by the partition they asked for, which the system does not have
    """

    jobs: Workload
    submit: Ints
    run: Ints
    limit: Ints
    wait: Ints
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def end(self) -> Ints:
        """When each ended."""
        return self.submit + np.maximum(self.wait, 0) + self.run

    def before(self, instant: int) -> History:
        """Return what had ended by an instant (s)."""
        return self.rows(np.flatnonzero(self.end <= instant))

    def rows(self, which: Ints | Bools) -> History:
        """Return some of the jobs."""
        columns = (self.submit[which], self.run[which], self.limit[which], self.wait[which])
        return History(self.jobs.select(which), *columns, self.left_out)


def history_of(workload: Workload, system: System, origin: int | None) -> History:
    """Return the jobs of a trace that ran, on a clock that begins at ``origin`` (Unix time).

    Those of partitions that the system does not have are left out, and counted.

    Raises
    ------
    InputError where a trace does not say when its clock began, though the queue does, or no job in it ran.
    """
    ran = (workload["skipped"] == 0) & (workload["run_time"] >= 0)
    left_out = {}
    for name, asked in _elsewhere(workload, system):
        left_out[name] = int((ran & asked).sum())
        ran &= ~asked
    live = np.flatnonzero(ran)
    if len(live) < FEWEST:
        raise InputError(
            f"{workload.source.name}: found {len(live)} jobs that ran, on partitions of {system.name};"
            f" allowed: {FEWEST} or more"
        )
    began = workload.source.header_number("UnixStartTime")
    if began is None and origin is not None:
        raise InputError(
            f"{workload.source.name}: no UnixStartTime in its header, so its dates are not known;"
            " allowed: a dump of sacct, or a trace with that line"
        )
    jobs = workload.select(live[np.argsort(workload["submit_time"][live], kind="stable")])
    limit, ran = limits(jobs, system), jobs["run_time"]
    return History(
        jobs=jobs,
        submit=jobs["submit_time"] + (0 if origin is None or began is None else began - origin),
        run=np.where(limit > 0, np.minimum(ran, limit), ran),
        limit=limit,
        wait=jobs["wait_time"],
        left_out={name: jobs for name, jobs in left_out.items() if jobs},
    )


def _elsewhere(workload: Workload, system: System) -> Iterator[tuple[str, Bools]]:
    """Yield partitions that the system does not have, and bool[rows], who asks for them."""
    column = workload.columns["partition"]
    for code, name in enumerate(column.categories):
        try:
            system.partitions_for(name, swf=workload.source.format == "swf")
        except InputError:
            yield name, np.asarray(column.codes) == code
