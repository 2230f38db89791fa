"""EASY in any order, as part of what an environment decides."""

from __future__ import annotations

from scheduler_sim.arrays import Ints
from scheduler_sim.schedulers.columns import Columns
from scheduler_sim.schedulers.job import Job
from scheduler_sim.schedulers.view import View


def easy_pass(view: View, columns: Columns, rows: Ints) -> None:
    """Start jobs in the order of ``rows``; reserve for the first of each module that does not fit.

    Start what fits beside these.
    """
    blocked: set[str] = set()
    for place, row in enumerate(rows.tolist()):
        if len(blocked) == len(view.free):
            _start_beside(view, columns, rows[place:])
            return
        job = columns.job(row)
        if job.module in blocked:
            _start_beside(view, columns, rows[place : place + 1])
        elif not view.start(job):
            blocked.add(job.module)
            view.reserve(job)


def backfill_behind(view: View, columns: Columns, first: Job) -> None:
    """Reserve for a job, and start others of the queue that do not delay it."""
    view.reserve(first)
    waiting = columns.waiting
    _start_beside(view, columns, waiting[waiting != first.number])


def _start_beside(view: View, columns: Columns, rows: Ints) -> None:
    """Start jobs that do not delay those for which nodes are reserved."""
    for row in rows[columns.may_fit(rows)].tolist():
        job = columns.job(row)
        if job.nodes <= view.free[job.module] and view.earliest_start(job) == view.now:
            view.start(job)
