"""The plain model of Slurm with nodes that jobs share: its two schedulers asking select/cons_tres.

The clock, the queue and the plan of backfill are those of plain_slurm; the plan holds whole nodes here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.oracle.plain_cons_tres import fits, place
from tests.oracle.plain_cons_tres_deal import cpus_to_deal
from tests.oracle.plain_cons_tres_needs import AVAILABLE, ONE_ROW, Needs, needs_of
from tests.oracle.plain_cons_tres_records import Node, Settings, SharedJob
from tests.oracle.plain_cons_tres_room import Room
from tests.oracle.plain_cons_tres_rows import Tenant
from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import Config, Op


class SharedSlurm(Slurm):
    """The partitions of `config` are SharedPartitions, the jobs SharedJobs."""

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
        self.present = Room(nodes, settings)
        for job in jobs:
            job.nodes = self.needs(job, job.partitions[0]).min_nodes

    def needs(self, job: SharedJob, part: str) -> Needs:
        return needs_of(job.ask, self.c.partitions[part], self.settings)

    def room(self) -> Room:
        return self.present.copy()

    def enter(self, job: SharedJob) -> None:
        """From now on it has its shares."""
        needs = self.needs(job, job.part)
        cpus = cpus_to_deal(needs, len(job.shares))
        self.present.join(Tenant(job.id, job.shares, needs.part, needs.kind, cpus))

    def leave(self, room: Room, job: SharedJob) -> None:
        room.leave(job.id)

    def chosen(self, room: Room, job: SharedJob, part: str, usable: set[int]) -> set[int] | None:
        offers = fits(room, self.needs(job, part), usable)
        return None if offers is None else set(offers)

    def will_run(
        self, now: int, job: SharedJob, part: str, avail: set[int], now_only: bool
    ) -> tuple[int, set[int]] | None:
        """Who asks to share cores is first tried on cores of its own, now (`_try_sched` of backfill.c)."""
        needs = self.needs(job, part)
        if needs.kind == AVAILABLE and needs.part.oversubscribe.startswith("YES"):
            offers = fits(self.room(), replace(needs, kind=ONE_ROW), avail)
            if offers is not None:
                return now, set(offers)
        return super().will_run(now, job, part, avail, now_only)

    def holding(self, job: SharedJob, part: str, nodes: set[int]) -> set[int]:
        """Those with CPUs and memory enough, whatever is given out (`job_req_node_filter`)."""
        needs = self.needs(job, part)
        memory = needs.memory * (needs.node_cpus if needs.per_cpu else 1)
        return {
            n for n in nodes if self.machine[n].cpus >= needs.node_cpus and self.machine[n].memory >= memory
        }

    def start_on(self, now: int, job: SharedJob, part: str, usable: set[int], by: str) -> bool:
        needs = self.needs(job, part)
        shares = place(self.room(), needs, usable)
        if shares is None:
            return False
        job.shares, job.part, job.whole = shares, part, needs.whole
        self.enter(job)
        self._launch(job, now, set(shares), by)
        return True

    def _finish(self, job: SharedJob, now: int) -> None:
        super()._finish(job, now)
        self._leave_present(job)

    def _kill(self, job: SharedJob, now: int, state: str) -> None:
        super()._kill(job, now, state)
        self._leave_present(job)

    def _leave_present(self, job: SharedJob) -> None:
        """The rows are made anew after each."""
        if job.part:
            self.present.leave(job.id)
            self.present.rows(self.c.partitions[job.part])

    def could_have(self, job: SharedJob, part: str, nodes: set[int]) -> bool:
        """Whether the job would fit on these nodes, were they empty."""
        return fits(Room(self.machine, self.settings), self.needs(job, part), nodes) is not None

    def blocks_partition(self, now: int, job: SharedJob, part: str, free: set[int], usable: set[int]) -> bool:
        """Not one that never fits there: it has other partitions."""
        return self.could_have(job, part, set(self.c.partitions[part].nodes))

    def has_whole_nodes(self, job: SharedJob) -> bool:
        return job.whole
