"""Flags of a QOS: NoReserve and RequiresReservation, which count whether limits are enforced or not."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_sim import Policy, Result, System, Workload, simulate
from scheduler_sim.errors import ConfigError

pytestmark = pytest.mark.interpreted

AT_ONCE = {"batch_sched_delay": 0, "bf_interval": 1, "bf_resolution": 1, "limit_check_s": 1, "KillWait": 0}
ENFORCED = pytest.mark.parametrize("enforce", ["none", "limits"])


def play(system: System, jobs: Workload, flags: list[str], **keys: Any) -> Result:
    given = AT_ONCE | {"qos": {"q": {"Flags": flags}, "r": {}}} | keys
    result = simulate(system, jobs, Policy(backfill="slurm", slurm=given))
    result.check()
    return result


def starts(result: Result) -> list[int]:
    return result.components["start_time"].tolist()


def three(last_limit: int, **columns: Any) -> Workload:
    """Three of four nodes run for two minutes; then all four are asked for, then one for longer."""
    return Workload.from_columns(
        nodes=[3, 4, 1],
        submit_time=[0, 10, 20],
        run_time=[120, 60, last_limit],
        time_limit=[120, 60, last_limit],
        **columns,
    )


@ENFORCED
def test_one_that_is_not_planned_holds_no_nodes(enforce: str) -> None:
    """The last would end after the plan of the second, which makes none: it starts on the idle node."""
    jobs = three(300, qos=["", "q", ""])
    keys = {"AccountingStorageEnforce": enforce}
    assert starts(play(System.homogeneous(4), jobs, [], **keys)) == [0, 120, 180]
    assert starts(play(System.homogeneous(4), jobs, ["NoReserve"], **keys)) == [0, 320, 20]


def test_where_jobs_are_preempted_it_is_tried_as_if_it_took_a_minute() -> None:
    """It starts before the plan of the second, and runs past that: with a minute it would not have."""
    jobs = three(300, qos=["", "", "q"])
    keys = {"PreemptType": "preempt/qos", "PreemptMode": "CANCEL"}
    assert starts(play(System.homogeneous(4), jobs, ["NoReserve"])) == [0, 120, 180]
    found = play(System.homogeneous(4), jobs, ["NoReserve"], **keys)
    assert starts(found) == [0, 320, 20]
    assert found.components["end_time"].tolist() == [120, 380, 320]
    assert starts(play(System.homogeneous(4), jobs, [], **keys)) == [0, 120, 180]


def test_not_where_they_share_nodes() -> None:
    system = System.from_dict({"modules": [{"name": "m", "nodes": 4, "cores_per_node": 2, "shared": True}]})
    with pytest.raises(ConfigError, match="found NoReserve with preemption where jobs share nodes"):
        play(system, three(300), ["NoReserve"], PreemptType="preempt/qos", PreemptMode="CANCEL")


@ENFORCED
def test_a_qos_may_require_a_reservation(enforce: str) -> None:
    """Of two jobs of the QOS one names a reservation; one of another QOS need not."""
    system = System.homogeneous(4).to_dict() | {
        "reservations": [{"name": "lab", "start": 0, "end": 1000, "node_count": 2, "users": ["u"]}]
    }
    jobs = Workload.from_columns(
        nodes=[1, 1, 1],
        submit_time=[5, 5, 5],
        run_time=[60] * 3,
        time_limit=[60] * 3,
        user="u",
        qos=["q", "q", "r"],
        reservation=["", "lab", ""],
    )
    keys = {"AccountingStorageEnforce": enforce}
    found = play(System.from_dict(system), jobs, ["RequiresReservation"], **keys).components
    assert found["state"].tolist() == ["REJECTED", "COMPLETED", "COMPLETED"]
    assert found["limit_reason"].tolist() == ["QOSNotAllowed", "", ""]
