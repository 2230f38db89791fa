"""The plain model on the clock of the DEEP-EST Slurm simulator (Slurm 19.05.5, select/linear).

Every simulated second it runs the main scheduler if anything was queued, and backfill if more than
bf_interval has passed since the last cycle. Seconds in which neither has anything to look at are jumped over.
"""

from __future__ import annotations

from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import PENDING, RUNNING, Config, Job


class SimulatedSlurm(Slurm):
    """`main` false: no job is started by the main scheduler (jobs with a delay clause).

    The cycle looks at `bf_max_job_test` records: the simulator's bf_queue_limit.
    """

    def __init__(self, config: Config, jobs: list[Job], *, main: bool = True):
        super().__init__(config, jobs)
        self.main = main
        self.last_backfill = self.jobs[0].submit
        self.tried_at = -1

    def run(self, until: int) -> None:
        now = self.jobs[0].submit
        while now <= until:
            self._ends(now, 0)
            self._world(now)
            if self.asks:
                self.asks = []
                if self.main:
                    self.main_pass(now, False)
                self._test_all(now)
            if now - self.last_backfill > self.c.bf_interval:
                self.last_backfill = now
                if self.last_change >= self.tried_at:
                    self.tried_at = now
                    self.backfill_cycle(now)
            following = self._next(now)
            if following is None:
                return
            now = following

    def _next(self, now: int) -> int | None:
        moments = [job.start + job.runtime for job in self.seen if job.state == RUNNING]
        if len(self.seen) < len(self.jobs):
            moments.append(self.jobs[len(self.seen)].submit)
        if not moments:
            pending = any(job.state == PENDING for job in self.seen)
            moments = [self.last_backfill + self.c.bf_interval + 1] if pending else []
        if not moments:
            return None
        cycle = self.last_backfill + self.c.bf_interval + 1
        while cycle <= now:
            cycle += self.c.bf_interval + 1
        if min(moments) > cycle and self.last_change < self.tried_at:
            cycle += (min(moments) - cycle) // (self.c.bf_interval + 1) * (self.c.bf_interval + 1)
            self.last_backfill = cycle - self.c.bf_interval - 1
        return min([*moments, cycle])

    def together(self, family: list[Job]) -> int:
        """Until the longest component has ended."""
        return max(min(job.runtime, (job.limit + self.c.over_time_limit) * 60) for job in family)

    def _first_window(
        self, now: int, job: Job, part: str, avail: set[int], running: list[Job]
    ) -> tuple[int, set[int]] | None:
        """select/linear: running jobs leave one by one, in the order of their limits."""
        room = self.room()
        for other in running:
            self.leave(room, other)
            nodes = self.chosen(room, job, part, avail)
            if nodes is not None:
                return max(other.planned_end, now + 1), nodes
        return None
