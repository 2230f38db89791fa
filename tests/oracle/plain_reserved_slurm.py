"""Slurm's schedulers with advance reservations, in the plain model: who may use which nodes, and when.

Read in reservation.c (job_test_resv), job_scheduler.c, node_scheduler.c and backfill.c of 22.05.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.plain_limit_checks import REFUSED
from tests.oracle.plain_reservation_records import Reservation
from tests.oracle.plain_reservations import Reservations
from tests.oracle.plain_slurm_reasons import NOT_AVAILABLE, RESERVATION, RESOURCES
from tests.oracle.plain_slurm_records import TIMEOUT, Job
from tests.oracle.plain_slurm_space import best_fit

LOOK_S = 5  # from one look at starts and ends of reservations to the next
MOST_MOVES = 10  # of a job behind reservations of all its nodes


class ReservedSlurm(Reservations):
    """The controller: jobs run inside their reservations, and keep off those of others."""

    def __init__(self, *given: object, **named: object):
        super().__init__(*given, **named)
        self.last_look = self.c.daemon_start
        self.looked_at: Reservation | None = None  # in which the present record of the queue would run
        self.is_drawn = False  # into it: MAGNETIC

    # ------------------------------------------------------------------ the daemon's looks

    def _loop(self, now: int) -> None:
        if now > self.c.daemon_start and now - self.last_look >= LOOK_S:
            self.last_look = now
            self.look_at_reservations(now)
        super()._loop(now)

    def _kill_overdue(self, now: int) -> None:
        super()._kill_overdue(now)
        self._advance(now)
        for one in self.reservations:
            if one.end <= now and "FLEX" not in one.flags:
                for job in self._running_in(one):
                    if self.ends_with(job):
                        self._kill(job, now, TIMEOUT)
        self.check_reservations(now)

    def ends_with(self, job: Job) -> bool:
        """Whether a job that runs on ends by the look at its reservation."""
        return True

    def _submit(self, job: Job, now: int) -> None:
        self._advance(now)
        one = self.named(job.reservation)
        if job.reservation and (one is None or not self._is_accepted(job, one, now)):
            job.state = REFUSED
            self.by_id[job.id] = job
            self.jobs.remove(job)
            self.no_access.append(job)
            return
        if one is not None:
            self.claimed[job.id] = one
        super()._submit(job, now)
        if one is not None and self._test(job, now) and now < one.start and "FLEX" not in one.flags:
            self.waits_for(job, RESERVATION)

    def _is_accepted(self, job: Job, one: Reservation, now: int) -> bool:
        """Whether it has access, the reservation has not ended, and one that has begun has the nodes.

        Nodes that others take from it until the limit count as missing, unless they are all.
        """
        if not self.has_access(job, one) or (one.end < now and "FLEX" not in one.flags):
            return False
        self.looked_at = one
        part = job.partitions[0]
        found = self.allowed(job, set(self.c.partitions[part].nodes), now, now)
        if found is None:
            return True
        nodes, took = found
        return (took and not nodes) or self.could_have(job, part, nodes)

    def has_access(self, job: Job, one: Reservation) -> bool:
        return _is_listed(job.user, one.users) and _is_listed(job.account, one.accounts)

    # ------------------------------------------------------------------ the order

    def queue(self, now: int) -> Iterator[tuple[Job, str]]:
        """Records in reservations first; a job that magnetic ones draw has one of its own for each."""
        self._advance(now)
        drawn = [one for one in self.reservations if "MAGNETIC" in one.flags]
        records = []
        for job, part in super().queue(now):
            own = self.claimed.get(job.id)
            if own is None:
                records += [(job, part, one, True) for one in drawn if self.has_access(job, one)]
            records.append((job, part, own, False))
        records = [record for record in records if self._has_nodes_enough(*record[:3])]
        for job, part, one, is_drawn in self.in_order(records):
            if one is None or one in self.reservations:
                self.looked_at, self.is_drawn = one, is_drawn
                yield job, part
        self.looked_at, self.is_drawn = None, False

    def has_turn(self, job: Job) -> None:
        self.looked_at, self.is_drawn = self.claimed.get(job.id), False

    def in_order(
        self, records: list[tuple[Job, str, Reservation | None, bool]]
    ) -> list[tuple[Job, str, Reservation | None, bool]]:
        """Those in reservations first."""
        return sorted(records, key=lambda record: record[2] is None)

    def _has_nodes_enough(self, job: Job, part: str, one: Reservation | None) -> bool:
        if one is None or "ANY_NODES" in one.flags:
            return True
        return len(one.nodes & set(self.c.partitions[part].nodes)) >= job.nodes

    def _launch(self, job: Job, now: int, nodes: set[int], by: str) -> None:
        if self.looked_at is not None:
            self.claimed[job.id] = self.looked_at
        super()._launch(job, now, nodes, by)
        if self.looked_at is not None:
            self._exchange_nodes(self.looked_at, now)

    def _back_to_queue(self, job: Job, now: int) -> None:
        """One that a magnetic reservation drew is free of it."""
        if not job.reservation:
            self.claimed.pop(job.id, None)
        super()._back_to_queue(job, now)

    # ------------------------------------------------------------------ nodes at a time

    def allowed(self, job: Job, nodes: set[int], start: int, now: int) -> tuple[set[int], bool] | None:
        """Which of the nodes it may use from `start` to its limit, and whether a reservation took some.

        None: its reservation has not begun, or is over.
        """
        own, end = self.looked_at, start + job.limit * 60
        others = [one for one in self.reservations if one is not own and one.meets(start, end)]
        if own is not None:
            if "FLEX" not in own.flags and not own.start <= start <= own.end:
                return None
            if "FLEX" not in own.flags and "ANY_NODES" not in own.flags:
                nodes = nodes & own.nodes
            others = [one for one in others if _keeps_off(own, one)]
        taken = nodes & set().union(*(one.nodes for one in others))
        return nodes - taken, bool(taken)

    def covering(self, part: str, start: int, end: int) -> Reservation | None:
        """The first that leaves nothing for a job without one: of all nodes, or MAINT of its partition."""
        nodes = set(self.c.partitions[part].nodes)
        for one in self.reservations:
            whole = "ALL_NODES" in one.flags or ("PART_NODES" in one.flags and one.partition == part)
            if one.meets(start, end) and (whole or ("MAINT" in one.flags and nodes <= one.nodes)):
                return one
        return None

    def chosen(self, room: set[int], job: Job, part: str, usable: set[int]) -> set[int] | None:
        """With FLEX the reservation's nodes come first."""
        own, idle = self.looked_at, room & usable
        if own is None or "FLEX" not in own.flags or len(idle) < job.nodes:
            return super().chosen(room, job, part, usable)
        inside, outside = idle & own.nodes, idle - own.nodes
        if len(inside) >= job.nodes:
            return best_fit(inside, job.nodes)
        return inside | best_fit(outside, job.nodes - len(inside))

    # ------------------------------------------------------------------ main scheduler

    def main_pass(self, now: int, full: bool) -> None:
        self.failed: list[Reservation] = []  # in which a job waits for nodes
        super().main_pass(now, full)

    def is_passed_over(self, part: str, blocked: set[str]) -> bool:
        return self.looked_at in self.failed if self.looked_at else part in blocked

    def open_to(self, now: int, job: Job, part: str, nodes: set[int]) -> set[int]:
        if self.looked_at is None and self.covering(part, now, now + job.limit * 60):
            return set()
        found = self.allowed(job, nodes, now, now)
        return found[0] if found else set()

    def closed_by(self, now: int, job: Job, part: str, free: set[int], usable: set[int]) -> set[int]:
        """Main: the rest of the pass does without nodes of a reservation that cannot be used yet."""
        own = self.looked_at
        if own is None or job.nodes > len(free):
            return set()
        found = self.allowed(job, set(self.c.partitions[part].nodes), now, now)
        if found is None:
            return own.nodes if now < own.start else set()
        return own.nodes if found[1] and not self.could_have(job, part, found[0]) else set()

    def blocks_partition(self, now: int, job: Job, part: str, free: set[int], usable: set[int]) -> bool:
        """One that waits in a reservation blocks that alone; one whose nodes are reserved blocks none."""
        if job.nodes > len(free):
            return True
        busy = self.waits_for_jobs_on(now, job, part, usable)
        if self.looked_at is None:
            return busy
        if busy:
            self.failed.append(self.looked_at)
        return False

    def note_refusal(self, now: int, job: Job, part: str, usable: set[int]) -> None:
        """One whose nodes are reserved, though not all of them, is told so each time, which is a change."""
        if self.looked_at is not None:
            opened = self.allowed(job, set(self.c.partitions[part].nodes), now, now)
            could = opened is not None and self.could_have(job, part, opened[0])
            self.waits_for(job, RESOURCES if could else RESERVATION)
        elif self.covering(part, now, now + job.limit * 60):
            self.waits_for(job, NOT_AVAILABLE)
        elif self.waits_for_jobs_on(now, job, part, usable):
            self.waits_for(job, RESOURCES)
        else:
            self.waits_for(job, NOT_AVAILABLE)
            self.last_change = now

    def waits_for_jobs_on(self, now: int, job: Job, part: str, usable: set[int]) -> bool:
        """Whether it waits for those who have the nodes, and not for other nodes."""
        return bool(usable & (self.allocated() | self.completing(now)))

    def could_have(self, job: Job, part: str, nodes: set[int]) -> bool:
        """Whether the nodes would do, were they empty."""
        return len(nodes) >= job.nodes

    # ------------------------------------------------------------------ backfill

    def unreserved(self, now: int, job: Job, part: str, start: int) -> tuple[int, set[int], int] | None:
        """From when on which nodes it may be tried, and when else: a second behind the next end of any."""
        end_s = job.limit * 60
        if self.looked_at is None:
            for _ in range(MOST_MOVES + 1):
                whole = self.covering(part, start, start + end_s)
                if whole is None:
                    break
                start = whole.end
            else:
                return None
        found = self.allowed(job, set(self.c.partitions[part].nodes), start, now)
        if found is None:
            return None
        nodes, took = found
        ends = [one.end for one in self.reservations if one.end >= start]
        later = self._floor(min(ends) + self.c.bf_resolution - 1) + 1 if took and ends else 0
        return start, nodes, later if later < self._floor(now + self.c.bf_window) else 0

    def is_counted(self) -> bool:
        return not self.is_drawn

    def may_plan(self, job: Job, part: str) -> bool:
        return not self.is_drawn and super().may_plan(job, part)


def _keeps_off(own: Reservation, other: Reservation) -> bool:
    """Whether jobs of a reservation avoid another's nodes: not those of MAINT, of OVERLAP only MAINT's."""
    if "MAINT" in own.flags:
        return False
    return "OVERLAP" not in own.flags or "MAINT" in other.flags


def _is_listed(name: str, names: tuple[str, ...]) -> bool:
    """Names with a minus sign are all that may not."""
    if not names:
        return True
    return f"-{name}" not in names if names[0].startswith("-") else name in names
