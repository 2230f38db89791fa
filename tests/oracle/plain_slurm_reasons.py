"""Why jobs wait, as squeue would show it: to the plain model of Slurm a new reason counts as a change.

Read in `build_job_queue` and `_schedule` (job_scheduler.c) and `job_independent` (job_mgr.c) of 22.05. Both
schedulers first go through all that is pending: a reason that is no mere waiting for its turn, and not the
one that was noted last, is noted, and `last_job_update` is now. 19.05 has other rules. Left out is
that a task waits for a place in its array.
"""

from __future__ import annotations

from tests.oracle.plain_slurm_records import PENDING, Config, Job

NONE, PRIORITY, RESOURCES = "", "Priority", "Resources"
DEPENDENCY, NEVER_MET = "Dependency", "DependencyNeverSatisfied"
BEGIN, HELD, LICENCES = "BeginTime", "JobHeldUser", "Licenses"
INELIGIBLE = (DEPENDENCY, NEVER_MET, BEGIN, HELD)
NOT_AVAILABLE, RESERVATION = "ReqNodeNotAvail", "Reservation"


class Reasons:
    """`why` is the state_reason of jobs by id, but for limits; `noted` their state_reason_prev_db."""

    c: Config
    seen: list[Job]
    last_change: int
    why: dict[int, str]
    noted: dict[int, str]

    def waits_for(self, job: Job, reason: str) -> None:
        self.why[job.id] = reason

    def reason_of(self, job: Job) -> str:
        """What keeps it from being eligible; else the limit for which it waits; else the rest."""
        why = self.why.get(job.id, NONE)
        return why if why in INELIGIBLE else self.limit_of(job) or why

    def limit_of(self, job: Job) -> str:
        """The reason of the limit for which it waits."""
        return NONE

    def note_reasons(self, now: int) -> None:
        """A pass begins."""
        for job in self.seen if not self.c.as_19_05 else ():
            reason = self.reason_of(job)
            new = reason not in (NONE, PRIORITY, RESOURCES, self.noted.get(job.id, NONE))
            if job.state == PENDING and new:
                self.noted[job.id] = reason
                self.last_change = now

    def forget_reasons(self, job: Job) -> None:
        """It is to run once more."""
        self.why.pop(job.id, None)
        self.noted.pop(job.id, None)
