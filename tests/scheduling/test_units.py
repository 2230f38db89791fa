"""Units in the engine: against the plain model, against traces without them, and by what must always hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given

from scheduler_sim import Policy, Simulation, System, Workload, simulate
from scheduler_sim.errors import ConfigError, InputError
from tests.conftest import examples
from tests.scheduling.unit_cases import (
    Case,
    cases,
    fates,
    followed_by_a_pair,
    operated,
    played,
    singly,
    told,
    two_modules,
    workload,
)

pytestmark = pytest.mark.interpreted

MANY = examples(150)


@MANY
@given(cases())
def test_the_engine_is_the_plain_model(case: Case) -> None:
    try:
        expected = told(case)
    except ValueError:  # a circle of delays
        with pytest.raises(InputError, match="circle"):
            played(case)
        return
    assert fates(played(case)) == expected


@MANY
@given(cases())
def test_without_calls_it_is_the_trace_without_them(case: Case) -> None:
    silent = workload(case.components, api_calls="")
    try:
        expected = fates(played(case, silent))
    except InputError:
        assume(False)
    assert fates(played(case, calls=False)) == expected


@MANY
@given(cases())
def test_no_delay_is_a_delay_of_zero(case: Case) -> None:
    none = [max(one.delay, 0) for one in case.components]
    zero = [one.delay or -1 for one in case.components]
    try:
        expected = fates(played(case, workload(case.components, delay=none)))
    except InputError:
        assume(False)
    assert fates(played(case, workload(case.components, delay=zero))) == expected


@MANY
@given(cases())
def test_jobs_of_one_component_are_ordinary_ones(case: Case) -> None:
    """Whether the loop for units is taken, for the sake of another job, makes no difference to them."""
    alone = singly(case.components)
    expected = fates(played(case, alone))
    found = fates(played(case, followed_by_a_pair(alone, max(end for *_, end in expected.values()) + 1000)))
    assert {number: found[number] for number in expected} == expected


@MANY
@given(cases(policies=["conservative"]))
def test_promises_are_kept_to_units_too(case: Case) -> None:
    """Conservative that keeps its promises: members start together, at their delays, once all are free."""
    try:
        result = played(case, replan="keep", delay="joint", calls=False)
    except InputError:
        assume(False)
    starts = {number: start for number, (_, _, start, _) in fates(result).items()}
    for job in {one.job for one in case.components}:
        members = [one for one in case.components if one.job == job and not one.depends]
        ran = [starts[one.id] for one in members if starts[one.id] >= 0]
        tied = {other for one in case.components for other, _ in one.depends}
        if len(members) > 1 and not tied & {one.id for one in members}:
            assert len(ran) in (0, len(members))
            for one in members[1:]:
                if ran:
                    assert starts[one.id] == starts[members[0].id] + max(one.delay, 0)


def test_keeping_promises_plans_units_whole() -> None:
    with pytest.raises(ConfigError, match="delay"):
        Policy.resolve({"backfill": "conservative", "replan": "keep", "delay": "reserved"})


@pytest.mark.parametrize(
    ("het_end", "ends", "states"),
    [
        ("component", [4, 9, 2], ["COMPLETED", "TIMEOUT", "COMPLETED"]),
        ("leader", [4, 4, 4], ["COMPLETED", "COMPLETED", "COMPLETED"]),
        ("longest", [9, 9, 9], ["COMPLETED", "TIMEOUT", "COMPLETED"]),
    ],
)
def test_members_end_each_by_itself_or_together(het_end: str, ends: list[int], states: list[str]) -> None:
    """
    A  UUUU......      U runs 4 s; V would run 12 s, its limit is 9; W runs 2 s
    B  VVVVVVVVV
    B  WW.......
    """
    system = System.from_dict({"modules": [{"name": "A", "nodes": 1}, {"name": "B", "nodes": 2}]})
    trace = Workload.from_columns(
        modular_job_id=[1, 1, 1],
        submit_time=0,
        partition=["A", "B", "B"],
        nodes=1,
        run_time=[4, 12, 2],
        time_limit=[20, 9, 20],
    )
    result = simulate(system, trace, Policy.resolve({"backfill": "easy", "het_end": het_end}))
    result.check()
    assert result.components["end_time"].tolist() == ends
    assert list(result.components["state"]) == states


@pytest.mark.parametrize("policy", [{}, {"backfill": "easy"}, {"backfill": "conservative", "replan": "keep"}])
def test_who_is_late_comes_first_when_the_nodes_are_back(policy: dict[str, Any]) -> None:
    """
    B  U.............     U starts at 0, and V is expected on both nodes of A at 5
    A  ...xxxxxxVVWW.     a node of A is out of service from 3 to 9; W (2 nodes, from 4 on) waits behind V
    A  .........VVWW.
    """
    system = System.from_dict({"modules": [{"name": "A", "nodes": 2}, {"name": "B", "nodes": 1}]})
    trace = Workload.from_columns(
        modular_job_id=[1, 1, 2],
        submit_time=[0, 0, 4],
        partition=["B", "A", "A"],
        nodes=[1, 2, 2],
        run_time=[1, 2, 2],
        time_limit=[1, 2, 2],
        delay=[-1, 5, -1],
    )
    simulation = Simulation(system, trace, Policy.resolve(policy))

    def operator() -> Any:
        yield simulation.env.timeout(3)
        simulation.drain("A", 1)
        yield simulation.env.timeout(6)
        simulation.resume("A", 1)

    simulation.process(operator())
    result = simulation.run()
    result.check()
    table = result.components
    assert table["start_time"].tolist() == [0, 9, 11]
    assert table["eligible_time"].tolist() == [0, 5, 4]
    assert table["wait_resources"].tolist()[1] == 4
    workflow = result.metrics["workflow"]
    assert (workflow["appointments"], workflow["late"], workflow["lateness"]["max"]) == (1, 1, 4)


def test_a_circle_of_delays_is_an_error_with_its_row() -> None:
    """Component 2 starts with 3, which starts with the first component of its job, which starts after 2."""
    trace = Workload.from_columns(
        component_id=[1, 2, 3, 4],
        modular_job_id=[1, 1, 2, 2],
        submit_time=0,
        partition="A",
        nodes=1,
        run_time=1,
        dependency_ids=["", "4", "2", ""],
        dependency_kinds=["", "DYNAMIC", "DYNAMIC", ""],
    )
    system = System.from_dict({"modules": [{"name": "A", "nodes": 9}]})
    with pytest.raises(InputError, match=r"form a circle(.|\n)*lead round in a circle \(1 "):
        simulate(system, trace, "easy")


def test_a_member_cancelled_while_it_waits_takes_the_others_along() -> None:
    """
    A  BBBBBBBBBB       B holds A for 10 s; job 2 asks for A and B; its second component is cancelled at 3
    """
    system = two_modules()
    trace = Workload.from_columns(
        modular_job_id=[1, 2, 2],
        submit_time=0,
        partition=["A", "A", "B"],
        nodes=[2, 1, 1],
        run_time=[10, 5, 5],
        time_limit=[10, 5, 5],
    )
    result = operated(Simulation(system, trace, "easy"), 3, lambda run: run.cancel(3))
    assert list(result.components["state"]) == ["COMPLETED", "CANCELLED", "CANCELLED"]
    assert simulate(system, trace, "easy").components["start_time"].tolist() == [0, 10, 10]


def test_records_of_a_trace_that_share_a_number_are_no_heterogeneous_job(tmp_path: Path) -> None:
    """SWF numbers jobs; where a number comes twice, as after a requeue, each record is a job of its own."""
    record = "7 {} -1 10 1 -1 -1 1 20 -1 1 2 3 15 1 -1 -1 -1\n"
    path = tmp_path / "twice.swf"
    path.write_text(record.format(0) + record.format(5))
    result = simulate(System.homogeneous(1), path, "easy")
    assert result.components["start_time"].tolist() == [0, 10]
    assert "units" not in result.metrics["counts"]


@pytest.mark.parametrize(("delay", "moment", "whom", "end"), [(0, 3, 3, 3), (100, 50, 3, 50)])
def test_the_records_of_what_is_cancelled_while_it_waits_or_has_an_appointment_are_right(
    delay: int, moment: int, whom: int, end: int
) -> None:
    trace = Workload.from_columns(
        modular_job_id=[1, 2, 2],
        submit_time=[0, 0, 0],
        partition=["A", "A", "B"],
        nodes=[2, 1, 1],
        run_time=[10, 30, 30],
        time_limit=[10, 30, 30],
        delay=[0, 0, delay],
    )
    run = Simulation(two_modules(), trace, "conservative")
    result = operated(run, moment, lambda run: run.cancel(whom))
    result.check()
    assert result.components["end_time"].iloc[2] == end
    assert result.components["state"].iloc[2] == "CANCELLED"


def test_who_has_an_appointment_is_not_held() -> None:
    trace = Workload.from_columns(
        modular_job_id=[1, 1],
        submit_time=[0, 0],
        partition=["A", "B"],
        nodes=[1, 1],
        run_time=[30, 30],
        time_limit=[30, 30],
        delay=[0, 100],
    )
    result = operated(Simulation(two_modules(), trace, "conservative"), 50, lambda run: run.hold(2))
    result.check()
    assert result.components["start_time"].tolist() == [0, 100]


def test_a_limit_that_changes_changes_what_a_waiting_unit_needs() -> None:
    """
    A  XXXXXXXXXXUUUUU            job 2 is U, and V on B 50 s later; V gets a limit of 200 at 5, while X holds
    B            .....VVVVVVV     A until 10: job 3 wants B 90 s after its start, and so waits for V
    """
    trace = Workload.from_columns(
        modular_job_id=[1, 2, 2, 3, 3],
        submit_time=[0, 0, 0, 1, 1],
        partition=["A", "A", "B", "A", "B"],
        nodes=[2, 1, 2, 1, 2],
        run_time=[10, 5, 150, 5, 10],
        time_limit=[10, 5, 20, 5, 10],
        delay=[0, 0, 50, 0, 90],
    )
    run = Simulation(two_modules(), trace, "conservative")
    result = operated(run, 5, lambda run: run.update(3, time_limit=200))
    result.check()
    assert result.components["start_time"].tolist() == [0, 10, 60, 170, 260]


@pytest.mark.parametrize("policy", ["easy", "slurm"])
def test_a_delay_that_counts_from_nothing_is_counted(policy: str) -> None:
    """Of a job of one component, and of the first of several; not behind a dependency, or another."""
    workload = Workload.from_columns(
        component_id=[1, 2, 3, 4, 5],
        modular_job_id=[1, 2, 3, 3, 5],
        nodes=[1] * 5,
        submit_time=[0] * 5,
        run_time=[60] * 5,
        delay=[60, -1, 60, 120, 60],
        dependency_ids=["", "", "", "", "2"],
        dependency_kinds=["", "", "", "", "AFTER"],
    )
    result = simulate(System.homogeneous(8), workload, policy)
    assert result.metrics["counts"]["not_honoured"] == {"delay": 2}
