"""The two schedulers of the plain model of Slurm: one pass of each."""

from __future__ import annotations

from tests.oracle.plain_slurm_records import PENDING, RUNNING, Config, Job
from tests.oracle.plain_slurm_space import Space, best_fit


class Passes:
    """What a pass does to the jobs that `seen` holds; the clock is the subclass's."""

    c: Config
    seen: list[Job]
    all_nodes: set[int]
    last_change: int

    def queue(self, now: int) -> list[tuple[Job, str]]:
        records = []
        for job in list(self.seen):
            if job.state == PENDING and self._test(job, now):
                records += [(job, part) for part in job.partitions]
        if self.c.builtin and not self.c.multifactor:
            return records
        return sorted(
            records,
            key=lambda r: (
                -self.c.partitions[r[1]].tier,
                -r[0].part_priority.get(r[1], r[0].priority),
                r[0].submit,
                r[0].id,
            ),
        )

    # ------------------------------------------------------------------ main scheduler

    def main_pass(self, now: int, full: bool) -> None:
        blocked: set[str] = set()
        gone: set[int] = set()
        depth = 0
        for job, part in self.queue(now):
            if job.state != PENDING:
                continue
            if not full and depth > self.c.default_queue_depth:
                break
            depth += 1
            self.last_change = now
            if part in blocked:
                continue
            own = set(self.c.partitions[part].nodes)
            if job.nodes > len(own):
                continue
            idle = own - gone - self.allocated() - self.completing(now)
            if len(idle) >= job.nodes:
                self._launch(job, now, best_fit(idle, job.nodes), "main")
            elif now - job.eligible >= self.c.bf_min_age_reserve:
                blocked.add(part)
                gone |= own

    # ------------------------------------------------------------------ backfill

    def backfill_cycle(self, now: int) -> None:
        c = self.c
        records = self.queue(now)
        if not records:
            return
        space = Space(self._floor(now), self._floor(now + c.bf_window), self.all_nodes)
        reserved: dict[str, int] = {}
        counts: dict[tuple, int] = {}
        tests = started = 0
        for job, part in records:
            if tests >= c.bf_max_job_test:
                break
            if job.state != PENDING:
                continue
            enough = c.bf_job_part_count_reserve and reserved.get(part, 0) >= c.bf_job_part_count_reserve
            now_only = bool(enough) or now - job.eligible < c.bf_min_age_reserve
            if self._over_limits(counts, job, part):
                continue
            tests += self._backfill_one(now, job, part, space, now_only, reserved)
            started += job.state == RUNNING
            if c.bf_max_job_start and started >= c.bf_max_job_start:
                break

    def _over_limits(self, counts: dict[tuple, int], job: Job, part: str) -> bool:
        pairs = (("part", part), self.c.bf_max_job_part), (("user", job.user), self.c.bf_max_job_user)
        limits = [(key, limit) for key, limit in pairs if limit]
        if any(counts.get(key, 0) >= limit for key, limit in limits):
            return True
        for key, _ in limits:
            counts[key] = counts.get(key, 0) + 1
        return False

    def _floor(self, t: int) -> int:
        """Down to a multiple of bf_resolution in absolute (epoch) time."""
        res = self.c.bf_resolution
        return (t + self.c.origin) // res * res - self.c.origin

    def _backfill_one(
        self, now: int, job: Job, part: str, space: Space, now_only: bool, reserved: dict
    ) -> int:
        """Start the job, or plan it. Returns 1 if the select plugin was asked."""
        c = self.c
        own = set(c.partitions[part].nodes)
        limit = job.limit * 60
        window_end = space.records[-1].end
        asked = 0
        later = now
        while True:
            start_res, later = later, 0
            if window_end < start_res:
                return asked
            avail, later = space.available(own, start_res, max(start_res, now) + limit)
            if len(avail) < job.nodes:
                if later and not now_only:
                    continue
                return asked
            asked = 1
            found = self.will_run(now, job, avail, now_only)
            if found is None:
                if later and not now_only:
                    continue
                return asked
            start, nodes = found
            if start_res > start:
                start = start_res
                self.last_change = now
            if start <= now and nodes & self.completing(now):
                start, later = now + 1, 0
            if start <= now:
                self._launch(job, now, nodes, "backfill")
                return asked
            if now_only:
                return asked
            if later and start > later:
                continue
            begin, end = self._floor(start), self._floor(start + limit)
            end = max(end, begin + c.bf_resolution)
            if start > now + c.bf_window:
                return asked
            if space.overlaps(nodes, begin, end):
                later = start
                continue
            if c.bf_job_part_count_reserve and reserved.get(part, 0) >= c.bf_job_part_count_reserve:
                return asked
            reserved[part] = reserved.get(part, 0) + 1
            if nodes - self.allocated():
                self.last_change = now  # an idle node is marked PLANNED
            space.reserve(nodes, begin, end)
            return asked

    def will_run(self, now: int, job: Job, avail: set[int], now_only: bool) -> tuple[int, set[int]] | None:
        """When and where the job could run on `avail` if the running jobs end at their limits."""
        free = avail - self.allocated()
        if len(free) >= job.nodes:
            return now, best_fit(free, job.nodes)
        if now_only:
            return None
        running = sorted((j for j in self.seen if j.state == RUNNING), key=lambda j: j.planned_end)
        return self._first_window(now, job, avail, free, running)

    def _first_window(
        self, now: int, job: Job, avail: set[int], free: set[int], running: list[Job]
    ) -> tuple[int, set[int]] | None:
        """select/cons_tres: running jobs leave in groups; windows double, aligned on 30 s of the epoch."""
        window, barrier, i = 30, None, 0
        while i < len(running):
            last = None
            while i < len(running):
                other = running[i]
                i += 1
                if not other.where & avail:
                    continue
                if barrier is None:
                    end = other.planned_end + self.c.origin
                    barrier = end + (30 - end % 30) - self.c.origin
                last = other
                free |= other.where & avail
                if i < len(running) and running[i].planned_end > barrier + window:
                    break
            if last is None:
                return None
            window *= 2
            while i < len(running) and running[i].planned_end > barrier + window:
                window *= 2
            if len(free) >= job.nodes:
                start = last.planned_end
                if start <= now:
                    start = max(start + self.c.kill_wait + self.c.over_time_limit * 60, now + 1)
                return start, best_fit(free, job.nodes)
        return None
