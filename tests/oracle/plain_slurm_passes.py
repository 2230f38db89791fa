"""The two schedulers of the plain model of Slurm: one pass of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.oracle.plain_slurm_het import HetStarts
from tests.oracle.plain_slurm_reasons import LICENCES, NONE, PRIORITY, RESOURCES, Reasons
from tests.oracle.plain_slurm_records import PENDING, RUNNING, Config, Job
from tests.oracle.plain_slurm_space import Space, best_fit


class Passes(Reasons):
    """What a pass does to the jobs that `seen` holds; the clock is the subclass's."""

    c: Config
    seen: list[Job]
    families: dict[int, list[Job]]
    all_nodes: set[int]
    last_change: int
    plans: list[tuple[int, int, int, frozenset[int]]]  # when, of which job, from when, on which nodes

    def walk(self, now: int) -> Iterator[tuple[Job, str]]:
        """The list of jobs, in order of submission; each is tested when it has its turn."""
        for job in list(self.seen):
            if job.state == PENDING and all(self._test(one, now) for one in self._with(job)):
                yield from ((job, part) for part in job.partitions)

    def _with(self, job: Job) -> list[Job]:
        """The components of its heterogeneous job; itself alone."""
        return self.families.get(job.het, [job])

    def queue(self, now: int) -> Iterable[tuple[Job, str]]:
        tiers = {part.tier for part in self.c.partitions.values()}
        if self.c.builtin and not self.c.multifactor and len(tiers) == 1:
            return self.walk(now)
        return sorted(
            self.walk(now),
            key=lambda r: (
                -self.c.partitions[r[1]].tier,
                -r[0].part_priority.get(r[1], r[0].priority),
                r[0].submit,
                r[0].id,
            ),
        )

    # ------------------------------------------------------------------ main scheduler

    def main_pass(self, now: int, full: bool) -> None:
        """That a record waits for its nodes is no change; that it is passed over, or short of them, is."""
        self.note_reasons(now)
        self.clean_unused()
        blocked: set[str] = set()
        gone: set[int] = set()
        tried: dict[str, int] = {}
        refused: tuple[int, str] | None = None  # array and partition: its tasks are one record
        depth = 0
        for job, part in self.queue(now):
            if self.c.as_19_05:
                self.last_change = now
            if job.state != PENDING:
                continue
            if job.het:  # left to backfill: it blocks, whatever its age, and is not counted
                blocked.add(part)
                gone |= set(self.c.partitions[part].nodes)
                continue
            if job.array >= 0:
                if refused == (job.array, part):
                    continue
                refused = job.array, part
            if not self._array_has_room(job):
                continue
            tried[part] = tried.get(part, 0) + 1
            if self.c.partition_job_depth and tried[part] > self.c.partition_job_depth:
                if self.reason_of(job) == NONE:
                    self.waits_for(job, PRIORITY)
                    self.last_change = now
                continue
            if not full and depth > self.c.default_queue_depth:
                break
            depth += 1
            if self.is_passed_over(part, blocked):
                if self.reason_of(job) in (NONE, RESOURCES):
                    self.waits_for(job, PRIORITY)
                self.last_change = now
                continue
            if self.waits_for_a_limit(job, part):
                continue
            own = set(self.c.partitions[part].nodes)
            if job.nodes > len(own):
                continue
            free = own - gone
            if job.nodes > len(self.in_service(free)) and not self.c.as_19_05:
                self.waits_for(job, RESOURCES)
                self.last_change = now
                blocked.add(part)  # whatever its age
                gone |= own
                continue
            if not self._has_licences(job):
                self.waits_for(job, LICENCES)
                self.last_change = now
                continue
            usable = self.open_to(now, job, part, free)
            if self.start_on(now, job, part, usable - self.completing(now), "main"):
                refused = None
                continue
            if not self.limit_of(job):
                self.note_refusal(now, job, part, usable)
            gone |= self.closed_by(now, job, part, free, usable)
            blocks = self.blocks_partition(now, job, part, free, usable) and self.may_block(job)
            if blocks and self._old_and_high_enough(now, job, part):
                blocked.add(part)
                gone |= own

    def in_service(self, nodes: set[int]) -> set[int]:
        """Main: which of the nodes are."""
        return nodes

    def note_refusal(self, now: int, job: Job, part: str, usable: set[int]) -> None:
        """Main: it did not start for lack of nodes: others have them, which is no change."""
        self.waits_for(job, RESOURCES)

    def is_passed_over(self, part: str, blocked: set[str]) -> bool:
        """Main: whether another that waits keeps it from its turn."""
        return part in blocked

    def open_to(self, now: int, job: Job, part: str, nodes: set[int]) -> set[int]:
        """Main: which of the nodes no advance reservation keeps from it."""
        return nodes

    def closed_by(self, now: int, job: Job, part: str, free: set[int], usable: set[int]) -> set[int]:
        """Main: what an advance reservation takes from the rest of the pass, as the job did not start."""
        return set()

    def blocks_partition(self, now: int, job: Job, part: str, free: set[int], usable: set[int]) -> bool:
        """Main: whether one that did not start waits for nodes that its partition will have."""
        return True

    def waits_for_a_limit(self, job: Job, part: str) -> bool:
        """Main: whether the limit for which it was known to wait still holds it."""
        return False

    def may_block(self, job: Job) -> bool:
        """Main: whether one that did not start may block its partition."""
        return True

    def _array_has_room(self, job: Job) -> bool:
        if job.array < 0 or job.array_limit < 1:
            return True
        running = sum(other.state == RUNNING and other.array == job.array for other in self.seen)
        return running < job.array_limit

    def _has_licences(self, *jobs: Job) -> bool:
        used = sum(other.licences for other in self.seen if other.state == RUNNING)
        return used + sum(job.licences for job in jobs) <= self.c.licences

    def _old_and_high_enough(self, now: int, job: Job, part: str) -> bool:
        """Whether it may hold a reservation, and block its partition."""
        priority = job.part_priority.get(part, job.priority)
        return now - job.eligible >= self.c.bf_min_age_reserve and priority >= self.c.bf_min_prio_reserve

    # ------------------------------------------------------------------ backfill

    def backfill_cycle(self, now: int) -> None:
        c = self.c
        self.note_reasons(now)
        self.clean_unused()
        records = self.queue(now)
        if not records:
            return
        edge = (lambda time: time) if c.as_19_05 else self._floor
        space = Space(edge(now), edge(now + c.bf_window), self.all_nodes, c.as_19_05)
        if c.bf_running_job_reserve:
            self._reserve_running(space)
        self.het = HetStarts(now)
        self.retried = None
        reserved: dict[object, int] = {}
        counts: dict[tuple, int] = {}
        tests = started = 0
        for job, part in records:
            if tests >= c.bf_max_job_test:
                break
            self.het.have_turn(job)
            if job.state != PENDING or not self._array_has_room(job):
                continue
            if self.het.not_before(job) > now + c.bf_window:
                continue
            if c.as_19_05:
                tests += 1
            if self.is_counted() and self._over_limits(counts, job, part):
                continue
            if not self._has_licences(job):
                continue
            if self.is_limited(job, part):
                continue
            now_only = not self._old_and_high_enough(now, job, part) or self._enough(reserved, job, part)
            asked = self._backfill_one(now, job, part, space, now_only, reserved)
            tests += 0 if c.as_19_05 or not self.is_counted() else asked
            if space.full:
                break
            started += job.state == RUNNING
            if c.bf_max_job_start and started >= c.bf_max_job_start:
                break
        self._start_het_jobs(now, started)

    def _reserve_running(self, space: Space) -> None:
        """What runs on whole nodes has them in the plan, from its beginning on, up to the limit."""
        begin = space.records[0].begin
        for job in self.seen:
            if job.state != RUNNING or not self.has_whole_nodes(job):
                continue
            if space.made >= (self.c.bf_node_space_size or self.c.bf_max_job_test):
                return
            end = max(self._floor(job.planned_end), begin + self.c.bf_resolution)
            space.reserve(job.where, begin, end)

    def _start_het_jobs(self, now: int, started: int) -> None:
        """All components at once, on nodes beside one another; else none."""
        most = self.c.bf_max_job_start
        for family in self.het.to_start(self.families):
            if most and started >= most:
                return
            if not self._has_licences(*family) or not self._find_nodes(now, family):
                continue
            run, free = self.together(family), self.all_nodes - self.completing(now)
            for job in family:
                job.runtime, job.exit_code = run, family[0].exit_code
                self.start_on(now, job, job.partitions[0], self._usable_beside(now, job, free), "backfill")
                free -= job.where
            started += len(family)

    def _find_nodes(self, now: int, family: list[Job]) -> bool:
        """Whether all components find nodes, none of them one of another (`_het_job_start_now`)."""
        free = self.all_nodes - self.completing(now)
        for job in family:
            usable = self._usable_beside(now, job, free)
            found = self.chosen(self.room(), job, job.partitions[0], usable)
            if found is None:
                return False
            free -= found
        return True

    def _usable_beside(self, now: int, job: Job, free: set[int]) -> set[int]:
        """Of the nodes that are not taken by other components those that it may have."""
        self.nodes_looked_for(job)
        self.has_turn(job)
        part = job.partitions[0]
        return self.open_to(now, job, part, free & set(self.c.partitions[part].nodes))

    def has_turn(self, job: Job) -> None:
        """It is what is looked at from here on."""

    def nodes_looked_for(self, job: Job) -> None:
        """Nodes are about to be looked for, among all of its partition."""

    def together(self, family: list[Job]) -> int:
        """How long all components take: the script runs on the first."""
        return family[0].runtime

    def _over_limits(self, counts: dict[tuple, int], job: Job, part: str) -> bool:
        c = self.c
        pairs = (
            (("part", part), c.bf_max_job_part),
            (("user", job.user), c.bf_max_job_user),
            (("both", job.user, part), c.bf_max_job_user_part),
        )
        limits = [(key, limit) for key, limit in pairs if limit]
        if any(counts.get(key, 0) >= limit for key, limit in limits):
            return True
        for key, _ in limits:
            counts[key] = counts.get(key, 0) + 1
        return False

    def is_counted(self) -> bool:
        """Backfill: whether the present record counts for limits of the cycle."""
        return True

    def unreserved(self, now: int, job: Job, part: str, start: int) -> tuple[int, set[int], int] | None:
        """Backfill: from when on which nodes it may be tried, for advance reservations, and when else."""
        return start, set(self.c.partitions[part].nodes), 0

    def is_limited(self, job: Job, part: str) -> bool:
        """Backfill: whether a limit keeps it from any plan."""
        return False

    def not_before(self, job: Job, part: str) -> int:
        """Backfill: the earliest start, where limits of others bound it."""
        return self.het.not_before(job)

    def after_a_limit(self, now: int, job: Job, later: int) -> int | None:
        """Backfill: when it is planned though a limit did not let it start now; None: no plan."""
        return now

    def holding(self, job: Job, part: str, nodes: set[int]) -> set[int]:
        """Backfill: which of the nodes are large enough for it by their configuration, whatever is free."""
        return nodes

    def may_plan(self, job: Job, part: str) -> bool:
        """Backfill: whether it may be planned for later."""
        return True

    def forgoes_plan(self, job: Job) -> bool:
        """Backfill: whether one that cannot start now makes no plan."""
        return False

    def _enough(self, reserved: dict[object, int], job: Job, part: str) -> bool:
        """Whether its partition, its array or the job itself holds as many reservations as it may."""
        c = self.c
        kept = ((part, c.bf_job_part_count_reserve), (("job", job.id), int(c.bf_one_resv_per_job)))
        if job.array >= 0:
            kept += ((("array", job.array), c.bf_max_job_array_resv),)
        return any(limit and reserved.get(key, 0) >= limit for key, limit in kept)

    def _floor(self, t: int) -> int:
        """Down to a multiple of bf_resolution in absolute (epoch) time."""
        res = self.c.bf_resolution
        return (t + self.c.origin) // res * res - self.c.origin

    def _backfill_one(
        self, now: int, job: Job, part: str, space: Space, now_only: bool, reserved: dict
    ) -> int:
        """Start the job, or plan it. Returns 1 if the select plugin was asked."""
        c = self.c
        limit = job.limit * 60
        asked = 0
        later = now
        while True:
            found = self.unreserved(now, job, part, max(later, self.not_before(job, part)))
            if found is None:
                return asked
            start_res, own, behind = found
            avail, later = space.available(own, start_res, max(start_res, now) + limit)
            later = min(filter(None, (later, behind)), default=0)
            if len(avail) < job.nodes:
                if later and not now_only:
                    continue
                return asked
            asked = 1
            avail = self.holding(job, part, avail)
            found = self.will_run(now, job, part, avail, now_only)
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
            if start <= now and not job.het:
                if self.start_planned(now, job, part, avail, space):
                    return asked
                start, later = self.after_a_limit(now, job, later), 0
                if start is None:
                    return asked
            self.het.note(job, start)
            if now_only and start > now:
                return asked
            if later and start > later:
                continue
            if not self.may_plan(job, part):
                return asked
            begin, end = self._floor(start), self._floor(start + limit)
            end = max(end, begin + c.bf_resolution)
            if start > now + c.bf_window:
                return asked
            forgoes = self.forgoes_plan(job)
            if space.made >= (c.bf_node_space_size or c.bf_max_job_test) and not forgoes:
                space.full = True
                return asked
            if start > now and space.overlaps(nodes, begin, end):
                if c.as_19_05 and self.retried == begin:
                    self.retried = None
                    return asked
                self.retried, later = begin, start
                continue
            if forgoes or self.het.deadlock(job, part, start):
                return asked
            for key in (part, ("job", job.id), ("array", job.array)):
                reserved[key] = reserved.get(key, 0) + 1
            if nodes - self.allocated():
                self.last_change = now  # an idle node is marked PLANNED
            space.reserve(nodes, begin, end)
            self.plans.append((now, job.id, start, frozenset(nodes)))
            return asked

    # ------------------------------------------------------------------ nodes

    def room(self) -> set[int]:
        """What the running jobs have left: here the nodes on which none runs."""
        return self.all_nodes - self.allocated()

    def leave(self, room: set[int], job: Job) -> None:
        """In this room the job has ended."""
        room |= job.where

    def chosen(self, room: set[int], job: Job, part: str, usable: set[int]) -> set[int] | None:
        """The usable nodes that the job would take, None if it does not fit."""
        idle = room & usable
        return best_fit(idle, job.nodes) if len(idle) >= job.nodes else None

    def start_on(self, now: int, job: Job, part: str, usable: set[int], by: str) -> bool:
        """Start the job on some of the usable nodes, if it fits."""
        nodes = self.chosen(self.room(), job, part, usable)
        if nodes is not None:
            self._launch(job, now, nodes, by)
        return nodes is not None

    def start_planned(self, now: int, job: Job, part: str, avail: set[int], space: Space) -> bool:
        """Start the job: its nodes are chosen anew, on all that it could be planned on but those completing.

        Later than 19.05 the plan knows of it in this cycle, if it has its nodes to itself: what is left of
        others can be promised.
        """
        if not self.start_on(now, job, part, avail - self.completing(now), "backfill"):
            return False
        full = space.made >= (self.c.bf_node_space_size or self.c.bf_max_job_test)
        if self.has_whole_nodes(job) and not self.c.as_19_05 and not full:
            begin = space.records[0].begin
            space.reserve(job.where, begin, max(self._floor(job.planned_end), begin + self.c.bf_resolution))
        return True

    def has_whole_nodes(self, job: Job) -> bool:
        """Whether a job that runs has its nodes to itself: here all have."""
        return True

    # ------------------------------------------------------------------ predicted starts

    def will_run(
        self, now: int, job: Job, part: str, avail: set[int], now_only: bool
    ) -> tuple[int, set[int]] | None:
        """When and where the job could run on `avail` if the running jobs end at their limits."""
        nodes = self.chosen(self.room(), job, part, avail)
        if nodes is not None:
            return now, nodes
        if now_only:
            return None
        running = sorted(self.who_leaves_by_itself(job, part), key=lambda j: j.planned_end)
        return self._first_window(now, job, part, avail, running)

    def who_leaves_by_itself(self, job: Job, part: str) -> list[Job]:
        """The running jobs for whose ends this job would wait."""
        return [other for other in self.seen if other.state == RUNNING]

    def room_to_come(self, job: Job, part: str) -> set[int]:
        """What is left by the running jobs for whose ends this job would wait."""
        return self.room()

    def _first_window(
        self, now: int, job: Job, part: str, avail: set[int], running: list[Job]
    ) -> tuple[int, set[int]] | None:
        """select/cons_tres: running jobs leave in groups; windows double, aligned on 30 s of the epoch."""
        room, window, barrier, i = self.room_to_come(job, part), 30, None, 0
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
                self.leave(room, other)
                if i < len(running) and running[i].planned_end > barrier + window:
                    break
            if last is None:
                return None
            window *= 2
            while i < len(running) and running[i].planned_end > barrier + window:
                window *= 2
            nodes = self.chosen(room, job, part, avail)
            if nodes is not None:
                start = last.planned_end
                if start <= now:
                    start = max(start + self.c.kill_wait + self.c.over_time_limit * 60, now + 1)
                return start, nodes
        return None
