"""Long queues on nodes that jobs share: shortcuts find the starts that the slow ways find."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim import Policy, System, Workload, simulate
from scheduler_sim.engine.rules.slurm.cons_tres import foreseen

SYSTEM = System.from_dict(
    {
        "modules": [
            {"name": "A", "nodes": 6, "shared": True, "cores_per_node": 8, "memory_gb": 32},
            {"name": "B", "nodes": 3, "shared": True, "cores_per_node": 8, "memory_gb": 64},
        ]
    }
)
"""More than ``foreseen.NEAR`` jobs run at once."""


def crowd(seed: int, jobs: int = 45) -> Workload:
    """Nearly all come at once; each asks for a memory of its own, and many end at once."""
    random = np.random.default_rng(seed)
    limit = random.choice([120, 120, 300, 600, 1200], jobs)
    return Workload.from_columns(
        submit_time=np.sort(random.integers(0, 90, jobs)),
        nodes=random.choice([1, 1, 1, 1, 2], jobs),
        cores=random.choice([1, 1, 2, 4, 8], jobs),
        memory_kb=random.integers(1, 16_000, jobs) * 1024,
        run_time=np.maximum(1, limit - random.choice([0, 0, 20, 90], jobs)),
        time_limit=limit,
        user=[f"u{number}" for number in random.integers(0, 4, jobs)],
        partition=[str(name) for name in random.choice(["A", "A", "B"], jobs)],
    )


def starts(seed: int, **keys: object) -> list[int]:
    policy = Policy(backfill="slurm", slurm={"bf_interval": 10, "bf_resolution": 60, **keys})
    return simulate(SYSTEM, crowd(seed), policy).components["start_time"].tolist()


@pytest.mark.interpreted
@pytest.mark.parametrize("seed", range(2))
def test_who_ends_next_on_some_nodes_is_found_by_the_nodes_as_by_the_jobs(seed, monkeypatch) -> None:
    monkeypatch.setattr(foreseen, "NEAR", 1)
    by_nodes = starts(seed)
    monkeypatch.setattr(foreseen, "NEAR", 1 << 40)
    assert by_nodes == starts(seed)


@pytest.mark.interpreted
@pytest.mark.parametrize("keys", [{}, {"bf_max_job_user": 3}, {"bf_max_job_part": 5}], ids=str)
def test_a_pass_that_stops_where_none_may_start_starts_what_a_whole_one_does(keys) -> None:
    for seed in range(2):
        assert starts(seed, **keys) == starts(seed, accelerate=False, **keys)
