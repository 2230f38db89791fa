"""Node events of a system: what is taken, what becomes of the jobs, and what is refused; hand-computed."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_sim import Result, Simulation, System, Workload
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.result.columns import NODE_FAIL
from scheduler_sim.workload.source import TraceSource
from tests.simulation.acting import DONE, FAILED, NEVER, fates, steps, trace

pytestmark = pytest.mark.interpreted

SHARED = {"cores_per_node": 4, "shared": True}
SLURM = {"backfill": "slurm", "slurm": {"KillWait": 0, "requeue_delay_s": 5, "sched_interval": 1}}


def system(*events: dict[str, Any], **keys: Any) -> System:
    return System.from_dict(
        {"modules": [{"name": "cluster", "nodes": 4, "cores_per_node": 4, **keys}], "events": list(events)}
    )


def ran(policy: Any, jobs: Any, *events: dict[str, Any], seed: int = 0, **keys: Any) -> Result:
    result = Simulation(system(*events, **keys), trace(*jobs), policy, seed=seed).run()
    result.check()
    return result


@pytest.mark.parametrize(
    ("policy", "keys"), [("easy", SHARED), ("fcfs", SHARED), (SLURM, {}), (SLURM, SHARED)]
)
def test_a_node_that_goes_down_takes_the_job_that_is_on_it(policy, keys):
    """1 has nodes 0 and 1, 2 has 2: node 2 fails at 4, so that 2 runs again; 1 is left alone."""
    event = {"time": 4, "state": "DOWN", "nodes": 2, "end": 100}
    result = ran(policy, [(0, 2, 10), (0, 1, 10)], event, **keys)
    assert fates(result)[1] == (0, 10, DONE)
    columns = ["component_id", "start_time", "end_time", "state"]
    assert result.runs[columns].to_numpy().tolist()[0] == [2, 0, 4, NODE_FAIL]
    assert fates(result)[2][2] == DONE
    assert (4, 1) in steps(result, "nodes_down")
    assert result.metrics["lost"]["node_seconds"]["total"] == 4


@pytest.mark.parametrize(("policy", "keys"), [("easy", SHARED), (SLURM, {}), (SLURM, SHARED)])
@pytest.mark.parametrize("state", ["DRAIN", "FAIL"])
def test_a_node_that_is_drained_lets_its_job_run_on_and_takes_no_other(policy, keys, state):
    """Nodes 0 and 1 are drained at 4 while 1 has them: 2 (3 nodes) waits until they are back at 30."""
    event = {"time": 4, "state": state, "nodes": "0-1", "end": 30}
    result = ran(policy, [(0, 2, 10), (1, 3, 5)], event, **keys)
    first, second = fates(result)[1], fates(result)[2]
    assert first == (0, 10, DONE)
    assert 30 <= second[0] <= 31
    assert steps(result, "nodes_down")[-2:] == [(10, 2), (30, 0)]
    assert len(result.runs) == 0


@pytest.mark.parametrize(("policy", "keys"), [("easy", {}), ("easy", SHARED), (SLURM, {})])
def test_a_job_that_is_not_requeued_fails(policy, keys):
    event = {"time": 4, "state": "DOWN", "nodes": "0-3", "end": 20, "requeue": False}
    result = ran(policy, [(0, 4, 10), (1, 4, 5)], event, **keys)
    assert fates(result)[1] == (0, 4, FAILED)
    assert 20 <= fates(result)[2][0] <= 21
    assert result.runs["state"].tolist() == [NODE_FAIL]


@pytest.mark.parametrize(("policy", "keys"), [("conservative", SHARED), (SLURM, {}), ("fcfs", {})])
def test_a_node_is_back_when_no_event_keeps_it_out(policy, keys):
    """Drained until 30 and down until 20: back at 30. What is RESUMEd is back, whatever was said."""
    drained = {"time": 2, "state": "DRAIN", "nodes": "0-3", "end": 30}
    down = {"time": 4, "state": "DOWN", "nodes": "1", "end": 20}
    result = ran(policy, [(5, 4, 5)], drained, down, **keys)
    assert 30 <= fates(result)[1][0] <= 31
    resumed = {"time": 12, "state": "RESUME", "nodes": "0-3"}
    result = ran(policy, [(5, 4, 5)], drained, down, resumed, **keys)
    assert 12 <= fates(result)[1][0] <= 13
    assert steps(result, "nodes_down")[-1] == (12, 0)


def test_where_nodes_are_counted_the_components_that_are_hit_are_drawn():
    """By the seed alone: of two that run on two nodes each, and one node that goes down."""

    def hit(seed: int) -> int:
        event = {"time": 4, "state": "DOWN", "nodes": "3", "end": 6}
        return int(ran("easy", [(0, 2, 10), (0, 2, 10)], event, seed=seed).runs["component_id"][0])

    found = [hit(seed) for seed in range(12)]
    assert set(found) == {1, 2}
    assert found == [hit(seed) for seed in range(12)]


@pytest.mark.parametrize("policy", ["easy", SLURM])
def test_events_may_say_how_many(policy):
    gone = {"time": 2, "state": "DRAIN", "count": 3, "end": 10}
    result = ran(policy, [(5, 2, 5)], gone)
    assert 10 <= fates(result)[1][0] <= 11
    assert steps(result, "nodes_down") in ([(0, 0), (2, 3), (10, 0)], [(2, 3), (10, 0)], [(5, 3), (10, 0)])


def test_nodes_that_stay_away_leave_jobs_waiting():
    result = ran("easy", [(0, 4, 10), (1, 2, 5)], {"time": 0, "state": "DOWN", "nodes": "1"})
    assert fates(result) == {1: (-1, -1, NEVER), 2: (1, 6, DONE)}


def test_the_manifest_repeats_the_events():
    result = ran(
        "easy", [(0, 4, 10)], {"time": 4, "state": "DOWN", "nodes": "1,0", "end": 8, "reason": "fan"}
    )
    said = result.manifest["system"]
    assert said["events"] == [
        {"time": 4, "state": "DOWN", "module": "cluster", "nodes": "0-1", "end": 8, "reason": "fan"}
    ]
    assert System.from_dict(said).to_dict() == said
    assert "events" not in System.homogeneous(4).to_dict()


def test_dates_are_on_the_clock_of_the_site():
    """The trace begins at 2026-03-01T00:00:00; a trace that does not tell when it began has no dates."""
    jobs = trace((0, 4, 10))
    dated = {"time": "2026-03-01 00:00:04", "state": "DOWN", "nodes": "0", "end": "2026-03-01T00:00:08"}
    with pytest.raises(
        InputError, match=r"events\[0\]: found the date 2026-03-01T00:00:04, and a trace without"
    ):
        Simulation(system(dated), jobs, "easy")
    source = TraceSource(format="swf", name="t", header=("; UnixStartTime: 1772323200",))
    started = Workload({str(name): jobs.table[name] for name in jobs.table}, source)
    result = Simulation(system(dated), started, "easy").run()
    assert fates(result) == {1: (8, 18, DONE)}


# fmt: off
WRONG = {
    "neither": (
        {"time": 1, "state": "DOWN"},
        "events[0]: found neither nodes nor count; allowed: one of them",
    ),
    "both": ({"time": 1, "state": "DOWN", "nodes": 1, "count": 1}, "found both nodes and count"),
    "beyond": (
        {"time": 1, "state": "DOWN", "nodes": "2-4"},
        "events[0].nodes: found '2-4'; allowed: numbers",
    ),
    "backwards": ({"time": 1, "state": "DOWN", "nodes": "3-2"}, "found '3-2'; allowed: numbers from 0 to 3"),
    "words": (
        {"time": 1, "state": "DOWN", "nodes": "n1"},
        "events[0].nodes: found 'n1'; allowed: node",
    ),
    "state": (
        {"time": 1, "state": "UP", "nodes": 1},
        "events[0].state: found 'UP'; allowed: DOWN",
    ),
    "time": (
        {"time": "soon", "state": "DOWN", "nodes": 1},
        "events[0].time: found 'soon'; allowed: sec",
    ),
    "end": (
        {"time": 5, "state": "DOWN", "nodes": 1, "end": 4},
        "events[0].end: found 4; allowed: not before",
    ),
    "resume": ({"time": 5, "state": "RESUME", "nodes": 1, "end": 9}, "events[0].end: found 9 with RESUME"),
    "module": (
        {"time": 5, "state": "DOWN", "nodes": 1, "module": "x"},
        "events[0].module: found 'x', no",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_meant_is_refused(name):
    event, words = WRONG[name]
    with pytest.raises(ConfigError) as caught:
        system(event)
    assert words in str(caught.value)


def test_with_several_modules_an_event_names_its_own():
    modules = [{"name": "a", "nodes": 1}, {"name": "b", "nodes": 2}]
    event = {"time": 0, "state": "DOWN", "nodes": "1", "module": "B"}
    assert System.from_dict({"modules": modules, "events": [event]}).events[0].module == "b"
    with pytest.raises(ConfigError, match=r"events\[0\].module: found nothing, with several modules"):
        System.from_dict({"modules": modules, "events": [event | {"module": None}]})
