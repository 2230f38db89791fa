"""What has no meaning yet where jobs share nodes is refused by name."""

from __future__ import annotations

import pytest

from scheduler_sim import Simulation, System, Workload, simulate
from scheduler_sim.errors import ConfigError, InputError, TraceError

NODES = System.from_dict(
    {
        "modules": [{"name": "A", "nodes": 4, "cores_per_node": 4, "shared": True, "gpus_per_node": 2}],
        "resources": {"licences": {"lic": 2}},
    }
)

WATTS = {"idle_w": 20, "typical_w": 60, "peak_w": 100, "reference_khz": 1, "pstates_khz": [1]}
ENERGY = {"energy": {"power": {"modules": [{"name": "A", **WATTS}]}}}

pytestmark = pytest.mark.interpreted


def run(policy="easy", **columns):
    asked = {"nodes": [1, 2], "submit_time": [0, 0], "run_time": [10, 20], "cores": [2, 3]}
    return simulate(NODES, Workload.from_columns(**asked | columns), policy)


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative"])
def test_components_that_start_by_one_plan(policy):
    with pytest.raises(InputError, match="start by one plan, and where jobs share nodes"):
        run(policy, modular_job_id=[1, 1])


def test_easy_with_licences_or_several_placements():
    with pytest.raises(InputError, match=r"several placements or .*, and where jobs share nodes"):
        run(licences=["lic:1", ""])
    assert run("conservative", licences=["lic:1", ""]).components["start_time"].tolist() == [0, 0]


def test_more_than_a_gpu_with_a_part_of_one():
    with pytest.raises(TraceError, match=r"allowed: whole GPUs, or a part of one; .*found '1.5'"):
        run(gpus=[1.5, 0])
    with pytest.raises(TraceError, match=r"allowed: whole GPUs, or a part of one; .*found 'gpu:1.001'"):
        run(gres=["", "gpu:1.001"])


def test_a_part_of_a_gpu_where_they_are_not_told_apart():
    sim = Simulation(NODES, Workload.from_columns(nodes=[1], submit_time=[0], run_time=[9], cores=[1]))
    sim.env.process(submitting(sim, gpus=0.5))
    with pytest.raises(TraceError, match="as the trace of the run asks for no parts of GPUs"):
        sim.run()


@pytest.mark.parametrize("column", ["gpus", "gres"])
def test_a_part_of_a_gpu_under_slurm(column):
    asked = {"gpus": [0, 0.5], "gres": ["", "gpu:0.5"]}[column]
    with pytest.raises(TraceError, match=f"allowed under slurm: whole pieces; .*field {column}.*0.5"):
        run("slurm", **{column: asked})


def submitting(sim, **columns):
    """A process that submits a job of one core."""
    yield sim.env.timeout(1)
    sim.submit(nodes=1, run_time=9, cores=1, **columns)


def test_nodes_of_too_many_gpus_to_tell_them_apart():
    module = {"name": "A", "nodes": 1, "shared": True, "cores_per_node": 4, "gpus_per_node": 63}
    system = System.from_dict({"modules": [module]})
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[9], cores=[1], gpus=[63])
    assert simulate(system, jobs).components["state"].tolist() == ["COMPLETED"]
    with pytest.raises(
        ConfigError, match=r"found nodes of 63 GPUs, which are individual devices here.*at most 62"
    ):
        simulate(system, jobs, {"packing": "dot_product"})


def test_counts_of_features_also_where_a_partition_covers_part_of_a_module():
    sets = [{"name": "a", "nodes": 2, "features": ["x"]}, {"name": "b", "nodes": 2}]
    partitions = [{"name": "all", "module": "A"}, {"name": "part", "module": "A", "node_sets": ["a"]}]
    keys = {"modules": [{"name": "A", "nodes": 4, "node_sets": sets}], "partitions": partitions}
    jobs = Workload.from_columns(nodes=2, submit_time=[0], run_time=5, constraint="x*1")
    where = "where jobs share nodes, or a partition covers part of a module; allowed: features that"
    with pytest.raises(TraceError, match=where):
        simulate(System.from_dict(keys), jobs, "fcfs")


@pytest.mark.parametrize(
    ("key", "value", "depth"), [("shadow", "static", 1), ("passes", "event", 1), ("passes", "event", 3)]
)
def test_dialects_of_other_simulators(key, value, depth):
    with pytest.raises(ConfigError, match=f"policy.{key}: found '{value}'"):
        run({"backfill": "easy", "depth": depth, key: value})


def test_nodes_without_cores():
    module = {"name": "A", "nodes": 2, "shared": True, "node_sets": [{"name": "x", "nodes": 2}]}
    with pytest.raises(ConfigError, match=r"node_sets\[0\].cores_per_node: found none"):
        System.from_dict({"modules": [module]})


@pytest.mark.parametrize(
    "text", ["gpu:a100:x y", ":", "gpu::2", "shard:1.23456", "a:b:c:d:", "shard:-2", "gpu:-1"]
)
def test_a_gres_that_cannot_be_understood(text):
    with pytest.raises(TraceError, match="gres"):
        run(gres=[text, ""])


@pytest.mark.parametrize("limit", [{"cap": {"power_w": 500}}, {"choice": {"objective": "edp"}}], ids=str)
def test_energy_that_limits_what_runs(limit):
    energy = {"energy": ENERGY["energy"] | limit}
    with pytest.raises(ConfigError, match="found a power cap or a choice by energy where jobs share nodes"):
        simulate(
            NODES, Workload.from_columns(nodes=[1], submit_time=[0], run_time=[9], cores=[1]), models=energy
        )


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"gpus_per_node": 2, "gres": {"gpu:a100": 4}}, "found 2 beside 4 GPUs in gres"),
        ({"gres": {"gpu a:100": 1}}, "found 'gpu a:100'; allowed: name or name:type"),
    ],
)
def test_what_a_node_has_contradicts_itself(keys, words):
    module = {"name": "A", "nodes": 1, "shared": True, "cores_per_node": 4}
    with pytest.raises(ConfigError, match=words):
        System.from_dict({"modules": [module | keys]})


@pytest.mark.parametrize(
    ("asked", "why"),
    [({"cores": [9, 1]}, "cores"), ({"gpus": [3, 0]}, "gpus"), ({"gres": ["gpu:3", ""]}, "gpus")],
)
def test_what_no_node_has_is_rejected_for_that(asked, why):
    assert run(**asked).metrics["counts"]["rejected_because"] == {why: 1}


@pytest.mark.parametrize("cores", [2, 6, 4.5])
def test_cores_that_do_not_stand_on_their_sockets_in_equal_parts(cores):
    """They would count as one core on each socket at least, more than the node has."""
    module = {"name": "m", "nodes": 1, "shared": True, "cores_per_node": cores, "sockets": 2}
    system = System.from_dict({"modules": [module | {"threads_per_core": 2}]})
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[9], cores=[1])
    with pytest.raises(ConfigError, match=rf"module m: cores_per_node: found {cores} .* a multiple of 4"):
        simulate(system, jobs, "slurm")
    assert simulate(system, jobs, "easy").components["cores"].tolist() == [1]


@pytest.mark.parametrize("policy", ["easy", "slurm"])
def test_a_trace_of_which_nothing_fits(policy):
    module = {"name": "m", "nodes": 1, "shared": True, "cores_per_node": 4}
    jobs = Workload.from_columns(nodes=[2], submit_time=[0], run_time=[9], cores=[1])
    result = simulate(System.from_dict({"modules": [module]}), jobs, policy)
    result.check()
    assert result.components["state"].tolist() == ["REJECTED"]
