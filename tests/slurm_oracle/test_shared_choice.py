"""The nodes and the cores of every start that was recorded, from what was free at that moment."""

from __future__ import annotations

import pytest

from tests.conftest import needs_shared
from tests.oracle.plain_cons_tres import place
from tests.oracle.plain_cons_tres_needs import Needs, needs_of
from tests.oracle.plain_cons_tres_records import Counts, Share
from tests.oracle.plain_cons_tres_room import Room
from tests.oracle.plain_cons_tres_rows import Tenant
from tests.slurm_oracle.shared_nodes import Given, SharedCase, ask_of, load_shared, shared_names

pytestmark = [needs_shared, pytest.mark.interpreted]

RECORDED = shared_names()


class Replay:
    """The room that each job of a recording found; what GPUs it got is not in the recording."""

    def __init__(self, case: SharedCase, run: str):
        self.case, self.given = case, case.given[run]
        self.gres: dict[int, dict[int, Counts]] = {}
        self.needs = {
            job["id"]: needs_of(
                ask_of(job), case.partitions[job.get("partition", case.default)], case.settings
            )
            for job in case.jobs
        }

    def chosen(self, given: Given) -> dict[int, Share]:
        """What the model gives of what was free."""
        there = [
            other
            for other in self.given
            if (other.start, other.job) < (given.start, given.job) and other.end > given.start
        ]
        room = Room(self.case.machine, self.case.settings, [self.tenant(other) for other in there])
        needs = self.needs[given.job]
        shares = place(room, needs, set(needs.part.nodes)) or {}
        self.gres[given.job] = {node: share.gres for node, share in shares.items()}
        return shares

    def tenant(self, given: Given) -> Tenant:
        needs = self.needs[given.job]
        return Tenant(
            given.job, {n: self.share(given, n, needs) for n in given.cores}, needs.part, needs.kind
        )

    def share(self, given: Given, node: int, needs: Needs) -> Share:
        cores, memory = given.cores[node], given.memory[node] if self.case.settings.memory else 0
        gres = self.gres[given.job].get(node, needs.gres)
        return Share(cores, len(cores) * self.case.machine[node].threads, memory, gres)


def replay(name: str) -> list[tuple[Given, Needs, dict[int, Share]]]:
    case, found = load_shared(name), []
    for run in case.given:
        played = Replay(case, run)
        found += [(given, played.needs[given.job], played.chosen(given)) for given in played.given]
    return found


@pytest.mark.parametrize("name", RECORDED)
def test_nodes_and_cores_of_every_start_by_the_main_scheduler(name: str) -> None:
    """It has no plan to heed."""
    starts = [(given, shares) for given, _, shares in replay(name) if given.by == "main"]
    assert len(starts) >= 7
    for given, shares in starts:
        assert {node: share.cores for node, share in shares.items()} == given.cores, given
        if load_shared(name).settings.memory:
            assert {node: share.memory for node, share in shares.items()} == given.memory, given


def test_all_starts_by_the_main_scheduler_are_tried() -> None:
    starts = [start for name in RECORDED for start in replay(name) if start[0].by == "main"]
    plain = [needs for _, needs, _ in starts if not needs.gres and not needs.gpus]
    assert len(starts) == 116
    assert len([needs for needs in plain if needs.part.name != "whole"]) == 80
