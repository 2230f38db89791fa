"""Long queues on nodes that jobs share: shortcuts find the starts that the slow ways find."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim import Policy, System, Workload, simulate
from scheduler_sim.engine.rules.slurm.cons_tres import leaving
from tests.engine.interpreted import interpreted

SYSTEM = System.from_dict(
    {
        "modules": [
            {"name": "A", "nodes": 6, "shared": True, "cores_per_node": 8, "memory_gb": 32},
            {"name": "B", "nodes": 3, "shared": True, "cores_per_node": 8, "memory_gb": 64},
        ]
    }
)
"""More jobs run at once than are kept together in ``leaving``."""


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


def starts(seed: int, system: System = SYSTEM, jobs: int = 45, **keys: object) -> list[int]:
    policy = Policy(backfill="slurm", slurm={"bf_interval": 10, "bf_resolution": 60, **keys})
    return simulate(system, crowd(seed, jobs), policy).components["start_time"].tolist()


@pytest.mark.interpreted
@pytest.mark.parametrize("seed", range(2))
def test_who_leaves_next_is_found_by_many_jobs_at_once_as_by_each(seed, monkeypatch) -> None:
    together = starts(seed)
    monkeypatch.setattr(leaving, "LEAVE_AT_MOST", 0)
    assert together == starts(seed)


@pytest.mark.interpreted
@pytest.mark.parametrize("keys", [{}, {"bf_max_job_user": 3}, {"bf_max_job_part": 5}], ids=str)
def test_a_pass_that_stops_where_none_may_start_starts_what_a_whole_one_does(keys) -> None:
    for seed in range(2):
        assert starts(seed, **keys) == starts(seed, accelerate=False, **keys)


def with_reservation(start: int, end: int) -> System:
    one = {"name": "r", "start": start, "end": end, "users": ["u0"], "nodes": ["A[0-1]"]}
    return System.from_dict(SYSTEM.to_dict() | {"reservations": [one]})


BOUNDED = [
    (SYSTEM, {"bf_resolution": 1, "bf_window": 30}),
    (SYSTEM, {"bf_running_job_reserve": True}),
    (with_reservation(400, 900), {}),
    (with_reservation(100_000, 200_000), {}),
    (with_reservation(3000, 3600), {"bf_window": 30}),
]
NAMES = [
    "short window",
    "running jobs reserved",
    "reservation near",
    "reservation far",
    "reservation between",
]


@pytest.mark.interpreted
@pytest.mark.parametrize(("system", "keys"), BOUNDED, ids=NAMES)
def test_lower_bounds_on_starts_change_none(system: System, keys: dict[str, object]) -> None:
    assert starts(0, system, 60, **keys) == starts(0, system, 60, accelerate=False, **keys)


@pytest.mark.long
@pytest.mark.parametrize(("system", "keys"), BOUNDED, ids=NAMES)
def test_nor_in_queues_of_hundreds(system: System, keys: dict[str, object]) -> None:
    for seed in range(10):
        assert starts(seed, system, 400, **keys) == starts(seed, system, 400, accelerate=False, **keys)


@pytest.mark.long
@pytest.mark.parametrize("version", ["23.11", "24.11", "26.05"])
@pytest.mark.parametrize("latency", ["none", "measured"])
def test_nor_by_the_rules_of_later_releases(version: str, latency: str) -> None:
    """Compiled, as a user's run is."""
    keys = {"version": version, "latency": latency}
    for seed, (system, bounds) in enumerate(BOUNDED):
        given = keys | bounds
        assert starts(seed, system, 120, **given) == starts(seed, system, 120, accelerate=False, **given)


@pytest.mark.parametrize("version", ["24.11", "26.05"])
def test_compiled_rules_of_later_releases_are_those_of_plain_python(version: str) -> None:
    compiled = starts(0, version=version)
    with interpreted():
        assert compiled == starts(0, version=version)
