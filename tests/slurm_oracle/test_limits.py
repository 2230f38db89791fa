"""The recordings with limits of QOS and associations, against the plain model; the engine has none yet."""

from __future__ import annotations

from functools import partial

import pytest

from tests.conftest import needs_shared
from tests.slurm_oracle.cases import load_case
from tests.slurm_oracle.figures import meets, nearest
from tests.slurm_oracle.limited import limited_slurm, play_limited

pytestmark = pytest.mark.interpreted

MET = (
    *("HQ1a_qos_limits", "HQ2a_assoc_limits"),
    *(
        pytest.param(name, marks=pytest.mark.long)
        for name in ("Q1a_qos_limits", "Q2a_assoc_limits", "Q4a_minutes")
    ),
)
"""All but Q3a: which nodes a plan names under assoc_limit_stop is not known."""

PLAYS = [
    partial(play_limited, backfill_first=first, daemon_start=start)
    for first in (True, False)
    for start in (-8, -9)
]
"""Which of the two threads looks first, and in which second the daemon started: as the recordings differ."""


@needs_shared
@pytest.mark.parametrize("name", MET)
def test_recorded(name: str) -> None:
    case = load_case(name)
    run, found = nearest(case, *PLAYS)
    assert meets(case, found), (run.name, found)


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
