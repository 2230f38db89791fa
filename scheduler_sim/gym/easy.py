"""EASY in any order, as part of what an environment decides."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_sim.schedulers.job import Job
from scheduler_sim.schedulers.view import View


def easy_pass(view: View, jobs: Iterable[Job]) -> None:
    """Start jobs in this order; reserve for the first of each module that does not fit, start what fits beside."""
    blocked: set[str] = set()
    for job in jobs:
        if job.module in blocked:
            _start_beside(view, job)
        elif not view.start(job):
            blocked.add(job.module)
            view.reserve(job)


def backfill_behind(view: View, first: Job) -> None:
    """Reserve for a job, and start others of the queue that do not delay it."""
    view.reserve(first)
    for job in view.queue:
        if job != first:
            _start_beside(view, job)


def _start_beside(view: View, job: Job) -> None:
    if job.nodes <= view.free[job.module] and view.earliest_start(job) == view.now:
        view.start(job)
