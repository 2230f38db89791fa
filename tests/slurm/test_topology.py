"""Topology under Slurm: the engine is the plain model, and cases that were worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given

from tests.conftest import examples
from tests.oracle.plain_cons_tres import place
from tests.oracle.plain_cons_tres_records import SharedJob
from tests.oracle.plain_cons_tres_room import Room
from tests.slurm import shared_cases
from tests.slurm.shared_cases import EQUAL_NODES, RIGID_ASKS
from tests.slurm.test_shared_properties import expanded
from tests.slurm.topology_cases import (
    UNTIL_S,
    OnSwitches,
    SharedOnSwitches,
    had,
    on_switches,
    plain_shared,
    played,
    played_shared,
    shared_on_switches,
    told,
)

pytestmark = pytest.mark.interpreted


@examples(60)
@given(on_switches())
def test_whole_nodes_are_those_of_the_plain_model(found: OnSwitches) -> None:
    assume(found.case.jobs)
    assert had(found, played(found)) == told(found)


@examples(60)
@given(shared_on_switches())
def test_shared_nodes_are_those_of_the_plain_model(found: SharedOnSwitches) -> None:
    compare_shared(found)


@examples(60)
@given(shared_on_switches(most=25, of=EQUAL_NODES, ask=RIGID_ASKS))
def test_so_many_able_nodes_are_those_of_the_plain_model(found: SharedOnSwitches) -> None:
    compare_shared(found)


def compare_shared(found: SharedOnSwitches) -> None:
    with pytest.MonkeyPatch.context() as patch:
        slurm = plain_shared(found, patch)
        empty = Room(found.case.nodes, found.case.settings)

        def ever_fits(job: SharedJob) -> bool:  # others Slurm refuses at submission
            nodes = slurm.c.partitions
            return any(place(empty, slurm.needs(job, p), set(nodes[p].nodes)) for p in job.partitions)

        jobs = [job for job in found.case.jobs if ever_fits(job)]
        assume(jobs)
        found = replace(found, case=replace(found.case, jobs=jobs))
        slurm = plain_shared(found, patch)
        slurm.run(UNTIL_S)
    starts = {job.id: -1 if job.start is None else job.start for job in slurm.jobs}
    theirs = {job.id: (job.state, starts[job.id], *shared_cases._had(job)) for job in slurm.jobs}
    ours = shared_cases.fates(played_shared(found))
    assert {i: expanded(fate) for i, fate in ours.items()} == theirs
