"""What takes time in a running daemon, hand-computed: one node, and the main scheduler alone.

The daemon has run for an hour, so that it passes over the whole queue at 0, 60, 120, ...
"""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_sim import Policy, System, Workload, simulate

pytestmark = pytest.mark.interpreted


def starts(count: int, **keys: Any) -> list[int]:
    """Starts of jobs of 101 s, all submitted at 0: no end is at a multiple of 60."""
    workload = Workload.from_columns(
        nodes=[1] * count, submit_time=[0] * count, run_time=[101] * count, time_limit=[600] * count
    )
    policy = Policy(name="slurm", backfill="slurm", slurm={"bf_interval": -1} | keys)
    return simulate(System.homogeneous(1), workload, policy).components["start_time"].tolist()


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, [0, 101, 202, 303, 404, 505]),
        ({"latency": "measured"}, [0, 101, 202, 304, 405, 507]),  # 0.4, 0.8, 1.2: the third waits; 0.6, 1.0
        ({"latency": "measured", "main_wait_ms": 0}, [0, 101, 202, 303, 404, 505]),
        ({"main_wait_ms": 500}, [0, 101, 203, 304, 406, 507]),
        ({"main_wait_ms": 1000}, [0, 102, 204, 306, 408, 510]),
        ({"main_wait_ms": 1000, "version": "19.05"}, [0, 101, 202, 303, 404, 505]),  # an end brings a pass
    ],
)
def test_fractions_of_waits_after_ends_add_up(keys: dict[str, Any], expected: list[int]) -> None:
    assert starts(6, **keys) == expected


def test_a_pass_over_the_whole_queue_does_not_wait_for_that() -> None:
    workload = Workload.from_columns(
        nodes=[1, 1], submit_time=[0, 0], run_time=[120, 1], time_limit=[600, 600]
    )
    policy = Policy(name="slurm", backfill="slurm", slurm={"bf_interval": -1, "main_wait_ms": 1000})
    assert simulate(System.homogeneous(1), workload, policy).components["start_time"].tolist() == [0, 120]
