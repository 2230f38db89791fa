"""The recordings with limits of QOS and associations, against the plain model."""

from __future__ import annotations

from functools import partial

import pytest

from tests.conftest import needs_shared
from tests.slurm_oracle.cases import Case, load_case, read_json
from tests.slurm_oracle.figures import Play, meets, nearest
from tests.slurm_oracle.limited import limited_slurm, play_limited
from tests.slurm_oracle.phases import phases_of, with_other_waits
from tests.slurm_oracle.second_set import DATA_2

pytestmark = pytest.mark.interpreted

MET = (
    *("HQ1a_qos_limits", "HQ2a_assoc_limits"),
    *(
        pytest.param(name, marks=pytest.mark.long)
        for name in ("Q1a_qos_limits", "Q2a_assoc_limits", "Q3a_limit_stop", "Q4a_minutes")
    ),
)


def plays(case: Case) -> list[Play]:
    """By the phases of a daemon, as no recording tells its own."""
    return [
        partial(
            play_limited,
            backfill_first=phase.first == "backfill",
            daemon_start=phase.start,
            batch_sched_delay=phase.keys(case)["batch_sched_delay"],
            main_wait_ms=phase.wait_ms,
        )
        for phase in (*phases_of(case), *with_other_waits(phases_of(case)))
        if phase.cleaning_ms
    ]


@needs_shared
@pytest.mark.parametrize("name", MET)
def test_recorded(name: str) -> None:
    case = load_case(name)
    assert any(meets(case, nearest(case, play)[1]) for play in plays(case))


@needs_shared
def test_what_is_refused_at_submission() -> None:
    case = load_case("HQ2a_assoc_limits")
    slurm = limited_slurm(case, case.runs[0])
    slurm.run(until=200)
    assert [job.id for job in slurm.refused] == [8]


@needs_shared
@pytest.mark.parametrize(
    ("name", "id", "at", "reason"),
    [
        ("HQ1a_qos_limits", 2, 5, "QOSMaxJobsPerUserLimit"),
        ("HQ1a_qos_limits", 5, 20, "QOSGrpNodeLimit"),
        ("HQ1a_qos_limits", 8, 40, "QOSMaxWallDurationPerJobLimit"),
        ("HQ1a_qos_limits", 11, 100, "QOSGrpNodeLimit"),
        ("HQ2a_assoc_limits", 2, 10, "AssocMaxJobsLimit"),
        ("HQ2a_assoc_limits", 4, 20, "AssocGrpNodeLimit"),
        ("HQ2a_assoc_limits", 6, 25, "AssocGrpJobsLimit"),
        ("HQ2a_assoc_limits", 7, 50, "AssocMaxNodePerJobLimit"),
        ("Q4a_minutes", 6, 20, "AssocGrpCPUMinutesLimit"),
    ],
)
def test_the_reasons_that_slurm_gave(name: str, id: int, at: int, reason: str) -> None:
    case = load_case(name)
    slurm = limited_slurm(case, case.runs[0])
    slurm.run(until=at)
    assert slurm.reason[id] == reason


@needs_shared
def test_every_plan_is_slurms_as_long_as_passes_are_in_the_same_seconds() -> None:
    """assoc_limit_stop: of all jobs that wait, pass by pass, the planned starts that squeue showed."""
    case = load_case("Q3a_limit_stop")
    run = next(run for run in case.runs if run.name.endswith("@r2"))
    slurm = limited_slurm(case, run, backfill_first=False, daemon_start=-9)
    slurm.run(until=92)
    events = read_json(DATA_2 / "out" / f"{run.name}.out.json.gz")["events"]
    passes = sorted({now for now, *_ in slurm.plans})
    assert len(passes) == 45
    for now in passes:
        last = {event[1]: event for event in events if int(event[0]) <= now}
        shown = {job: event[4] for job, event in last.items() if event[2] == "PENDING"}
        assert {job: start for when, job, start, _ in slurm.plans if when == now} == shown, now


@needs_shared
def test_a_limit_of_jobs_holds_up_no_others_of_its_qos() -> None:
    """Job 19 waits for GrpJobs of its QOS, planned 500 s ahead; job 20 of that QOS is tried at once."""
    case = load_case("Q3a_limit_stop")
    run = case.runs[0]
    slurm = limited_slurm(case, run, backfill_first=True, daemon_start=-9)
    slurm.run(until=142)
    events = read_json(DATA_2 / "out" / f"{run.name}.out.json.gz")["events"]
    for now in range(129, 142, 2):
        last = {event[1]: event for event in events if int(event[0]) <= now}
        shown = {job: event[4] for job, event in last.items() if event[2] == "PENDING"}
        plans = {job: start for when, job, start, _ in slurm.plans if when == now}
        assert plans == shown, now
        assert (plans[19], plans[20]) == (now + 500, now + 620)
