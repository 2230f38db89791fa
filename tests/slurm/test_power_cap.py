"""A power cap under Slurm: by hand, beside as many nodes as there is power for, and by its laws."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, Simulation, System, Workload, simulate
from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.errors import ConfigError
from tests.conftest import examples
from tests.engine.interpreted import interpreted
from tests.simulation.acting import at, steps, trace
from tests.simulation.test_power_cap import models, series, starts

QUICK = {"bf_interval": 1, "bf_resolution": 1}


def run(nodes: int, jobs: Workload, cap: Any, **keys: Any) -> Result:
    policy = Policy(backfill="slurm", slurm=QUICK | keys)
    result = simulate(System.homogeneous(nodes), jobs, policy, models=models(cap))
    result.check()
    return result


@pytest.mark.interpreted
class TestByHand:
    """Four idle nodes draw 400 W, and each that is busy 100 W more."""

    def test_one_that_has_nodes_and_no_power_is_planned_and_others_pass_it_if_they_end_by_then(self):
        # power for two: the second waits for 60, the third ends by then, the fourth would not
        jobs = trace((0, 1, 60, 60), (1, 2, 10, 60), (2, 1, 20, 60), (3, 1, 20, 120), (70, 1, 1, 60))
        assert starts(run(4, jobs, 600))[:2] == [0, 60]
        found = starts(run(4, trace((0, 1, 100, 120), (1, 2, 10, 60), (2, 1, 20, 60), (3, 1, 20, 180)), 600))
        assert found[:3] == [0, 100, 2]
        assert found[3] >= 100

    def test_what_would_outlast_a_fall_waits_for_the_rise(self):
        cap = series((0, 600), (100, 400), (500, 600))
        found = run(4, trace((0, 1, 50, 60), (30, 1, 20, 60), (50, 1, 20, 120)), cap)
        assert starts(found) == [0, 30, 500]
        assert found.metrics["energy"]["above_cap_s"] == 0

    def test_partitions_share_the_power(self):
        system = System.from_dict(
            {
                "modules": [{"name": "A", "nodes": 2}, {"name": "B", "nodes": 2}],
            }
        )
        given = {"energy": {"power": {"modules": [node("A"), node("B")]}, "cap": {"power_w": 500}}}
        jobs = trace((0, 1, 30, 60), (1, 1, 10, 60), partition=["A", "B"])
        result = simulate(system, jobs, Policy(backfill="slurm", slurm=QUICK), models=given)
        assert starts(result) == [0, 30]

    def test_a_cap_that_a_process_lowers_lets_what_runs_go_on(self):
        policy = Policy(backfill="slurm", slurm=QUICK)
        sim = Simulation(
            System.homogeneous(4), trace((0, 2, 50, 60), (10, 1, 10, 60)), policy, models=models(700)
        )
        at(sim, 5, lambda: sim.set_cap(500))
        result = sim.run()
        assert starts(result) == [0, 50]
        assert result.metrics["energy"]["above_cap_s"] == 45

    @pytest.mark.parametrize("scheme", ["slurm", "easy", "conservative"])
    def test_one_that_is_lowered_at_an_end_leaves_what_has_started_there(self, scheme: str):
        rules = {"slurm": QUICK} if scheme == "slurm" else {}
        sim = Simulation(
            System.homogeneous(4),
            trace((0, 2, 50, 60), (1, 4, 10, 60)),
            Policy(backfill=scheme, **rules),
            models=models(900),
        )

        def lowers():
            yield sim.ended(1)
            sim.set_cap(500)

        sim.process(lowers())
        result = sim.run()
        assert starts(result) == [0, 50]
        result.check()


def node(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "idle_w": 100,
        "typical_w": 200,
        "peak_w": 1000,
        "reference_khz": 1,
        "pstates_khz": [1],
    }


@pytest.mark.parametrize(
    ("keys", "cap", "words"),
    [
        ({}, {"pstates": 2}, r"energy.cap.pstates: found 2 under policy slurm.*allowed here: 1"),
        ({"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}, {}, "beside PreemptMode"),
        ({"fixed_nodes": False}, {}, "beside fixed_nodes: false"),
    ],
)
def test_what_cannot_be_is_refused_by_name(keys: Any, cap: Any, words: str):
    policy = Policy(backfill="slurm", slurm=keys)
    with pytest.raises(ConfigError, match=words):
        Simulation(System.homogeneous(4), trace((0, 1, 1)), policy, models=models(600, **cap))


jobs_of = st.lists(
    st.tuples(st.integers(0, 400), st.integers(1, 4), st.integers(1, 200), st.integers(1, 4)),
    min_size=2,
    max_size=12,
).map(lambda rows: trace(*((s, n, min(r, 60 * m), 60 * m) for s, n, r, m in sorted(rows))))


@pytest.mark.interpreted
@examples(16)
@given(jobs_of, st.integers(4, 6))
def test_power_for_so_many_nodes_is_so_many_nodes(jobs: Workload, many: int):
    """Where nothing is planned ahead; of more nodes than there is power for any will do."""
    keys = {"SchedulerType": "sched/builtin", "sched_interval": 7}
    capped = run(10, jobs, 1000 + 100 * many, **keys)
    few = simulate(System.homogeneous(many), jobs, Policy(backfill="slurm", slurm=QUICK | keys))
    assert starts(capped) == starts(few)


@st.composite
def caps(draw: st.DrawFn) -> Any:
    """At least enough for the largest job at the end, so that all can run."""
    times = sorted(draw(st.lists(st.integers(1, 900), max_size=4, unique=True)))
    values = [draw(st.integers(10, 18)) * 100 for _ in times]
    return series((0, draw(st.integers(10, 18)) * 100), *zip(times, values, strict=True), (1000, 1500))


@pytest.mark.interpreted
@examples(20)
@given(jobs_of, caps(), st.sampled_from([1, 7, 30]), st.sampled_from(["main", "backfill"]))
def test_nothing_is_above_the_cap_and_what_is_there_for_speed_changes_nothing(
    jobs: Workload, cap: Any, interval: int, first: str
):
    keys = {"bf_interval": interval, "looks_first": first, "KillWait": 0, "limit_check_s": 1}
    quick = run(10, jobs, cap, **keys)
    assert quick.metrics["energy"]["above_cap_s"] == 0
    assert quick.components["state"].isin(["COMPLETED"]).all()
    slow = run(10, jobs, cap, **keys, accelerate=False)
    pd.testing.assert_frame_equal(quick.components, slow.components)


@pytest.mark.interpreted
@examples(20)
@given(jobs_of)
def test_a_cap_that_never_binds_changes_nothing(jobs: Workload):
    free = simulate(System.homogeneous(10), jobs, Policy(backfill="slurm", slurm=QUICK))
    assert starts(run(10, jobs, 10**6)) == starts(free)


@pytest.mark.interpreted
class TestBothTogether:
    """Nodes of 100 W idle, 10 W off, 160 W booting, 110 W shutting down; jobs draw 100 W more."""

    def test_nodes_that_are_off_leave_their_power_to_jobs(self):
        # power for one node beside ten idle ones; by 2000 eight of them are off
        keys = {"SuspendExcNodes": "cluster[0-1]"}
        result = both(10, trace((0, 1, 1, 60), (2000, 2, 60, 60)), 1250, **keys)
        assert starts(result) == [0, 2000]

    def test_no_node_shuts_down_into_a_fall_of_the_cap(self):
        # it would draw 110 W up to 112; at 105 the cap falls to what two idle nodes draw, up to 400
        jobs, keys = trace((0, 1, 1, 60), (600, 1, 1, 60)), {"SuspendExcNodes": "cluster[0]"}
        stays, falls = (
            both(2, jobs, series((0, 330), (105, watts), (400, 310)), **keys) for watts in (300, 200)
        )
        assert steps(stays, "nodes_stopping")[1] == (102, 1)
        assert 400 <= steps(falls, "nodes_stopping")[1][0] <= 410
        assert falls.metrics["energy"]["above_cap_s"] == 0

    def test_a_job_waits_until_its_nodes_may_boot(self):
        # at 1000 all are off, 40 W. Two that boot draw 340 W in all, later 420 W; a third is too many
        jobs = trace((0, 1, 1, 60), (1000, 2, 60, 120), (1001, 1, 60, 60))
        result = both(4, jobs, series((0, 600), (900, 450), (3000, 600)))
        assert starts(result)[1] == 1051
        assert starts(result)[2] > 1110


def node_states() -> dict[str, Any]:
    return {
        **node("cluster"),
        "off_w": 10,
        "boot": {"time_s": 50, "energy_j": 8000},
        "shutdown": {"time_s": 10, "energy_j": 1100},
    }


def both(nodes: int, jobs: Workload, cap: Any, **keys: Any) -> Result:
    given = {"energy": {"power": {"modules": [node_states()]}, "cap": {"power_w": cap}}}
    policy = Policy(backfill="slurm", slurm={**QUICK, "SuspendTime": 100, "SuspendRate": 0} | keys)
    result = simulate(System.homogeneous(nodes), jobs, policy, models=given)
    result.check()
    return result


@pytest.mark.interpreted
@examples(20)
@given(jobs_of, caps(), st.sampled_from([0, 20, 100]), st.sampled_from([0, 2, 60]), st.sampled_from([1, 30]))
def test_nothing_is_above_the_cap_where_nodes_are_switched_off(
    jobs: Workload, cap: Any, timeout: int, rate: int, interval: int
):
    keys = {"SuspendTime": timeout, "ResumeRate": rate, "bf_interval": interval}
    keys |= {"KillWait": 0, "limit_check_s": 1}
    quick = both(10, jobs, cap, **keys)
    assert quick.metrics["energy"]["above_cap_s"] == 0
    assert quick.components["state"].isin(["COMPLETED"]).all()
    slow = both(10, jobs, cap, **keys, accelerate=False)
    pd.testing.assert_frame_equal(quick.components, slow.components)


@pytest.mark.interpreted
@examples(16)
@given(jobs_of, caps(), st.sampled_from(["fcfs", "easy", "conservative", "first_fit"]))
def test_nor_under_other_policies(jobs: Workload, cap: Any, policy: str):
    idle_off = {"timeout_s": 20}
    cap = cap | {"value": [watts + 600 for watts in cap["value"]]}  # each counts as if it booted
    given = {"power": {"modules": [node_states()]}, "cap": {"power_w": cap}, "idle_off": idle_off}
    named = {"backfill": "first_fit"} if policy == "first_fit" else policy
    result = simulate(System.homogeneous(10), jobs, named, models={"energy": given})
    result.check()
    assert result.metrics["energy"]["above_cap_s"] == 0
    assert (result.components["start_time"] >= 0).all()


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
def test_compiled_it_is_as_in_plain_python():
    """Beside nodes that are switched off."""
    jobs = trace(*((23 * i * i % 5000, 1 + i % 4, 40 + i % 90, 60 + 60 * (i % 4)) for i in range(80)))
    cap = series((0, 1400), (700, 1200), (2000, 1600), (4000, 1400))
    one = both(10, jobs, cap)
    with interpreted():
        other = both(10, jobs, cap)
    pd.testing.assert_frame_equal(one.components, other.components)
    pd.testing.assert_frame_equal(one.timeline, other.timeline)
