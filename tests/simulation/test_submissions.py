"""Submissions, their dependencies, cancellations and changing limits: hand-computed."""

from __future__ import annotations

import pytest

from scheduler_sim import Policy, Simulation, System, Workload, read_trace, simulate
from scheduler_sim.errors import InputError
from scheduler_sim.simulation import load
from scheduler_sim.simulation.growth import with_room
from tests.conftest import ROOT
from tests.simulation.acting import DONE, FAILED, GONE, NEVER, at, fates, simulation, trace

pytestmark = pytest.mark.interpreted

LAB = {
    "modules": [{"name": "A", "nodes": 4}, {"name": "B", "nodes": 2, "cost_per_node": 3}],
    "partitions": [
        {"name": "A", "module": "A"},
        {"name": "short", "module": "A", "max_time": 60, "priority": 5},
    ],
    "resources": {"licences": {"m": 2, "o": 1}, "nam_gb": 4},
}


def test_what_slurm_refuses_is_counted_by_its_reason():
    """More cores, and more GPUs, than a node has; the rest is refused before Slurm looks."""
    shared = {
        "name": "M",
        "nodes": 2,
        "shared": True,
        "cores_per_node": 8,
        "memory_gb": 4,
        "gpus_per_node": 2,
    }
    jobs = Workload.from_columns(
        submit_time=[0] * 4,
        run_time=[9] * 4,
        nodes=[1] * 4,
        cores=[8.0, 9.0, 1.0, 1.0],
        gpus=[2.0, 0.0, 3.0, 0.0],
        memory_kb=[1, 1, 1, 5 << 20],
    )
    counts = simulate(System.from_dict({"modules": [shared]}), jobs, "slurm").metrics["counts"]
    assert counts["rejected"] == 3
    assert counts["rejected_because"] == {"memory": 1, "no_room": 2}


def test_fields_of_a_submission_are_columns_of_a_workload():
    sim = Simulation(System.from_dict(LAB), None, "easy")
    sim.submit(
        nodes=2, run_time=9, time_limit=5, partition="B", user="ada", app="x", name="n", component_id=7
    )
    sim.submit(nodes=1, run_time=9, partition="short", exit_code=3, modular_job_id=70)
    result = sim.run()
    assert fates(result) == {7: (0, 5, "TIMEOUT"), 8: (0, 9, FAILED)}
    first, second = result.components.iloc[0], result.components.iloc[1]
    assert (first["user"], first["app"], first["name"], first["module"]) == ("ada", "x", "n", "B")
    assert (first["modular_job_id"], second["modular_job_id"]) == (7, 70)
    assert (second["module"], second["time_limit"], second["user"]) == ("A", 60, "")


def test_what_can_never_run_is_rejected():
    sim = Simulation(System.from_dict(LAB), None, "easy")
    large, long = (
        sim.submit(nodes=5, run_time=1, partition="A"),
        sim.submit(nodes=1, run_time=1, time_limit=61, partition="short"),
    )
    many = sim.submit(nodes=1, run_time=1, licences="m:3")
    result = sim.run()
    assert {sim.state(i) for i in (large, long, many)} == {"REJECTED"}
    assert result.metrics["counts"]["rejected_because"] == {"too_large": 1, "max_time": 1, "resources": 1}
    assert fates(result) == dict.fromkeys((1, 2, 3), (-1, -1, "REJECTED"))


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"nods": 3}, "did you mean 'nodes'"),
        ({"time_limit": 0}, "1 to 1e15"),
        ({"time_limit": 5.5}, "whole number"),
        ({"user": 5}, "text"),
        ({"partition": "C"}, "no partition|partition"),
        ({"licences": "m:"}, "licences"),
        ({"constraint": "gpu&"}, "constraint"),
        ({"component_id": 1}, "in use"),
        ({"after": [99]}, "the id of a component"),
        ({"after": [1], "dependency_type": "BEFORE"}, "AFTEROK"),
        ({"submit_time": 3}, "instant of the call"),
        ({"delay": 5}, "submit it later"),
        ({"api_calls": "30"}, "of the trace have calls"),
        ({"skipped": 1}, "simulated"),
        ({"dependency_ids": "1"}, "after="),
        ({"status": 2**70}, "int64"),
        ({"frequency": "fast"}, "frequency"),
    ],
)
def test_a_wrong_submission_is_refused_at_once_and_leaves_nothing(fields, says):
    sim = Simulation(System.from_dict(LAB), trace((0, 1, 5)), "easy")
    with pytest.raises(InputError, match=says):
        sim.submit(**{"nodes": 1, "run_time": 1, **fields})
    assert sim.submit(nodes=1, run_time=1) == 2
    assert fates(sim.run()) == {1: (0, 5, DONE), 2: (0, 1, DONE)}


@pytest.mark.parametrize("nodes", [0, -1, "2", 2.0, 2**31])
def test_nodes_must_be_a_positive_whole_number(nodes):
    with pytest.raises(InputError, match="nodes"):
        simulation(4).submit(nodes=nodes, run_time=1)


def test_ids_go_on_behind_all_ids_of_the_trace():
    jobs = Workload.from_columns(
        nodes=[1, 1], submit_time=[0, 0], run_time=[5, -1], component_id=[5, 90], skipped=[0, 2],
        modular_job_id=[5, 200],
    )  # fmt: skip
    sim = Simulation(System.homogeneous(4), jobs, "easy")
    assert sim.submit(nodes=1, run_time=1) == 201
    assert set(fates(sim.run())) == {5, 201}


@pytest.mark.parametrize("before", [(), ((0, 1, 3), (0, 1, 3))])
def test_a_singleton_waits_for_its_own_user_and_name_whoever_was_submitted_before(before):
    """Three submissions at 0 that nothing holds, then singletons of users who have one of them, and none."""
    sim = simulation(8, *before)

    def users():
        for name in ("y", "x", "z"):
            sim.submit(nodes=1, run_time=50, user="b", name=name)
        yield sim.env.timeout(1)
        for user in ("a", "b"):
            sim.submit(nodes=1, run_time=5, user=user, name="x", dependency_type="SINGLETON")

    sim.process(users())
    assert list(fates(sim.run()).values())[-2:] == [(1, 6, DONE), (50, 55, DONE)]


@pytest.mark.parametrize("text", [{"partition": "C"}, {"licences": "m:"}, {"constraint": "gpu&"}])
def test_a_text_that_is_wrong_is_refused_every_time(text):
    """Also after a good one, and beside others of the same instant."""
    sim = Simulation(System.from_dict(LAB), None, "easy")
    for nodes in (1, 2, 9):
        sim.submit(nodes=nodes, run_time=1)
        with pytest.raises(InputError, match=next(iter(text))):
            sim.submit(nodes=nodes, run_time=1, **text)
    assert [state for *_, state in fates(sim.run()).values()] == [DONE, DONE, "REJECTED"]


KINDS = {
    # kind: (eligible if the predecessor, from 0 to 10, ends well, if it fails, if it is cancelled at 5)
    "AFTER": (2, 2, 2),
    "AFTERANY": (10, 10, 5),
    "AFTEROK": (10, None, None),
    "AFTERNOTOK": (None, 10, 5),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", ["well", "fails", "cancelled"])
@pytest.mark.parametrize("asked", [2, 20])
def test_dependencies_of_submissions(kind, ending, asked):
    """Submitted at 2, while the predecessor runs, or at 20, when all is known: then at once or never."""
    jobs = trace((0, 1, 10), exit_code=[int(ending == "fails")])
    sim = Simulation(System.homogeneous(2), jobs, "easy")
    if ending == "cancelled":
        at(sim, 5, lambda: sim.cancel(1))
    at(sim, asked, lambda: sim.submit(nodes=1, run_time=1, after=[1], dependency_type=kind.lower()))
    result = sim.run()
    expected = KINDS[kind][("well", "fails", "cancelled").index(ending)]
    eligible = result.components["eligible_time"].tolist()[1]
    assert eligible == (-1 if expected is None else max(expected, asked))
    assert fates(result)[2] == ((eligible, eligible + 1, DONE) if eligible >= 0 else (-1, -1, NEVER))


def test_a_start_satisfies_after_in_the_repeat_of_its_instant():
    sim = simulation(2, (0, 2, 10))

    def process() -> None:
        waits = sim.submit(nodes=1, run_time=5)
        sim.submit(nodes=1, run_time=3, after=[waits], dependency_type="AFTER")

    at(sim, 1, process)
    result = sim.run()
    assert fates(result) == {1: (0, 10, DONE), 2: (10, 15, DONE), 3: (10, 13, DONE)}
    assert result.components["eligible_time"].tolist() == [0, 1, 10]


def test_a_rejected_predecessor_counts_as_ended_not_well():
    sim = simulation(2)
    bad = sim.submit(nodes=3, run_time=1)
    for kind in KINDS:
        sim.submit(nodes=1, run_time=1, after=[bad], dependency_type=kind)
    assert [fate[2] for fate in fates(sim.run()).values()] == ["REJECTED", DONE, DONE, NEVER, DONE]


def test_several_dependencies_must_all_be_satisfied():
    """One ends at 4, one at 9, one ended before; the same one asked for twice counts once."""
    sim = simulation(3, (0, 1, 1), (0, 1, 4), (0, 1, 9))
    at(sim, 2, lambda: sim.submit(nodes=3, run_time=2, after=[1, 2, 3, 3]))
    result = sim.run()
    assert fates(result)[4] == (9, 11, DONE)
    assert result.metrics["workflow"] is not None


def test_many_dependents_of_one_component_and_chains():
    """Ranges of the edge table move to its end and grow there: 40 dependents, added in turns with a chain."""
    sim = simulation(64, (0, 1, 100), (0, 1, 50))
    expected = {1: (0, 100, DONE), 2: (0, 50, DONE)}

    def grow():
        last = 2
        for i in range(40):
            yield sim.env.timeout(1)
            dependent = sim.submit(nodes=1, run_time=3, after=[1])
            last, before = sim.submit(nodes=1, run_time=2, after=[last, 2]), last
            expected[dependent] = (100, 103, DONE)
            ended = expected[before][1]
            expected[last] = (max(ended, 50), max(ended, 50) + 2, DONE)
            assert i == 0 or before == dependent - 1

    sim.process(grow())
    assert fates(sim.run()) == expected


def test_submissions_join_dependencies_of_the_trace():
    """The trace's own edges on the same predecessor stay."""
    jobs = trace((0, 1, 10), (0, 1, 5), dependency_ids=["", "1"], dependency_kinds=["", "AFTEROK"])
    sim = Simulation(System.homogeneous(2), jobs, "easy")
    at(sim, 3, lambda: sim.submit(nodes=2, run_time=5, after=[1]))
    at(sim, 4, lambda: sim.submit(nodes=2, run_time=5, after=[2, 3]))
    assert fates(sim.run()) == {1: (0, 10, DONE), 2: (10, 15, DONE), 3: (15, 20, DONE), 4: (20, 25, DONE)}


def test_cancellations_in_every_state():
    jobs = trace(
        (0, 2, 10), (0, 2, 5), (0, 1, 5), (50, 1, 5), (1, 1, 1), dependency_ids=["", "", "1", "", ""]
    )
    jobs = jobs.replace(dependency_kinds=["", "", "AFTEROK", "", ""])
    sim = Simulation(System.homogeneous(2), jobs, "fcfs")
    before: list[str] = []

    def cancel() -> None:
        before.extend(sim.state(i) for i in range(1, 5))
        for i in range(1, 5):
            sim.cancel(i)

    at(sim, 4, cancel)
    at(sim, 6, lambda: [sim.cancel(i) for i in range(1, 6)])  # what has ended stays as it is
    result = sim.run()
    assert before == ["RUNNING", "WAITING", "HELD", "NOT SUBMITTED"]
    assert fates(result) == {
        1: (0, 4, GONE), 2: (-1, 4, GONE), 3: (-1, 4, GONE), 4: (-1, -1, GONE), 5: (4, 5, DONE)
    }  # fmt: skip


def test_a_cancelled_front_no_longer_blocks():
    sim = simulation(4, (0, 3, 10), (1, 4, 9), (2, 1, 30), policy="easy")
    at(sim, 5, lambda: sim.cancel(2))
    assert fates(sim.run())[3] == (5, 35, DONE)


def test_a_larger_or_smaller_number_of_licences_counts_at_once():
    """Two at first; none from 3: what runs keeps its own, what waits waits until there are two, at 20."""
    sim = Simulation(System.from_dict(LAB), None, "easy")
    for _ in range(3):
        sim.submit(nodes=1, run_time=10, licences="m", partition="A")
    at(sim, 3, lambda: sim.set_capacity("m", 0))
    at(sim, 20, lambda: sim.set_capacity("m", 2), awaited=False)
    assert fates(sim.run()) == {1: (0, 10, DONE), 2: (0, 10, DONE), 3: (20, 30, DONE)}


@pytest.mark.parametrize(
    "policy", ["fcfs", "easy", "conservative", Policy(backfill="conservative", replan="keep")]
)
def test_capacity_above_what_was_declared(policy):
    sim = Simulation(System.from_dict(LAB), None, policy)
    for _ in range(3):
        sim.submit(nodes=1, run_time=10, licences="o", partition="A")
    at(sim, 2, lambda: sim.set_capacity("o", 2))
    at(sim, 3, lambda: sim.set_capacity("nam", 0))
    assert fates(sim.run()) == {1: (0, 10, DONE), 2: (2, 12, DONE), 3: (10, 20, DONE)}
    with pytest.raises(InputError, match="did you mean 'nam'"):
        sim.set_capacity("nan", 2)
    with pytest.raises(InputError, match="0 or more"):
        sim.set_capacity("m", -1)


def test_one_licence_or_another():
    """m:2 or o: the first takes both m, the second o, the third waits for whichever is free first."""
    sim = Simulation(System.from_dict(LAB), None, "easy")
    for run in (10, 7, 5):
        sim.submit(nodes=1, run_time=run, licences="m:2|o", partition="A")
    assert fates(sim.run()) == {1: (0, 10, DONE), 2: (0, 7, DONE), 3: (7, 12, DONE)}


@pytest.mark.parametrize("policy", ["easy", "fcfs", "conservative", "sjf"])
def test_a_submission_with_several_placements_among_rigid_ones(policy):
    """From then on every pass looks at all placements; the wait before it is accounted alike.

    A holds all of A to 10, B waits for it from 1. At 3 comes C, for A or B, and starts on B.
    """
    jobs = trace((0, 4, 10), (1, 4, 5), partition=["A", "A"])
    sim = Simulation(System.from_dict(LAB), jobs, policy)
    at(sim, 3, lambda: sim.submit(nodes=2, run_time=5, partition="A,B"))
    at(sim, 4, lambda: sim.submit(nodes=2, run_time=5, partition="A,B"))
    result = sim.run()
    expected = {1: (0, 10, DONE), 2: (10, 15, DONE), 3: (3, 8, DONE), 4: (8, 13, DONE)}
    if policy == "sjf":
        expected = {1: (0, 10, DONE), 2: (10, 15, DONE), 3: (3, 8, DONE), 4: (8, 13, DONE)}
    assert fates(result) == expected
    assert result.components["module"].tolist() == ["A", "A", "B", "B"]
    assert result.components["wait_resources"].tolist() == [0, 9, 0, 4]


def test_a_component_requeued_as_the_first_with_two_placements_comes():
    sim = Simulation(System.from_dict(LAB), trace((0, 4, 10), partition=["A"]), "easy")

    def both() -> None:
        sim.fail("A", 4, requeue=True)
        sim.submit(nodes=1, run_time=5, partition="A,B")

    at(sim, 4, both)
    at(sim, 9, lambda: sim.resume("A", 4))
    result = sim.run()
    assert fates(result) == {1: (9, 19, DONE), 2: (4, 9, DONE)}
    assert result.components["wait_resources"].tolist() == [9, 0]


def test_a_dialect_that_is_for_rigid_components_refuses_others():
    sim = Simulation(System.from_dict(LAB), None, Policy(backfill="easy", shadow="static"))
    sim.submit(nodes=1, run_time=5)
    with pytest.raises(InputError, match="shadow"):
        sim.submit(nodes=1, run_time=5, partition="A,B")
    assert fates(sim.run()) == {1: (0, 5, DONE)}


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "wfp3", "f1"])
def test_submitting_a_trace_job_by_job_is_replaying_it(policy):
    """100 submissions into tables that begin with one row, and from the trace: the same schedule."""
    whole = read_trace(ROOT / "workloads" / "sample-1000.swf").select(range(100))
    system = System.homogeneous(128)
    sim = Simulation(system, whole.select([0]), policy)

    def submit():
        for row in whole.table.iloc[1:].itertuples():
            yield sim.env.timeout(row.submit_time - sim.env.now)
            sim.submit(
                nodes=row.nodes,
                run_time=row.run_time,
                time_limit=row.time_limit,
                component_id=row.component_id,
            )

    sim.process(submit())
    assert fates(sim.run()) == fates(simulate(system, whole, policy))


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_submitting_a_modular_trace_job_by_job_is_replaying_it(policy):
    """Module lists and dependencies too; the first rows come from the file, with its 42 fields."""
    path = ROOT / "workloads" / "sample-modular.mwf"
    whole = read_trace(path).select(range(120))
    system = System.from_yaml(ROOT / "configs" / "systems" / "deep-est-prototype.yaml")
    edges = whole.dependencies()
    sim = Simulation(system, whole.select(range(1)), policy)

    def submit():
        for i, row in enumerate(whole.table.itertuples()):
            if i == 0:
                continue
            yield sim.env.timeout(row.submit_time - sim.env.now)
            mine = edges[edges["row"] == i]
            assert len(set(mine["kind"])) <= 1
            sim.submit(
                nodes=row.nodes, run_time=row.run_time, time_limit=row.time_limit, partition=row.partition,
                memory_kb=row.memory_kb, constraint=row.constraint, licences=row.licences,
                component_id=row.component_id, modular_job_id=row.modular_job_id,
                after=whole.table["component_id"].iloc[mine["after_row"]].tolist(),
                dependency_type=mine["kind"].iloc[0] if len(mine) else "AFTEROK",
            )  # fmt: skip

    sim.process(submit())
    replayed = simulate(system, whole, policy)
    result = sim.run()
    assert fates(result) == fates(replayed)
    assert result.metrics["workflow"] == replayed.metrics["workflow"]
    for name in ("eligible_time", "wait_resources", "wait_priority"):
        assert result.components[name].tolist() == replayed.components[name].tolist()


@pytest.mark.compiled
def test_room_for_submissions_is_made_ever_more_rarely(monkeypatch):
    """600 jobs, one after the other: the tables double."""
    grown = []
    monkeypatch.setattr(load, "with_room", lambda core, *room: grown.append(room) or with_room(core, *room))
    sim = simulation(64, policy="easy", seed=1)
    draw = sim.stream("jobs")

    def user():
        for _ in range(30):
            nodes, run_time = int(draw.integers(1, 16)), int(draw.integers(1, 1000))
            yield sim.ended(sim.submit(nodes=nodes, run_time=run_time))

    for _ in range(20):
        sim.process(user())
    assert len(fates(sim.run())) == 600
    assert 3 < len(grown) < 10
