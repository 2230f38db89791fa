"""Limits of QOS and associations on random sites: against the plain model, and what must always hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, Workload, simulate
from scheduler_sim.simulation.rules.slurm.cons_tres import ConsTres
from tests.conftest import examples
from tests.oracle.plain_limit_records import Limits
from tests.slurm.engine_cases import fates
from tests.slurm.limit_cases import (
    KEYS,
    SHARED,
    LimitedCase,
    limited_cases,
    limited_fates,
    limited_simulation,
)

pytestmark = pytest.mark.interpreted

MANY = 10**6


@examples(60)
@given(limited_cases())
def test_the_engine_is_the_plain_model(case: LimitedCase) -> None:
    assert fates(limited_simulation(case)) == limited_fates(case)


@examples(40)
@given(limited_cases(stop=True))
def test_so_it_is_where_limits_hold_up_others(case: LimitedCase) -> None:
    assert fates(limited_simulation(case)) == limited_fates(case)


@examples(30)
@given(limited_cases())
def test_what_is_done_for_speed_changes_nothing(case: LimitedCase) -> None:
    assert_same(limited_simulation(case), limited_simulation(case, accelerate=False))


@examples(30)
@given(limited_cases())
def test_limits_that_bind_nobody_change_nothing(case: LimitedCase) -> None:
    """Under the same AccountingStorageEnforce, with as many kinds of limits as there are."""
    free = case.without_limits()
    loose = free.without_limits()
    loose.database.qos["q"] = Limits(**LOOSE)
    for one in loose.database.associations.values():
        one.limits = Limits(**LOOSE, max_jobs=MANY, max_submit=MANY)
    assert_same(limited_simulation(free), limited_simulation(loose))


LOOSE: dict[str, Any] = {
    **dict.fromkeys(("grp_jobs", "grp_submit", "grp_wall", "max_wall"), MANY),
    **{name: {"cpu": MANY, "node": MANY} for name in ("grp_tres", "grp_tres_mins", "grp_tres_run_mins")},
    **{name: {"cpu": MANY, "node": MANY} for name in ("max_tres", "max_tres_mins")},
}


def assert_same(one: Result, other: Result) -> None:
    for column in ("state", "start_time", "end_time", "wait_priority", "wait_resources"):
        assert one.components[column].tolist() == other.components[column].tolist(), column


@examples(40)
@given(limited_cases())
def test_no_limit_of_running_jobs_is_ever_exceeded(case: LimitedCase) -> None:
    """Of all jobs at once, which no QOS overrules here: counted from the result alone."""
    bound = case.without_limits()
    bound.database.associations["root"].limits = Limits(grp_jobs=2, grp_tres={"node": 4})
    table = limited_simulation(bound).components
    ran = table[table["start_time"] >= 0]
    for time in np.unique(ran["start_time"]):
        running = ran[(ran["start_time"] <= time) & (ran["end_time"] > time)]
        assert len(running) <= 2
        assert running["nodes"].sum() <= 4


@st.composite
def shared_runs(draw: st.DrawFn) -> tuple[Workload, dict[str, Any]]:
    """Jobs that share two nodes with memory and GPUs, and limits of what they have there."""

    def some(of: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(of, min_size=8, max_size=8))

    jobs = Workload.from_columns(
        nodes=some(st.integers(1, 2)),
        submit_time=sorted(some(st.integers(0, 300))),
        run_time=some(st.integers(1, 200)),
        time_limit=some(st.sampled_from([60, 120, 200])),
        tasks=some(st.integers(2, 6)),
        memory_kb=some(st.integers(1, 4).map(lambda gb: gb << 20)),
        gpus=some(st.integers(0, 1)),
        user=some(st.sampled_from("uv")),
        account=["a"] * 8,
        qos=some(st.sampled_from("qr")),
    )
    amounts = st.dictionaries(
        st.sampled_from(["cpu", "mem", "node", "gres/gpu"]), st.integers(1, 12), min_size=1, max_size=2
    ).map(lambda most: {name: 1024 * each if name == "mem" else each for name, each in most.items()})
    tres = [name for name in KEYS.values() if "TRES" in name] + ["MaxTRESPerNode"]
    numbers = ["GrpJobs", "GrpSubmitJobs", "MaxSubmitJobsPerUser", "GrpWall", "MaxJobsPerUser"]
    chosen = draw(st.lists(st.sampled_from(tres + numbers), max_size=4, unique=True))
    limits = {name: draw(amounts if name in tres else st.integers(1, 4)) for name in chosen}
    keys = {
        "qos": {"q": limits, "r": {"GrpJobs": 3}},
        "accounts": {"a": {"limits": {"GrpTRES": {"cpu": 14}}, "users": {"u": {}, "v": {}}}},
        "AccountingStorageEnforce": draw(st.sampled_from(["limits", "safe"])),
        "PriorityType": draw(st.sampled_from(["priority/basic", "priority/multifactor"])),
        "PriorityDecayHalfLife": 0,
        "bf_interval": 10,
    }
    return jobs, keys


@examples(30)
@given(shared_runs())
def test_no_limit_is_exceeded_where_jobs_share_nodes(run: tuple[Workload, dict[str, Any]]) -> None:
    jobs, keys = run
    simulate(SHARED, jobs, Policy(backfill="slurm", slurm=keys)).check()


@examples(60)
@given(shared_runs(), st.sampled_from(["cores", "tasks_per_node", "tasks"]), st.integers(1, 12))
def test_limits_that_are_tested_before_nodes_are_chosen_are_the_same(
    run: tuple[Workload, dict[str, Any]], by: str, most: int
) -> None:
    """Jobs of equal shares of nodes, or not; what each is last seen to wait for is the same, too."""
    jobs, keys = run
    columns = {str(name): jobs.table[name] for name in jobs.table}
    columns[by] = columns.pop("tasks").tolist()
    keys["qos"]["q"] |= {"MaxTRESPerUser": {"cpu": most}}
    jobs = Workload.from_columns(**columns)
    policy = Policy(backfill="slurm", slurm=keys)
    before = simulate(SHARED, jobs, policy)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConsTres, "_as_asked", lambda _, core, needs: np.zeros(len(needs), dtype=bool))
        after = simulate(SHARED, jobs, policy)
    pd.testing.assert_frame_equal(before.components, after.components)
