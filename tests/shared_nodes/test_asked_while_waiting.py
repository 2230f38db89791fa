"""What a component that waits asks for, in the columns of a result."""

from __future__ import annotations

import pytest

from scheduler_sim import Workload, simulate
from scheduler_sim.system.system import System

GB = 1 << 20
SYSTEM = {
    "modules": [
        {
            "name": "CM",
            "nodes": 2,
            "shared": True,
            "cores_per_node": 8,
            "memory_gb": 64,
            "gres": {"gpu:a100": 4},
        }
    ]
}
JOB = {"nodes": [2, 2], "submit_time": 0, "run_time": 10, "time_limit": 10, "hold": [0, 1], "cores": 2}


@pytest.mark.parametrize("policy", ["slurm", "easy"])
@pytest.mark.parametrize("gres", ["", "gpu:a100"])
def test_one_that_waits_has_what_it_asked_for(policy, gres):
    """As much as the same one that ran had: two nodes with 1 GB and 3 GPUs each."""
    jobs = Workload.from_columns(**JOB, memory_kb=GB, gpus=3, gres=gres)
    table = simulate(System.from_dict(SYSTEM), jobs, policy).components
    assert table["state"].tolist() == ["COMPLETED", "PENDING"]
    for name, amount in (("cores", 4), ("memory_kb", 2 * GB), ("gpus", 6)):
        assert table[name].tolist() == [amount, amount], name


def test_gpus_of_the_job_and_memory_of_each_core_under_slurm():
    jobs = Workload.from_columns(**JOB, gres_per_job="gpu:5", memory_per_core_kb=GB)
    table = simulate(System.from_dict(SYSTEM), jobs, "slurm").components
    assert table["gpus"].tolist() == [5, 5]
    assert table["memory_kb"].tolist() == [4 * GB, 4 * GB]
