"""Slurm's preemption in the plain model where jobs share nodes, without cores that several have at once.

Who is thought away leaves a copy of the room of select/cons_tres (`_run_now` of cons_common/job_test.c).
"""

from __future__ import annotations

from typing import NamedTuple

from tests.oracle.plain_cons_tres_records import SharedJob
from tests.oracle.plain_cons_tres_slurm import SharedSlurm
from tests.oracle.plain_preemption import PreemptingSlurm


class SharedRun(NamedTuple):
    """A run that is over: of which job, from when to when, on how many nodes, with how many CPUs, how."""

    id: int
    start: int
    end: int
    nodes: int
    cpus: int
    why: str


class PreemptingSharedSlurm(PreemptingSlurm, SharedSlurm):
    """The controller with both."""

    runs: list[SharedRun]

    def start_on(self, now: int, job: SharedJob, part: str, usable: set[int], by: str) -> bool:
        """Start it on what is free; else preempt, also where its nodes would do but for rounded memory."""
        if SharedSlurm.start_on(self, now, job, part, usable, by):
            return True
        self.make_room(now, job, part, usable)
        return False

    def _note_run(self, job: SharedJob) -> None:
        cpus = sum(share.cpus for share in job.shares.values())
        self.runs.append(SharedRun(job.id, job.start, job.end, len(job.shares), cpus, job.state))

    def _back_to_queue(self, job: SharedJob, now: int) -> None:
        super()._back_to_queue(job, now)
        job.shares, job.part = {}, ""
