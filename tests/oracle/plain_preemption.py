"""Slurm's preemption in the plain model: who may preempt whom, which are chosen, what becomes of them.

Read in preempt.c, preempt_partition_prio.c, preempt_qos.c, node_scheduler.c and cons_common's job_test.c of
22.05. Nodes are whole; jobs of a partition have their nodes to themselves (OverSubscribe=EXCLUSIVE, or
FORCE:1 where jobs are suspended).
"""

from __future__ import annotations

from functools import cmp_to_key

from tests.oracle.plain_preemption_records import (
    CANCEL,
    OFF,
    PREEMPTED,
    QOS,
    REQUEUE,
    Ended,
    Preemptable,
    PreemptQos,
    PreemptRules,
)
from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import RUNNING, Config, Job, Op


class PreemptingSlurm(Slurm):
    """The controller with preemption; `runs` are those that are over."""

    def __init__(self, config: Config, jobs: list[Job], ops: list[Op], rules: PreemptRules, **more: object):
        super().__init__(config, jobs, ops, **more)
        self.p = rules
        self.runs: list[Ended] = []
        self.preempted_for: dict[int, int] = {}  # when jobs were preempted for a job
        self.in_progress: set[int] = set()  # those for which this pass has done so
        self.away: list[Job] = []  # whom backfill's test thinks away at first

    # ------------------------------------------------------------------ who may preempt whom

    def may_preempt(self, job: Job, part: str, other: Job, other_part: str) -> bool:
        if self.p.kind == QOS:
            return self._qos_may_preempt(job, part, other, other_part)
        parts = self.c.partitions
        if not set(parts[part].nodes) & set(parts[other_part].nodes):
            return False
        return parts[part].tier > parts[other_part].tier

    def _qos_may_preempt(self, job: Job, part: str, other: Job, other_part: str) -> bool:
        mine, theirs = self.qos_of(job), self.qos_of(other)
        if mine is theirs:
            mine_is_higher = self._priority(job, part) > self._priority(other, other_part)
            return mine.within and mine_is_higher
        return other.qos in mine.preempts

    def _priority(self, job: Job, part: str) -> int:
        return job.part_priority.get(part, job.priority)

    def qos_of(self, job: Job) -> PreemptQos:
        return self.p.qos.setdefault(job.qos, PreemptQos())

    def as_victim(self, job: Job) -> Preemptable:
        if self.p.kind == QOS:
            return self.qos_of(job)
        return self.p.partitions.get(job.part, Preemptable())

    def mode(self, job: Job) -> str:
        return self.as_victim(job).mode or self.p.mode

    def candidates(self, now: int, job: Job, part: str) -> list[Job]:
        """Who might be preempted for a job, in the order in which it is tried."""
        if self.p.mode == OFF:
            return []
        own = set(self.c.partitions[part].nodes)
        found = [
            other
            for other in sorted(self.seen, key=lambda other: other.id)
            if other.state == RUNNING
            and other.where & own
            and self.mode(other) != OFF
            and self.may_preempt(job, part, other, other.part)
            and not self._is_exempt(now, other)
        ]
        if self.p.youngest_first:
            return sorted(found, key=lambda other: -other.start)
        return sorted(found, key=self._rank)

    def _is_exempt(self, now: int, job: Job) -> bool:
        own = self.qos_of(job).exempt
        return now < job.start + (self.p.exempt if own is None else own)

    def _rank(self, job: Job) -> tuple[int, int]:
        if self.p.kind == QOS:
            return min(self.qos_of(job).priority, 0xFFFF), len(job.where)
        return self.c.partitions[job.part].tier, len(job.where)

    def queue(self, now: int) -> list[tuple[Job, str]]:
        """Whose job may preempt the other's comes first."""
        self.in_progress.clear()
        records = list(super().queue(now))

        def order(one: tuple[Job, str], other: tuple[Job, str]) -> int:
            return self.may_preempt(*other, *one) - self.may_preempt(*one, *other)

        if self.p.mode == OFF or self.p.kind != QOS:
            return records  # by tier already
        keys = {id(record): place for place, record in enumerate(records)}
        return sorted(records, key=cmp_to_key(lambda a, b: order(a, b) or keys[id(a)] - keys[id(b)]))

    # ------------------------------------------------------------------ which

    def start_on(self, now: int, job: Job, part: str, usable: set[int], by: str) -> bool:
        """Start it; else preempt what is in its way, so that it starts later."""
        nodes = self.chosen(self.room(), job, part, usable)
        if nodes is not None:
            job.part = part
            self._launch(job, now, nodes, by)
            return True
        self.make_room(now, job, part, usable)
        return False

    def make_room(self, now: int, job: Job, part: str, usable: set[int]) -> None:
        if job.id not in self.in_progress:
            victims = self.victims(now, job, part, usable)
            if victims:
                self._preempt(now, job, victims)

    def has_whole_nodes(self, job: Job) -> bool:
        """What might be preempted is not entered in the plan."""
        return super().has_whole_nodes(job) and OFF in (self.p.mode, self.mode(job))

    def removable(self, now: int, job: Job, part: str) -> list[Job]:
        return [other for other in self.candidates(now, job, part) if self.mode(other) in (REQUEUE, CANCEL)]

    def victims(self, now: int, job: Job, part: str, usable: set[int]) -> list[Job]:
        """One after the other is thought away; then those that gave most nodes are tried first."""
        order = self.removable(now, job, part)
        for again in range(self.p.reorder_count + 2):
            found = self._until_it_fits(job, part, usable, order)
            if found is None:
                return []
            last, nodes = found
            if again > self.p.reorder_count or len(order) <= again + 1:
                return [other for other in order[: last + 1] if other.where & nodes]
            if self.p.strict_order:
                order.insert(0, order.pop(last))
            else:
                gives = [len(other.where & nodes) for other in order[:last]]
                gives += [99_999] + [0] * (len(order) - last - 1)
                places = sorted(range(len(order)), key=lambda place: -gives[place])
                order = [order[place] for place in places]
        raise AssertionError

    def _until_it_fits(
        self, job: Job, part: str, usable: set[int], order: list[Job]
    ) -> tuple[int, set[int]] | None:
        room = self.room()
        for place, other in enumerate(order):
            if not other.where & usable:
                continue
            self.leave(room, other)
            nodes = self.chosen(room, job, part, usable)
            if nodes is not None:
                return place, nodes
        return None

    # ------------------------------------------------------------------ what becomes of them

    def _preempt(self, now: int, job: Job, victims: list[Job]) -> None:
        """Again for the same job only when KillWait and MessageTimeout are over."""
        before = self.preempted_for.get(job.id)
        if before is not None and before > now - self.c.kill_wait - self.p.message_timeout:
            return
        for other in victims:
            self._preempt_one(now, other)
        self.preempted_for[job.id] = now
        self.in_progress.add(job.id)

    def _preempt_one(self, now: int, job: Job) -> None:
        """Its grace begins; or it is over, or there is none."""
        grace = self.as_victim(job).grace
        if job.grace_end is None:
            job.grace_end = min(job.planned_end, now + grace)
            if grace:
                return
        if now >= job.planned_end:
            self._end_preempted(job, now)

    def _end_preempted(self, job: Job, now: int) -> None:
        self._kill(job, now, PREEMPTED)
        if self.mode(job) == REQUEUE and job.requeue:
            job.requeue_at = job.released

    def end_overdue(self, job: Job, now: int) -> None:
        """The check of time limits: one in grace is preempted, whoever still needs its nodes."""
        if job.grace_end is None:
            super().end_overdue(job, now)
        else:
            self._end_preempted(job, now)

    def _kill(self, job: Job, now: int, state: str) -> None:
        super()._kill(job, now, state)
        self._note_run(job)

    def _finish(self, job: Job, now: int) -> None:
        super()._finish(job, now)
        self._note_run(job)

    def _note_run(self, job: Job) -> None:
        self.runs.append(Ended(job.id, job.start, job.end, frozenset(job.where), job.state))

    def _back_to_queue(self, job: Job, now: int) -> None:
        super()._back_to_queue(job, now)
        job.grace_end, job.paused, job.paused_since = None, 0, None
        self._weigh_requeued(job, now)

    def _weigh_requeued(self, job: Job, now: int) -> None:
        """By factors anew, its age from 0; in order of submission it keeps its place."""
        if self.c.multifactor:
            self._weigh(job, now)

    def _over(self) -> bool:
        return super()._over() and all(job.requeue_at is None for job in self.seen)

    # ------------------------------------------------------------------ backfill's tests

    def will_run(
        self, now: int, job: Job, part: str, avail: set[int], now_only: bool
    ) -> tuple[int, set[int]] | None:
        """With all that may be preempted gone it can start now, as backfill sees it."""
        self.away = [other for other in self.candidates(now, job, part) if other.where & avail]
        if self.away and self.chosen(self.room(), job, part, avail) is None:
            nodes = self.chosen(self.room_to_come(job, part), job, part, avail)
            if nodes is not None:
                return now, nodes
        return super().will_run(now, job, part, avail, now_only)

    def room_to_come(self, job: Job, part: str) -> set[int]:
        room = self.room()
        for other in self.away:
            self.leave(room, other)
        return room

    def who_leaves_by_itself(self, job: Job, part: str) -> list[Job]:
        return [other for other in super().who_leaves_by_itself(job, part) if other not in self.away]
