"""Limits of jobs that accrue age: against the plain model, and a case worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, System, Workload, simulate
from scheduler_sim.system.slurm_conf.notes import Notes
from scheduler_sim.system.slurm_dumps.qos import read_qos
from tests.conftest import examples
from tests.slurm.engine_cases import fates
from tests.slurm.limit_cases import LimitedCase, limited_cases, limited_fates, limited_simulation

pytestmark = pytest.mark.interpreted

BY_AGE = {
    "PriorityType": "priority/multifactor",
    "AccountingStorageType": "accounting_storage/slurmdbd",
    "PriorityMaxAge": 300,
    "PriorityWeightAge": 1000,
    "PriorityWeightPartition": 0,
}


@st.composite
def where_few_accrue(draw: st.DrawFn) -> LimitedCase:
    """No other limits."""
    case = draw(limited_cases()).without_limits()
    weights = {"PriorityWeightJobSize": draw(st.sampled_from([0, 512]))}
    case = case.but(**BY_AGE, **weights, PriorityCalcPeriod=draw(st.sampled_from([5, 45])))
    of = case.database
    for limits, kinds in (
        (of.qos["q"], ("grp_accrue", "max_accrue_pu", "max_accrue_pa")),
        (of.qos["r"], ("grp_accrue",)),
        (of.associations["a"].limits, ("grp_accrue", "max_accrue")),
        (of.associations["b/u"].limits, ("max_accrue",)),
    ):
        for kind in kinds:
            if draw(st.booleans()):
                setattr(limits, kind, draw(st.integers(0, 2)))
    return case


@examples(60)
@given(where_few_accrue())
def test_the_engine_is_the_plain_model(case: LimitedCase) -> None:
    assert fates(limited_simulation(case)) == limited_fates(case)


def starts(**limits: Any) -> list[int]:
    """One node; a job of five minutes, then two of QOS q, and one of another, of 100 s each."""
    jobs = Workload.from_columns(
        nodes=[1] * 4,
        submit_time=[0, 10, 11, 100],
        run_time=[300, 100, 100, 100],
        time_limit=[300, 120, 120, 120],
        user=["u"] * 4,
        account=["a"] * 4,
        qos=["r", "q", "q", "r"],
    )
    keys = {"PriorityMaxAge": 1000, "PriorityCalcPeriod": 10, "bf_interval": 10, "batch_sched_delay": 0}
    qos = {"q": limits, "r": {"GrpJobs": 9}}
    policy = Policy(
        backfill="slurm", slurm=BY_AGE | keys | {"qos": qos, "AccountingStorageEnforce": "limits"}
    )
    result = simulate(System.homogeneous(1), jobs, policy)
    result.check()
    return result.components["start_time"].tolist()


@pytest.mark.parametrize("limit", ["GrpJobsAccrue", "MaxJobsAccruePerUser", "MaxJobsAccruePerAccount"])
def test_the_age_of_others_begins_when_they_get_a_place(limit: str) -> None:
    """The second of QOS q accrues age only once the first has started, at 300; the job of the other QOS does
    from 100 on, and goes before it at 400.
    """
    assert starts() == [0, 300, 400, 500]
    assert starts(**{limit: 2}) == [0, 300, 400, 500]
    assert starts(**{limit: 1}) == [0, 300, 500, 400]


def test_what_is_read_of_a_site(tmp_path: Any) -> None:
    file = tmp_path / "sacctmgr_qos.txt"
    file.write_text("Name|Priority|GrpJobsAccrue|MaxJobsAccruePU|MaxJobsAccruePA\nq|5|3|2|1\n")
    assert read_qos(file, Notes())["q"] == {
        "priority": 5,
        "GrpJobsAccrue": 3,
        "MaxJobsAccruePerUser": 2,
        "MaxJobsAccruePerAccount": 1,
    }
