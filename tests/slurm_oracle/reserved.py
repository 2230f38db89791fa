"""The recorded cases with advance reservations, played by the plain model."""

from __future__ import annotations

from dataclasses import replace

from tests.oracle.plain_reserved_slurm import ReservedSlurm
from tests.slurm_oracle.cases import Case, Fate, Run
from tests.slurm_oracle.plain import plain_config, plain_jobs
from tests.slurm_oracle.scontrol import changes_of

DELAYS_S = {"R2a_resv_changes": 4}
"""From one pass of main to the next: 3 s, but a turn of its loop takes a little over a second."""


def play_reserved(case: Case, run: Run, **settings: object) -> list[Fate]:
    """What the plain model makes of the case."""
    slurm = reserved_slurm(case, run, **settings)
    slurm.run(until=20_000)
    return [(job.id, slurm.ended_as(job), job.start, job.end) for job in slurm.jobs]


def reserved_slurm(case: Case, run: Run, **settings: object) -> ReservedSlurm:
    given = {job["id"]: job for job in case.jobs}
    jobs = [replace(job, reservation=given[job.id].get("reservation", "")) for job in plain_jobs(case)]
    return ReservedSlurm(plain_config(case, run, settings), jobs, changes_of(case))
