"""bf_running_job_reserve: running jobs stand in the plans of the backfill scheduler."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from scheduler_sim import Policy, System, Workload, simulate
from scheduler_sim.system.slurm_conf.site import read_slurm_conf
from tests.conftest import examples
from tests.slurm.engine_cases import Case, cases, fates, played, told
from tests.slurm.limit_cases import LimitedCase, limited_cases, limited_fates, limited_simulation
from tests.slurm.shared_cases import SharedCase, shared_cases
from tests.slurm.test_shared_properties import compare

pytestmark = pytest.mark.interpreted

IN_PLAN = {"bf_running_job_reserve": True}


@examples(60)
@given(cases())
def test_the_engine_is_the_plain_model(case: Case) -> None:
    case = case.but(**IN_PLAN)
    assert fates(played(case)) == told(case)


@examples(40)
@given(limited_cases())
def test_so_it_is_beside_limits(case: LimitedCase) -> None:
    case = case.but(**IN_PLAN)
    assert fates(limited_simulation(case)) == limited_fates(case)


@examples(40)
@given(shared_cases())
def test_so_it_is_where_jobs_share_nodes(case: SharedCase) -> None:
    """Those that have their nodes to themselves are in the plan, and no others."""
    compare(replace(case, keys=case.keys | IN_PLAN))


def starts(**keys: object) -> list[int]:
    """Two jobs of one node run on the first two of three nodes, to their limits of 2 and 3 minutes."""
    jobs = Workload.from_columns(
        nodes=[1, 1, 2, 1],
        submit_time=[0, 0, 10, 20],
        run_time=[120, 180, 60, 300],
        time_limit=[120, 180, 60, 300],
    )
    given = {"bf_interval": 1, "bf_resolution": 1, "batch_sched_delay": 0, "limit_check_s": 1} | keys
    result = simulate(System.homogeneous(3), jobs, Policy(backfill="slurm", slurm=given))
    result.check()
    return result.components["start_time"].tolist()


def test_a_job_is_tried_where_a_running_one_ends() -> None:
    """The third needs two nodes. Both running jobs are in one group of predicted ends, so it is planned at
    180 on their nodes, and the last has the idle node for five minutes. With running jobs in the plan it is
    tried at 120, on the idle node and the first; that node is then not free for so long, and the last comes
    after it.
    """
    assert starts() == [0, 0, 180, 20]
    assert starts(bf_running_job_reserve=True) == [0, 0, 120, 180]


def test_it_is_read_of_a_slurm_conf(tmp_path: Path) -> None:
    file = tmp_path / "slurm.conf"
    file.write_text(
        "NodeName=n[1-3] CPUs=8\nPartitionName=p Nodes=ALL OverSubscribe=EXCLUSIVE\n"
        "SchedulerParameters=bf_running_job_reserve,bf_interval=60\n"
    )
    assert read_slurm_conf(file).policy["bf_running_job_reserve"] is True


def test_it_changes_nothing_where_slurm_has_no_such_plan() -> None:
    for keys in ({"SelectType": "select/linear"}, {"version": "19.05"}):
        assert starts(**keys, bf_running_job_reserve=True) == starts(**keys)
