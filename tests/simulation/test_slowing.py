"""A power cap that slows what runs: by hand, against a plain model, and by its laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, Simulation, System, Workload, simulate
from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.engine.engine import has
from scheduler_sim.errors import ConfigError
from tests.conftest import ROOT, examples
from tests.engine.interpreted import interpreted
from tests.oracle.plain_slowing import MILLIONTHS, Task, play

from .acting import at, trace
from .test_power_cap import models, series

POLICIES = ["fcfs", "easy", "conservative", "sjf", {"backfill": "first_fit"}]


def run(nodes: int, jobs: Workload, cap: Any, policy: Any = "easy", **keys: Any) -> Result:
    result = simulate(System.homogeneous(nodes), jobs, policy, models=models(cap, slow_running=True, **keys))
    result.check()
    return result


def told(result: Result) -> list[tuple[int, int, int, str]]:
    columns = ["start_time", "end_time", "slowed_time", "slowed"]
    return list(result.components[columns].itertuples(index=False, name=None))


@pytest.mark.interpreted
class TestByHand:
    """Nodes of 100 W idle, 200 W busy; at lower clocks 9/16, 1/4 of that above idle, 4/3, 2 of the time."""

    @pytest.mark.parametrize("policy", POLICIES)
    def test_all_go_down_a_step_at_a_time_the_youngest_first(self, policy):
        # at 50 there are 100 W for 200 + 100: rounds to 112.5 + 56.25, then to 50 + 25
        jobs = trace((0, 2, 100, 120), (5, 1, 100, 110))
        result = run(4, jobs, series((0, 700), (50, 500), (100, 700)), policy)
        assert told(result) == [(0, 125, 50, "50-100:250"), (5, 130, 50, "50-100:125")]
        assert result.components["energy_j"].tolist() == [75 * 400 + 50 * 250, 75 * 200 + 50 * 125]
        assert result.metrics["energy"]["above_cap_s"] == 0

    def test_the_youngest_alone_where_that_is_enough(self):
        # 260 W for 200 + 100: the second goes to 56.25 W; what it had done by 50 is done
        result = run(4, trace((0, 2, 100, 120), (5, 1, 100, 110)), series((0, 700), (50, 660)))
        assert told(result) == [(0, 100, 0, ""), (5, 118, 50, "50-100:156.25")]

    def test_an_end_leaves_power_to_those_that_are_slowed_before_others_start(self):
        jobs = trace((0, 2, 60, 60), (0, 1, 100, 100), (10, 1, 10, 10))
        result = run(4, jobs, series((0, 700), (20, 600)))
        first, second, third = told(result)
        assert first[2] > 0
        assert second[3].endswith(f"-{first[1]}:156.25")  # at its own clock from then on
        assert third[0] == first[1]

    def test_limits_grow_with_run_times(self):
        # it would be killed after 60 s: 30 s of its time are left at 30, which take 60 s
        result = run(1, trace((0, 1, 100, 60)), series((0, 200), (30, 130)))
        assert told(result) == [(0, 90, 60, "30-90:125")]
        assert result.components["state"].tolist() == ["TIMEOUT"]

    def test_plans_follow(self):
        # from 30 to 45 it goes at half the pace: 22.5 s are left, up to 68; the second is reserved for then
        cap = series((0, 400), (30, 230), (45, 400))
        for limit, start in ((18, 50), (19, 78)):
            jobs = trace((0, 1, 60, 60), (1, 2, 10, 10), (50, 1, 18, limit))
            assert [one[0] for one in told(run(2, jobs, cap))] == [0, 68, start]

    def test_a_process_may_lower_the_cap(self):
        given = models(400, slow_running=True)
        sim = Simulation(System.homogeneous(2), trace((0, 2, 100, 100)), models=given)
        at(sim, 20, lambda: sim.set_cap(260))
        at(sim, 60, lambda: sim.set_cap(400))
        result = sim.run()
        result.check()
        assert told(result) == [(0, 120, 40, "20-60:250")]

    def test_no_further_than_the_bound_on_slowdown(self):
        result = run(1, trace((0, 1, 100, 100)), series((0, 200), (40, 130)), slowdown=0.5)
        assert told(result) == [(0, 120, 80, "40-120:156.25")]
        assert result.metrics["energy"]["above_cap_s"] == 80

    def test_who_has_no_law_is_not_slowed_and_counted(self):
        given = models(series((0, 200), (40, 130)), slow_running=True)
        given["energy"]["jobs"] = "measured"
        jobs = trace((0, 1, 100, 100), measured_power_w=[180.0])
        result = simulate(System.homogeneous(1), jobs, models=given)
        result.check()
        assert told(result) == [(0, 100, 0, "")]
        assert result.metrics["counts"]["cannot_slow"] == 1
        assert result.metrics["energy"]["above_cap_s"] == 60

    def test_a_run_that_is_lost_was_slowed_too_and_the_next_is_not(self):
        given = models(series((0, 200), (40, 130), (80, 200)), slow_running=True)
        sim = Simulation(System.homogeneous(1), trace((0, 1, 100, 100)), models=given)
        at(sim, 60, lambda: sim.requeue(1))
        result = sim.run()
        result.check()
        assert result.runs["slowed"].astype(str).tolist() == ["40-60:125", ""]
        assert told(result) == [(80, 180, 0, "")]

    def test_seen_midway(self):
        given = models(series((0, 200), (40, 130)), slow_running=True)
        sim = Simulation(System.homogeneous(1), trace((0, 1, 100, 100)), models=given)
        early, other = sim.run(until=70), sim.branch()
        early.check()
        assert told(early) == [(0, 70, 30, "40-70:125")]
        assert told(sim.run()) == told(other.run()) == [(0, 160, 120, "40-160:125")]


def test_nodes_that_differ_are_refused_by_name():
    given = models(600, slow_running=True)
    given["energy"]["power"]["modules"][0]["node_sigma"] = 0.1
    with pytest.raises(ConfigError, match="found true where the power of nodes differs"):
        Simulation(System.homogeneous(4), trace((0, 1, 1)), models=given)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ({"preempt": {"by": "priority"}}, "beside policy.preempt"),
        ({"scheduler": f"{ROOT}/configs/schedulers/classic.py:Easy"}, "under a scheduler of your own"),
    ],
)
def test_what_cannot_be_is_refused_by_name(policy: Any, words: str):
    given = models(600, slow_running=True)
    with pytest.raises(ConfigError, match=f"energy.cap.slow_running: found true {words}"):
        Simulation(System.homogeneous(4), trace((0, 1, 1)), policy, models=given)


@st.composite
def days(draw: st.DrawFn) -> tuple[list[tuple[int, int, int, int]], list[tuple[int, int]]]:
    """Jobs (submit, nodes, run, limit) on six nodes, and W above idle; at the end enough for all."""
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, 200), st.integers(1, 4), st.integers(1, 150), st.integers(0, 60)),
            min_size=1,
            max_size=12,
        )
    )
    times = sorted(draw(st.lists(st.integers(1, 400), max_size=6, unique=True)))
    watts = [draw(st.integers(0, 6)) * 100 for _ in range(len(times) + 1)]
    caps = [*zip([0, *times], watts, strict=True), (1000, 600)]
    return sorted((s, n, r, r + more) for s, n, r, more in rows), caps


STATES = [(MILLIONTHS, 100_000), (1_333_333, 56_250), (2 * MILLIONTHS, 25_000)]
"""Factors are rounded to millionths; mW."""


@pytest.mark.interpreted
@examples(60)
@given(days())
def test_it_is_the_plain_model(drawn: Any):
    rows, caps = drawn
    tasks = [Task(submit, nodes, run_time, STATES) for submit, nodes, run_time, _ in rows]
    play(tasks, 6, [(time, watts * 1000) for time, watts in caps])
    result = run(6, trace(*rows), series(*((time, watts + 600) for time, watts in caps)), "fcfs")
    expected = [(task.start, task.end, sum(b - a for a, b, _ in task.slowed)) for task in tasks]
    assert [one[:3] for one in told(result)] == expected


@pytest.mark.interpreted
@examples(40)
@given(days(), st.sampled_from(POLICIES))
def test_the_cap_is_kept_where_states_suffice(drawn: Any, policy: Any):
    rows, caps = drawn
    enough = series(*((time, max(watts, 150) + 600) for time, watts in caps))  # 6 nodes x 25 W
    result = run(6, trace(*rows), enough, policy)
    assert result.metrics["energy"]["above_cap_s"] == 0
    assert result.components["state"].isin(["COMPLETED"]).all()
    ran = result.components["run_time"].to_numpy()
    asked = np.array([row[2] for row in rows])
    slowed = result.components["slowed_time"].to_numpy()
    assert (ran >= asked).all()
    assert (ran <= asked + slowed // 2 + 1 + result.components["slowed"].astype(str).str.count(",")).all()


SLURM = {"bf_interval": 1, "limit_check_s": 1, "KillWait": 0}


@pytest.mark.interpreted
class TestUnderSlurm:
    def test_by_hand(self):
        policy = Policy(backfill="slurm", slurm=SLURM)
        jobs = trace((0, 2, 100, 120), (5, 1, 100, 110), (6, 1, 200, 60))
        result = run(4, jobs, series((0, 800), (50, 500), (100, 800)), policy)
        # the cap leaves 100 W for 400: all go to 1 GHz; of the third's limit 16 s are left, which take 32 s
        assert [one[:3] for one in told(result)] == [(0, 125, 50), (5, 130, 50), (6, 82, 32)]
        assert result.components["state"].tolist() == ["COMPLETED", "COMPLETED", "TIMEOUT"]

    def test_beside_nodes_that_are_off(self):
        node = {
            "name": "cluster",
            "idle_w": 100,
            "typical_w": 200,
            "peak_w": 1000,
            "off_w": 10,
            "reference_khz": 2_000_000,
            "pstates_khz": [1_000_000, 1_500_000, 2_000_000],
            "boot": {"time_s": 50, "energy_j": 5000},
            "shutdown": {"time_s": 10, "energy_j": 900},
        }
        cap = {"power_w": series((0, 800), (1040, 300), (1200, 800)), "slow_running": True}
        given = {"energy": {"power": {"modules": [node]}, "cap": cap}}
        policy = Policy(backfill="slurm", slurm=SLURM | {"SuspendTime": 100})
        jobs = trace((0, 1, 1, 60), (1000, 2, 100, 120))
        result = simulate(System.homogeneous(4), jobs, policy, models=given)
        result.check()
        # it begins at 1051, two nodes are off: 300 W leave 80 W for 200, so at 1 GHz up to 1200
        assert told(result)[1] == (1051, 1226, 149, "1051-1200:250")
        assert result.metrics["energy"]["above_cap_s"] == 0


@pytest.mark.interpreted
@examples(30)
@given(days(), st.sampled_from([1, 30]), st.sampled_from(["main", "backfill"]))
def test_the_cap_is_kept_under_slurm(drawn: Any, interval: int, first: str):
    rows, caps = drawn
    enough = series(*((time, max(watts, 150) + 600) for time, watts in caps))
    keys = SLURM | {"bf_interval": interval, "looks_first": first}
    quick = run(6, trace(*rows), enough, Policy(backfill="slurm", slurm=keys))
    assert quick.metrics["energy"]["above_cap_s"] == 0
    slow = run(6, trace(*rows), enough, Policy(backfill="slurm", slurm=keys | {"accelerate": False}))
    pd.testing.assert_frame_equal(quick.components, slow.components)


@pytest.mark.interpreted
@examples(20)
@given(days(), st.sampled_from(POLICIES))
def test_a_cap_that_never_falls_slows_nobody(drawn: Any, policy: Any):
    jobs = trace(*drawn[0])
    slows = run(6, jobs, 1000, policy)
    usual = simulate(System.homogeneous(6), jobs, policy, models=models(1000))
    shared = list(usual.components.columns)
    pd.testing.assert_frame_equal(slows.components[shared], usual.components)


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
@pytest.mark.parametrize("policy", [pytest.param("easy", marks=pytest.mark.exhaustive), "slurm"])
def test_compiled_it_is_as_in_plain_python(policy: Any):
    jobs = trace(*((17 * i * i % 3000, 1 + i % 4, 40 + i % 90, 60 + 60 * (i % 4)) for i in range(80)))
    given = models(series((0, 1100), (300, 800), (900, 1000), (1500, 850), (3000, 1100)), slow_running=True)
    compiled = Simulation(System.homogeneous(6), jobs, Policy.resolve(policy), models=given)
    assert has(compiled._core, "slowing")
    one = compiled.run()
    one.check()
    assert (one.components["slowed_time"] > 0).any()
    with interpreted():
        other = simulate(System.homogeneous(6), jobs, policy, models=given)
    pd.testing.assert_frame_equal(one.components, other.components)
    pd.testing.assert_frame_equal(one.timeline, other.timeline)
