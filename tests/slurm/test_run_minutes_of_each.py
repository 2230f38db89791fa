"""MaxTRESRunMinsPerUser and MaxTRESRunMinsPerAccount of a QOS, which Slurm enforces since 24.05."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from scheduler_sim import Policy, Result, System, Workload, simulate
from scheduler_sim.report.explain import explain
from scheduler_sim.report.explain_text import text_of

pytestmark = pytest.mark.interpreted

WHOLE = System.homogeneous(8)
KEYS = {
    "sched_interval": 60,
    "batch_sched_delay": 0,
    "bf_interval": 1,
    "KillWait": 0,
    "PriorityType": "priority/multifactor",
    "PriorityCalcPeriod": 60,
    "PriorityDecayHalfLife": 0,
    "AccountingStorageEnforce": "limits",
    "starts_before_s": 60,
}
THREE = Workload.from_columns(
    nodes=[2, 2, 2],
    submit_time=[0, 1, 2],
    run_time=[250, 250, 250],
    time_limit=[300, 300, 300],
    user=["u", "u", "v"],
    account=["a", "a", "b"],
    qos=["q", "q", "q"],
)
"""Each may use ten node-minutes: of two nodes for five."""


def play(limit: Any, version: str = "24.05") -> Result:
    slurm = KEYS | {"qos": {"q": limit}, "version": version}
    result = simulate(WHOLE, THREE, Policy(backfill="slurm", slurm=slurm))
    result.check()
    return result


def starts(limit: Any, version: str = "24.05") -> list[int]:
    start: list[int] = play(limit, version).components["start_time"].tolist()
    return start


@pytest.mark.parametrize("key", ["MaxTRESRunMinsPerUser", "MaxTRESRunMinsPerAccount"])
def test_each_user_or_account_may_use_so_much(key: str) -> None:
    """The second job waits until the first may use no more than two node-minutes: after four minutes."""
    first, second, other = starts({key: {"node": 12}})
    assert first < 5
    assert other < 5
    assert 240 <= second <= 302
    assert max(starts({key: {"node": 20}})) < 5


def test_of_all_together_it_is_another_limit() -> None:
    """Two of them may use twenty node-minutes; the third is another user's."""
    assert starts({"MaxTRESRunMinsPerUser": {"node": 12}})[2] < starts({"GrpTRESRunMins": {"node": 12}})[2]


def test_explain_has_slurms_word() -> None:
    result = play({"MaxTRESRunMinsPerUser": {"node": 12}})
    assert "MaxNodeRunMinsPerUser" in " ".join(text_of(explain(result, 2)).split())


def test_a_release_that_does_not_enforce_it_says_so() -> None:
    said = r"policy\.slurm\.qos\.q\.MaxTRESRunMinsPerUser: Slurm 22\.05 does not enforce it"
    with pytest.warns(UserWarning, match=said):
        assert max(starts({"MaxTRESRunMinsPerUser": {"node": 12}}, "22.05")) < 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        starts({"MaxTRESRunMinsPerUser": {"node": 12}})
