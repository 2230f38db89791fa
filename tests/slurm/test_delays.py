"""Delays and calls under policy slurm, by hand: as the DEEP-EST addition to Slurm runs them.

Modules A and B of 2 nodes each; the main scheduler passes when something ends or comes, backfill every 10 s.
Job 1 is U on A and V on B; V has a delay. In the drawings `[` is the begin of a reservation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from scheduler_sim import Policy, Simulation, System, Workload, simulate
from scheduler_sim.errors import InputError
from tests.conftest import examples
from tests.scheduling.unit_cases import (
    Case,
    cases,
    components,
    fates,
    followed_by_a_pair,
    operated,
    singly,
    two_modules,
    workload,
)
from tests.slurm.test_het_jobs import told

pytestmark = pytest.mark.interpreted

KEYS: dict[str, Any] = {
    "clock": "simulator",
    "starts_before_s": 0,
    "bf_interval": 9,
    "batch_sched_delay": 1,
    "KillWait": 0,
    "bf_resolution": 1,
    "limit_check_s": 1,
}
U, V = (1, 0, "A", 1, 30, 1, 0), (1, 0, "B", 1, 30, 1, 60)


def simulation(
    jobs: list[tuple[int, int, str, int, int, int, int]],
    keys: dict[str, Any] | None = None,
    policy: dict[str, Any] | None = None,
    system: dict[str, Any] | None = None,
    **columns: Any,
) -> Simulation:
    """Jobs: (job, submit, module, nodes, run, limit in minutes, delay)."""
    trace = components([job[:-1] for job in jobs], delay=[job[-1] for job in jobs], **columns)
    slurm = {"backfill": "slurm", "slurm": KEYS | (keys or {}), **(policy or {})}
    modules = System.from_dict(system) if system else two_modules()
    return Simulation(modules, trace, Policy.resolve(slurm))


def starts(jobs: list[tuple[int, int, str, int, int, int, int]], **more: Any) -> list[int]:
    (found,) = told(simulation(jobs, **more).run(), "start_time")
    return found


@pytest.mark.parametrize("fixed", [True, False])
def test_each_component_starts_in_a_pass_in_its_reservation(fixed: bool) -> None:
    """
    A  ..........[.........UUU    reservations are made in the pass of 10: from 10 on, and from 70 on;
    B  .......................[VVV    U starts in the next pass, V at 70. V is not in the queue before.
    """
    run = simulation([U, V], {"fixed_nodes": fixed}).run()
    eligible, start, end = told(run, "eligible_time", "start_time", "end_time")
    assert eligible == [0, 70]
    assert start == [20, 70]
    assert end == [50, 100]
    of_a = run.timeline[run.timeline["module"] == "A"]
    assert of_a["time"].tolist() == [0, 10, 20, 50]
    assert of_a["nodes_reserved_idle"].tolist() == [0, 1, 0, 0]


def test_a_delay_counts_in_minutes_from_the_pass_that_made_the_reservations() -> None:
    assert starts([U, (1, 0, "B", 1, 30, 1, 61)]) == [20, 130]


def test_the_main_scheduler_starts_it_too() -> None:
    """W is submitted at 13, which brings a pass: U, alone in its reservation, need not wait for backfill."""
    assert starts([U, V, (2, 13, "B", 1, 10, 1, 0)]) == [13, 70, 13]


def test_nobody_else_starts_on_reserved_nodes_unless_its_limit_ends_before() -> None:
    """W asks for both nodes of B at 15, for a minute: until 75. V has one of them from 70, or from 130 on."""
    two = (2, 15, "B", 2, 5, 1, 0)
    assert starts([U, V, two])[2] == 100
    assert starts([U, (1, 0, "B", 1, 30, 1, 120), two])[2] == 15
    assert starts([U, V, (2, 15, "B", 1, 5, 1, 0)])[2] == 15  # on the other node


def test_a_job_that_ends_as_a_reservation_begins_is_not_in_its_way() -> None:
    """By the main scheduler, and by backfill, which counts a touch as an overlap only among its own plans."""
    late = simulation([(1, 0, "A", 1, 30, 1, 0), (1, 0, "B", 2, 30, 1, 120), (2, 70, "B", 2, 5, 1, 0)])
    assert told(late.run(), "start_time")[0][2] == 70
    waits = [*(U, (1, 0, "B", 2, 30, 1, 120)), (3, 11, "A", 2, 59, 1, 0), (2, 12, "A", 2, 5, 1, 0)]
    assert starts(waits)[1] == 130


def test_all_reservations_or_none() -> None:
    """
    A  ..................................UUU    W holds B until 100, by its limit until 300: there is no
    B  WWWWWWWWWWWWWWWWWWWWWWWWWWWWW.............VVV    node for V before, and U waits, though A is idle
    """
    busy = (2, 0, "B", 2, 100, 5, 0)
    assert starts([busy, U, V]) == [0, 110, 160]


def test_planned_ends_count_and_what_backfill_has_planned_for_others_does_not() -> None:
    """W runs on B until 60 by its limit; X waits for both nodes then, and V gets one of them from 70 on."""
    jobs = [(2, 0, "B", 2, 60, 1, 0), (3, 1, "B", 2, 30, 1, 0), U, V]
    assert starts(jobs) == [0, 100, 20, 70]


def test_late_if_its_nodes_are_not_back() -> None:
    """W overruns its limit of 60 s, for two minutes more: V, expected at 70 on its nodes, starts at 180."""
    run = simulation([(2, 0, "B", 2, 200, 1, 0), U, V], {"OverTimeLimit": 2}).run()
    start, state = told(run, "start_time", "state")
    assert start == [0, 20, 180]
    assert state[0] == "TIMEOUT"
    assert run.metrics["workflow"]["held_late"]["mean"] == 10 + 110


@pytest.mark.parametrize("fixed", [True, False])
def test_the_order_of_the_components_does_not_matter_to_the_entries_of_one_with_a_delay(fixed: bool) -> None:
    """
    A  ..........[VVV......[WWW    V and W need all of A; W, delayed, comes before or after V in the trace.
    B  ..........[UUU
    """
    keys, first = {"fixed_nodes": fixed}, (1, 0, "B", 1, 30, 1, 0)
    second, third = (1, 0, "A", 2, 30, 1, 60), (1, 0, "A", 2, 30, 1, 0)
    assert starts([first, third, second], keys=keys) == [20, 20, 70]
    assert starts([first, second, third], keys=keys) == [20, 70, 20]


def test_a_reservation_has_the_nodes_that_its_constraint_counts() -> None:
    """
    A      ..........[.UUU
    small  .......................[VVV     B has two small nodes before a big one;
    small  ..............X.............    V needs two, one of them big. X needs a small one,
    big    .......................[VVVW    W the big one; both for longer than until V comes.
    """
    sets = [{"name": "s", "nodes": 2, "features": ["small"]}, {"name": "b", "nodes": 1, "features": ["big"]}]
    system = {"modules": [{"name": "A", "nodes": 2}, {"name": "B", "nodes": 3, "node_sets": sets}]}
    rest = [(2, 12, "B", 1, 30, 2, 0), (3, 13, "B", 1, 30, 2, 0)]
    wants = ["", "big*1", "big", "small"]
    run = simulation([U, (1, 0, "B", 2, 30, 1, 60), *rest], system=system, constraint=wants).run()
    assert told(run, "start_time") == [[12, 70, 100, 20]]


def test_when_the_first_ends_early_or_is_killed_nothing_moves() -> None:
    assert starts([(1, 0, "A", 1, 5, 1, 0), V]) == [20, 70]
    assert starts([(1, 0, "A", 1, 300, 1, 0), (1, 0, "B", 1, 30, 1, 120)]) == [20, 130]


@pytest.mark.parametrize(("whom", "states"), [(1, "CANCELLED COMPLETED"), (2, "COMPLETED CANCELLED")])
def test_once_they_have_reservations_each_is_cancelled_by_itself(whom: int, states: str) -> None:
    run = simulation([U, V, (2, 30, "B", 2, 5, 1, 0)])
    start, state = told(operated(run, 25, lambda run: run.cancel(whom)), "start_time", "state")
    assert state[:2] == states.split()
    assert (start[2] == 30) == (whom == 2)  # its nodes are free again


def test_before_that_one_takes_all_along() -> None:
    run = operated(simulation([U, V]), 5, lambda run: run.cancel(2))
    assert told(run, "state") == [["CANCELLED", "CANCELLED"]]


def test_those_of_one_delay_are_a_heterogeneous_job() -> None:
    """V on B and Y on A start together, in a backfill pass, and end with the longer of them."""
    start, end = told(simulation([U, V, (1, 0, "A", 1, 40, 1, 60)]).run(), "start_time", "end_time")
    assert start == [20, 70, 70]
    assert end == [50, 110, 110]


@pytest.mark.parametrize(("limits", "ends"), [((1, 1), [50, 50]), ((1, 2), [70, 80])])
def test_on_that_simulator_s_clock_a_heterogeneous_job_ends_with_its_longest(
    limits: tuple[int, int], ends: list[int]
) -> None:
    """Both start at 10. With a minute each, 40 s; with 30 s and 70 s the first is killed at its minute."""
    runs = (30, 40) if limits == (1, 1) else (30, 70)
    jobs = [(1, 0, "A", 1, runs[0], limits[0], 0), (1, 0, "B", 1, runs[1], limits[1], 0)]
    assert told(simulation(jobs).run(), "start_time", "end_time") == [[10, 10], ends]


def test_a_dynamic_tie_makes_the_same_of_two_jobs() -> None:
    ties = {"dependency_kinds": ["", "DYNAMIC"], "dependency_ids": ["", "1"], "component_id": [1, 2]}
    assert starts([U, (2, 0, "B", 1, 30, 1, 60)], **ties) == [20, 70]


def test_think_time_counts_in_seconds_after_the_dependency() -> None:
    ties = {"dependency_kinds": ["", "AFTEROK"], "dependency_ids": ["", "1"], "component_id": [1, 2]}
    eligible, start = told(
        simulation([U, (2, 0, "B", 1, 30, 1, 7)], **ties).run(), "eligible_time", "start_time"
    )
    assert start[0] == 0
    assert eligible[1] == 37
    assert start[1] >= 37


def test_a_call_moves_the_next_reservation_to_the_earliest_time_there_is() -> None:
    """U calls at 40. Nothing runs on B: V can start now. Or W does, until 60 by its limit: V can at 61."""
    assert starts([U, V], api_calls=["20", ""]) == [20, 40]
    jobs = [(2, 0, "B", 2, 55, 1, 0), U, V]
    eligible, start = told(simulation(jobs, api_calls=["", "20", ""]).run(), "eligible_time", "start_time")
    assert eligible[2] == 61
    assert start[2] == 70  # by itself the begin of a reservation brings no pass


def test_a_call_does_not_move_it_behind_or_into_the_reservation_of_another() -> None:
    """Job 3 has both nodes of B from 60 to 120: there is no minute before that for V, moved or not."""
    other = [(3, 0, "A", 1, 5, 1, 0), (3, 0, "B", 2, 20, 1, 60)]
    moved = starts([*other, U, (1, 0, "B", 1, 30, 1, 180)], api_calls=["", "", "20", ""])
    still = starts([*other, U, (1, 0, "B", 1, 30, 1, 180)])
    assert still[3] == 190
    assert 90 <= moved[3] < 190


def test_a_second_call_and_one_that_is_late_move_nothing() -> None:
    assert starts([U, V], api_calls=["20,WF_API:25", ""]) == starts([U, V], api_calls=["20", ""])
    late = [(1, 0, "A", 1, 90, 2, 0), (1, 0, "B", 1, 30, 1, 60)]
    assert starts(late, api_calls=["80", ""]) == starts(late)


def test_a_call_frees_what_waits_for_the_end() -> None:
    ties = {"dependency_kinds": ["", "AFTEROK"], "dependency_ids": ["", "1"], "component_id": [1, 2]}
    jobs = [(1, 0, "A", 1, 30, 1, 0), (2, 0, "B", 1, 30, 1, 0)]
    assert starts(jobs, api_calls=["12", ""], **ties) == [0, 12]
    assert starts(jobs, api_calls=["12", ""], policy={"calls": False}, **ties)[1] >= 30


@pytest.mark.parametrize(("delay", "state"), [(0, "COMPLETED"), (60, "TIMEOUT")])
def test_more_time_unless_somebody_has_reserved_the_nodes(delay: int, state: str) -> None:
    """W runs on all of B, and asks for a second minute at 50; V has a node from 70 on, or there is no V."""
    jobs = [(2, 0, "B", 2, 90, 1, 0), U, V][: 2 if not delay else 3]
    calls = ["extend_job:50", "", ""][: len(jobs)]
    run = simulation(jobs, policy={"extend_job": "grant"}, api_calls=calls)
    assert told(run.run(), "state")[0][0] == state


def _slow(case: Case) -> tuple[Any, ...]:
    """The same with times that matter to Slurm, which counts limits and delays in minutes."""
    times = ("submit", "limit", "runtime")
    return tuple(
        replace(
            one,
            **{name: 20 * getattr(one, name) for name in times},
            delay=max(20 * one.delay, -1),
            calls=tuple((kind, 20 * after) for kind, after in one.calls),
        )
        for one in case.components
    )


def _played(case: Case, trace: Workload, **policy: Any) -> Any:
    modules = [{"name": name, "nodes": nodes} for name, nodes in case.modules.items()]
    run = simulate(
        System.from_dict({"modules": modules}),
        trace,
        Policy.resolve({"backfill": "slurm", "slurm": {"version": "19.05", **KEYS}, **policy}),
    )
    run.check()
    return run


FEW = examples(30)


@FEW
@given(cases())
def test_nobody_starts_before_its_appointment_and_calls_off_is_the_trace_without_them(case: Case) -> None:
    slow = _slow(case)
    try:
        silent = _played(case, workload(slow, api_calls=""))
    except InputError:  # a circle of delays
        return
    assert fates(_played(case, workload(slow), calls=False)) == fates(silent)
    found = silent.components
    waited = found["start_time"] - found["eligible_time"]
    assert (waited[found["start_time"] >= 0] >= 0).all()


@FEW
@given(cases())
def test_a_delay_of_zero_is_none(case: Case) -> None:
    slow = _slow(case)
    none, zero = [max(one.delay, 0) for one in slow], [one.delay or -1 for one in slow]
    try:
        expected = fates(_played(case, workload(slow, delay=none)))
    except InputError:
        return
    assert fates(_played(case, workload(slow, delay=zero))) == expected


@FEW
@given(cases())
def test_a_job_of_one_component_is_an_ordinary_one(case: Case) -> None:
    """Whether the schedulers look for heterogeneous jobs, for another one, makes no difference to it."""
    alone = singly(_slow(case))
    expected = fates(_played(case, alone))
    found = fates(_played(case, followed_by_a_pair(alone, max(end for *_, end in expected.values()) + 6000)))
    assert {number: found[number] for number in expected} == expected


def test_those_of_one_delay_are_cancelled_together_and_moved_together() -> None:
    """V and Y have the same delay. A call of U at 22: V could start on B, but Y finds A taken until 71."""
    group = [U, V, (1, 0, "A", 2, 40, 1, 60)]
    run = operated(simulation(group), 30, lambda run: run.cancel(2))
    assert told(run, "state") == [["COMPLETED", "CANCELLED", "CANCELLED"]]
    moved = simulation([*group, (2, 11, "A", 1, 59, 1, 0)], api_calls=["11", "", "", ""]).run()
    eligible, start = told(moved, "eligible_time", "start_time")
    assert eligible[1] == eligible[2] == 70
    assert start[1] == start[2]


def test_a_node_that_leaves_service_is_replaced_in_a_reservation_that_has_begun() -> None:
    """V's node of B is drained at 30; the other is W's until 410, and then V's."""
    run = operated(simulation([U, V, (2, 1, "B", 1, 400, 7, 0)]), 30, lambda run: run.drain("B", 1))
    assert told(run, "start_time") == [[20, 410, 10]]


@pytest.mark.parametrize(("runs", "end"), [((90, 20), 100), ((90, 300), 130)])
def test_more_time_for_the_first_is_more_time_for_those_that_end_with_it(
    runs: tuple[int, int], end: int
) -> None:
    """On that simulator's clock the longest counts, none longer than it may; U asks at 60 for a minute."""
    jobs = [(1, 0, "A", 1, runs[0], 1, 0), (1, 0, "B", 1, runs[1], 2, 0)]
    run = simulation(jobs, policy={"extend_job": "grant"}, api_calls=["extend_job:50", ""])
    assert told(run.run(), "end_time") == [[end, end]]


def test_one_that_can_never_start_keeps_its_job_out_of_the_queue() -> None:
    """Job 2 waits for a success that does not come: W has B, and the run ends, whatever is skipped."""
    ties = {
        "component_id": [1, 2, 3, 4],
        "dependency_kinds": ["", "AFTEROK", "", ""],
        "dependency_ids": ["", "1", "", ""],
        "exit_code": [1, 0, 0, 0],
    }
    jobs = [
        (1, 0, "A", 1, 30, 1, 0),
        (2, 0, "A", 1, 30, 1, 0),
        (2, 0, "B", 2, 30, 1, 0),
        (3, 100, "B", 1, 30, 1, 0),
    ]
    weights = {"PriorityType": "priority/multifactor", "PriorityWeightJobSize": 1000}
    for keys in ({}, {"accelerate": False}, weights):
        start, state = told(simulation(jobs, keys, **ties).run(), "start_time", "state")
        assert start == [0, -1, -1, 100]
        assert state[1:3] == ["PENDING", "PENDING"]


def test_components_of_a_heterogeneous_job_share_the_licences_there_are() -> None:
    """W has one of two; both components of job 2 want one."""
    trace = Workload.from_columns(
        modular_job_id=[1, 2, 2],
        submit_time=[0, 1, 1],
        partition=["A", "A", "B"],
        nodes=[1, 1, 1],
        run_time=[100, 30, 30],
        time_limit=[120, 60, 60],
        licences=["m:1", "m:1", "m:1"],
    )
    modules = {"modules": [{"name": "A", "nodes": 2}, {"name": "B", "nodes": 2}]}
    system = System.from_dict({**modules, "resources": {"licences": {"m": 2}}})
    run = Simulation(system, trace, Policy.resolve({"backfill": "slurm", "slurm": KEYS})).run()
    assert told(run, "start_time") == [[0, 100, 100]]
