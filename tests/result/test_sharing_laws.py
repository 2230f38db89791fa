"""The laws of nodes that jobs share: which breach each one names."""

from __future__ import annotations

import pytest

from scheduler_sim import System, Workload, simulate
from scheduler_sim.errors import InvariantError
from tests.result.test_check import set_component, set_text, set_timeline

NODES = System.from_dict(
    {"modules": [{"name": "CM", "nodes": 3, "shared": True, "cores_per_node": 4, "gpus_per_node": 1}]}
)

pytestmark = pytest.mark.interpreted


def run():
    """1 and 2 share node 0; 3 has node 1 to itself; 4 waits for the GPU of 1, as 5 has the others."""
    jobs = Workload.from_columns(
        nodes=[1, 1, 1, 1, 2],
        submit_time=[0, 0, 0, 5, 1],
        run_time=[20, 10, 30, 10, 10],
        cores=[2, 1, -1, 1, 2],
        gpus=[1, 0, 0, 1, 0],
    )
    return simulate(NODES, jobs, {"backfill": "first_fit"})


def test_a_right_schedule_passes():
    result = run()
    result.check()
    assert result.components["node_list"].tolist() == ["0", "0", "1", "2", "0,2"]
    assert result.components["cores"].tolist() == [2, 1, 4, 1, 4]
    assert result.metrics["counts"]["cores_not_stated"] == 1
    timeline = result.timeline[result.timeline["module"] == "CM"].set_index("time")
    assert timeline.loc[0, ["nodes_busy", "cores_busy", "gpus_busy"]].tolist() == [2, 7, 2]


BREACHES = {
    "node-lists": (
        lambda result: set_text(result, 4, "node_list", "0,9"),
        "component 5 has the nodes '0,9', not 2 of 3",
    ),
    "parts-of-nodes": (
        lambda result: set_component(result, 0, cores=3.5),
        "jobs have 4.5 of the cores of node 0 of CM at 0, it has 4",
    ),
    "parts-busy": (
        lambda result: set_timeline(result, "CM", 0, gpus_busy=1.0),
        "components have 2 of the gpus of CM at 0, the timeline has 1",
    ),
}


@pytest.mark.parametrize("law", BREACHES)
def test_each_law_names_its_breach(law):
    result = run()
    change, words = BREACHES[law]
    change(result)
    with pytest.raises(InvariantError) as raised:
        result.check()
    assert str(raised.value) == f"{law}: {words}"


@pytest.mark.parametrize("stated", [{"gpus_per_node": 2}, {"gres": {"gpu": 2}}])
@pytest.mark.parametrize(
    ("gpus", "words"),
    [
        ("1", "jobs have 1.1 of GPU 1 of node 0 of m at 0"),
        ("", "component 1 has the GPUs '', not 0.5"),
        ("0;0", "component 1 has the GPUs '0;0', not 0.5"),
        ("0-1", "component 1 has the GPUs '0-1', not 0.5"),
        ("70", "component 1 has the GPUs '70', not 0.5"),
        ("2", "component 1 has the GPUs '2', not 0.5"),
    ],
)
def test_no_gpu_has_more_than_all_of_it(gpus, words, stated):
    module = {"name": "m", "nodes": 1, "shared": True, "cores_per_node": 4, **stated}
    each = {"nodes": [1, 1, 1], "submit_time": [0, 0, 0], "run_time": [9, 9, 9], "cores": [1, 1, 1]}
    jobs = Workload.from_columns(**each, gpus=[0.5, 0.6, 1])
    result = simulate(System.from_dict({"modules": [module]}), jobs, "easy")
    result.check()
    assert result.components["gpu_list"].tolist() == ["0", "1", "0"]
    set_text(result, 0, "gpu_list", gpus)
    with pytest.raises(InvariantError) as raised:
        result.check()
    assert str(raised.value) == f"devices: {words}"


def test_memory_that_some_nodes_do_not_state_has_no_use():
    sets = [{"name": "x", "nodes": 1, "memory_gb": 1}, {"name": "y", "nodes": 1}]
    module = {"name": "CM", "nodes": 2, "shared": True, "cores_per_node": 4, "node_sets": sets}
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[9], cores=[1], memory_kb=[10 << 20])
    result = simulate(System.from_dict({"modules": [module]}), jobs, "easy")
    result.check()
    assert result.components["node_list"].tolist() == ["1"]
    assert result.metrics["sharing"]["memory_utilization"] == {"CM": None, "total": None}


def test_a_partition_that_goes_before_another_may_pass_it():
    partitions = [{"name": "low", "module": "CM"}, {"name": "high", "module": "CM", "priority": 1}]
    system = System.from_dict({"modules": [{"name": "CM", "nodes": 1}], "partitions": partitions})
    jobs = Workload.from_columns(
        nodes=[1, 1, 1], submit_time=[0, 1, 2], run_time=[9, 9, 9], partition=["low", "low", "high"]
    )
    result = simulate(system, jobs, "fcfs")
    assert result.components["start_time"].tolist() == [0, 18, 9]
    result.check()
