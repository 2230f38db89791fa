"""The law of limits: a schedule that exceeds one is found, and one that only seems to is not."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_sim import Policy, System, Workload, simulate
from scheduler_sim.result.limit_laws import limits
from scheduler_sim.result.schedule import Schedule
from tests.slurm.limit_cases import SHARED

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


WHOLE = System.from_dict({"modules": [{"name": "m", "nodes": 8, "cores_per_node": 4, "gpus_per_node": 2}]})
PARTS = Workload.from_columns(
    nodes=[1, 1, 1],
    submit_time=[0, 0, 0],
    run_time=[60, 60, 60],
    time_limit=[120, 120, 120],
    tasks=[2, 2, 2],
    memory_kb=[1 << 20, 1 << 20, 1 << 20],
    gpus=[1, 1, 0],
    user="u",
    account="a",
    qos="q",
)
"""Two jobs on the first node, and the third beside them: 2 cores, 1 GB and a GPU each."""


def broken(
    system: System, jobs: Workload, limit: Any, *, of: str = "qos", columns: Any = None, **keys: Any
) -> str | None:
    """What the law says of a schedule that was made without the limit; columns may say otherwise."""
    free = {"q": {"GrpJobs": 99}}
    given = {
        "AccountingStorageEnforce": "limits",
        "qos": free,
        "accounts": {"a": {}},
        "bf_interval": 1,
    } | keys
    result = simulate(system, jobs, Policy(backfill="slurm", slurm=given))
    result.check()
    slurm = dict(result.manifest["policy"]["slurm"])
    slurm |= {"qos": {"q": limit}} if of == "qos" else {"accounts": {"a": {"limits": limit}}}
    policy = dict(result.manifest["policy"]) | {"slurm": slurm}
    table = result.components.assign(**columns or {})
    return limits(
        Schedule(table, result.timeline, result.metrics, dict(result.manifest) | {"policy": policy})
    )


@pytest.mark.parametrize(
    ("limit", "says"),
    [
        ({"GrpTRES": {"mem": 2047}}, "starts when q has 3072 mem in use, GrpTRES is 2047"),
        ({"GrpTRES": {"mem": 3072}}, None),
        ({"GrpTRES": {"gres/gpu": 1}}, "starts when q has 2 gres/gpu in use, GrpTRES is 1"),
        ({"MaxTRESPerUser": {"cpu": 5}}, "starts when q of u has 6 cpu in use, MaxTRESPerUser is 5"),
        ({"MaxTRESPerUser": {"cpu": 6, "gres/gpu": 2, "mem": 3072}}, None),
        ({"GrpTRES": {"node": 1}}, None),
        ({"MaxTRESPerNode": {"mem": 1000}}, "starts with 1024 mem, MaxTRESPerNode is 1000"),
        ({"MaxTRESPerJob": {"cpu": 1}}, "starts with 2 cpu, MaxTRESPerJob is 1"),
        ({"MinTRESPerJob": {"gres/gpu": 1}}, "starts with 0 gres/gpu, MinTRESPerJob is 1"),
        ({"MaxTRESMinsPerJob": {"cpu": 3}}, "starts with 2 cpu, MaxTRESMinsPerJob is 3"),
    ],
)
def test_what_jobs_have_of_shared_nodes_is_counted(limit: Any, says: str | None) -> None:
    found = broken(SHARED, PARTS, limit)
    assert found == says if says is None else found is not None and found.endswith(says)


def test_a_node_counts_once_but_two_nodes_twice() -> None:
    """The third job on the second node instead of beside the others."""
    moved = {"node_list": ["0", "0", "1"]}
    found = broken(SHARED, PARTS, {"GrpTRES": {"node": 1}}, columns=moved)
    assert found is not None
    assert found.endswith("starts when q has 2 in use, GrpTRES is 1")
    after = moved | {"start_time": [0, 0, 60], "end_time": [60, 60, 120]}
    assert broken(SHARED, PARTS, {"GrpTRES": {"node": 1}}, columns=after) is None


@pytest.mark.parametrize(
    ("limit", "says"),
    [
        ({"GrpTRES": {"gres/gpu": 5}}, "starts when a has 12 gres/gpu in use, GrpTRES is 5"),
        ({"MaxTRESPerNode": {"gres/gpu": 1}}, "starts with 4 gres/gpu, MaxTRESPerNode is 1"),
        ({"MaxTRESPerNode": {"cpu": 4}}, None),
        ({"MaxTRESMinsPerJob": {"node": 3}}, "starts with 2 node, MaxTRESMinsPerJob is 3"),
        ({"MaxTRESPerJob": {"mem": 1}}, None),  # of whole nodes it is not told
    ],
)
def test_what_whole_nodes_have_is_counted(limit: Any, says: str | None) -> None:
    jobs = Workload.from_columns(
        nodes=[2, 2, 2],
        submit_time=[0] * 3,
        run_time=[60] * 3,
        time_limit=[120] * 3,
        user="u",
        account="a",
        qos="q",
    )
    found = broken(WHOLE, jobs, limit, of="accounts")
    assert found == says if says is None else found is not None and found.endswith(says)


ONE_BY_ONE = Workload.from_columns(
    nodes=[8, 8, 8],
    submit_time=[0, 0, 0],
    run_time=[60, 60, 60],
    time_limit=[120, 120, 120],
    user="u",
    account="a",
    qos="q",
)
FOR_GOOD = {"PriorityType": "priority/multifactor", "PriorityDecayHalfLife": 0}


@pytest.mark.parametrize(
    ("limit", "keys", "says"),
    [
        ({"GrpTRESMins": {"node": 8}}, FOR_GOOD, "starts when q has used 8 node-minutes, GrpTRESMins is 8"),
        ({"GrpTRESMins": {"node": 17}}, FOR_GOOD, None),
        ({"GrpWall": 1}, FOR_GOOD, "starts when q has used 1 minutes, GrpWall is 1"),
        ({"GrpTRESMins": {"node": 8}}, {}, None),  # priority/basic charges nothing
        ({"GrpTRESMins": {"node": 8}}, FOR_GOOD | {"PriorityDecayHalfLife": 60}, None),
        (
            {"GrpTRESMins": {"node": 8}, "Flags": ["NoDecay"]},
            FOR_GOOD | {"PriorityDecayHalfLife": 60},
            "starts when q has used 8 node-minutes, GrpTRESMins is 8",
        ),
        ({"GrpTRESMins": {"node": 8}, "UsageFactor": 0.5}, FOR_GOOD, None),
        (
            {"GrpTRESMins": {"node": 21}},
            FOR_GOOD | {"AccountingStorageEnforce": "safe"},
            "starts when q may come to use 23 node-minutes, GrpTRESMins is 21",
        ),
        ({"GrpTRESMins": {"node": 32}}, FOR_GOOD | {"AccountingStorageEnforce": "safe"}, None),
        ({"GrpTRESRunMins": {"node": 15}}, {}, "starts when q may use 16 node-minutes, GrpTRESRunMins is 15"),
        ({"GrpTRESRunMins": {"node": 16}}, {}, None),
    ],
)
def test_minutes_are_counted_as_far_as_none_is_forgotten(limit: Any, keys: Any, says: str | None) -> None:
    """Each has all 8 nodes for a minute, of two that it may: it may use 16 node-minutes and does use 8."""
    found = broken(WHOLE, ONE_BY_ONE, limit, **keys)
    assert found == says if says is None else found is not None and found.endswith(says)


def test_minutes_that_running_jobs_may_still_use_fall_as_they_run() -> None:
    """Of the first, 30 s old, 90 s are left: with the second 210 s of 4 nodes, 14 node-minutes."""
    jobs = Workload.from_columns(
        nodes=[4, 4],
        submit_time=[0, 30],
        run_time=[60] * 2,
        time_limit=[120] * 2,
        user="u",
        account="a",
        qos="q",
    )
    found = broken(WHOLE, jobs, {"GrpTRESRunMins": {"node": 13}}, batch_sched_delay=0)
    assert found is not None
    assert found.endswith("starts when q may use 14 node-minutes, GrpTRESRunMins is 13")
    assert broken(WHOLE, jobs, {"GrpTRESRunMins": {"node": 14}}, batch_sched_delay=0) is None


@pytest.mark.parametrize(
    ("limit", "of", "says"),
    [
        ({"GrpSubmitJobs": 2}, "qos", "is submitted when q has 3 jobs that wait or run, GrpSubmitJobs is 2"),
        ({"GrpSubmitJobs": 3}, "qos", None),
        (
            {"MaxSubmitJobsPerUser": 1},
            "qos",
            "when q of u has 3 jobs that wait or run, MaxSubmitJobsPerUser is 1",
        ),
        ({"MaxSubmitJobs": 2}, "accounts", "when a/u has 3 jobs that wait or run, MaxSubmitJobs is 2"),
    ],
)
def test_submitted_jobs_are_counted(limit: Any, of: str, says: str | None) -> None:
    found = broken(WHOLE, ONE_BY_ONE, limit, of=of)
    assert found == says if says is None else found is not None and found.endswith(says)


def test_one_that_has_ended_is_no_longer_submitted() -> None:
    later = Workload.from_columns(
        nodes=[1, 1],
        submit_time=[0, 90],
        run_time=[60, 60],
        time_limit=[120, 120],
        user="u",
        account="a",
        qos="q",
    )
    assert broken(WHOLE, later, {"GrpSubmitJobs": 1}) is None
