"""What of Slurm's priorities a system and a job give: processors where the nodes of a partition differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scheduler_sim import Policy, Simulation, System, Workload
from scheduler_sim.system.read_system import read_system

pytestmark = pytest.mark.interpreted

FOUR_AND_FOUR = """
NodeName=a[1-4] CPUs=128
NodeName=b[1-4] CPUs=64
PartitionName=all Nodes=a[1-4],b[1-4] Default=YES
PartitionName=big Nodes=a[1-4]
"""
WEIGHTS = {
    "PriorityType": "priority/multifactor",
    "PriorityWeightTRES": "CPU=1000",
    "PriorityWeightJobSize": 1000,
}


def core_of(folder: Path, conf: str, partitions: list[str], nodes: list[int], **keys: Any) -> Any:
    """Tables of the schedulers, with one component for each partition (or list of them)."""
    (folder / "site.conf").write_text(conf)
    workload = Workload.from_columns(
        submit_time=0, nodes=nodes, run_time=60, time_limit=300, partition=partitions
    )
    policy = Policy(backfill="slurm", slurm=WEIGHTS | keys)
    return Simulation(read_system(folder / "site.conf"), workload, policy)._core


def factors(core: Any, name: str) -> list[float]:
    return [float(value) for value in core.slurm.accounts.factor[name][: len(core.jobs)]]


def test_nodes_of_one_module_count_with_their_own_cores(tmp_path):
    """768 processors in all: 8 nodes are all of them, the 4 of big are 512, 2 of all are 2 x 96."""
    core = core_of(tmp_path, FOUR_AND_FOUR, ["all", "big", "all"], [8, 4, 2])
    assert factors(core, "tres") == [1000, 1000, 250]
    by_nodes, by_cpus = np.array([8, 4, 2]) / 8, np.array([768, 512, 192]) / 768
    assert factors(core, "job_size") == pytest.approx((by_nodes + by_cpus) / 2 * 1000, rel=1e-12)
    assert list(core.slurm.job["billing"][:3]) == [768, 512, 192]


def test_the_mean_of_a_partition_is_rounded_up_for_the_whole_job(tmp_path):
    """Three nodes of 4, 4 and 5 processors: one of them counts 5, two 9, and all three 13."""
    conf = "NodeName=a[1-2] CPUs=4\nNodeName=b CPUs=5\nPartitionName=p Nodes=ALL\n"
    assert list(core_of(tmp_path, conf, ["p"] * 3, [1, 2, 3]).slurm.job["billing"][:3]) == [5, 9, 13]


def test_a_node_whose_cores_are_not_stated_has_one(tmp_path):
    """On both sides of the TRES factor: two of four nodes are half of the partition."""
    core = core_of(tmp_path, "NodeName=n[1-4]\nPartitionName=p Nodes=ALL\n", ["p"], [2])
    assert factors(core, "tres") == [500]
    assert factors(core, "job_size") == [500]
    assert list(core.slurm.job["billing"][:1]) == [2]


def test_a_job_that_names_several_partitions_is_charged_once(tmp_path):
    """For the mean of its partitions: 2 nodes are 192 processors in all, 256 in big."""
    assert list(core_of(tmp_path, FOUR_AND_FOUR, ["all,big"], [2]).slurm.job["billing"][:1]) == [224]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"PriorityWeightQOS": 10, "qos": {"high": 5, "lwo": 1}}, {"qos": 2}),
        ({"PriorityWeightQOS": 10, "qos": {"high": 5, "low": 0}}, {}),
        ({"PriorityWeightQOS": 0, "qos": {"high": 5}}, {}),
        ({"PriorityWeightQOS": 10, "PriorityType": "priority/basic"}, {}),
    ],
)
def test_a_job_that_names_a_qos_that_is_not_listed_is_counted(keys, told):
    """Not who names none, nor who is not simulated."""
    jobs = Workload.from_columns(
        nodes=1, submit_time=0, run_time=5, qos=["high", "low", "low", "", "low"], skipped=[0, 0, 0, 0, 1]
    )
    policy = Policy(backfill="slurm", slurm={"PriorityType": "priority/multifactor"} | keys)
    result = Simulation(System.homogeneous(1), jobs, policy).result()
    assert result.metrics["counts"]["not_honoured"] == told
