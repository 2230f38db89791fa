"""Preemption in the plain model beside other rules of a site: advance reservations, and nodes that go.

Read in job_scheduler.c (sort_job_queue2), node_scheduler.c and job_mgr.c (job_time_limit) of 22.05.
"""

from __future__ import annotations

from functools import cmp_to_key

from tests.oracle.plain_gang import GangSlurm
from tests.oracle.plain_outages import SlurmWithOutages
from tests.oracle.plain_preemption import PreemptingSlurm
from tests.oracle.plain_preemption_records import OFF
from tests.oracle.plain_preemption_shared import PreemptingSharedSlurm
from tests.oracle.plain_reservation_records import Reservation
from tests.oracle.plain_reserved_shared_slurm import ReservedSharedSlurm
from tests.oracle.plain_reserved_slurm import ReservedSlurm
from tests.oracle.plain_slurm_records import Job

Entry = tuple[Job, str, Reservation | None, bool]


class PreemptingReservedSlurm(ReservedSlurm, PreemptingSlurm):
    """The controller with advance reservations, which take nodes from those who preempt as from others."""

    def in_order(self, records: list[Entry]) -> list[Entry]:
        """Whose job may preempt the other's comes first, then those in reservations."""
        records = super().in_order(records)
        if self.p.mode == OFF:
            return records
        places = {id(record): place for place, record in enumerate(records)}

        def order(one: Entry, other: Entry) -> int:
            first = self.may_preempt(*other[:2], *one[:2]) - self.may_preempt(*one[:2], *other[:2])
            return first or places[id(one)] - places[id(other)]

        return sorted(records, key=cmp_to_key(order))

    def ends_with(self, job: Job) -> bool:
        """One in grace is looked at for that alone."""
        return job.grace_end is None


class PreemptingReservedSharedSlurm(ReservedSharedSlurm, PreemptingReservedSlurm, PreemptingSharedSlurm):
    """... where jobs share nodes."""


class PreemptingSlurmWithOutages(SlurmWithOutages, PreemptingSlurm):
    """The controller with nodes that go out of service, with or without those who run there."""


class PreemptingSharedSlurmWithOutages(SlurmWithOutages, PreemptingSharedSlurm):
    """... where jobs share nodes."""


class GangSlurmWithOutages(SlurmWithOutages, GangSlurm):
    """... where jobs are suspended: those that are end with the others."""
