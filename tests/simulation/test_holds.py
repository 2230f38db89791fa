"""What holds components under all policies but slurm: hand-computed, and against the same told beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Simulation, System, Workload, simulate
from tests.conftest import examples
from tests.simulation.acting import DONE, GONE, NEVER, TEXTBOOK, at, fates, trace

pytestmark = pytest.mark.interpreted

POLICIES = TEXTBOOK | {"own": Policy(order=lambda nodes: nodes, backfill="easy")}
every_policy = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)


def cluster(nodes: int, *jobs: tuple[int, ...], policy: Any = "easy", **columns: Any) -> Simulation:
    return Simulation(System.homogeneous(nodes), trace(*jobs, **columns), policy)


def waits(result: Any) -> list[int]:
    return result.components["wait_dependency"].tolist()


@every_policy
def test_nobody_is_eligible_before_its_begin_time(policy):
    jobs = trace((0, 4, 10), (0, 4, 10), (1, 4, 10), begin_time=[-1, 40, 0])
    result = simulate(System.homogeneous(4), jobs, policy)
    assert fates(result) == {1: (0, 10, DONE), 3: (10, 20, DONE), 2: (40, 50, DONE)}
    assert (waits(result), result.components["eligible_time"].tolist()) == ([0, 40, 0], [0, 40, 1])
    assert result.metrics["counts"]["not_honoured"] == {}


@every_policy
def test_what_is_submitted_held_waits_for_its_release(policy):
    sim = cluster(4, (0, 4, 10), (0, 1, 10), (0, 1, 10), policy=policy, hold=[0, 1, 1])
    at(sim, 25, lambda: sim.release(2))
    result = sim.run()
    assert fates(result) == {1: (0, 10, DONE), 2: (25, 35, DONE), 3: (-1, -1, NEVER)}
    assert result.components["eligible_time"].tolist() == [0, 25, -1]
    assert sim.state(3) == "HELD"


@every_policy
def test_submitted_by_processes_with_a_hold_or_a_begin_time(policy):
    sim = cluster(4, (0, 4, 10), policy=policy)
    at(sim, 5, lambda: sim.submit(nodes=1, run_time=10, begin_time=100))
    at(sim, 6, lambda: sim.submit(nodes=1, run_time=10, hold=1, component_id=7))
    at(sim, 6, lambda: sim.submit(nodes=1, run_time=10, begin_time=2))
    at(sim, 50, lambda: sim.release(7))
    result = sim.run()
    assert fates(result) == {1: (0, 10, DONE), 2: (100, 110, DONE), 7: (50, 60, DONE), 8: (10, 20, DONE)}
    assert result.components["eligible_time"].tolist() == [0, 100, 50, 6]


@every_policy
def test_a_begin_time_may_be_moved(policy):
    sim = cluster(4, (0, 1, 5), (0, 4, 50), (10, 1, 5), policy=policy)
    at(sim, 20, lambda: sim.update(3, begin_time=90))
    at(sim, 60, lambda: sim.update(3, begin_time=70))
    result = sim.run()
    assert fates(result)[3] == (70, 75, DONE)
    assert result.metrics["counts"]["held_back"] == 1
    sim = cluster(4, (0, 1, 5), (10, 1, 5), (10, 1, 5), policy=policy, begin_time=[-1, 90, -1])
    at(sim, 5, lambda: [sim.update(2, begin_time=30), sim.update(3, begin_time=20)])
    assert [fate[0] for fate in fates(sim.run()).values()] == [0, 30, 20]


def test_the_front_that_is_held_has_no_reservation():
    """The example of docs/semantics.md: B is front with the shadow time 10; held at 4, released at 6."""
    jobs = ((0, 3, 10), (1, 4, 5), (2, 1, 20))
    for name in ("easy", "static", "depth", "scratch", "keep"):
        assert [fate[0] for fate in fates(cluster(4, *jobs, policy=POLICIES[name]).run()).values()] == [
            0, 10, 15,
        ]  # fmt: skip
        sim = cluster(4, *jobs, policy=POLICIES[name])
        at(sim, 4, lambda sim=sim: sim.hold(2))
        at(sim, 6, lambda sim=sim: sim.release(2))
        result = sim.run()
        assert [fate[0] for fate in fates(result).values()] == [0, 24, 4]
        assert waits(result) == [0, 5, 0]


def test_keep_promises_behind_all_others_what_becomes_eligible():
    """
    A holds all four nodes to 20. B (4 nodes, 10 s) is promised 20. C, submitted before B, with a begin time
    of 5, is first in the queue then: planned anew it is promised 20; under keep B's promise stands.
    """
    jobs = trace((0, 4, 20), (1, 4, 10), (2, 4, 10), begin_time=[-1, 5, -1])
    starts = {
        name: [fate[0] for fate in fates(simulate(System.homogeneous(4), jobs, POLICIES[name])).values()]
        for name in ("scratch", "keep")
    }
    assert starts == {"scratch": [0, 20, 30], "keep": [0, 30, 20]}


@every_policy
def test_all_that_holds_must_be_gone(policy):
    """3 depends on 1 (until 30), begins at 20, and is held until 50; 4 needs any one of 1 and 2."""
    sim = cluster(
        *(8, (0, 1, 30), (0, 1, 60), (0, 1, 5), (0, 1, 5)),
        policy=policy,
        dependency_ids=["", "", "1", "1,2"], dependency_kinds=["", "", "AFTEROK", "AFTEROK"],
        dependency_any=[0, 0, 0, 1], begin_time=[-1, -1, 20, 40], hold=[0, 0, 1, 0],
    )  # fmt: skip
    at(sim, 50, lambda: sim.release(3))
    assert [fate[0] for fate in fates(sim.run()).values()] == [0, 0, 50, 40]


@every_policy
def test_singletons_run_one_at_a_time_in_order_of_submission(policy):
    """
    1 (not a singleton) runs to 20; 2 and 3 wait for it, 3 for 2; 4 has another name, 5 is no singleton.
    5 starts at once, and 2 waits for it, too.
    """
    jobs = trace(
        (0, 1, 20), (1, 1, 10), (2, 1, 5), (3, 1, 5), (4, 1, 30),
        user="ada", name=["x", "x", "x", "y", "x"], dependency_kinds=["", *["SINGLETON"] * 3, ""],
    )  # fmt: skip
    result = simulate(System.homogeneous(8), jobs, policy)
    assert [fate[0] for fate in fates(result).values()] == [0, 34, 44, 3, 4]
    assert waits(result) == [0, 33, 42, 0, 0]


@every_policy
def test_a_singleton_waits_for_one_that_is_held_but_not_for_one_that_is_gone(policy):
    alike = {"user": "ada", "name": "x", "dependency_kinds": "SINGLETON"}
    sim = cluster(8, (0, 1, 5), (0, 1, 5), (0, 1, 5), (0, 1, 5), policy=policy, hold=[1, 0, 0, 0], **alike)
    at(sim, 10, lambda: sim.release(1))
    at(sim, 12, lambda: sim.cancel(2))
    assert fates(sim.run()) == {1: (10, 15, DONE), 2: (-1, 12, GONE), 3: (15, 20, DONE), 4: (20, 25, DONE)}


@every_policy
def test_so_many_tasks_of_an_array_run_at_once(policy):
    """Two at a time: 1 and 2, 3 when 2 ends, 4 when 1 and 3 do; 5 is of another array."""
    jobs = trace(
        (0, 1, 20), (0, 1, 10), (0, 1, 10), (0, 1, 5), (0, 1, 5),
        array_job_id=[7, 7, 7, 7, 8], array_task_id=[1, 2, 3, 4, 1], array_limit=[2, 2, 2, 2, -1],
    )  # fmt: skip
    result = simulate(System.homogeneous(8), jobs, policy)
    assert [fate[0] for fate in fates(result).values()] == [0, 0, 10, 20, 0]
    assert waits(result) == [0, 0, 10, 20, 0]


@every_policy
def test_a_place_in_an_array_goes_round(policy):
    """One at a time. 1 gives its place back when it is held in the queue, and when it is cancelled."""
    tasks = {"array_job_id": [-1, 7, 7, 7], "array_task_id": [-1, 1, 2, 3], "array_limit": [-1, 1, 1, 1]}
    sim = cluster(4, (0, 4, 30), (1, 1, 10), (1, 1, 10), (1, 1, 10), policy=policy, **tasks)
    at(sim, 5, lambda: sim.hold(2))
    at(sim, 32, lambda: sim.release(2))
    at(sim, 35, lambda: sim.requeue(3))
    assert fates(sim.run()) == {
        1: (0, 30, DONE), 3: (35, 45, DONE), 2: (45, 55, DONE), 4: (55, 65, DONE),
    }  # fmt: skip
    sim = cluster(4, (0, 4, 30), (1, 1, 10), (1, 1, 10), (1, 1, 10), policy=policy, **tasks)
    at(sim, 5, lambda: sim.cancel(2))
    at(sim, 33, lambda: sim.cancel(3))
    at(sim, 50, lambda: sim.requeue(2))
    assert fates(sim.run()) == {
        1: (0, 30, DONE), 2: (50, 60, DONE), 3: (30, 33, GONE), 4: (33, 43, DONE),
    }  # fmt: skip


def test_a_hold_of_what_runs_does_nothing_and_one_in_the_second_of_the_begin_time_counts():
    sim = cluster(4, (0, 1, 20), (0, 1, 5), begin_time=[-1, 10])
    at(sim, 3, lambda: sim.hold(1))
    at(sim, 10, lambda: sim.hold(2))
    at(sim, 12, lambda: sim.requeue(1))
    at(sim, 30, lambda: sim.release(2))
    assert fates(sim.run()) == {1: (12, 32, DONE), 2: (30, 35, DONE)}


@pytest.mark.parametrize("name", ["fcfs", "first_fit", "easy", "scratch", "keep"])
def test_what_holds_a_member_holds_its_unit(name):
    """Components 2 and 3 are one job: 3 begins at 20 at the earliest; then 2 is held."""
    jobs = trace(
        (0, 2, 10), (0, 1, 5), (0, 1, 5), (0, 4, 5),
        component_id=[1, 2, 3, 4], modular_job_id=[1, 2, 2, 4], begin_time=[-1, -1, 20, -1],
    )  # fmt: skip
    sim = Simulation(System.homogeneous(4), jobs, POLICIES[name])
    at(sim, 15, lambda: sim.hold(2))
    at(sim, 40, lambda: sim.release(2))
    result = sim.run()
    assert fates(result) == {1: (0, 10, DONE), 4: (10, 15, DONE), 2: (40, 45, DONE), 3: (40, 45, DONE)}
    assert result.components["eligible_time"].tolist() == [0, 40, 40, 0]


@pytest.mark.parametrize("name", ["fcfs", "first_fit", "easy", "scratch", "keep"])
def test_components_that_start_together_do_not_wait_for_one_another(name):
    """Two jobs of two components each, all singletons of one name, in arrays with a limit of one."""
    jobs = trace(
        (0, 1, 10), (0, 1, 10), (0, 1, 5), (0, 1, 5),
        component_id=[1, 2, 3, 4], modular_job_id=[1, 1, 2, 2], dependency_kinds="SINGLETON",
        user="ada", name="x", array_job_id=7, array_task_id=[1, 2, 3, 4], array_limit=1,
    )  # fmt: skip
    result = simulate(System.homogeneous(4), jobs, POLICIES[name])
    assert [fate[0] for fate in fates(result).values()] == [0, 0, 10, 10]
    assert result.metrics["counts"]["not_honoured"] == {"array_limit": 4}


def test_nice_is_counted():
    result = simulate(System.homogeneous(4), trace((0, 1, 5), (0, 1, 5), nice=[5, 0]), "easy")
    assert result.metrics["counts"]["not_honoured"] == {"nice": 1}


def test_many_begin_times_and_submissions_beside_them():
    """The table of what holds components, and the events, grow with the rest of the core."""
    sim = cluster(4, *((0, 1, 5) for _ in range(5)), begin_time=[100, 90, 80, -1, -1])
    at(sim, 10, lambda: [sim.submit(nodes=1, run_time=1, begin_time=50 + i) for i in range(150)])
    at(sim, 11, lambda: [sim.submit(nodes=1, run_time=1) for _ in range(150)])
    result = sim.run()
    result.check()
    assert set(result.components["state"]) == {DONE}
    assert np.array_equal(result.components["eligible_time"][5:155], 50 + np.arange(150))


# -- what comes from processes is treated as what a trace has ----------------------------------

JOB = st.fixed_dictionaries(
    {
        "submit_time": st.integers(0, 40),
        "nodes": st.integers(1, 4),
        "run_time": st.integers(0, 20),
        "time_limit": st.sampled_from([5, 10, 30]),
        "begin_time": st.sampled_from([-1, -1, 25]),
        "array_job_id": st.sampled_from([-1, -1, 77]),
        "array_limit": st.just(2),
        "user": st.sampled_from(["ada", "bob"]),
        "name": st.sampled_from(["m", "n"]),
        "dependency_kinds": st.sampled_from(["", "", "", "SINGLETON"]),
    }
)
JOBS = st.lists(JOB, min_size=1, max_size=20)
ANY_POLICY = st.sampled_from([name for name in POLICIES if name != "event"])


def columns_of(jobs: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [job[name] for job in jobs] for name in jobs[0]}


@examples(60)
@given(jobs=JOBS, told=st.integers(0, 20), name=ANY_POLICY)
def test_submitted_by_processes_the_schedule_is_that_of_a_trace(jobs, told, name):
    jobs = sorted(jobs, key=lambda job: job["submit_time"])
    jobs[0]["submit_time"] = 0
    columns = columns_of(jobs)
    expected = fates(simulate(System.homogeneous(5), Workload.from_columns(**columns), POLICIES[name]))
    told = max(1, min(told, len(jobs)))
    known = Workload.from_columns(**{name: values[:told] for name, values in columns.items()})
    sim = Simulation(System.homogeneous(5), known, POLICIES[name])

    def users() -> Any:
        for number, job in enumerate(jobs[told:], told + 1):
            yield sim.env.timeout(job["submit_time"] - sim.env.now)
            fields = {name: value for name, value in job.items() if name != "submit_time"}
            kind = fields.pop("dependency_kinds") or "AFTEROK"
            sim.submit(**fields, dependency_type=kind, component_id=number)

    sim.process(users())
    assert fates(sim.run()) == expected


@examples(60)
@given(jobs=JOBS, name=ANY_POLICY)
def test_a_begin_time_at_the_submission_and_a_hold_that_ends_there_are_none(jobs, name):
    plain = columns_of(jobs) | {"begin_time": [-1] * len(jobs)}
    expected = simulate(System.homogeneous(5), Workload.from_columns(**plain), POLICIES[name])
    begun = plain | {"begin_time": plain["submit_time"]}
    result = simulate(System.homogeneous(5), Workload.from_columns(**begun), POLICIES[name])
    assert result.components.equals(expected.components)
    held = Workload.from_columns(**plain, hold=[number % 2 for number in range(len(jobs))])
    sim = Simulation(System.homogeneous(5), held, POLICIES[name])
    for number, time in enumerate(plain["submit_time"]):
        if number % 2 == 0:
            at(sim, time, lambda number=number: sim.hold(number + 1))
        at(sim, time, lambda number=number: sim.release(number + 1))
    result = sim.run()
    result.check()
    assert result.components.equals(expected.components)
    assert result.timeline.equals(expected.timeline)
