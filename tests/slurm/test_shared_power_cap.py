"""A power cap under Slurm where jobs share nodes: by hand, beside whole nodes, and by its laws."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, Simulation, System, Workload, simulate
from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.errors import ConfigError
from tests.conftest import examples
from tests.engine.interpreted import interpreted
from tests.simulation.acting import at, trace
from tests.simulation.test_power_cap import series, starts
from tests.slurm.shared_cases import (
    EQUAL_NODES,
    RIGID_ASKS,
    SharedCase,
    fates,
    played,
    possible,
    shared_cases,
    workload_of,
)
from tests.slurm.test_power_cap import QUICK, caps, jobs_of, node, node_states
from tests.slurm_oracle.shared_engine import settings_of, system_of

IDLE_W, CORE_W = 100, 25


def models(cap: Any, name: str = "cluster", **more: Any) -> dict[str, Any]:
    """A node draws 100 W idle, and 100 W more under a job: 25 W for each of four cores."""
    return {"energy": {"power": {"modules": [node(name)]}, "cap": {"power_w": cap, **more}}}


def simulation(nodes: int, jobs: Workload, cap: Any, **keys: Any) -> Simulation:
    module = {"name": "cluster", "nodes": nodes, "shared": True, "cores_per_node": 4}
    policy = Policy(backfill="slurm", slurm=QUICK | keys)
    return Simulation(System.from_dict({"modules": [module]}), jobs, policy, models=models(cap))


def run(nodes: int, jobs: Workload, cap: Any, **keys: Any) -> Result:
    result = simulation(nodes, jobs, cap, **keys).run()
    result.check()
    return result


@pytest.mark.interpreted
class TestByHand:
    def test_a_job_asks_for_the_power_of_its_cores(self):
        # power for three cores beside two idle nodes: the second job waits for 60, the third fits beside
        jobs = trace((0, 1, 60, 60), (1, 1, 10, 60), (2, 1, 20, 60), cores=[2, 2, 1])
        result = run(2, jobs, 2 * IDLE_W + 3 * CORE_W)
        assert starts(result) == [0, 60, 2]
        assert result.components["power_w"].tolist() == [100, 100, 50]

    def test_one_that_has_its_nodes_to_itself_asks_for_all_their_power(self):
        jobs = trace((0, 1, 60, 60), (1, 1, 10, 60), (2, 1, 10, 60), cores=[1, -1, 3])
        assert starts(run(3, jobs, 3 * IDLE_W + 4 * CORE_W)) == [0, 60, 70]

    def test_what_would_outlast_a_fall_waits_for_the_rise(self):
        cap = series((0, 300), (100, 200), (500, 300))
        jobs = trace((0, 1, 50, 60), (30, 1, 20, 60), (50, 1, 20, 120), cores=[2, 2, 2])
        found = run(2, jobs, cap)
        assert starts(found) == [0, 30, 500]
        assert found.metrics["energy"]["above_cap_s"] == 0

    def test_what_no_cap_would_ever_let_run_is_rejected(self):
        result = run(2, trace((0, 1, 10, 60), (1, 2, 10, 60), cores=[3, 2]), 2 * IDLE_W + 3 * CORE_W)
        assert result.components["state"].tolist() == ["COMPLETED", "REJECTED"]
        assert result.metrics["counts"]["rejected_because"] == {"power_cap": 1}

    def test_where_nodes_differ_it_is_the_power_on_the_smallest(self):
        # a core is half of a small node, and an eighth of a large one
        sets = [
            {"name": "small", "nodes": 1, "cores_per_node": 2, "weight": 5},
            {"name": "large", "nodes": 1, "cores_per_node": 8},
        ]
        module = {"name": "cluster", "nodes": 2, "shared": True, "node_sets": sets}
        jobs = trace((0, 1, 60, 60), (1, 1, 10, 60), cores=[1, 1])
        policy = Policy(backfill="slurm", slurm=QUICK)
        given = [simulate(System.from_dict({"modules": [module]}), jobs, policy, models=models(cap))
                 for cap in (2 * IDLE_W + 50, 2 * IDLE_W + 100)]  # fmt: skip
        assert [starts(one) for one in given] == [[0, 60], [0, 1]]
        assert given[1].components["power_w"].tolist() == [25, 25]

    def test_what_a_process_submits_asks_for_power_too(self):
        sim = simulation(2, trace((0, 1, 50, 60), cores=[3]), 2 * IDLE_W + 4 * CORE_W)
        at(sim, 5, lambda: sim.submit(nodes=1, run_time=10, time_limit=60, cores=2))
        at(sim, 6, lambda: sim.submit(nodes=1, run_time=10, time_limit=60, cores=1))
        result = sim.run()
        result.check()
        assert starts(result)[0] == 0
        assert starts(result)[1] >= 50
        assert starts(result)[2] < 20

    def test_a_cap_that_a_process_lowers_lets_what_runs_go_on(self):
        sim = simulation(2, trace((0, 1, 50, 60), (10, 1, 10, 60), cores=[3, 1]), 300)
        at(sim, 5, lambda: sim.set_cap(225))
        result = sim.run()
        assert starts(result) == [0, 50]
        assert result.metrics["energy"]["above_cap_s"] == 45


@pytest.mark.parametrize(
    ("cap", "keys", "words"),
    [
        ({"slow_running": True}, {}, r"slow_running: found true where jobs share nodes; allowed here: false"),
        ({}, {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}, "beside PreemptMode"),
    ],
)
def test_what_cannot_be_is_refused_by_name(cap: Any, keys: Any, words: str) -> None:
    module = {"name": "cluster", "nodes": 2, "shared": True, "cores_per_node": 4}
    system, policy = System.from_dict({"modules": [module]}), Policy(backfill="slurm", slurm=keys)
    with pytest.raises(ConfigError, match=words):
        Simulation(system, trace((0, 1, 1)), policy, models=models(400, **cap))


@pytest.mark.interpreted
@examples(30)
@given(jobs_of, caps(), st.sampled_from([1, 7, 30]))
def test_jobs_that_have_their_nodes_to_themselves_start_as_on_whole_nodes(
    jobs: Workload, cap: Any, interval: int
) -> None:
    keys = {"bf_interval": interval, "KillWait": 0, "limit_check_s": 1}
    policy = Policy(backfill="slurm", slurm=QUICK | keys)
    whole = simulate(System.homogeneous(10), jobs, policy, models=models(cap))
    assert starts(run(10, jobs, cap, **keys)) == starts(whole)


# -- random sites


def capped(case: SharedCase, cap: Any, **more: Any) -> Result:
    """What the engine makes of a case on nodes that draw the same, whatever they have."""
    given = {"starts_before_s": case.begins_s} | case.keys | settings_of(case.settings) | more
    policy = Policy(name="slurm", backfill="slurm", slurm=given)
    system = system_of(case.nodes, case.partitions)
    result = simulate(system, workload_of(case.jobs), policy, models=models(cap, "m"))
    result.check()
    return result


@pytest.mark.interpreted
@examples(30)
@given(shared_cases())
def test_a_cap_that_never_binds_changes_nothing(case: SharedCase) -> None:
    case = possible(case)
    assume(case.jobs)
    assert fates(capped(case, 10**6)) == fates(played(case))


@pytest.mark.interpreted
@examples(60)
@given(
    shared_cases() | shared_cases(most=25, of=EQUAL_NODES, ask=RIGID_ASKS),
    st.lists(st.integers(20, 100), min_size=1, max_size=4),
)
def test_nothing_is_above_the_cap_and_what_is_there_for_speed_changes_nothing(
    case: SharedCase, values: list[int]
) -> None:
    """A cap that changes every 100 s, and is back at its highest in the end."""
    case = possible(case)
    assume(case.jobs)
    jobs = [replace(job, runtime=min(job.runtime, 60 * job.limit)) for job in case.jobs]
    case = replace(case, jobs=jobs)
    idle = IDLE_W * len(case.nodes)
    cap = series(*((100 * i, idle + 4 * value) for i, value in enumerate([*values, max(values)])))
    keys = {"KillWait": 0, "limit_check_s": 1, "OverTimeLimit": 0}
    quick = capped(case, cap, **keys)
    assert quick.metrics["energy"].get("above_cap_s", 0) == 0  # nothing is told where nothing ran
    assert set(quick.components["state"]) <= {"COMPLETED", "TIMEOUT", "REJECTED"}
    slow = capped(case, cap, **keys, accelerate=False)
    pd.testing.assert_frame_equal(quick.components, slow.components)


# -- beside nodes that are switched off


def both(nodes: int, jobs: Workload, cap: Any, **keys: Any) -> Result:
    """Shared nodes of four cores: 100 W idle, 10 W off, 160 W booting, 110 W shutting down, 25 W a core."""
    module = {"name": "cluster", "nodes": nodes, "shared": True, "cores_per_node": 4}
    given = {"energy": {"power": {"modules": [node_states()]}, "cap": {"power_w": cap}}}
    policy = Policy(backfill="slurm", slurm={**QUICK, "SuspendTime": 100, "SuspendRate": 0} | keys)
    result = simulate(System.from_dict({"modules": [module]}), jobs, policy, models=given)
    result.check()
    return result


@pytest.mark.interpreted
class TestBothTogether:
    def test_nodes_that_are_off_leave_their_power_to_jobs(self):
        # power for one node beside ten idle ones; by 2000 eight of them are off
        keys = {"SuspendExcNodes": "cluster[0-1]"}
        jobs = trace((0, 1, 1, 60), (2000, 2, 60, 60), cores=[4, 4])
        assert starts(both(10, jobs, 1250, **keys)) == [0, 2000]

    def test_a_node_boots_once_for_two_jobs(self):
        # at 1000 both are off, 20 W. For the first: 90 W to be idle, 25 for its core, 35 more while it boots.
        # The second waits for the same boot, for which what it asks for counts, too
        jobs = trace((0, 1, 1, 60), (1000, 1, 60, 120), (1010, 1, 60, 120), cores=[1, 1, 1])
        cap = series((0, 300), (900, 170), (5000, 300))
        result = both(2, jobs, cap)
        assert starts(result)[1:] == [1051, 1051]
        assert result.components["node_list"].astype(str).tolist()[1:] == ["0", "0"]
        assert result.metrics["energy"]["above_cap_s"] == 0

    def test_a_job_waits_until_a_node_may_boot(self):
        # 169 W are too few for that until 5000
        jobs = trace((0, 1, 1, 60), (1000, 1, 60, 120), cores=[1, 1])
        assert starts(both(2, jobs, series((0, 300), (900, 169), (5000, 300))))[1] >= 5000


@pytest.mark.interpreted
@examples(40)
@given(
    jobs_of, caps(), st.sampled_from([0, 20, 100]), st.sampled_from([0, 2, 60]), st.sampled_from([1, 30]),
    st.lists(st.integers(1, 4), min_size=12, max_size=12),
)  # fmt: skip
def test_nothing_is_above_the_cap_where_nodes_are_switched_off(
    jobs: Workload, cap: Any, timeout: int, rate: int, interval: int, cores: list[int]
) -> None:
    """A cap that rises: what boots may begin too late to end before a fall, as plans count from the boot."""
    cap = cap | {"value": sorted(cap["value"])}
    table = {name: jobs.table[name] for name in jobs.table} | {"cores": cores[: len(jobs)]}
    jobs = Workload.from_columns(**table)
    keys = {"SuspendTime": timeout, "ResumeRate": rate, "bf_interval": interval}
    keys |= {"KillWait": 0, "limit_check_s": 1}
    quick = both(10, jobs, cap, **keys)
    assert quick.metrics["energy"]["above_cap_s"] == 0
    assert quick.components["state"].isin(["COMPLETED", "TIMEOUT"]).all()
    slow = both(10, jobs, cap, **keys, accelerate=False)
    pd.testing.assert_frame_equal(quick.components, slow.components)


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
@pytest.mark.parametrize("simulated", [run, both], ids=["cap", "both"])
def test_compiled_it_is_as_in_plain_python(simulated: Any) -> None:
    draw = np.random.default_rng(5)
    jobs = trace(
        *((23 * i * i % 5000, 1 + i % 3, 40 + i % 90, 60 + 60 * (i % 4)) for i in range(80)),
        cores=draw.integers(1, 5, 80).tolist(),
    )
    cap = series((0, 1100), (700, 900), (2000, 1300), (4000, 1100))
    one = simulated(8, jobs, cap)
    with interpreted():
        other = simulated(8, jobs, cap)
    pd.testing.assert_frame_equal(one.components, other.components)
    pd.testing.assert_frame_equal(one.timeline, other.timeline)
