"""Requests by tasks, by core and in all, under policies that count what is had of each node."""

from __future__ import annotations

from scheduler_sim import System, Workload, simulate

NODES = {"cores_per_node": 8, "memory_gb": 8, "gpus_per_node": 4}
SITE = System.from_dict({"modules": [{"name": "m", "nodes": 4, "shared": True, **NODES}]})


def had(**asked: object) -> tuple[float, int, float]:
    given = {name: [one] for name, one in asked.items()}
    jobs = Workload.from_columns(submit_time=[0], run_time=[5], **given)
    row = simulate(SITE, jobs, "easy").components.iloc[0]
    return row["cores"], row["memory_kb"], row["gpus"]


def test_tasks_are_spread_over_the_nodes() -> None:
    assert had(nodes=2, tasks=5, cores_per_task=2) == (12, 0, 0)  # three tasks on each, rounded up
    assert had(nodes=2, tasks_per_node=3) == (6, 0, 0)


def test_memory_for_each_core() -> None:
    assert had(nodes=1, tasks=4, memory_per_core_kb=1000) == (4, 4000, 0)
    assert had(nodes=1, tasks=4, memory_per_core_kb=1000, memory_kb=500) == (4, 500, 0)


def test_gpus_in_all_and_for_each_task() -> None:
    assert had(nodes=2, tasks=2, gres_per_job="gpu:3") == (2, 0, 4)
    assert had(nodes=1, tasks=2, gres_per_task="gpu:2") == (2, 0, 4)
