"""Nodes with several reasons to be out of service: events by name and by number, failures, processes."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_sim import Policy, Simulation, System, Workload, simulate
from scheduler_sim.cli.main import main
from scheduler_sim.errors import SchedulerSimError
from scheduler_sim.simulation.node_book import NodeBook, Reason
from tests.simulation.acting import DONE, at, fates, steps, trace

pytestmark = pytest.mark.interpreted

SHARED = {"cores_per_node": 4, "shared": True}
POLICIES = ("fcfs", Policy(backfill="first_fit"), "easy", "conservative", "slurm")
KINDS = [(policy, keys) for policy in POLICIES for keys in ({}, SHARED)]


def simulation(policy: Any, nodes: int, jobs: Any, *events: dict[str, Any], **keys: Any) -> Simulation:
    system = {"modules": [{"name": "cluster", "nodes": nodes, **keys}], "events": list(events)}
    return Simulation(System.from_dict(system), trace(*jobs), policy)


# -- the book


def test_a_node_is_back_when_its_last_reason_ends():
    book = NodeBook([4])
    assert book.take(0, (0, 1), Reason(1, 30)) == [0, 1]
    assert book.take(0, (1, 2), Reason(2, 20)) == [2]
    assert book.in_service(0) == [3]
    assert book.end(2) == (0, [2])
    assert book.end(1) == (0, [0, 1])
    assert not book.any_is_out


def test_what_is_resumed_is_back_whatever_kept_it_out_and_no_end_brings_it_back_again():
    book = NodeBook([2])
    book.take(0, (0, 1), Reason(1, 30))
    book.take(0, (0,), Reason(2, 40))
    assert book.resume(0, (0,)) == [0]
    assert book.resume(0, (0,)) == []
    assert book.end(1) == (0, [1])
    assert book.end(2) == (0, [])
    assert book.end(3) == (0, [])


def test_a_number_of_nodes_is_resumed_from_those_that_would_be_back_last():
    book = NodeBook([5])
    for node, end in ((0, 10), (1, None), (2, 50), (3, None)):
        book.take(0, (node,), Reason(node, end))
    assert book.latest_due(0, 9) == [1, 3, 2, 0]
    assert book.latest_due(0, 2, prefer=[3]) == [3, 1]


def test_plans_know_a_return_only_if_every_reason_is_announced_to_end():
    book = NodeBook([3])
    book.take(0, (0, 1), Reason(-1, 50, announced=True))
    book.take(0, (1, 2), Reason(-2, 70, announced=True))
    assert book.announced(0) == {50: [0], 70: [1, 2]}
    book.take(0, (2,), Reason(7, 60))
    assert book.announced(0) == {50: [0], 70: [1]}
    assert book.any_will_return


# -- under every policy


@pytest.mark.parametrize(("policy", "keys"), KINDS)
def test_a_number_and_names_take_the_same_nodes_once(policy, keys):
    """All three are down from 18 to 60; of these, 1 and 2 are drained as well, until 200."""
    down = {"time": 18, "state": "DOWN", "count": 3, "end": 60, "requeue": False}
    drained = {"time": 48, "state": "DRAIN", "nodes": "1-2", "end": 200}
    sim = simulation(policy, 3, [(0, 2, 60), (70, 1, 10), (71, 3, 10)], down, drained, **keys)
    found = fates(result := sim.run())
    assert found[1] == (found[1][0], 18, "FAILED")
    assert found[2][0] < 200 <= found[3][0]
    assert [nodes for _, nodes in steps(result, "nodes_down")][-3:] == [3, 2, 0]


@pytest.mark.parametrize(("policy", "keys"), KINDS)
@pytest.mark.parametrize("how", [{"count": 1}, {"nodes": "0"}])
def test_one_that_was_resumed_is_not_brought_back_twice(policy, keys, how):
    down = {"time": 10, "state": "DOWN", "nodes": "0", "end": 40}
    sim = simulation(
        policy, 1, [(0, 1, 100), (0, 1, 100)], down, {"time": 20, "state": "RESUME", **how}, **keys
    )
    found = fates(result := sim.run())
    assert {fate[2] for fate in found.values()} == {DONE}
    assert steps(result, "nodes_down")[-1][1] == 0  # under Slurm the job's nodes are back after KillWait
    assert policy == "slurm" or found[1][0] < 40


@pytest.mark.parametrize(("policy", "keys"), KINDS)
@pytest.mark.parametrize("what", ["drain", "fail", "resume"])
@pytest.mark.parametrize("state", ["FAIL", "DOWN", "DRAIN"])
def test_processes_and_events_take_the_same_node_once(policy, keys, what, state):
    event = {"time": 10, "state": state, "nodes": "0", "end": 30}
    sim = simulation(policy, 1, [(0, 1, 20), (0, 1, 20), (50, 1, 20)], event, **keys)
    at(sim, 15, lambda: getattr(sim, what)("cluster", 1))
    at(sim, 100, lambda: sim.resume("cluster", 1))
    result = sim.run()
    result.check()
    assert sim.idle_nodes("cluster") == 1
    assert result.timeline["nodes_down"].iloc[-1] == 0


@pytest.mark.parametrize(("policy", "keys"), KINDS)
@pytest.mark.parametrize("what", ["drain", "fail", "resume"])
def test_processes_beside_a_failure_model(policy, keys, what):
    modules = [{"name": "A", "nodes": 2, "cores_per_node": 2, **keys}]
    failing = [{"mtbf": 300, "repair": {"mean": 100}}]
    jobs = Workload.from_columns(
        nodes=[1] * 4, submit_time=[0, 0, 100, 200], run_time=[60] * 4, cores=[2] * 4
    )
    for seed in range(6):
        sim = Simulation(System.from_dict({"modules": modules, "failures": failing}), jobs, policy, seed=seed)
        at(sim, 120, lambda one=sim: getattr(one, what)("A", 1))
        sim.run().check()
        assert 0 <= sim.idle_nodes("A") <= 2


def test_what_was_not_there_is_counted_and_said():
    more = {"time": 2, "state": "DRAIN", "count": 5, "end": 9}
    result = simulation(
        "easy", 3, [(0, 1, 1), (4, 1, 5)], more, {"time": 20, "state": "RESUME", "count": 2}
    ).run()
    assert fates(result)[2] == (9, 14, DONE)
    assert result.metrics["counts"]["nodes_not_there"] == 2
    assert any("2 nodes were to leave service or come back" in one for one in result.metrics["warnings"])


def test_plans_count_on_the_very_node_that_is_announced_to_be_back():
    """Node 0 is drained until 20, node 1 for good: at 20 it is node 0 that a job of one node gets."""
    sim = simulation(
        "conservative", 2, [(0, 2, 1), (5, 1, 5)], {"time": 1, "state": "DRAIN", "nodes": "1"}, **SHARED
    )
    at(sim, 2, lambda: sim.drain("cluster", 1, until=20))
    result = sim.run()
    assert fates(result)[2] == (20, 25, DONE)
    assert result.components["node_list"].tolist() == ["0-1", "0"]


# -- Slurm's power saving


@pytest.mark.parametrize("state", ["DOWN", "DRAIN", "FAIL"])
@pytest.mark.parametrize("begin", range(8, 40, 3))
def test_a_node_that_is_off_or_powers_down_and_leaves_service_counts_once(state, begin):
    slurm = {"SuspendTime": 5, "SuspendTimeout": 12, "ResumeTimeout": 5}
    event = {"time": begin, "state": state, "nodes": "0", "end": 150}
    sim = simulation(Policy(backfill="slurm", slurm=slurm), 1, [(0, 1, 3), (100, 1, 10)], event)
    assert fates(sim.run())[2][0] >= 150


# -- what must never be


@pytest.mark.compiled
def test_parts_of_a_node_that_are_given_back_twice_end_a_compiled_run(monkeypatch, tmp_path, capsys):
    def break_it(sim: Simulation) -> Any:
        sim._core.shared_nodes.free[0, :] += 1
        return run(sim)

    run = Simulation.run
    monkeypatch.setattr(Simulation, "run", break_it)
    (tmp_path / "site.yaml").write_text(
        "modules: [{name: cluster, nodes: 1, shared: true, cores_per_node: 4}]\n"
    )
    (tmp_path / "jobs.csv").write_text("job_id,submit_time,run_time,time_limit,nodes,cores\n1,0,10,10,1,1\n")
    files = [str(tmp_path / name) for name in ("site.yaml", "jobs.csv")]
    assert main(["run", *files, "--policy", "easy", "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "never below 0 at 0 s: found -1 cores" in said or "at 10 s: found -1 cores" in said, said
    assert "module cluster, node 0" in said


def test_a_count_below_none_ends_the_run_and_says_when():
    sim = simulation("easy", 2, [(0, 1, 10), (50, 1, 10)])

    def break_it() -> None:
        sim._core.pools[0].down = -1

    at(sim, 30, break_it)
    with pytest.raises(
        SchedulerSimError, match=r"rule pools .* s: found -1 nodes out of service of module cluster"
    ):
        sim.run()


def test_parts_of_a_node_that_are_given_back_twice_end_the_run():
    sim = simulation("easy", 2, [(0, 1, 10), (50, 1, 10)], **SHARED)

    def break_it() -> None:
        sim._core.shared_nodes.free[0, :] += 1

    at(sim, 5, break_it)
    said = r"rule shared_nodes .* at 10 s: found -1 cores, .* in use of module cluster, node 0"
    with pytest.raises(SchedulerSimError, match=said):
        sim.run()


LIMITED = {"qos": {"normal": {"GrpJobs": 9, "GrpSubmitJobs": 9}}, "AccountingStorageEnforce": "limits"}


@pytest.mark.parametrize(
    ("field", "words"), [("submitted", "submitted jobs at"), ("jobs", "running jobs at")]
)
@pytest.mark.parametrize("how", [pytest.param("compiled", marks=pytest.mark.compiled), "interpreted"])
def test_the_counter_of_a_limit_that_is_too_low_ends_the_run(how, field, words):
    jobs = Workload.from_columns(nodes=[1, 1], submit_time=[0, 50], run_time=[90, 9], qos="normal", user="u")
    sim = Simulation(System.homogeneous(2), jobs, Policy(backfill="slurm", slurm=LIMITED))

    def break_it() -> None:
        sim._core.resource_limits.counter[field][:] = 0

    at(sim, 40, break_it)
    expected = rf"rule resource_limits .* at (50|9\d|1\d\d) s: found -1 {words} the counter"
    with pytest.raises(SchedulerSimError, match=expected):
        sim.run()


def test_a_shared_resource_of_which_less_than_nothing_is_in_use_ends_the_run():
    system = System.from_dict({"modules": [{"name": "A", "nodes": 1}], "resources": {"licences": {"x": 2}}})
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[10], licences=["x:1"])
    sim = Simulation(system, jobs, "easy")

    def break_it() -> None:
        sim._core.pools[1].busy = 0

    at(sim, 5, break_it)
    with pytest.raises(SchedulerSimError, match=r"at 10 s: found -1 in use of the shared resource x"):
        sim.run()


def test_a_scheduler_that_asks_for_one_pass_after_another_ends_with_an_error(monkeypatch):
    monkeypatch.setattr("scheduler_sim.simulation.laws.MOST_PASSES", 50)
    monkeypatch.setattr("scheduler_sim.simulation.simulation.LOOK_EVERY_S", 1e-9)
    sim = simulation("easy", 2, [(0, 1, 10)])
    sim._loader.scheme.put(sim._core)

    class Stuck:
        def __getattr__(self, name: str) -> Any:
            return getattr(scheme, name)

        def run(self, core: Any, until: int, budget: int) -> None:
            core.clock.steps += 10
            core.clock.status = 2  # BUDGET

    scheme = sim._loader.scheme
    sim._loader.scheme = Stuck()  # type: ignore[assignment]
    with pytest.raises(SchedulerSimError, match="the clock does not advance"):
        sim.run()


# -- right runs that check() refused


@pytest.mark.parametrize("policy", POLICIES)
def test_a_row_of_the_timeline_is_one_in_which_something_changes(policy):
    """One job takes the place of another; a node that does not say its memory; half of a module."""
    after = {"dependency_ids": ["", "1"], "dependency_kinds": ["", "AFTERANY"], "component_id": [1, 2]}
    shared = {"name": "A", "nodes": 1, "shared": True, "cores_per_node": 2}
    jobs = Workload.from_columns(
        nodes=[1, 1], submit_time=[0, 0], run_time=[10, 10], cores=[2, -1.0], **after
    )
    simulate(System.from_dict({"modules": [shared]}), jobs, policy).check()
    sets = [{"name": "x", "nodes": 2}, {"name": "y", "nodes": 1}]
    system = {
        "modules": [{"name": "A", "nodes": 2}, {"name": "B", "nodes": 3, "node_sets": sets}],
        "partitions": [{"name": "a", "module": "A"}, {"name": "b", "module": "B", "node_sets": ["x"]}],
    }
    jobs = Workload.from_columns(
        nodes=[2, 2], submit_time=[0, 0], run_time=[10, 10], partition=["a", "b"], **after
    )
    simulate(System.from_dict(system), jobs, policy).check()


def test_tasks_of_arrays_may_come_behind_the_event_that_lets_another_start():
    array = {"array_job_id": [900, -1], "array_task_id": [1, -1], "array_limit": [2, -1]}
    jobs = Workload.from_columns(nodes=[1, 2], submit_time=[3, 3], run_time=[7, 20], **array)
    simulate(System.homogeneous(2), jobs, Policy(backfill="none", passes="event")).check()


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "slurm"])
@pytest.mark.parametrize("member", [2, 3])
@pytest.mark.parametrize("what", ["begin", "hold"])
def test_the_other_members_of_a_job_wait_anew_when_one_is_held(policy, member, what):
    system = System.from_dict({"modules": [{"name": "A", "nodes": 1}, {"name": "B", "nodes": 1}]})
    jobs = Workload.from_columns(
        component_id=[1, 2, 3],
        modular_job_id=[1, 2, 2],
        components_total=[1, 2, 2],
        nodes=[1, 1, 1],
        submit_time=[0, 0, 0],
        run_time=[100, 20, 20],
        partition=["A", "A", "B"],
    )
    sim = Simulation(system, jobs, policy)
    if what == "begin":
        at(sim, 40, lambda: sim.update(member, begin_time=50))
    else:
        at(sim, 40, lambda: sim.hold(member))
        at(sim, 60, lambda: sim.release(member))
    result = sim.run()
    assert {fate[2] for fate in fates(result).values()} == {DONE}
