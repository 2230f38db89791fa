"""The state of a machine at an instant: what runs there and what waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.errors import InputError, TraceError
from scheduler_sim.placement.table import expand
from scheduler_sim.prediction.asked import Asked
from scheduler_sim.system.node_events import DOWN, NodeEvent, seconds_at
from scheduler_sim.system.reservations import REPEATED, ReservationKeys
from scheduler_sim.system.system import System
from scheduler_sim.workload.fields import FIELDS
from scheduler_sim.workload.squeue import Queue
from scheduler_sim.workload.table import Workload

NO_LIMIT = 1 << 32
"""A run time (s) that stands where none is known: what has it for its limit has none."""


@dataclass(frozen=True)
class State:
    """What runs and what waits just after the pass of an instant, a row a job, in the order of submission.

    Attributes
    ----------
    jobs : the jobs; their run times count for nothing
    labels : what each is called
    start : int64[rows], when it started, s; -1 = it waits
    limit : int64[rows], its time limit, or that of its partition, s
    at : the instant, s on the clock of ``jobs``
    origin : second 0 of that clock in Unix time, None where nobody knows
    nodes : names of the nodes that each has, as squeue lists them; empty where it does not say, or waits
    """

    jobs: Workload
    labels: tuple[str, ...]
    start: Ints
    limit: Ints
    at: int
    origin: int | None
    nodes: tuple[str, ...] = ()

    @property
    def waits(self) -> Bools:
        """Whether each waits, bool[rows]."""
        return self.start < 0

    @property
    def elapsed(self) -> Ints:
        """How long each has run, int64[rows], s; -1 = it waits."""
        return np.where(self.waits, -1, self.at - self.start)

    def with_one_more(self, asked: Asked, system: System) -> State:
        """Return the state with a job that is submitted at the instant, as the last row."""
        columns = {
            name: np.append(
                np.asarray(self.jobs.columns[name]), asked.columns(self.at).get(name, field.default)
            )
            for name, field in FIELDS.items()
            if name not in ("component_id", "modular_job_id", "listed_component_id")
        }
        jobs = Workload(columns, replace(self.jobs.source, line_numbers=None, format="table", partial=True))
        try:
            limit = limits(jobs, system)
        except TraceError as error:
            allowed = f"; allowed: {error.allowed}" if error.allowed else ""
            raise InputError(f"--job: {error.message}{allowed}") from None
        if limit[-1] < 0:
            raise InputError("--job: no time=, and the partition has no limit either; allowed: time=H:MM:SS")
        return replace(
            self,
            jobs=jobs,
            labels=(*self.labels, asked.text),
            start=np.append(self.start, -1),
            limit=limit,
            nodes=(*self.nodes, ""),
        )


def limits(jobs: Workload, system: System) -> Ints:
    """Return the time limit of each job, or that of its partition, int64[rows], s; -1 = none.

    Raises TraceError for a partition that does not exist.
    """
    unknown = jobs.replace(run_time=NO_LIMIT, skipped=0)
    placements = expand(unknown, system)
    found = np.full(len(jobs), -1, dtype=np.int64)
    found[placements.rows] = np.where(placements.asked_limit >= NO_LIMIT, -1, placements.asked_limit)
    return found


def out_of_service(events: Iterable[NodeEvent], state: State) -> Iterator[NodeEvent]:
    """Yield nodes that are out of service at the instant of a state, as events of its draws that do not end.

    Nodes that are DOWN run nothing, so they are from the beginning; others may run jobs yet, so they are from
    the instant on. Dates are on the clock that squeue printed.
    """
    for event in events:
        begin, end = (_second(time, state.origin) for time in (event.time, event.end))
        if begin is not None and begin <= state.at and (end is None or end > state.at):
            yield replace(event, time=0 if event.state == DOWN else state.at, end=None)


def reserved_from(reservations: Iterable[ReservationKeys], state: State) -> Iterator[ReservationKeys]:
    """Yield the reservations that there are at the instant of a state, as those of its draws.

    They are created at the instant, whatever runs on their nodes: when an operator did it is not known.
    """
    for one in reservations:
        begin, end = (_second(time, state.origin) for time in (one.start, one.end))
        begun = begin is not None and begin <= state.at
        again = bool({*one.flags} & {*REPEATED})  # its turns go by its start
        if again or end is None or end > state.at:
            flags = list(dict.fromkeys((*one.flags, "IGNORE_JOBS")))
            update = {"at": state.at, "flags": flags} | ({"start": None} if begun and not again else {})
            yield one.model_copy(update=update)


def _second(time: int | str | None, origin: int | None) -> int | None:
    return seconds_at(time) - (origin or 0) if isinstance(time, str) else time


def state_of_queue(queue: Queue, system: System, at: int | None) -> tuple[State, dict[str, int]]:
    """Return the state that squeue showed, and how many jobs are left out, by why they wait.

    Parameters
    ----------
    at : when squeue was asked, s since 1970; None: as what runs tells

    Raises
    ------
    InputError where nothing tells when it was asked; TraceError for a job without a time limit.
    """
    asked = queue.asked_at() if at is None else at - queue.origin
    if asked is None:
        raise InputError(
            "--at: not given, and squeue has no running job with both START_TIME and TIME;"
            " allowed: --at YYYY-MM-DDThh:mm:ss"
        )
    start = np.where(queue.start >= 0, queue.start, np.where(queue.elapsed >= 0, asked - queue.elapsed, -1))
    jobs, why = queue.jobs, np.array(queue.left_out(), dtype=object)
    late = np.flatnonzero((start > asked) | (jobs["submit_time"] > asked) | (~queue.waits & (start < 0)))
    if len(late):
        label = queue.labels[late[0]]
        raise InputError(
            f"{jobs.source.name}: job {label} was submitted or started after the instant of"
            " the prediction, or has no TIME; allowed: --at with the moment at which squeue"
            " was called"
        )
    limit = limits(jobs, system)
    kept = np.flatnonzero(why == "")
    unlimited = kept[limit[kept] < 0]
    if len(unlimited):
        raise InputError(
            f"{jobs.source.name}: job {queue.labels[unlimited[0]]} has no time limit, nor has its partition;"
            " allowed: a TIME_LIMIT, or MaxTime of the partition in the system"
        )
    counts = pd.Series(why[why != ""], dtype=object).value_counts(sort=False)
    state = State(
        jobs=jobs.select(kept),
        labels=tuple(queue.labels[row] for row in kept.tolist()),
        start=start[kept],
        limit=limit[kept],
        at=asked,
        origin=queue.origin,
        nodes=tuple(queue.nodes[row] for row in kept.tolist()),
    )
    return state, {str(reason): int(number) for reason, number in counts.items()}
