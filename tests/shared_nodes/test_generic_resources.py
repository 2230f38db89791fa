"""Generic resources of nodes that jobs share: where they are, how they are spelled, and by which column."""

from __future__ import annotations

import pytest

from scheduler_sim import System, Workload, simulate
from scheduler_sim.errors import ConfigError

pytestmark = pytest.mark.interpreted

POLICIES = pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "slurm"])
SHARED = {"name": "A", "nodes": 1, "cores_per_node": 4, "shared": True}
WHOLE = {"name": "B", "nodes": 1, "cores_per_node": 4}


def run(modules, policy, **columns):
    asked = {"nodes": [1], "submit_time": 0, "run_time": 60, "cores": 1} | columns
    jobs = max(len(values) for values in asked.values() if isinstance(values, list))
    columns = {
        name: values if isinstance(values, list) else [values] * jobs for name, values in asked.items()
    }
    columns["nodes"] = columns["nodes"] * (jobs // len(columns["nodes"]))
    result = simulate(System.from_dict({"modules": modules}), Workload.from_columns(**columns), policy)
    result.check()
    return result


@POLICIES
@pytest.mark.parametrize("here", [{}, {"gpu": 2}, {"gpu:a": 2}, {"gpu:a": 1, "gpu:b": 1}], ids=str)
def test_a_type_that_only_another_module_has_is_no_other_type(policy, here):
    modules = [SHARED | {"gres": here}, WHOLE | {"gres": {"gpu:z": 2}}]
    result = run(modules, policy, partition="A", gres=["gpu:z:1"])
    assert result.components["state"].tolist() == ["REJECTED"]


@POLICIES
@pytest.mark.parametrize("column", ["gres", "gres_per_job", "gres_per_task"])
def test_a_resource_that_only_another_module_has_is_not_passed_over(policy, column):
    modules = [SHARED, WHOLE | {"gres": {"shard": 2}}]
    result = run(modules, policy, partition="A", **{column: ["shard:1"]})
    assert result.components["state"].tolist() == ["REJECTED"]


@POLICIES
@pytest.mark.parametrize("column", ["gres", "gres_per_job", "gres_per_task"])
def test_what_is_no_gpu_is_counted_whichever_column_asks_for_it(policy, column):
    result = run([SHARED | {"gres": {"shard": 2}}], policy, **{column: ["shard:2", "shard:1", "shard:3"]})
    assert result.components["state"].tolist() == ["COMPLETED", "COMPLETED", "REJECTED"]
    assert result.components["start_time"].tolist()[:2] == [0, 60]
    unknown = run([SHARED], policy, **{column: ["shard:2", ""]})
    assert unknown.manifest["counts"]["not_honoured"]["gres"] == 1


@POLICIES
@pytest.mark.parametrize("column", ["gres", "gres_per_job", "gres_per_task"])
def test_nothing_of_a_type_is_no_type(policy, column):
    modules = [SHARED, SHARED | {"name": "B", "gres": {"gpu:a": 2, "shard": 1}}]
    nothing = ["gpu:a:0", "gpu:b:0,shard:0", "gpu:0"]
    result = run(modules, policy, partition="A", **{column: nothing})
    assert result.components["state"].tolist() == ["COMPLETED"] * 3


def test_what_is_asked_for_in_all_is_spread_over_the_nodes_and_the_larger_counts():
    there = [SHARED | {"nodes": 2, "gres": {"shard": 2}}]
    asked = {"gres": ["", "", "shard:1"], "gres_per_job": ["shard:3", "shard:5", "shard:5"]}
    states = run(there, "easy", nodes=[2, 2, 2], **asked).components["state"].tolist()
    assert states == ["COMPLETED", "REJECTED", "REJECTED"]


@POLICIES
def test_resources_are_the_same_in_upper_and_lower_case(policy):
    sets = [{"name": "x", "nodes": 1, "gres": {"GPU:C": 2}}, {"name": "y", "nodes": 1}]
    there = SHARED | {"nodes": 2, "gres": {"gpu:c": 1, "GPU:a": 1}, "node_sets": sets}
    result = run([there], policy, gres=["gpu:C:2", "gpu:a:1", "GPU:3", "gpu:4"])
    assert result.components["state"].tolist() == ["COMPLETED"] * 3 + ["REJECTED"]
    assert result.components["able_list"].tolist()[:3] == ["0", "0-1", "0"]


@pytest.mark.parametrize("where", ["module", "set"])
def test_a_resource_twice_in_one_list_is_refused(where):
    twice = {"gpu:a": 1, "GPU:A": 2}
    there = SHARED | (
        {"gres": twice} if where == "module" else {"node_sets": [{"name": "x", "nodes": 1, "gres": twice}]}
    )
    with pytest.raises(ConfigError, match="names that differ in more than case"):
        System.from_dict({"modules": [there]})


@pytest.mark.parametrize("given", ["CR_CORE", "CR_CORE_MEMORY"])
def test_under_slurm_nodes_that_are_too_small_are_not_able(given):
    sets = [
        {"name": "small", "nodes": 1, "cores_per_node": 1},
        {"name": "large", "nodes": 1, "memory_gb": 4},
        {"name": "thin", "nodes": 1, "memory_gb": 1},
    ]
    there = [SHARED | {"nodes": 3, "memory_gb": 2, "node_sets": sets}]
    policy = {"backfill": "slurm", "slurm": {"SelectTypeParameters": given}}
    asked = {
        "cores": [4, 1, 1, -1],
        "memory_kb": [-1, 2 << 20, -1, -1],
        "memory_per_core_kb": [-1, -1, -1, 3 << 20],
    }
    asked |= {"tasks": [-1, -1, 2, 1], "run_time": [9] * 4}
    able = run(there, policy, **asked).components[["able_list", "nodes_able"]]
    memory = given.endswith("MEMORY")
    wanted = ["1-2", "0-1" if memory else "0-2", "1-2", "1" if memory else "0-2"]
    assert able["able_list"].tolist() == wanted
    assert able["nodes_able"].tolist() == [2, 2 if memory else 3, 2, 1 if memory else 3]


def test_under_slurm_what_has_no_room_on_idle_nodes_is_counted_by_that_reason():
    result = run(
        [SHARED | {"gres": {"shard": 2}}], "slurm", cores=[9, 1, 1], gres=["", "shard:3", "nvme:1,shard:1"]
    )
    assert result.components["state"].tolist() == ["REJECTED", "REJECTED", "COMPLETED"]
    assert result.metrics["counts"]["rejected_because"] == {"no_room": 2}
