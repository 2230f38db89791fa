"""GPUs of several types on a node: a component gets the type that it names, else the first that are free."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_sim import Simulation, System, Workload, simulate
from scheduler_sim.errors import ConfigError, TraceError
from scheduler_sim.system.slurm_conf.site import read_slurm_conf

pytestmark = pytest.mark.interpreted

MIXED = {"gpu:a100": 2, "gpu:v100": 4}


def system(**keys):
    module = {"name": "A", "nodes": 1, "cores_per_node": 16, "shared": True, "gres": MIXED} | keys
    return System.from_dict({"modules": [module]})


def run(there, policy="fcfs", **columns):
    asked = {"submit_time": [0] * len(columns["run_time"]), "nodes": 1, "cores": 1}
    result = simulate(there, Workload.from_columns(**asked | columns), policy)
    result.check()
    return result


def went(result):
    rows = result.components[["start_time", "gpu_list"]]
    return list(rows.itertuples(index=False, name=None))


@pytest.mark.parametrize(
    "policy", ["fcfs", "easy", "conservative", {"backfill": "easy", "packing": "dot_product"}]
)
def test_a_type_that_is_named_and_any(policy):
    gres = ["gpu:v100:1", "gpu", "gpu:2", "gpu:A100", "gpu:v100:2"]
    result = run(system(), policy, run_time=[10, 20, 30, 5, 5], gres=gres)
    # the fourth waits for the second: the type is busy though two GPUs are free
    assert went(result)[:4] == [(0, "2"), (0, "0"), (0, "1,3"), (20, "0")]
    assert result.components["start_time"][4] == (20 if policy == "fcfs" else 0)


def test_types_in_the_order_of_the_node():
    there = system(gres={"gpu:v100": 4, "gpu:a100": 2})
    assert went(run(there, run_time=[9, 9], gres=["gpu:a100:2", "gpu:2"])) == [(0, "4-5"), (0, "0-1")]


def test_a_part_of_a_gpu_of_a_type():
    gres = ["gpu:v100:0.5", "gpu:0.5", "gpu:v100:0.5", "gpu:a100:2"]
    assert went(run(system(), run_time=[9] * 4, gres=gres)) == [(0, "2"), (0, "2"), (0, "3"), (0, "0-1")]


@pytest.mark.parametrize("column", ["gres_per_job", "gres_per_task"])
def test_a_type_that_is_named_for_all_nodes_or_for_each_task(column):
    assert went(run(system(), run_time=[9, 9], **{column: "gpu:v100:2"})) == [(0, "2-3"), (0, "4-5")]


def test_all_gpus_of_a_component_are_of_the_type_that_it_names():
    result = run(system(), run_time=[9, 9], gpus=[4, 3], gres=["gpu:v100", "gpu:a100:1"])
    assert result.components["state"].tolist() == ["COMPLETED", "REJECTED"]
    assert went(result)[0] == (0, "2-5")


def test_nodes_with_one_type_beside_such_with_several():
    sets = [
        {"name": "x", "nodes": 1, "gres": {"gpu:v100": 2}},
        {"name": "y", "nodes": 1, "gres": MIXED},
        {"name": "z", "nodes": 1},
    ]
    there = system(nodes=3, gres={}, node_sets=sets)
    result = run(there, run_time=[9, 9, 9], gres=["gpu:v100:2", "gpu:v100:4", "gpu:a100:2"])
    assert result.components["node_list"].tolist() == ["0", "1", "1"]
    assert [gpus for _, gpus in went(result)] == ["0-1", "2-5", "0-1"]


def test_a_type_where_no_node_states_any_is_left_out_and_counted():
    there = system(gres={}, gpus_per_node=2)
    result = run(there, run_time=[9, 9], gres=["gpu:a100:2", "gpu:1"])
    assert result.components["start_time"].tolist() == [0, 9]
    assert result.metrics["counts"]["not_honoured"] == {"gres": 1}


def test_a_type_that_no_node_has_is_rejected():
    result = run(system(), run_time=[9], gres=["gpu:h100:1"])
    assert result.components["state"].tolist() == ["REJECTED"]


def test_types_whose_names_are_numbers():
    there = system(gres={"gpu:3090": 2, "gpu:1g.5gb": 7})
    gres = ["gpu:1g.5gb:3", "gpu:3090:2", "gpu:1g.5gb"]
    assert went(run(there, run_time=[9] * 3, gres=gres)) == [(0, "2-4"), (0, "0-1"), (0, "5")]


def test_from_a_slurm_conf(tmp_path: Path):
    path = tmp_path / "slurm.conf"
    path.write_text(
        "SelectType=select/cons_tres\nNodeName=g[1-2] CPUs=16 Gres=gpu:v100:4(S:0),gpu:a100:2(S:1)\n"
        "PartitionName=p Nodes=ALL\n"
    )
    there = read_slurm_conf(path).system
    assert (there.gpu_types, there.modules[0].gpus_per_node) == (("gpu:v100", "gpu:a100"), 6)
    assert went(run(there, run_time=[9, 9], gres=["gpu:a100:2", "gpu:5"])) == [(0, "4-5"), (0, "0-4")]


def test_several_types_for_one_component_are_refused():
    where = "allowed: GPUs of one type, or of any; field gres; found 'gpu:a100:1,gpu:v100:1'"
    with pytest.raises(TraceError, match=where):
        run(system(), run_time=[9], gres=["gpu:a100:1,gpu:v100:1"])


def test_nodes_of_too_many_gpus():
    with pytest.raises(ConfigError, match=r"found nodes of 63 GPUs.*nodes have several types.*at most 62"):
        run(system(gres={"gpu:a": 1, "gpu:b": 62}), run_time=[9])


@pytest.mark.parametrize(
    ("gres", "words"),
    [
        (
            {"gpu": 2, "gpu:a100": 2},
            "gres: found GPUs of no type beside gpu:a100; allowed: types for all GPUs",
        ),
        (
            {"gpu:a": 1.5, "gpu:b": 1},
            "gres: found 1.5 of gpu:a; allowed: whole GPUs where a node has several",
        ),
    ],
)
def test_gpus_that_contradict_each_other(gres, words):
    with pytest.raises(ConfigError, match=words):
        system(gres=gres)


# -- under Slurm


def test_under_slurm_by_node_by_task_and_in_all():
    there = system(nodes=2)
    columns = {
        "nodes": [1, 2, 1, 1],
        "tasks": [1, 2, 2, 1],
        "gres": ["gpu:a100:2", "", "", "gpu:1"],
        "gres_per_job": ["", "gpu:v100:6", "", ""],
        "gres_per_task": ["", "", "gpu:a100:1", ""],
    }
    result = run(there, "slurm", run_time=[100] * 4, time_limit=120, cores=-1, **columns)
    rows = result.components[["start_time", "node_list", "gpus"]]
    assert list(rows.itertuples(index=False, name=None)) == [
        (0, "0", 2),
        (0, "0-1", 6),
        (0, "1", 2),
        (0, "1", 1),
    ]


def test_under_slurm_a_type_is_waited_for_while_others_are_free():
    gres = ["gpu:2", "gpu:a100:1", "gpu:v100:4"]
    result = run(system(), "slurm", run_time=[300, 300, 60], time_limit=[300, 300, 60], gres=gres)
    assert result.components["start_time"].tolist() == [0, 300, 0]


def test_under_slurm_types_in_the_order_of_the_node():
    sets = [
        {"name": "x", "nodes": 1, "gres": {"gpu:a100": 2, "gpu:v100": 2}},
        {"name": "y", "nodes": 1, "gres": {"gpu:v100": 2, "gpu:a100": 2}},
    ]
    there = system(nodes=2, gres={}, node_sets=sets)
    # each of the first two leaves one type of its node; the others want these
    gres = ["gpu:2", "gpu:2", "gpu:v100:2", "gpu:a100:2"]
    result = run(there, "slurm", run_time=[300] * 4, time_limit=300, cores=[12, 12, 1, 1], gres=gres)
    assert result.components["node_list"].tolist() == ["0", "1", "0", "1"]
    assert result.components["start_time"].tolist() == [0, 0, 0, 0]


# -- from a dump to the schedule


@pytest.mark.parametrize("policy", ["easy", "slurm"])
def test_mig_slices_that_a_dump_asks_for(tmp_path: Path, policy: str):
    (tmp_path / "slurm.conf").write_text(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nGresTypes=gpu\n"
        "NodeName=g1 CPUs=16 Gres=gpu:a100:1,gpu:1g.5gb:2\nPartitionName=p Nodes=ALL\n"
    )
    slice_of = "Name=gpu Type=1g.5gb MultipleFiles=/dev/nvidia1,/dev/nvidia-caps/c"
    gres_conf = f"Name=gpu Type=a100 File=/dev/nvidia0\n{slice_of}1\n{slice_of}2\n"
    (tmp_path / "gres.conf").write_text(gres_conf)
    head = "JobIDRaw|Submit|ElapsedRaw|TimelimitRaw|NNodes|NCPUS|State|Partition|ReqTRES\n"
    rows = [f"{i}|1000|600|10|1|1|COMPLETED|p|cpu=1,gres/gpu:1g.5gb=1\n" for i in (1, 2, 3)]
    rows += ["4|1000|120|2|1|1|COMPLETED|p|cpu=1,gres/gpu=1,gres/gpu:a100=1\n"]
    (tmp_path / "sacct.txt").write_text(head + "".join(rows))
    site = read_slurm_conf(tmp_path / "slurm.conf")
    assert not [one for one in site.ignored if "gres.conf" in one.place]
    result = simulate(site.system, tmp_path / "sacct.txt", policy)
    result.check()
    starts = result.components["start_time"].to_numpy()
    assert (starts - starts[0]).tolist() == [0, 0, 600, 0]
    assert result.metrics["counts"]["not_honoured"] == {}


@pytest.mark.parametrize("policy", ["easy", "conservative", "slurm"])
def test_what_a_process_submits_may_name_a_type(policy):
    trace = Workload.from_columns(
        submit_time=[0], nodes=1, run_time=100, time_limit=100, cores=1, gres="gpu:a100:2"
    )
    sim = Simulation(system(), trace, policy)

    def submit():
        yield sim.env.timeout(1)
        for kind in ("a100", "v100"):
            sim.submit(nodes=1, run_time=20, time_limit=20, cores=1, gres=f"gpu:{kind}:1")

    sim.env.process(submit())
    sim.run()
    result = sim.result()
    result.check()
    first, named, other = result.components["start_time"].tolist()
    assert first < 100 <= named
    assert 1 <= other < 100


def test_under_slurm_a_type_in_all_chooses_among_nodes_of_one_type():
    sets = [
        {"name": "x", "nodes": 1, "gres": {"gpu:v100": 2}},
        {"name": "y", "nodes": 1, "gres": {"gpu:a100": 2}},
    ]
    there = system(nodes=2, gres={}, node_sets=sets)
    assert there.gpu_types == ()
    result = run(there, "slurm", run_time=[9], time_limit=60, cores=-1, tasks=1, gres_per_job=["gpu:a100:2"])
    assert result.components["node_list"].tolist() == ["1"]


TYPES_BY_NODE = {
    "one type": [{}, {"gpu:a100": 2}],
    "two types": [{"gpu:v100": 2}, {"gpu:a100": 2}],
    "one type and none": [{"gpu": 2}, {"gpu:a100": 2}],
}


def two_partitions(gres_of_nodes):
    sets = [{"name": f"s{i}", "nodes": 1, "gres": gres} for i, gres in enumerate(gres_of_nodes)]
    module = {"name": "A", "nodes": 2, "cores_per_node": 4, "shared": True, "node_sets": sets}
    return [
        System.from_dict({"modules": [module], "partitions": partitions})
        for partitions in (
            [{"name": "first", "module": "A", "node_sets": ["s0"]}, {"name": "all", "module": "A"}],
            [
                {"name": "first", "module": "A", "node_sets": ["s0"]},
                {"name": "last", "module": "A", "node_sets": ["s1"]},
            ],
        )
    ]


@pytest.mark.parametrize("gres_of_nodes", TYPES_BY_NODE.values(), ids=TYPES_BY_NODE)
def test_under_slurm_nodes_without_a_type_are_looked_at_and_not_taken(gres_of_nodes):
    both, apart = two_partitions(gres_of_nodes)
    asked = {"run_time": [60, 60], "time_limit": 60, "gres": ["gpu:a100:2", "gpu:a100:1"]}
    for there, partitions in ((both, "all"), (apart, "first,last")):
        result = run(there, "slurm", partition=partitions, **asked)
        assert result.components["node_list"].tolist() == ["1", "1"]
        assert result.components["start_time"].tolist()[1] >= 60
        assert result.components[["able_list", "nodes_able"]].drop_duplicates().values.tolist() == [["1", 1]]


@pytest.mark.parametrize("gres_of_nodes", TYPES_BY_NODE.values(), ids=TYPES_BY_NODE)
def test_under_slurm_a_type_that_no_node_of_the_partition_has_is_rejected(gres_of_nodes):
    _, there = two_partitions(gres_of_nodes)
    gres = ["gpu:a100:1", "gpu:a100:1", "gpu:p100:1"]
    result = run(
        there, "slurm", run_time=[9] * 3, time_limit=60, partition=["first", "last", "last"], gres=gres
    )
    assert result.components["state"].tolist() == ["REJECTED", "COMPLETED", "REJECTED"]


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative"])
def test_the_example_of_the_page_on_semantics(policy):
    result = run(system(), policy, run_time=[20, 50, 5], gres=["gpu:a100:2", "gpu:2", "gpu:a100"])
    assert went(result) == [(0, "0-1"), (0, "2-3"), (20, "0")]
