"""Jobs that are suspended for others, in the plain model of Slurm.

That is PreemptMode=SUSPEND,GANG with OverSubscribe=FORCE:1. Read in gang.c and cons_common's job_test.c of
22.05. Within a partition no two jobs have a node in common, so the turns of SchedulerTimeSlice change nothing
on whole nodes: a job is suspended as long as one of a higher tier runs on a node of its own.
"""

from __future__ import annotations

from tests.oracle.plain_preemption import PreemptingSlurm
from tests.oracle.plain_preemption_records import OFF
from tests.oracle.plain_slurm_records import RUNNING, TIMEOUT, Job
from tests.oracle.plain_slurm_space import best_fit


def nodes_of(jobs: list[Job]) -> set[int]:
    return set().union(*(job.where for job in jobs))


class GangSlurm(PreemptingSlurm):
    """Nodes of lower tiers count as free where idle ones do not suffice; who is there is suspended."""

    def __init__(self, *given: object, **named: object):
        super().__init__(*given, **named)
        self.suspended: list[int] = []
        self.looks: set[int] = set()  # that found a job past its time, if only a suspended one

    def room(self) -> list[Job]:
        """Who is on nodes."""
        return [job for job in self.seen if job.state == RUNNING]

    def leave(self, room: list[Job], job: Job) -> None:
        room[:] = [other for other in room if other is not job]

    def chosen(self, room: list[Job], job: Job, part: str, usable: set[int]) -> set[int] | None:
        """Idle nodes; else those of lower tiers too, but for the highest of these that are not needed."""
        idle = usable - nodes_of(room)
        if len(idle) >= job.nodes:
            return best_fit(idle, job.nodes)
        lower = [other for other in room if self._may_suspend(job, part, other)]
        free = usable - nodes_of([other for other in room if other not in lower])
        for tier in sorted({self._tier(other) for other in lower}, reverse=True):
            without = free - nodes_of([other for other in lower if self._tier(other) == tier])
            if len(without) < job.nodes:
                break
            free = without
        return best_fit(free, job.nodes) if len(free) >= job.nodes else None

    def _may_suspend(self, job: Job, part: str, other: Job) -> bool:
        return self.mode(other) != OFF and self._tier(other) < self.c.partitions[part].tier

    def _tier(self, job: Job) -> int:
        return self.c.partitions[job.part].tier

    # ------------------------------------------------------------------ who works

    def _launch(self, job: Job, now: int, nodes: set[int], by: str) -> None:
        super()._launch(job, now, nodes, by)
        self._share_out(now)

    def _finish(self, job: Job, now: int) -> None:
        super()._finish(job, now)
        self._share_out(now, late=self._end_phase(job) == 2)

    def _ends_in(self, job: Job, phase: int) -> bool:
        """One that goes on late in a second, and has nothing left to do, ends in the next."""
        return self._end_phase(job) == 2 if phase == 2 else super()._ends_in(job, phase)

    def _kill(self, job: Job, now: int, state: str) -> None:
        super()._kill(job, now, state)
        self._share_out(now)

    def _share_out(self, now: int, *, late: bool = False) -> None:
        """From the highest tier down: on nodes of those that work nobody else does.

        What goes on and has nothing left to do ends with the one that made way for it.
        """
        work: list[Job] = []
        done: list[Job] = []
        for job in sorted(self.room(), key=lambda job: -self._tier(job)):
            covered = any(job.where & other.where and self._tier(other) > self._tier(job) for other in work)
            if not covered:
                work.append(job)
            if covered and job.paused_since is None:
                job.paused_since = now
                self.suspended.append(job.id)
            elif not covered and job.paused_since is not None:
                job.paused += now - job.paused_since
                job.paused_since = None
                self.last_change = now
                if self._is_done(job, now) and (self._end_phase(job) == 2) == late:
                    done.append(job)
        for job in done:
            if job.state == RUNNING and job.paused_since is None:
                self._finish(job, now)

    @property
    def is_unclear(self) -> bool:
        """Whether a job ended in the second of such a look: which is first there is a matter of chance."""
        return any(job.end in self.looks and job.state != TIMEOUT for job in self.seen)

    def end_overdue(self, job: Job, now: int) -> None:
        """What is suspended does not time out."""
        self.looks.add(now)
        if job.paused_since is None:
            super().end_overdue(job, now)
