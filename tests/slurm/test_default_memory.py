"""Memory of jobs that ask for none, where nodes are shared: a default counts if any job of the trace asks."""

from __future__ import annotations

import pytest

from scheduler_sim import Policy, System, Workload, simulate

pytestmark = pytest.mark.interpreted

GB = 1 << 20  # kB
NODE = {"name": "m", "nodes": 1, "cores_per_node": 8, "memory_gb": 16, "gpus_per_node": 2, "shared": True}


def starts(columns: dict[str, list[object]], **keys: object) -> list[int]:
    """Of two jobs of one task, submitted together."""
    given = {"submit_time": [0, 0], "nodes": [1, 1], "tasks": [1, 1], "run_time": [50, 50]} | columns
    policy = Policy(name="slurm", backfill="slurm", slurm=keys)
    result = simulate(System.from_dict({"modules": [NODE]}), Workload.from_columns(**given), policy)
    return result.components["start_time"].tolist()


@pytest.mark.parametrize(
    "asked",
    [
        {"memory_kb": [4 * GB, -1]},
        {"memory_per_core_kb": [4 * GB, -1]},
        {"memory_per_gpu_kb": [4 * GB, -1], "gpus": [1, 0]},
    ],
    ids=["of a node", "of a core", "of a GPU"],
)
def test_however_one_job_asks_the_other_has_the_default(asked: dict[str, list[object]]) -> None:
    for default, beside in ((14_000, False), (10_000, True)):
        first, second = starts(asked, DefMemPerCPU=default)
        assert (first == second) == beside
    first, second = starts(asked)  # all of the node
    assert second > first


def test_without_any_that_asks_memory_does_not_count() -> None:
    first, second = starts({}, DefMemPerCPU=14_000)
    assert first == second
