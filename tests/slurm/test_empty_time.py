"""Time in which nothing happens costs nothing, and is passed over without a trace in the schedule."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Simulation, System, Workload
from tests.conftest import examples

LONG = 10**11
BY_AGE = {"PriorityType": "priority/multifactor", "PriorityWeightAge": 1000}
BY_SHARE = BY_AGE | {"PriorityWeightFairshare": 1000}


def simulation(keys: dict[str, Any], **columns: Any) -> Simulation:
    """Four nodes; all jobs are of one user but for what is given."""
    workload = Workload.from_columns(**{"user": ["ann"] * len(columns["nodes"])} | columns)
    return Simulation(System.homogeneous(4), workload, Policy(name="slurm", backfill="slurm", slurm=keys))


ONE_RUNS = {"nodes": [4], "submit_time": [0], "run_time": [LONG], "time_limit": [LONG]}
ONE_WAITS = {"nodes": [4, 4], "submit_time": [0, 5], "run_time": [LONG, 10], "time_limit": [LONG, 100]}
ONE_DEPENDS = ONE_WAITS | {"dependency_kinds": ["", "AFTEROK"], "dependency_ids": ["", "1"]}
ONE_COMES = {"nodes": [4, 4], "submit_time": [0, LONG], "run_time": [10, 10], "time_limit": [100, 100]}


@pytest.mark.parametrize(
    "columns", [ONE_RUNS, ONE_WAITS, pytest.param(ONE_DEPENDS, marks=pytest.mark.long), ONE_COMES]
)
@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"sched_interval": -1},
        {"bf_interval": 37, "sched_interval": 61},
        {"looks_first": "backfill"},
        {"clock": "simulator"},
        {"SchedulerType": "sched/builtin"},
        BY_AGE,
        BY_AGE | {"PriorityCalcPeriod": 77, "PriorityMaxAge": "UNLIMITED"},
        BY_SHARE | {"PriorityDecayHalfLife": 86_400},
        BY_SHARE | {"PriorityDecayHalfLife": 86_400, "PriorityFlags": "NO_FAIR_TREE"},
    ],
)
def test_three_thousand_years_take_few_steps(keys: dict[str, Any], columns: dict[str, Any]) -> None:
    """A computation every 300 s would be 333 million steps. Usage stands still when it is all of one kind."""
    simulated = simulation(keys, **columns)
    states = simulated.run().components["state"]
    assert set(states) <= {"COMPLETED", "TIMEOUT"}
    assert simulated._core.clock.steps < 500_000


def test_without_decay_usage_is_added_up_at_once_while_nobody_waits() -> None:
    simulated = simulation(BY_SHARE | {"PriorityDecayHalfLife": 0}, **ONE_RUNS)
    simulated.run()
    assert simulated._core.clock.steps < 10
    assert simulated._core.slurm.accounts.assoc["usage"].max() == 4.0 * LONG


job = st.tuples(
    st.sampled_from([0, 3, 60, 61, 400, 3_000, 20_000]),  # s after the one before
    st.integers(1, 4),
    st.sampled_from([1, 30, 100, 999, 9_000]),
    st.sampled_from([1, 2, 20]),  # how much longer its limit is
    st.sampled_from(["ann", "ben", "cid"]),
    st.booleans(),  # waits for the one before
)


@pytest.mark.long
@examples(60)
@given(
    jobs=st.lists(job, min_size=1, max_size=9),
    keys=st.fixed_dictionaries(
        {
            "bf_interval": st.sampled_from([1, 7, 30, 37, 300]),
            "sched_interval": st.sampled_from([-1, 1, 17, 60]),
            "PriorityCalcPeriod": st.sampled_from([1, 7, 60, 300]),
            "PriorityDecayHalfLife": st.sampled_from([0, 50, 5_000]),
            "PriorityWeightAge": st.sampled_from([0, 10, 5_000]),
            "PriorityMaxAge": st.sampled_from([100, 10_000, "UNLIMITED"]),
            "PriorityWeightFairshare": st.sampled_from([0, 0, 1_000]),
            "PriorityFlags": st.sampled_from(["", "NO_FAIR_TREE", "INCR_ONLY"]),
            "PriorityUsageResetPeriod": st.sampled_from(["NONE", "DAILY"]),
            "AccountingStorageEnforce": st.sampled_from(["limits", "none"]),
            "bf_min_prio_reserve": st.sampled_from([0, 0, 500]),
            "looks_first": st.sampled_from(["main", "backfill"]),
            "latency": st.sampled_from(["none", "measured"]),
            "PriorityType": st.just("priority/multifactor"),
        }
    ),
)
def test_what_is_passed_over_changes_no_schedule(jobs: list[tuple], keys: dict[str, Any]) -> None:
    apart, nodes, runs, longer, users, after = zip(*jobs, strict=True)
    columns = {
        "submit_time": [sum(apart[: i + 1]) for i in range(len(jobs))],
        "nodes": list(nodes),
        "run_time": list(runs),
        "time_limit": [run * factor for run, factor in zip(runs, longer, strict=True)],
        "user": list(users),
        "dependency_kinds": ["AFTERANY" if waits and i else "" for i, waits in enumerate(after)],
        "dependency_ids": [str(i) if waits and i else "" for i, waits in enumerate(after)],
    }
    fates = ["state", "start_time", "end_time"]
    fast, plain = (
        simulation(keys | {"accelerate": accelerate}, **columns).run().components[fates]
        for accelerate in (True, False)
    )
    assert fast.equals(plain)
