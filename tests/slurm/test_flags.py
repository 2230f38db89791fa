"""PriorityFlags reach the engine."""

from __future__ import annotations

import pytest

from scheduler_sim import Policy, Simulation, System, Workload
from scheduler_sim.engine.rules.slurm.priority import fair_share

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize(
    ("flags", "algorithm"),
    [
        ("", fair_share.FAIR_TREE),
        ("FAIR_TREE,INCR_ONLY", fair_share.FAIR_TREE),
        ("DEPTH_OBLIVIOUS", fair_share.FAIR_TREE),
        ("NO_FAIR_TREE", fair_share.CLASSIC),
        ("NO_FAIR_TREE,DEPTH_OBLIVIOUS", fair_share.DEPTH_OBLIVIOUS),
    ],
)
def test_which_fair_share(flags: str, algorithm: int) -> None:
    slurm = {"PriorityType": "priority/multifactor", "PriorityFlags": flags}
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[5])
    simulation = Simulation(System.homogeneous(1), jobs, Policy(backfill="slurm", slurm=slurm))
    assert simulation._core.slurm.rules.algorithm == algorithm
