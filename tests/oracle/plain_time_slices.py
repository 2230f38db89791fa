"""Gang scheduling where jobs share nodes, in the plain model of Slurm: time slices, and suspension by tiers.

Read in gang.c and cons_common's job_test.c of 22.05, with cores as the resource of which turns are taken. A
list of jobs is kept for each partition, and of those of higher tiers that are at work, which cast a shadow on
it. Where Slurm removes a job once its nodes are cleaned up, it goes here as it ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle.plain_cons_tres_records import Node, SharedJob, SharedPartition
from tests.oracle.plain_cons_tres_room import Room
from tests.oracle.plain_cons_tres_slurm import SharedSlurm
from tests.oracle.plain_preemption_shared import PreemptingSharedSlurm
from tests.oracle.plain_slurm_records import RUNNING, TIMEOUT, Job

Cores = dict[int, frozenset[int]]  # of nodes


@dataclass(eq=False)
class Member:
    """A job on a list: whether it is at work, as its turn has come or as a filler."""

    job: SharedJob
    row: str = ""  # "active", "filler"


@dataclass(eq=False)
class Gang:
    """A partition: its jobs in the order of their turns, and what those at work have of nodes."""

    part: SharedPartition
    jobs: list[Member] = field(default_factory=list)
    shadows: list[Member] = field(default_factory=list)
    had: Cores = field(default_factory=dict)
    active: int = 0


class Slicing(SharedSlurm):
    """What gang scheduling adds to a controller whose jobs share nodes."""

    slice_s = 30

    def prepare(self, slice_s: int, nodes: list[Node]) -> None:
        """By tiers, the highest first."""
        self.slice_s, self.node_list = slice_s, nodes
        parts = sorted(self.c.partitions.values(), key=lambda part: (-part.tier, part.place))
        self.gangs = [Gang(part) for part in parts]
        self.spans: list[tuple[int, int, int]] = []  # id, from when, until when
        self.suspended: set[int] = set()
        self.looks: set[int] = set()  # that found a job past its time, if only a suspended one

    def _tick(self, now: int) -> None:
        super()._tick(now)
        assert are_apart(self)

    # ------------------------------------------------------------------ starts, ends, slices

    def _launch(self, job: SharedJob, now: int, nodes: set[int], by: str) -> None:
        super()._launch(job, now, nodes, by)
        gang, member = self._gang_of(job), Member(job)
        gang.jobs.append(member)
        if self._fits(gang, member):
            self._add(gang, member)
            member.row = "filler"
            self._cast(gang, member)
            self._update_all(now)
        else:
            self._suspend(member, now)

    def _finish(self, job: SharedJob, now: int) -> None:
        """What goes on and has nothing left to do ends with the one that made way for it."""
        super()._finish(job, now)
        suspended = [one for one in self.seen if one.state == RUNNING and one.paused_since is not None]
        self._gone(job, now)
        late = self._end_phase(job) == 2
        for one in suspended:
            if self._is_done(one, now) and (self._end_phase(one) == 2) == late:
                self._finish(one, now)

    def _ends_in(self, job: Job, phase: int) -> bool:
        """One that goes on late in a second, and has nothing left to do, ends in the next."""
        return self._end_phase(job) == 2 if phase == 2 else super()._ends_in(job, phase)

    @property
    def is_unclear(self) -> bool:
        """Whether a job ended in the second of such a look: which is first there is a matter of chance."""
        return any(job.end in self.looks and job.state != TIMEOUT for job in self.seen)

    def _kill(self, job: SharedJob, now: int, state: str) -> None:
        super()._kill(job, now, state)
        self._gone(job, now)

    def _gone(self, job: SharedJob, now: int) -> None:
        if job.paused_since is not None:
            self._end_span(job, now)
        gang = self._gang_of(job)
        member = next(one for one in gang.jobs if one.job is job)
        self._uncast(member)
        gang.jobs.remove(member)
        self._update_all(now)

    def _back_to_queue(self, job: SharedJob, now: int) -> None:
        super()._back_to_queue(job, now)
        job.paused, job.paused_since = 0, None

    def _clean_up(self, now: int) -> None:
        """A slice ends before the passes of its second, and behind a look for jobs past their limit."""
        super()._clean_up(now)
        since = now - self.c.daemon_start
        if since > 0 and since % self.slice_s == 0:
            if now - self.last_limit >= self.c.time_limit_period:
                self.last_limit = now
                self._kill_overdue(now)
            for gang in self.gangs:
                if gang.jobs and gang.active < len(gang.jobs) + len(gang.shadows):
                    self._cycle(gang, now)

    def end_overdue(self, job: Job, now: int) -> None:
        """What is suspended does not time out."""
        self.looks.add(now)
        if job.paused_since is None:
            super().end_overdue(job, now)

    def _gang_of(self, job: SharedJob) -> Gang:
        return next(gang for gang in self.gangs if gang.part.name == job.part)

    # ------------------------------------------------------------------ cores of those at work

    def _cores(self, job: SharedJob) -> Cores:
        """On sockets that are given out whole, all of them."""
        found = {node: share.cores for node, share in job.shares.items()}
        if not self.settings.whole_sockets:
            return found
        return {node: self._of_sockets(node, cores) for node, cores in found.items()}

    def _of_sockets(self, node: int, cores: frozenset[int]) -> frozenset[int]:
        each = self.node_list[node].cores
        return frozenset(
            socket * each + i for socket in {core // each for core in cores} for i in range(each)
        )

    def _fits(self, gang: Gang, member: Member) -> bool:
        had = gang.had if gang.active else {}
        shares = member.job.shares.items()
        return not any(share.cores & had.get(node, frozenset()) for node, share in shares)

    def _add(self, gang: Gang, member: Member) -> None:
        if not gang.active:
            gang.had = {}
        for node, cores in self._cores(member.job).items():
            gang.had[node] = gang.had.get(node, frozenset()) | cores
        gang.active += 1

    def _cast(self, gang: Gang, member: Member) -> None:
        for other in self.gangs:
            if other.part.tier < gang.part.tier and member not in other.shadows:
                other.shadows.append(member)

    def _uncast(self, member: Member) -> None:
        for gang in self.gangs:
            if member in gang.shadows:
                gang.shadows.remove(member)

    # ------------------------------------------------------------------ who works

    def _update_all(self, now: int) -> None:
        for gang in self.gangs:
            self._begin(gang)
            for state in ("active", "filler"):
                for member in [one for one in gang.jobs if one.row == state]:
                    if self._fits(gang, member):
                        self._add(gang, member)
                        self._cast(gang, member)
                    else:
                        self._suspend(member, now)
                        self._uncast(member)
                        member.row = ""
            for member in [one for one in gang.jobs if not one.row]:
                if self._fits(gang, member):
                    self._add(gang, member)
                    self._cast(gang, member)
                    member.row = "filler"
                    self._resume(member, now)

    def _begin(self, gang: Gang) -> None:
        gang.active = 0
        for shadow in gang.shadows if gang.jobs else []:
            self._add(gang, shadow)

    def _cycle(self, gang: Gang, now: int) -> None:
        had_a_turn = [one for one in gang.jobs if one.row == "active"]
        gang.jobs = [one for one in gang.jobs if one.row != "active"] + had_a_turn
        for member in gang.jobs:
            member.row = ""
        self._begin(gang)
        for member in gang.jobs:
            if self._fits(gang, member):
                self._add(gang, member)
                member.row = "active"
        for member in [one for one in gang.jobs if not one.row and one.job.paused_since is None]:
            self._suspend(member, now)
            self._uncast(member)
        for member in [one for one in gang.jobs if one.row and one.job.paused_since is not None]:
            self._resume(member, now)
            self._cast(gang, member)

    def _suspend(self, member: Member, now: int) -> None:
        member.job.paused_since = now
        self.suspended.add(member.job.id)
        self.last_change = now

    def _resume(self, member: Member, now: int) -> None:
        job = member.job
        if job.paused_since is None:
            return
        self._end_span(job, now)
        self.last_change = now

    def _end_span(self, job: SharedJob, now: int) -> None:
        if now > job.paused_since:
            self.spans.append((job.id, job.paused_since, now))
        job.paused += now - job.paused_since
        job.paused_since = None


class SlicingSlurm(Slicing):
    """The controller with time slices alone: PreemptMode=GANG with preempt/none."""


class SuspendingSharedSlurm(Slicing, PreemptingSharedSlurm):
    """The controller with PreemptMode=SUSPEND,GANG by partitions."""

    def leave(self, room: Room, job: SharedJob) -> None:
        """Who would make way leaves its cores alone."""
        if job in self.away:
            room.leave_cores(job.id)
        else:
            super().leave(room, job)


def are_apart(slurm: Slicing) -> bool:
    """Whether no two jobs of a partition are at work on a core."""
    for gang in slurm.gangs:
        at_work = [one.job for one in gang.jobs if one.job.state == RUNNING and one.job.paused_since is None]
        for i, one in enumerate(at_work):
            for other in at_work[:i]:
                both = one.shares.keys() & other.shares.keys()
                if any(one.shares[node].cores & other.shares[node].cores for node in both):
                    return False
    return True
