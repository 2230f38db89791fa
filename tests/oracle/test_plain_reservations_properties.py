"""Advance reservations in the plain model of Slurm: what holds in any case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.plain_reservation_records import DELETED, Change, Request
from tests.oracle.plain_reserved_slurm import ReservedSlurm
from tests.oracle.plain_slurm_records import COMPLETED, PENDING, RUNNING, TIMEOUT, Config, Job, Partition

pytestmark = pytest.mark.interpreted

NAMES = ("r", "s")
FLAGS = ("MAINT", "OVERLAP", "IGNORE_JOBS", "FLEX", "MAGNETIC", "PURGE_COMP", "NO_HOLD_JOBS_AFTER", "REPLACE")


class WatchedSlurm(ReservedSlurm):
    """The model, with a look at every start."""

    def _launch(self, job: Job, now: int, nodes: set[int], by: str) -> None:
        own = self.looked_at
        assert len(nodes) == job.nodes
        if own is not None and "FLEX" not in own.flags:
            assert nodes <= own.nodes
            assert own.start <= now <= own.end
        for one in self.reservations:
            if one is not own and one.meets(now, now + job.limit * 60) and one.nodes & nodes:
                assert own is not None
                assert "MAINT" in own.flags or ("OVERLAP" in own.flags and "MAINT" not in one.flags)
        super()._launch(job, now, nodes, by)

    def _operate(self, op: Change, now: int) -> None:
        super()._operate(op, now)
        for i, one in enumerate(self.reservations):
            for other in self.reservations[:i]:
                if one.meets(other.start, other.end) and not one.overlaps and not other.overlaps:
                    assert not one.nodes & other.nodes


@st.composite
def requests(draw: st.DrawFn, start: int) -> Request:
    flags = tuple(draw(st.sets(st.sampled_from(FLAGS), max_size=2)))
    by_name = "REPLACE" not in flags and draw(st.booleans())
    nodes = draw(st.sets(st.integers(0, 5), min_size=1)) if by_name else None
    return Request(
        start=start + draw(st.integers(0, 60)),
        end=start + draw(st.integers(61, 150)),
        nodes=nodes,
        node_count=None if by_name else draw(st.integers(1, 6)),
        users=draw(st.sampled_from([("u",), ("v",), ("-u",)])),
        flags=flags,
        purge_comp=20,
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Job], list[Change]]:
    changes = []
    for name in NAMES:
        at = draw(st.integers(1, 30))
        changes.append(Change(at, "create", name, draw(requests(at))))
        if draw(st.booleans()):
            count, end = draw(st.integers(1, 6)), at + draw(st.integers(60, 200))
            changes.append(Change(at + 20, "update", name, Request(node_count=count, end=end)))
        if draw(st.booleans()):
            changes.append(Change(at + draw(st.integers(10, 90)), "delete", name))
    jobs = [
        Job(
            number,
            draw(st.integers(2, 90)),
            ["main"],
            draw(st.integers(1, 4)),
            draw(st.integers(1, 90)),
            draw(st.integers(1, 2)),
            user=draw(st.sampled_from(["u", "v"])),
            reservation=draw(st.sampled_from(["", "", *NAMES])),
        )
        for number in range(1, draw(st.integers(2, 12)))
    ]
    return jobs, changes


@given(cases(), st.booleans())
def test_nobody_starts_on_nodes_of_others(case: tuple[list[Job], list[Change]], backfill_first: bool) -> None:
    """No start meets another's reservation up to the limit; two reservations share nodes only if one may."""
    jobs, changes = case
    config = Config({"main": Partition(list(range(6)))}, daemon_start=0, bf_interval=2, bf_resolution=1)
    config.backfill_first = backfill_first
    slurm = WatchedSlurm(config, jobs, changes)
    slurm.run(1500)
    found = {slurm.ended_as(job) for job in slurm.jobs}
    assert RUNNING not in found
    assert found <= {COMPLETED, TIMEOUT, DELETED, PENDING}
    waiting = [job for job in slurm.jobs if slurm.ended_as(job) == PENDING]
    assert not waiting or slurm.reservations  # all start once there are no reservations
