"""Slurm's schedulers with advance reservations of nodes that jobs share, in the plain model.

A reservation takes whole nodes away, and its jobs share those that it has. Read in node_scheduler.c
(_pick_best_nodes), job_scheduler.c and backfill.c of 22.05; reservations of cores are left out.
"""

from __future__ import annotations

from tests.oracle.plain_cons_tres_needs import AVAILABLE, Needs
from tests.oracle.plain_cons_tres_records import SharedJob
from tests.oracle.plain_cons_tres_room import Room
from tests.oracle.plain_cons_tres_slurm import SharedSlurm
from tests.oracle.plain_reserved_slurm import ReservedSlurm
from tests.oracle.plain_slurm_records import RUNNING


class ReservedSharedSlurm(ReservedSlurm, SharedSlurm):
    """The controller: reservations of the one model, shares of nodes of the other."""

    def room(self) -> Room:
        """With FLEX the reservation's nodes come first."""
        room, own = super().room(), self.looked_at
        if own is not None and "FLEX" in own.flags:
            room.last = frozenset(self.all_nodes - own.nodes)
        return room

    def chosen(self, room: Room, job: SharedJob, part: str, usable: set[int]) -> set[int] | None:
        return SharedSlurm.chosen(self, room, job, part, usable)

    def could_have(self, job: SharedJob, part: str, nodes: set[int]) -> bool:
        return SharedSlurm.could_have(self, job, part, nodes)

    def blocks_partition(self, now: int, job: SharedJob, part: str, free: set[int], usable: set[int]) -> bool:
        """One that its reservation never holds blocks nobody, nor one that its partition never holds."""
        nodes = set(self.c.partitions[part].nodes)
        if self.looked_at is not None:
            found = self.allowed(job, nodes, now, now)
            nodes = found[0] if found else set()
        if job.nodes <= len(free) and not self.could_have(job, part, nodes):
            return False
        return super().blocks_partition(now, job, part, free, usable)

    def waits_for_jobs_on(self, now: int, job: SharedJob, part: str, usable: set[int]) -> bool:
        """Nodes may be out of the question for now; else those that are not would do, were they empty."""
        needs, out = self.needs(job, part), self.completing(now)
        if _is_alone(needs):
            out |= self.allocated()
        for other in self.seen:
            if other.state == RUNNING and _is_alone(self.needs(other, other.part)):
                out |= other.where
        if any(self._is_large_enough(needs, node) for node in out & usable):
            return True
        return self.could_have(job, part, usable)

    def _is_large_enough(self, needs: Needs, node: int) -> bool:
        """Whether a node has what each must have (_build_node_list)."""
        it, memory = self.machine[node], self.settings.memory and not needs.gpu_memory
        return needs.node_cpus <= it.cpus and (not memory or needs.memory <= it.memory)


def _is_alone(needs: Needs) -> bool:
    """Whether a job has its nodes to itself; not where cores are shared by force (_resolve_shared_status)."""
    return needs.whole and needs.kind != AVAILABLE
