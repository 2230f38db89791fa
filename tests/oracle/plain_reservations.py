"""Advance reservations of whole nodes in the plain model of Slurm: made, changed, deleted, moved on.

Read in reservation.c of 22.05. Left out: reservations of cores, of licences and of anything but nodes (so
ANY_NODES reserves nothing, and binds its jobs to a time), TIME_FLOAT, MaxStartDelay, and features.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from tests.oracle.plain_reservation_records import (
    DELETED,
    NODES_ARE_ALL,
    YEAR_S,
    Change,
    RefusedError,
    Request,
    Reservation,
)
from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import PENDING, RUNNING, Config, Job, Op

MOST_DELAY_S = 600  # so far in the past a start may lie
DAY_S, HOUR_S = 86400, 3600


class Reservations(Slurm):
    """The controller's list of reservations. The first partition is the default one."""

    def __init__(
        self, config: Config, jobs: list[Job], changes: list[Change], ops: list[Op] = (), **more: object
    ):
        super().__init__(config, jobs, [*ops, *changes], **more)
        self.reservations: list[Reservation] = []
        self.claimed: dict[int, Reservation] = {}  # by id of the job that names it, or runs in it
        self.deleted: set[int] = set()  # jobs held because theirs is gone
        self.no_access: list[Job] = []  # refused at submission
        self.answers: list[tuple[int, str, str]] = []  # second, name, what was said: "" is done

    # ------------------------------------------------------------------ what operators do

    def _operate(self, op: Op | Change, now: int) -> None:
        if isinstance(op, Op):
            super()._operate(op, now)
            return
        said = ""
        try:
            getattr(self, f"_{op.action}_reservation")(op.name, op.request, now)
            self.asks.append(now)
            self.last_change = now
        except RefusedError as error:
            said = str(error)
        self.answers.append((now, op.name, said))

    def named(self, name: str) -> Reservation | None:
        return next((one for one in self.reservations if one.name == name), None)

    def _create_reservation(self, name: str, asked: Request, now: int) -> None:
        start = now if asked.start is None else asked.start
        if start < now - MOST_DELAY_S:
            raise RefusedError("Invalid time specified")
        if not asked.users and not asked.accounts:
            raise RefusedError("No reservation specified: no users and no accounts")
        if self.named(name):
            raise RefusedError("Duplicate reservation name")
        end = asked.end
        if end is None:
            end = start + (YEAR_S if asked.duration is None else asked.duration * 60)
        made = Reservation(
            name,
            start,
            end,
            set(),
            asked.partition or next(iter(self.c.partitions)),
            asked.users,
            asked.accounts,
            set(asked.flags),
            asked.duration if asked.end is None else None,
            asked.nodes is not None,
            asked.purge_comp,
        )
        self._give_nodes(made, asked, now)
        self.reservations.append(made)

    def _give_nodes(self, made: Reservation, asked: Request, now: int) -> None:
        if asked.nodes is None and asked.node_count is None:
            if "ANY_NODES" not in made.flags:
                raise RefusedError("Invalid node specification")
        elif asked.nodes is None and "ANY_NODES" in made.flags:
            raise RefusedError("Requested reservation is invalid")
        elif asked.nodes is None:
            made.nodes = self._picked(made, asked.node_count, self._partition_of(made), now)
        else:
            made.nodes = self._named_nodes(made, asked.nodes)
            self._refuse_overlaps(made)
            if self._busy(made, made.start):
                raise RefusedError("Requested nodes are busy")

    def _named_nodes(self, made: Reservation, nodes: set[int] | str) -> set[int]:
        """The nodes of a list, of the partition (PART_NODES) or of the cluster (then it has ALL_NODES)."""
        made.by_name = True
        made.flags.discard("ALL_NODES")
        if nodes != NODES_ARE_ALL:
            return set(nodes)
        if "PART_NODES" in made.flags:
            return self._partition_of(made)
        made.flags.add("ALL_NODES")
        return set(self.all_nodes)

    def _partition_of(self, made: Reservation) -> set[int]:
        return set(self.c.partitions[made.partition].nodes)

    def _update_reservation(self, name: str, asked: Request, now: int) -> None:
        old = self.named(name)
        if old is None:
            raise RefusedError("Requested reservation is invalid")
        new = replace(old, nodes=set(old.nodes), flags=old.flags | set(asked.flags))
        new.users, new.accounts = asked.users or old.users, asked.accounts or old.accounts
        new.partition = asked.partition or old.partition
        self._move(new, asked, now)
        if asked.nodes is not None:
            new.nodes = self._named_nodes(new, asked.nodes)
        if asked.node_count is not None:
            new.flags.discard("ALL_NODES")
            self._resize(new, asked.node_count, now)
        self._refuse_overlaps(new)
        if self._busy(new, new.start):
            raise RefusedError("Requested nodes are busy")
        self.reservations[self.reservations.index(old)] = new
        self.claimed = {job: new if one is old else one for job, one in self.claimed.items()}

    def _move(self, new: Reservation, asked: Request, now: int) -> None:
        """Begin and end, as far as they are asked for."""
        if asked.start is not None:
            if new.start <= now:
                raise RefusedError("Reservation already started")
            if asked.start < now - 60:
                raise RefusedError("Invalid time specified")
            new.start = asked.start
            if new.duration is not None:
                new.end = new.start + new.duration * 60
        if asked.end is not None:
            if asked.end < now - 60:
                raise RefusedError("Invalid time specified")
            new.end, new.duration = asked.end, None
        if asked.duration is not None:
            new.duration = asked.duration
            new.end = max(now, new.start + asked.duration * 60)
        if new.start >= new.end:
            raise RefusedError("Invalid time specified")

    def _resize(self, new: Reservation, count: int, now: int) -> None:
        """Idle nodes go first; nodes that come are picked as for a new one."""
        fewer = len(new.nodes) - count
        if fewer < 0:
            new.nodes |= self._picked(new, -fewer, self._partition_of(new) - new.nodes, now)
            return
        idle = sorted(new.nodes - self.allocated() - self.completing(now))
        new.nodes -= set(idle[:fewer])
        new.nodes = set(sorted(new.nodes)[:count])

    def _delete_reservation(self, name: str, _: Request, now: int) -> None:
        old = self.named(name)
        if old is None:
            raise RefusedError("Requested reservation is invalid")
        if self._running_in(old):
            raise RefusedError("Requested reservation is in use")
        self._forget(old)

    def _forget(self, old: Reservation) -> None:
        """It is gone; jobs that wait for it are held, or have it no longer (NO_HOLD_JOBS_AFTER)."""
        self.reservations.remove(old)
        for job in self.seen:
            if self.claimed.get(job.id) is not old:
                continue
            del self.claimed[job.id]
            if job.state == PENDING and "NO_HOLD_JOBS_AFTER" not in old.flags:
                job.held = True
                self.deleted.add(job.id)

    def _running_in(self, one: Reservation) -> list[Job]:
        return [job for job in self.seen if job.state == RUNNING and self.claimed.get(job.id) is one]

    def ended_as(self, job: Job) -> str:
        """Its state as Slurm shows it."""
        return DELETED if job.state == PENDING and job.id in self.deleted else job.state

    # ------------------------------------------------------------------ which nodes it gets

    def _picked(self, made: Reservation, count: int, among: set[int], now: int) -> set[int]:
        """The lowest that are free of jobs and reservations then; MAINT and OVERLAP take reserved ones, too.

        More than there are is as many as there are.
        """
        kinds = [among - self._reserved_beside(made, now), *([among] if made.overlaps else [])]
        picked: set[int] = set()
        for kind in kinds:
            if count > len(picked) and kind - picked:
                picked |= self._picked_of_a_kind(made, count - len(picked), kind - picked)
        if not picked:
            raise RefusedError("Requested nodes are busy")
        return picked

    def _picked_of_a_kind(self, made: Reservation, count: int, kind: set[int]) -> set[int]:
        count = min(count, len(kind))
        ignores = "IGNORE_JOBS" in made.flags
        if ignores and count == len(kind):
            return set(kind)
        running = [job for job in self.seen if job.state == RUNNING and job.planned_end >= made.start]
        free = kind - set().union(*(job.where for job in running))
        for job in running if ignores else []:  # their nodes are taken job by job, until they suffice
            if len(free) >= count:
                break
            free |= job.where & kind
        return set(sorted(free)[:count]) if len(free) >= count else set()

    def _reserved_beside(self, made: Reservation, now: int) -> set[int]:
        others = (one for one in self.reservations if one.name != made.name)
        return set().union(*(one.nodes for one in others if _meet(made, one)))

    def _refuse_overlaps(self, made: Reservation) -> None:
        """Two meet on no node, unless one of them may."""
        for one in self.reservations:
            both = one.name != made.name and not one.overlaps and one.nodes & made.nodes
            if both and not made.overlaps and _meet(made, one):
                raise RefusedError("Requested reservation overlaps with another")

    def _busy(self, made: Reservation, start: int) -> bool:
        """Whether a job of others may run on its nodes beyond its start."""
        if "IGNORE_JOBS" in made.flags:
            return False
        for job in self.seen:
            own = job.id in self.claimed and self.claimed[job.id].name == made.name
            if job.state == RUNNING and not own and job.planned_end > start and job.where & made.nodes:
                return True
        return False

    # ------------------------------------------------------------------ as time goes by

    def _advance(self, now: int) -> None:
        """Repeated ones that have ended move to their next turn: any look that finds them ended does it."""
        for one in self.reservations:
            while one.repeats and one.end <= now:
                self._to_next_turn(one, now)

    def _to_next_turn(self, one: Reservation, now: int) -> None:
        step = HOUR_S if "HOURLY" in one.flags else self._days(one, now) * DAY_S
        one.start += step
        one.end += step
        one.begun = one.over = False
        one.idle_since = None

    def _days(self, one: Reservation, now: int) -> int:
        weekday = datetime.fromtimestamp(self.c.origin + now, UTC).isoweekday()  # Monday is 1
        if "DAILY" in one.flags:
            return 1
        if "WEEKDAY" in one.flags:
            return {5: 3, 6: 2}.get(weekday, 1)
        if "WEEKEND" in one.flags:
            return {6: 1, 7: 6}.get(weekday, 6 - weekday)
        return 7

    def look_at_reservations(self, now: int) -> None:
        """Every 5 s: main is asked for if one has begun; that nodes are reserved is a change."""
        for one in self.reservations:
            if one.start <= now < one.end:
                self.last_change = now
            if one.start <= now and not one.begun:
                one.begun = True
                self.asks.append(now)
            if one.end <= now:
                one.over = True

    def check_reservations(self, now: int) -> None:
        """With the look at time limits: those that have ended, or are used no more, go."""
        for one in list(self.reservations):
            jobs = [job for job in self.seen if self.claimed.get(job.id) is one]
            running = any(job.state == RUNNING for job in jobs)
            if one.start <= now:
                used = running or any(job.state == PENDING for job in jobs)
                one.idle_since = None if used else now if one.idle_since is None else one.idle_since
            if self._is_purged(one, now):
                self._end_early(one, now)
            elif one.end >= now:
                self._exchange_nodes(one, now)
            elif one.begun and one.over and one.repeats:
                self._advance(now)
            elif one.begun and one.over and (not running or "FLEX" in one.flags):
                self._forget(one)
                self.last_change = now

    def _is_purged(self, one: Reservation, now: int) -> bool:
        purges = "PURGE_COMP" in one.flags and one.idle_since is not None
        return purges and one.end > now and now - one.idle_since >= one.purge_comp

    def _end_early(self, one: Reservation, now: int) -> None:
        if not one.repeats:
            self._forget(one)
        elif one.start <= now:
            self._to_next_turn(one, now)
        self.last_change = now

    def _exchange_nodes(self, one: Reservation, now: int) -> None:
        """REPLACE: for nodes that jobs have taken it gets others; for half of them, if not for all.

        REPLACE_DOWN does it for nodes that are down, of which there are none here.
        """
        if "REPLACE" not in one.flags or one.by_name or "STATIC_ALLOC" in one.flags:
            return
        kept = one.nodes - self.allocated() - self.completing(now)
        taken = sorted(one.nodes - kept)
        count = len(taken)
        while count:
            try:
                came = self._picked(one, count, self._partition_of(one) - one.nodes, now)
            except RefusedError:
                count //= 2
                continue
            one.nodes = kept | came | set(taken[: max(0, len(taken) - len(came))])
            break
        self.last_change = now


def _meet(one: Reservation, other: Reservation) -> bool:
    """Whether they stand at the same time, those HOURLY and DAILY at any time within a week."""
    mine, theirs = _turns(one), _turns(other)
    return any(a < d and c < b for a, b in mine for c, d in theirs)


def _turns(one: Reservation) -> list[tuple[int, int]]:
    step, turns = 0, 1
    if "HOURLY" in one.flags:
        step, turns = HOUR_S, 7 * 24
    elif "DAILY" in one.flags:
        step, turns = DAY_S, 7
    return [(one.start + i * step, one.end + i * step) for i in range(turns)]
