"""Slurm's schedulers with limits of associations and QOS, in the plain model: use, and who is passed over.

Read in priority_multifactor.c, job_scheduler.c and backfill.c of 22.05.
"""

from __future__ import annotations

from tests.oracle.plain_limit_checks import LimitChecks
from tests.oracle.plain_limit_records import Used
from tests.oracle.plain_slurm_records import RUNNING, TIMEOUT, Job

LATER_S = 500
"""assoc_limit_stop: so much later one is planned that waits for a limit, where no more nodes are to come."""


class LimitedSlurm(LimitChecks):
    """The controller: what jobs have used is charged, and both schedulers heed limits."""

    # ------------------------------------------------------------------ what was used

    def _recalculate(self, now: int) -> None:
        left = self.db.decay**self.c.calc_period
        for used in self.used.values():
            used.wall *= left
            used.tres = {kind: amount * left for kind, amount in used.tres.items()}
        for job in self.seen:
            if job.state == RUNNING:
                self._charge(job, now)
        super()._recalculate(now)

    def _charge(self, job: Job, now: int) -> None:
        seconds = (now - self.charged.get(job.id, job.start)) * self.factor(job)
        self.charged[job.id] = now
        if not self.c.multifactor:
            return
        for holder in self.holders(job, job.part):
            used = self.used.setdefault(self.key(holder), Used())
            used.wall += seconds
            for kind, amount in self.tres_of(job).items():
                used.tres[kind] = used.tres.get(kind, 0) + amount * seconds

    def _finish(self, job: Job, now: int) -> None:
        self._charge(job, now)
        super()._finish(job, now)

    def _kill(self, job: Job, now: int, state: str) -> None:
        self._charge(job, now)
        super()._kill(job, now, state)

    def _kill_overdue(self, now: int) -> None:
        super()._kill_overdue(now)
        for job in self.seen:
            if job.state == RUNNING and not self.db.safe and self._used_up(job):
                self._kill(job, now, TIMEOUT)

    def _used_up(self, job: Job) -> bool:
        """Whether all of a QOS or an association have used their minutes, by the last computation."""
        for holder in self.holders(job, job.part):
            for resource in ("", *self.limits_of(holder).grp_tres_mins):
                most = self.limit(holder, "grp_tres_mins" if resource else "grp_wall", resource)
                if most is not None and self.minutes_used(holder, resource) >= most:
                    return True
        return False

    # ------------------------------------------------------------------ the schedulers

    def waits_for_a_limit(self, job: Job, part: str) -> bool:
        return job.id in self.reason and bool(self.pre_select(job, part))

    def may_block(self, job: Job) -> bool:
        return self.db.stop or job.id not in self.reason

    def backfill_cycle(self, now: int) -> None:
        self.blocked_until: dict[str, int] = {}  # QOS
        super().backfill_cycle(now)

    def is_limited(self, job: Job, part: str) -> bool:
        if not self.db.stop and self.pre_select(job, part):
            return True
        return bool(self.too_many_nodes(job, part))

    def not_before(self, job: Job, part: str) -> int:
        blocked = [self.blocked_until.get(holder.name, 0) for holder in self.holders(job, part)]
        return max([super().not_before(job, part), *blocked])

    def after_a_limit(self, now: int, job: Job, later: int) -> int | None:
        if job.id not in self.reason:
            return now
        if not self.db.stop:
            return None
        start = later or now + LATER_S
        if self.reason[job.id].startswith("QOSGrp"):
            self.blocked_until[self.blocking] = max(start, self.blocked_until.get(self.blocking, 0))
        return start

    def may_plan(self, job: Job, part: str) -> bool:
        return self.db.stop or not self.post_select(job, part)

    def start_on(self, now: int, job: Job, part: str, usable: set[int], by: str) -> bool:
        """A limit may stand against it before nodes are looked for, and once there are, now or later."""
        if self.pre_select(job, part) or self.too_many_nodes(job, part):
            return False
        nodes = self.chosen(self.room(), job, part, usable)
        if self.post_select(job, part) or nodes is None:
            return False
        job.part = part
        self._launch(job, now, nodes, by)
        return True
