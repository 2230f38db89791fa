"""The plain model of Slurm with nodes that jobs share: its two schedulers asking select/cons_tres.

The clock, the queue and the plan of backfill are those of plain_slurm; the plan holds whole nodes here too.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.oracle.plain_cons_tres import fits, place
from tests.oracle.plain_cons_tres_needs import Needs, needs_of
from tests.oracle.plain_cons_tres_records import Node, Settings, SharedJob
from tests.oracle.plain_cons_tres_room import Room, Tenant
from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import RUNNING, Config, Op
from tests.oracle.plain_slurm_space import Space


class SharedSlurm(Slurm):
    """The partitions of `config` are SharedPartitions, the jobs SharedJobs, none of them heterogeneous."""

    def __init__(
        self,
        config: Config,
        jobs: list[SharedJob],
        ops: list[Op] = (),
        *,
        nodes: Sequence[Node],
        settings: Settings,
        **clock: float,
    ):
        super().__init__(config, jobs, ops, **clock)
        self.machine, self.settings = nodes, settings
        for job in jobs:
            job.nodes = self.needs(job, job.partitions[0]).min_nodes

    def needs(self, job: SharedJob, part: str) -> Needs:
        return needs_of(job.ask, self.c.partitions[part], self.settings)

    def tenant(self, job: SharedJob) -> Tenant:
        part = self.c.partitions[job.part]
        return Tenant(job.id, job.shares, part, self.needs(job, job.part).kind)

    def room(self) -> Room:
        running = [self.tenant(job) for job in self.seen if job.state == RUNNING]
        return Room(self.machine, self.settings, running)

    def leave(self, room: Room, job: SharedJob) -> None:
        room.leave(job.id)

    def chosen(self, room: Room, job: SharedJob, part: str, usable: set[int]) -> set[int] | None:
        offers = fits(room, self.needs(job, part), usable)
        return None if offers is None else set(offers)

    def start_on(self, now: int, job: SharedJob, part: str, usable: set[int], by: str) -> bool:
        needs = self.needs(job, part)
        shares = place(self.room(), needs, usable)
        if shares is None:
            return False
        job.shares, job.part, job.whole = shares, part, needs.whole
        self._launch(job, now, set(shares), by)
        return True

    def start_planned(
        self, now: int, job: SharedJob, part: str, nodes: set[int], avail: set[int], space: Space
    ) -> bool:
        """The choice is made anew, on all nodes that it could be planned on but those still completing.

        Only if it has its nodes to itself does the plan know of it in this cycle: what is left of the others
        can be promised.
        """
        if not self.start_on(now, job, part, avail - self.completing(now), "backfill"):
            return False
        if job.whole:
            space.reserve(job.where, space.records[0].begin, self._floor(job.planned_end))
        return True
