"""Topology in the plain model beside other rules of a site: preemption, and limits of numbers of nodes.

Read in cons_common/job_test.c (a choice on too many leaves fails every test, also with candidates thought
away) and node_scheduler.c (weights of nodes that count for limits) of 22.05.
"""

from __future__ import annotations

from tests.oracle.plain_cons_tres_slurm import SharedSlurm
from tests.oracle.plain_limited_slurm import LimitedSlurm
from tests.oracle.plain_preemption import PreemptingSlurm
from tests.oracle.plain_preemption_shared import PreemptingSharedSlurm
from tests.oracle.plain_slurm_records import Job
from tests.oracle.plain_topology import TopologySharedSlurm, TopologySlurm


class PreemptingTopologySlurm(TopologySlurm, PreemptingSlurm):
    """Whole nodes: who is thought away leaves nodes where they lie."""


class PreemptingTopologySharedSlurm(TopologySharedSlurm, PreemptingSharedSlurm):
    """Nodes that jobs share."""

    def start_on(self, now: int, job, part: str, usable: set[int], by: str) -> bool:
        """Others are preempted, too, for a job that would have to wait for fewer leaves."""
        fits = self.chosen(self.room(), job, part, usable) is not None
        if fits and SharedSlurm.start_on(self, now, job, part, usable, by):
            return True
        self.make_room(now, job, part, usable)
        return False


class LimitedTopologySlurm(TopologySlurm, LimitedSlurm):
    """Whole nodes, of which those that count already weigh less than others of the same stated weight."""

    def chosen(self, room: set[int], job: Job, part: str, usable: set[int]) -> set[int] | None:
        self.weights = {node: int(node in self.heavy) for node in self.weights}
        return super().chosen(room, job, part, usable)
