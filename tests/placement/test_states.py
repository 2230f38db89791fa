"""States of partitions and default limits, up to what becomes of the components."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim import Simulation, System, Workload, simulate
from scheduler_sim.placement.table import expand

pytestmark = pytest.mark.interpreted

SITE = System.from_dict(
    {
        "modules": [{"name": "CM", "nodes": 4}],
        "partitions": [
            {"name": "up", "module": "CM", "default_time": 50, "max_time": 100},
            {"name": "down", "module": "CM", "state": "DOWN", "max_time": 200},
            {"name": "drain", "module": "CM", "state": "DRAIN"},
            {"name": "inactive", "module": "CM", "state": "INACTIVE"},
            {"name": "wide", "module": "CM", "min_nodes": 3},
        ],
    }
)


def jobs(*partitions: str, nodes: int = 2, run_time: int = 10, limit: int = -1) -> Workload:
    n = len(partitions)
    return Workload.from_columns(
        nodes=[nodes] * n,
        submit_time=list(range(n)),
        run_time=[run_time] * n,
        time_limit=[limit] * n,
        partition=list(partitions),
    )


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative"])
def test_what_becomes_of_components_by_the_state_of_their_partition(policy: str) -> None:
    asked = ("down", "up", "drain", "inactive", "down,up", "drain,down", "drain,up", "wide")
    result = simulate(SITE, jobs(*asked), policy)
    result.check()
    states = dict(zip(asked, result.components["state"], strict=True))
    assert states == {
        "down": "PENDING",
        "up": "COMPLETED",
        "drain": "REJECTED",
        "inactive": "REJECTED",
        "down,up": "COMPLETED",
        "drain,down": "PENDING",
        "drain,up": "COMPLETED",
        "wide": "REJECTED",
    }
    assert result.metrics["counts"]["rejected_because"] == {"partition_state": 2, "min_nodes": 1}
    assert result.components["start_time"].tolist()[:2] == [-1, 1]  # who waits for ever blocks nobody


def test_a_component_for_a_partition_that_is_down_may_come_from_a_process() -> None:
    simulation = Simulation(SITE, policy="easy")
    simulation.submit(nodes=1, run_time=5, partition="down")
    simulation.submit(nodes=1, run_time=5, partition="up")
    assert simulation.run().components["state"].tolist() == ["PENDING", "COMPLETED"]


def test_a_limit_that_is_not_stated_is_the_default_time_of_the_partition() -> None:
    result = simulate(SITE, jobs("up", "wide", nodes=3, run_time=60), "easy")
    assert result.components["state"].tolist() == ["TIMEOUT", "COMPLETED"]
    assert result.components["time_limit"].tolist() == [50, 60]
    assert simulate(SITE, jobs("up", run_time=60, limit=100), "easy").components["state"].tolist() == [
        "COMPLETED"
    ]


def test_only_partitions_that_are_up_count_where_there_are_any() -> None:
    table = expand(jobs("down,up", "up,down", "down", "drain,down"), SITE)
    assert table.limit.tolist() == [50, 50, 200, 200]
    assert np.diff(table.first).tolist() == [1, 1, 1, 1]
    assert table.held.tolist() == [False, False, True, True]
