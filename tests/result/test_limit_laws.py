"""The law of limits: a schedule that exceeds one is found, and one that only seems to is not."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_sim import Policy, System, Workload, simulate
from scheduler_sim.result.limit_laws import limits
from scheduler_sim.result.schedule import Schedule

pytestmark = pytest.mark.interpreted

JOBS = Workload.from_columns(
    nodes=[2, 2, 2],
    submit_time=[0, 0, 0],
    run_time=[60, 60, 60],
    time_limit=[120, 120, 120],
    user=["u", "u", "v"],
    account=["a", "b", "a"],
    qos=["q", "q", "r"],
)


def breach(accounts: Any, qos: Any, starts: list[int]) -> str | None:
    """What the law says of a schedule with other starts than the engine's."""
    keys = {"accounts": accounts, "qos": qos, "AccountingStorageEnforce": "limits"}
    result = simulate(System.homogeneous(8), JOBS, Policy(backfill="slurm", slurm=keys))
    result.check()
    table = result.components.copy()
    table["start_time"] = starts
    table["end_time"] = [start + 60 for start in starts]
    return limits(Schedule(table, result.timeline, result.metrics, result.manifest))


TOP = {"top": {"limits": {"GrpTRES": {"node": 4}}, "accounts": {"a": {"users": {"u": 1, "v": 1}}, "b": {}}}}


def test_what_is_within_all_limits_passes() -> None:
    assert breach(TOP, {}, [0, 0, 60]) is None
    assert breach({}, {"q": {"MaxJobsPerUser": 1}}, [0, 60, 0]) is None


@pytest.mark.parametrize(
    ("accounts", "qos", "says"),
    [
        (TOP, {}, "starts when top has 6 in use, GrpTRES is 4"),
        ({"a": {"limits": {"GrpJobs": 1}}}, {}, "starts when a has 2 in use, GrpJobs is 1"),
        ({}, {"q": {"MaxJobsPerUser": 1}}, "starts when q of u has 2 in use, MaxJobsPerUser is 1"),
        ({}, {"q": {"GrpTRES": "node=3"}}, "starts when q has 4 in use, GrpTRES is 3"),
    ],
)
def test_what_exceeds_one_is_found(accounts: Any, qos: Any, says: str) -> None:
    found = breach(accounts, qos, [0, 0, 0])
    assert found is not None
    assert found.endswith(says)


@pytest.mark.parametrize(
    ("cores", "qos", "found"), [(0, {}, True), (3, {}, True), (3, {"GrpTRES": "cpu=99"}, False)]
)
def test_processors_are_counted_where_nodes_are_alike(cores: int, qos: Any, found: bool) -> None:
    """Two jobs of two nodes beside one another; a QOS may hide the limit of the account."""
    keys = {"accounts": {"top": {"limits": {"GrpTRES": {"cpu": 2 * max(cores, 1)}}, "users": {"u": 1}}}}
    jobs = Workload.from_columns(
        nodes=[2, 2],
        submit_time=[0, 0],
        run_time=[60, 60],
        time_limit=[120, 120],
        user="u",
        account="top",
        qos="q",
    )
    policy = Policy(backfill="slurm", slurm=keys | {"qos": {"q": qos}, "AccountingStorageEnforce": "limits"})
    system = System.from_dict({"modules": [{"name": "m", "nodes": 8, "cores_per_node": cores}]})
    result = simulate(system, jobs, policy)
    result.check()
    assert (result.components["start_time"].max() > 0) == found
    table = result.components.assign(start_time=[0, 0], end_time=[60, 60])
    said = limits(Schedule(table, result.timeline, result.metrics, result.manifest))
    assert (said is not None and f"has {4 * max(cores, 1)} cpu in use" in said) == found


def test_a_limit_that_a_qos_hides_binds_nobody() -> None:
    accounts = {"root": {"limits": {"GrpJobs": 1}}}
    assert breach(accounts, {"q": {"GrpJobs": 5}, "r": {"GrpJobs": 5}}, [0, 0, 0]) is None
    assert breach(accounts, {"q": {"GrpJobs": 5}}, [0, 0, 1]) is not None  # job 3, of QOS r


def test_one_that_it_does_not_bind_may_have_started_last_in_the_same_second() -> None:
    """GrpJobs of a QOS goes before that of all: job 3, of another QOS, is not held to two of everybody."""
    accounts = {"root": {"limits": {"GrpJobs": 2}}}
    assert breach(accounts, {"r": {"GrpJobs": 5}}, [0, 0, 0]) is None
    assert breach(accounts, {"r": {"GrpJobs": 5}}, [1, 0, 0]) is not None
