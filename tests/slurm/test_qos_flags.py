"""Flags of a QOS: NoReserve and RequiresReservation, which count whether limits are enforced or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scheduler_sim import Policy, Result, System, Workload, simulate
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.limits import QosKeys
from scheduler_sim.system.slurm_conf.notes import Notes
from scheduler_sim.system.slurm_dumps.qos import read_qos

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
    with pytest.raises(ConfigError, match="found NoReserve with PreemptMode CANCEL where jobs share nodes"):
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


SHARED_FAIRLY = {
    "PriorityType": "priority/multifactor",
    "PriorityFlags": "NO_FAIR_TREE",
    "PriorityDecayHalfLife": 0,
    "PriorityCalcPeriod": 60,
    "accounts": {"a": {"users": {"u": 1, "v": 1}}},
}


def served(least: float, weight: int, **keys: Any) -> Result:
    """u has all nodes for two minutes, and asks for them again at 190; v has half of the shares, too."""
    jobs = Workload.from_columns(
        nodes=[4, 4, 4],
        submit_time=[0, 190, 200],
        run_time=[120, 60, 60],
        time_limit=[120, 60, 60],
        user=["u", "u", "v"],
        account=["a"] * 3,
        qos=["r", "q", "r"],
    )
    qos = {"q": {"UsageThreshold": least, "Flags": ["EnforceUsageThreshold"]}, "r": {}}
    given = SHARED_FAIRLY | {"qos": qos, "PriorityWeightFairshare": weight} | keys
    return play(System.homogeneous(4), jobs, [], **given)


@pytest.mark.parametrize(("enforce", "start"), [("limits", 300), ("none", 260)])
def test_a_qos_may_ask_for_a_least_fair_share(enforce: str, start: int) -> None:
    """All usage is of u, whose part of the machine is a quarter: beside the account there is a user root. Its
    factor is 2^-(1 / 0.25), weighted 62, so that v goes first, from 200 to 260. At 240 u has used 480 of 640
    processor seconds, 0.75, or 0.875 mixed with its account: 88. At 300 it is 480 of 720: 99, and u starts.

    Where ends are not charged u has used but 240 of 400 by 240: 0.8, weighted 109. It waits for nodes alone.
    """
    keys = {"AccountingStorageEnforce": enforce}
    assert starts(served(0, 1000, **keys)) == [0, 190, 250]
    found = served(95, 1000, **keys)
    assert starts(found) == [0, start, 200]
    assert found.components["limit_reason"].tolist() == ["", "QOSUsageThreshold", ""]
    assert found.components["wait_limit"].tolist() == [0, 110 if start == 300 else 50, 0]


def test_it_is_compared_with_the_weighted_factor_as_in_slurm() -> None:
    assert starts(served(0.06, 1000)) == [0, 190, 250]
    found = served(95, 100).components
    assert found["state"].tolist() == ["COMPLETED", "PENDING", "COMPLETED"]
    assert found["limit_reason"].tolist()[1] == "QOSUsageThreshold"


def test_one_that_is_below_waits_until_usage_is_forgotten() -> None:
    """At the first computation after midnight: every 60 s, here on whole minutes. Its factor is 1 then."""
    found = served(900, 1000, PriorityUsageResetPeriod="DAILY", starts_before_s=60)
    assert starts(found)[1] == 86400


def test_what_a_least_fair_share_needs() -> None:
    with pytest.raises(
        ConfigError, match=r"q\.Flags: found EnforceUsageThreshold without fair share; needed"
    ):
        served(95, 0)


def test_what_is_read_of_a_site(tmp_path: Path) -> None:
    file = tmp_path / "sacctmgr_qos.txt"
    file.write_text(
        "Name|Priority|Flags|UsageThreshold\nq|5|EnforceUsageThreshold,NoReserve|300.000000\nr|1||\n"
    )
    flags = ["enforceusagethreshold", "noreserve"]
    found = read_qos(file, Notes())
    assert found["q"]["UsageThreshold"] == 300.0
    assert sorted(flag.lower() for flag in found["q"]["Flags"]) == flags
    assert QosKeys(**found["q"]).least_share == 300.0
