"""Who asks for part of a node, which is counted until nodes can be shared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scheduler_sim import Simulation, System, Workload, read_trace, simulate
from scheduler_sim.placement.table import expand
from scheduler_sim.system.read_system import read_system
from tests.conftest import SHARED, needs_shared

pytestmark = pytest.mark.interpreted

NODE = {"name": "M", "nodes": 4, "cores_per_node": 24, "memory_gb": 64, "gpus_per_node": 2}
GB = 1024**2


def system(**changes):
    return System.from_dict({"modules": [NODE | changes]})


def counted(machine=None, **columns):
    """What is counted of a component of two nodes that asks for what the columns say."""
    jobs = Workload.from_columns(**{"nodes": [2], "submit_time": [0], "run_time": [10]} | columns)
    return expand(jobs, machine or system()).not_honoured


@pytest.mark.parametrize(
    ("columns", "kinds"),
    [
        ({}, ()),
        ({"cores": [24]}, ()),
        ({"cores": [23]}, ("cores",)),
        ({"cores": [1]}, ("cores",)),
        ({"processes_per_node": [12], "threads_per_process": [2]}, ()),
        ({"processes_per_node": [12], "threads_per_process": [1]}, ("cores",)),
        ({"processes_per_node": [1], "threads_per_process": [1]}, ()),  # what traces have that do not know
        ({"memory_kb": [64 * GB]}, ()),
        ({"memory_kb": [63 * GB]}, ("memory",)),
        ({"memory_kb": [63 * GB], "cores": [24]}, ()),  # with all cores nobody else finds room
        ({"memory_kb": [63 * GB], "cores": [4]}, ("cores", "memory")),
        ({"gpus": [2]}, ()),  # all of both nodes
        ({"gpus": [1]}, ("gpus",)),
        ({"gpus": [3]}, ("gpus",)),
        ({"gpus": [0]}, ()),
        ({"gres": ["gres/shard:2"]}, ("gres",)),
    ],
)
def test_each_kind(columns, kinds):
    assert counted(**columns) == dict.fromkeys(kinds, 1)


def test_a_node_is_the_smallest_with_room():
    sets = [{"name": name, "nodes": 2, "cores_per_node": cores} for name, cores in (("s", 24), ("l", 48))]
    machine = system(cores_per_node=0, node_sets=sets)
    assert [counted(machine, cores=[cores]) for cores in (23, 24, 25, 48)] == [
        {"cores": 1}, {}, {"cores": 1}, {}
    ]  # fmt: skip


def test_where_the_system_states_no_cores_the_fullest_of_the_partition_tells():
    jobs = {"nodes": [2, 1, 1], "submit_time": [0] * 3, "run_time": [1] * 3}
    assert counted(system(cores_per_node=0), **jobs, cores=[48, 48, 47]) == {"cores": 1}
    assert counted(system(cores_per_node=0), **jobs, cores=[-1, 7, 7]) == {}


def test_processors_of_swf_are_nodes(tmp_path):
    record = "{} 0 -1 10 {n} -1 -1 {n} 20 -1 1 1 1 1 1 -1 -1 -1\n"
    trace = tmp_path / "t.swf"
    trace.write_text(record.format(1, n=2) + record.format(2, n=3))
    jobs = read_trace(trace)
    assert expand(jobs, system()).not_honoured == {"cores": 2}
    assert expand(jobs, system(cores_per_node=0)).not_honoured == {}
    assert expand(jobs, system(cores_per_node=1)).not_honoured == {}
    packed = jobs.replace(nodes=[1, 1], listed_nodes=[24, 12])
    assert expand(packed, system()).not_honoured == {"cores": 1}
    trace.write_text("; MaxNodes: 5\n; MaxProcs: 5\n" + trace.read_text())
    assert expand(read_trace(trace), system()).not_honoured == {}, "the header says that they are nodes"


def test_rejected_components_do_not_count():
    assert counted(nodes=[5], cores=[5], gres=["gres/x:1"]) == {}


def test_the_result_counts_traces_and_submissions():
    jobs = Workload.from_columns(nodes=[1, 1], submit_time=[0, 0], run_time=[10, 10], gpus=[1, -1])
    assert simulate(system(), jobs).metrics["counts"]["not_honoured"] == {"gpus": 1}
    sim = Simulation(system(), jobs)
    sim.submit(nodes=1, run_time=5, time_limit=5, gpus=1, cores=3)
    assert sim.run().metrics["counts"]["not_honoured"] == {"cores": 1, "gpus": 2}


@needs_shared
def test_a_site_with_shared_nodes():
    """1,680 of 2,000 jobs have fewer than the 64 cores of a node: of these 40 are the fullest of debug."""
    site = SHARED / "data" / "sites" / "university"
    jobs, machine = read_trace(site / "sacct.txt.gz"), read_system(site / "slurm.conf")
    assert jobs.not_honoured() == {"cores": 1640, "gpus": 502}
    assert expand(jobs, machine).not_honoured == {}  # nodes are shared
    whole = replace(machine, modules=tuple(replace(one, shared=False) for one in machine.modules))
    found = expand(jobs, whole, by_sets=True).not_honoured
    assert found == {"cores": 1680, "memory": 1680, "gpus": 502}
