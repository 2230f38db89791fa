"""The recordings with advance reservations, against the plain model and the engine."""

from __future__ import annotations

from functools import partial

import pytest

from tests.conftest import needs_shared
from tests.oracle.plain_reserved_slurm import ReservedSlurm
from tests.slurm_oracle.cases import load_case, read_json
from tests.slurm_oracle.engine import play_engine
from tests.slurm_oracle.figures import compare, meets
from tests.slurm_oracle.reserved import DELAYS_S, play_reserved, reserved_slurm
from tests.slurm_oracle.second_set import DATA_2, expanded

pytestmark = pytest.mark.interpreted

RECORDINGS = [
    *(("HR1a_reservation", i) for i in (0, 1)),
    *(
        pytest.param(name, i, marks=pytest.mark.long)
        for name in ("R1a_reservations", "R2a_resv_changes")
        for i in (0, 1)
    ),
]


@needs_shared
@pytest.mark.parametrize(("name", "recording"), RECORDINGS)
def test_recorded(name: str, recording: int) -> None:
    """Each recording by the criterion, with either thread looking first; all are met within two seconds."""
    case = load_case(name)
    run = case.runs[recording]
    delay = DELAYS_S.get(name, 3)
    plays = [
        partial(play_reserved, backfill_first=first, daemon_start=start, batch_sched_delay=delay)
        for first in (True, False)
        for start in (-8, -10)
    ]
    found = [compare({fate[0]: fate for fate in play(case, run)}, run) for play in plays]
    assert any(meets(case, one) and one.order_equal and one.worst <= 2 for one in found), found


@needs_shared
@pytest.mark.parametrize(("name", "recording"), RECORDINGS)
def test_the_engine_meets_it(name: str, recording: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the plain model does, with what operators do while it runs."""
    case = load_case(name)
    run = case.runs[recording]
    found = []
    for first in ("main", "backfill"):
        for start in (-8, -10):
            monkeypatch.setattr(
                "tests.slurm_oracle.engine.daemon_start", lambda case, run, start=start: start
            )
            fates = play_engine(case, run, looks_first=first, batch_sched_delay=DELAYS_S.get(name, 3))
            found.append(compare({fate[0]: fate for fate in fates}, run))
    assert any(meets(case, one) and one.order_equal and one.worst <= 2 for one in found), found


def played(name: str, until: int) -> ReservedSlurm:
    case = load_case(name)
    slurm = reserved_slurm(
        case, case.runs[0], backfill_first=False, daemon_start=-8, batch_sched_delay=DELAYS_S.get(name, 3)
    )
    slurm.run(until)
    return slurm


@needs_shared
@pytest.mark.parametrize(
    ("name", "until", "nodes"),
    [
        ("HR1a_reservation", 2, {"lab": {1, 2, 3}, "maint": {1, 2, 3, 4, 5, 6}}),
        ("R2a_resv_changes", 6, {"flex": {1, 2, 3}, "move": {6, 7, 8}, "gone": {4, 5, 9, 10}}),
        ("R2a_resv_changes", 62, {"flex": {1, 2, 3}, "move": {6, 7, 8}, "gone": {4, 5, 9, 10}}),
    ],
)
def test_which_nodes_are_reserved(name: str, until: int, nodes: dict[str, set[int]]) -> None:
    found = {one.name: {node + 1 for node in one.nodes} for one in played(name, until).reservations}
    assert found == nodes


@needs_shared
def test_what_operators_were_told() -> None:
    recorded = read_json(DATA_2 / "out" / "R2a_resv_changes.out.json.gz")
    done = [event[3] == 0 for event in recorded["events"] if event[1] == "op"]
    answers = played("R2a_resv_changes", 100).answers
    assert [not said for _, _, said in answers] == done
    assert [second for second, _, said in answers if said] == [30, 60]


@needs_shared
@pytest.mark.parametrize("name", ["HR1a_reservation", "R2a_resv_changes"])
def test_when_reservations_are_gone(name: str) -> None:
    """Looks at time limits are 30 s apart; their phase is that of the daemon's start."""
    recorded = read_json(DATA_2 / "out" / f"{name}.out.json.gz")
    for second, what, which in (event[:3] for event in recorded["events"] if "gone" in str(event[1])):
        assert what == "reservation gone"
        assert played(name, int(second) - 12).named(which)
        assert not played(name, int(second) + 12).named(which)


@needs_shared
@pytest.mark.long
def test_nodes_of_jobs() -> None:
    """Every job has the very nodes that Slurm chose, with those of a FLEX reservation first."""
    recorded = read_json(DATA_2 / "out" / "R2a_resv_changes.out.json.gz")
    theirs = {job["id"]: _nodes(job["runs"][0]["nodes"]) for job in recorded["jobs"] if job["runs"]}
    ours = {job.id: {node + 1 for node in job.where} for job in played("R2a_resv_changes", 20_000).jobs}
    assert {id: ours[id] for id in theirs} == theirs


@needs_shared
def test_what_is_refused_at_submission() -> None:
    """Its reservation has ended three seconds before."""
    assert [job.id for job in played("R1a_reservations", 115).no_access] == [41]


def _nodes(names: str) -> set[int]:
    """``n[1-3,6]`` as numbers."""
    return {int(name[1:]) for name in expanded(names)}
