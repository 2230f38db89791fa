"""The plain model of select/cons_tres on the recordings of jobs that share nodes."""

from __future__ import annotations

import pytest

from tests.conftest import needs_shared
from tests.oracle.plain_cons_tres_slurm import SharedSlurm
from tests.oracle.plain_slurm_clock import TimedSlurm
from tests.slurm_oracle.cases import Run
from tests.slurm_oracle.figures import compare, meets, nearest
from tests.slurm_oracle.shared_nodes import (
    SHARED_ORDERS,
    SharedCase,
    expanded,
    load_shared,
    shared_names,
    shared_slurm,
)

pytestmark = pytest.mark.interpreted

RECORDED = shared_names()
BY_HAND = [name for name in RECORDED if name.startswith("H")]

FITTED = {
    # run: phases of main and of backfill at the daemon's start, a turn of each, from launch to end, in ms;
    # worst difference in s; jobs that have other cores
    "HS1a_cores": (973, 954, 1009.2, 1000.4, 35, 0, 0),
    "HS1a_cores@r2": (492, 200, 1011.1, 1000.5, 35, 0, 0),
    "HS2a_memory": (228, 126, 1011.1, 1000.7, 35, 0, 0),
    "HS2a_memory@r2": (856, 906, 1011.1, 1000.4, 35, 1, 0),
    "HS3a_gpus": (463, 463, 1009.9, 1000.4, 35, 0, 0),
    "HS3a_gpus@r2": (456, 501, 1011.1, 1000.3, 35, 0, 0),
    "S1a_cores": (853, 766, 1003.0, 1000.8, 50, 0, 0),
    "S1a_cores@r2": (872, 844, 1010.2, 1000.8, 35, 1, 0),
    "S2a_memory": (394, 354, 1006.0, 1000.7, 35, 1, 2),
    "S2a_memory@r2": (483, 147, 1007.7, 1000.5, 20, 1, 0),
    "S3a_gpus": (333, 264, 1002.1, 1000.4, 35, 1, 0),
    "S3a_gpus@r2": (253, 249, 1007.0, 1000.4, 35, 1, 0),
    "S4a_exclusive": (365, 400, 1004.1, 1000.4, 35, 1, 0),
    "S4a_exclusive@r2": (438, 535, 1007.4, 1000.5, 35, 2, 0),
}


class TimedSharedSlurm(SharedSlurm, TimedSlurm):
    """On the clock of a real daemon."""


def run_named(name: str) -> tuple[SharedCase, Run]:
    case = load_shared(name.split("@")[0])
    return case, next(run for run in case.runs if run.name == name)


@needs_shared
@pytest.mark.parametrize("name", RECORDED)
def test_recorded(name: str) -> None:
    case = load_shared(name)
    run, found = nearest(case, *SHARED_ORDERS)
    assert meets(case, found), (run.name, found)


@needs_shared
@pytest.mark.parametrize("name", BY_HAND)
def test_made_by_hand_on_the_kinds_of_nodes_recorded(name: str) -> None:
    case = load_shared(name)
    differ = []
    for run in case.runs:
        slurm = shared_slurm(case, run)
        slurm.run(20_000)
        ours = {job.id: case.kinds(job.shares) for job in slurm.jobs}
        theirs = {given.job: case.kinds(given.cores) for given in case.given[run.name]}
        differ.append([number for number in ours if ours[number] != theirs[number]])
    assert [] in differ


@needs_shared
@pytest.mark.parametrize("name", FITTED)
def test_recorded_with_known_phases(name: str) -> None:
    """Each job within a second or two, and on the nodes and cores that it had.

    As in test_clock: the phases are facts about one run of one machine.
    """
    main, backfill, loop, poll, launch, worst, elsewhere = FITTED[name]
    case, run = run_named(name)
    clock = {"main_phase": main, "backfill_phase": backfill, "loop_turn": loop, "poll_turn": poll}
    slurm = shared_slurm(case, run, TimedSharedSlurm, launch=launch, **clock)
    slurm.run(20_000)
    found = compare({job.id: (job.id, job.state, job.start, job.end) for job in slurm.jobs}, run)
    assert found.states_equal
    assert found.inversions == 0
    assert found.worst <= worst
    ours = {job.id: {node: share.cores for node, share in job.shares.items()} for job in slurm.jobs}
    theirs = {given.job: given.cores for given in case.given[name]}
    assert sum(ours[number] != theirs[number] for number in ours) <= elsewhere


@needs_shared
def test_every_recording_has_its_phases() -> None:
    assert set(FITTED) == {run.name for name in RECORDED for run in load_shared(name).runs}


def test_names_of_nodes() -> None:
    assert expanded("g[1-2,4],n1") == ["g1", "g2", "g4", "n1"]
    assert expanded("n3") == ["n3"]
