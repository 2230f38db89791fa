"""Waits for and because of advance reservations under policy slurm, in squeue's words, by hand."""

from __future__ import annotations

import pytest

from scheduler_sim import Policy, System, Workload, simulate
from scheduler_sim.report.explain import explain
from scheduler_sim.report.explain_text import text_of
from scheduler_sim.report.explanation import Explanation

pytestmark = pytest.mark.interpreted

SYSTEM = {
    "modules": [{"name": "m", "nodes": 4}],
    "reservations": [
        {"name": "maint", "start": 3600, "end": 7200, "nodes": "ALL", "users": ["root"], "flags": ["MAINT"]},
        {"name": "lab", "start": 600, "end": 1200, "nodes": "m[0-1]", "users": ["ann"]},
    ],
}


@pytest.fixture(scope="module")
def said() -> list[Explanation]:
    jobs = Workload.from_columns(
        nodes=[2, 2, 1, 1, 1, 2, 1],
        submit_time=[0, 10, 10, 20, 700, 800, 900],
        run_time=[100, 1800, 500, 100, 100, 300, 100],
        time_limit=[600, 7200, 600, 60, 600, 300, 600],
        user=["ann", "bob", "ann", "bob", "ann", "ann", "bob"],
        reservation=["", "", "lab", "lab", "nolab", "lab", ""],
    )
    result = simulate(System.from_dict(SYSTEM), jobs, Policy(name="slurm", backfill="slurm"))
    result.check()
    assert result.components["start_time"].tolist()[:4] == [0, 7200, 600, -1]
    return [explain(result, number) for number in range(1, 8)]


def words(one: Explanation) -> list[tuple[tuple[str, ...], int]]:
    return [(reason.words, reason.seconds) for reason in one.reasons]


def test_all_nodes_are_reserved_before_it_can_end(said: list[Explanation]) -> None:
    assert words(said[1]) == [(("ReqNodeNotAvail, Reserved for maintenance",), 7190)]


def test_its_reservation_has_not_begun(said: list[Explanation]) -> None:
    assert words(said[2]) == [(("Reservation",), 590)]


def test_what_is_said_at_submission(said: list[Explanation]) -> None:
    assert said[3].reason.startswith("Access denied to requested reservation: ")
    assert said[4].reason.startswith("Requested reservation is invalid: ")


def test_others_wait_as_ever(said: list[Explanation]) -> None:
    assert words(said[0]) == words(said[6]) == []


def test_a_reservation_that_is_gone() -> None:
    system = SYSTEM | {"reservations": [SYSTEM["reservations"][1]]}
    jobs = Workload.from_columns(
        nodes=[2, 2], submit_time=[0, 5], run_time=[2000, 10], time_limit=[3000, 60],
        user=["ann", "ann"], reservation=["lab", "lab"],
    )  # fmt: skip
    result = simulate(System.from_dict(system), jobs, Policy(name="slurm", backfill="slurm"))
    one = explain(result, 2)
    assert one.state == "PENDING"
    assert (("ReservationDeleted",), 0) in words(one)
    assert "the reservation lab was over, or deleted, before it could start" in text_of(one)
