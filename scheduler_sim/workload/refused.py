"""Components of a trace that cannot be simulated, though others can: an error, or left out and counted.

Whoever finds some raises ``JobsRefused`` for all that have the same fault. ``Refusals`` collects what is
raised, and decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.errors import TraceError
from scheduler_sim.workload.fields import (
    APPLICATION,
    FEATURES,
    GENERIC,
    IN_A_CIRCLE,
    LICENCES,
    NO_PARTITION,
    OF_RUNS,
    SKIP_REASONS,
    WITH_ITS_JOB,
)
from scheduler_sim.workload.table import Workload

Made = TypeVar("Made")

SHOWN = 3
"""So many components of each kind are named."""

LONGEST = 40
"""So much of what one of them asks for is shown."""

SKIP = '--on-error skip (on_error="skip" in Python)'
WAY_OUT = f"allowed: {SKIP}, which leaves such jobs out, and counts them"

ASKED_IN = {
    "partition": NO_PARTITION,
    "app": APPLICATION,
    "constraint": FEATURES,
    "licences": LICENCES,
    "dependency_ids": IN_A_CIRCLE,
    **dict.fromkeys(("gres", "gpus", "gres_per_job", "gres_per_task"), GENERIC),
}
"""The reason why components are left out that ask in vain for something in a column."""


class JobsRefused(TraceError):
    """Components that cannot be simulated on this system, under this policy.

    Attributes
    ----------
    rows : int64[n], rows of the workload, ascending
    column : the one in which they ask for it; empty if it is none
    reason : code of ``SKIP_REASONS``
    """

    rows: Ints
    column = ""
    reason = 0


def refused(workload: Workload, rows: Ints, column: str, problem: str) -> JobsRefused:
    """Return the error for rows with one fault; it names the line of the first, and what its column says."""
    rows = np.sort(np.atleast_1d(rows))
    source, text = workload.source, str(workload.columns[column][rows[0]])
    line = source.line_of(int(rows[0]))
    error = JobsRefused(problem, file=source.name or None, line=line, field=column, found=text)
    error.rows, error.column, error.reason = rows, column, ASKED_IN[column]
    return error


def refused_beside(workload: Workload, rows: Ints, problem: str, reason: int) -> JobsRefused:
    """Return the error for rows that do not go with a setting, which ``problem`` names."""
    error = JobsRefused(problem)
    error.rows, error.reason = np.sort(rows), reason
    return error


def with_way_out(workload: Workload, error: TraceError, instead: str) -> TraceError:
    """Return an error of some rows, with which these are, and what may be done ``instead``."""
    assert error.rows is not None
    names = ", ".join(_name(workload, row, "") for row in error.rows[:SHOWN].tolist())
    more = ", ..." * (len(error.rows) > SHOWN)
    many = f"{len(error.rows):,} component{'s' * (len(error.rows) != 1)} ({names}{more})"
    told = TraceError(f"{error}\n{many}; {SKIP} {instead}")
    told.line, told.field, told.found, told.rows = error.line, error.field, error.found, error.rows
    return told


class Refusals:
    """What of a workload cannot be simulated.

    Parameters
    ----------
    skips : whether that is left out; else it is an error in the end
    """

    def __init__(self, *, skips: bool) -> None:
        self._skips = skips
        self._errors: list[JobsRefused] = []

    def played(self, workload: Workload, play: Callable[[Workload], Made]) -> Made:
        """Return what ``play`` makes of all that can be simulated, which mostly is the whole workload.

        Raises TraceError for all that cannot, unless it is skipped.
        """
        left = workload
        while True:
            try:
                made = play(left)
            except JobsRefused as error:
                self._errors.append(error)
                left = _without(left, error)
                continue
            if self._errors and not self._skips:
                raise self._error(left)
            if self._errors:
                notes = [f"left out: {kind}" for kind in self._kinds(left)]
                left.source = replace(left.source, notes=(*left.source.notes, *notes))
            return made

    def _error(self, left: Workload) -> JobsRefused:
        """All that is wrong: the first of each fault as it was found, then by kind."""
        count = int(np.isin(left.columns["skipped"], OF_RUNS).sum())
        kinds = "; ".join(self._kinds(left))
        cannot = f"{count:,} component{'s' * (count != 1)} cannot be simulated: {kinds}"
        faults = dict.fromkeys(map(str, self._errors))  # what is left may have the same one
        error, first = JobsRefused("\n".join([*faults, f"{cannot}; {WAY_OUT}"])), self._errors[0]
        error.line, error.field, error.found = first.line, first.field, first.found
        error.rows, error.column, error.reason = first.rows, first.column, first.reason
        return error

    def _kinds(self, left: Workload) -> Iterator[str]:
        """What is left out by kind, with the first few of each."""
        for code in OF_RUNS:
            rows = np.flatnonzero(left.columns["skipped"] == code)
            if len(rows):
                heads = rows[_first_of_jobs(left, rows)]
                names = [_name(left, row, self._column_of(row)) for row in heads[:SHOWN].tolist()]
                more = ", ..." * (len(heads) > SHOWN)
                yield f"{len(rows):,} {SKIP_REASONS[code]} ({', '.join(names)}{more})"

    def _column_of(self, row: int) -> str:
        """Where a component asks for what it cannot have."""
        return next((error.column for error in self._errors if row in error.rows), "")


def _without(workload: Workload, error: JobsRefused) -> Workload:
    """The workload without these rows, and without what else is of their jobs."""
    columns = workload.columns
    skipped = np.array(columns["skipped"])
    jobs = np.unique(columns["modular_job_id"][error.rows[columns["components_total"][error.rows] > 1]])
    of_jobs = np.isin(columns["modular_job_id"], jobs) & (columns["components_total"] > 1)
    skipped[of_jobs & (skipped == 0)] = WITH_ITS_JOB
    skipped[error.rows] = error.reason
    return workload.replace(skipped=skipped)


def _first_of_jobs(workload: Workload, rows: Ints) -> Ints:
    """Where the first components stand of those of one job."""
    jobs = workload.columns["modular_job_id"][rows]
    alone = workload.columns["components_total"][rows] <= 1
    firsts = np.zeros(len(rows), dtype=bool)
    firsts[np.unique(jobs, return_index=True)[1]] = True
    return np.flatnonzero(firsts | alone)


def _name(workload: Workload, row: int, column: str) -> str:
    """How people call a component, with its line, and what it asks for."""
    array, task, job = (
        int(workload.columns[name][row]) for name in ("array_job_id", "array_task_id", "modular_job_id")
    )
    line = workload.source.line_of(row)
    found = str(workload.columns[column][row])[:LONGEST] if column else ""
    more = [*([f"line {line}"] if line is not None else []), *([repr(found)] if found else [])]
    name = f"{array}_{task}" if array >= 0 and task >= 0 else f"{job}"
    return f"{name} [{', '.join(more)}]" if more else name
