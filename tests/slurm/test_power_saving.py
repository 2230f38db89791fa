"""Idle nodes that Slurm powers down: by hand, against a plain model that follows every node, by its laws."""

from __future__ import annotations

from copy import deepcopy
from itertools import chain
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, Simulation, System, Workload, simulate
from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.engine.engine import has
from scheduler_sim.errors import ConfigError
from tests.conftest import examples
from tests.engine.interpreted import interpreted
from tests.oracle.plain_power_saving import Power, PowerSavingSlurm
from tests.oracle.plain_slurm_records import Job
from tests.simulation.acting import at, fates, steps, trace
from tests.slurm import engine_cases
from tests.slurm.engine_cases import UNTIL_S, Case, Queue, cases, plain, system_of, workload_of
from tests.slurm.powered_cases import BOOT, STOP, keys_of, models, powers


def simulation(
    nodes: int,
    jobs: Workload,
    given: Any = None,
    system: Any = None,
    policy: dict[str, Any] | None = None,
    **keys: Any,
) -> Simulation:
    made_of = Policy(backfill="slurm", slurm={"SuspendTime": 100} | keys, **policy or {})
    made = System.homogeneous(nodes) if system is None else System.from_dict(system)
    return Simulation(made, jobs, made_of, models=models() if given is None else given)


def run(nodes: int, jobs: Workload, given: Any = None, system: Any = None, **keys: Any) -> Result:
    result = simulation(nodes, jobs, given, system, **keys).run()
    result.check()
    return result


@pytest.mark.interpreted
class TestByHand:
    def test_a_job_on_nodes_that_are_off_begins_when_they_are_up_and_its_limit_counts_from_there(self):
        # the second job has its nodes at 500; the thread sees that a second later, and boots them for 50 s
        result = run(3, trace((0, 1, 10, 60), (500, 2, 100, 60)))
        assert fates(result) == {1: (0, 10, "COMPLETED"), 2: (551, 630, "TIMEOUT")}
        assert result.components["wait_resources"].tolist() == [0, 51]
        assert steps(result, "nodes_booting") == [(0, 0), (501, 2), (551, 0)]
        assert steps(result, "nodes_off")[:4] == [(0, 0), (108, 2), (118, 3), (501, 1)]
        assert result.metrics["energy"]["transition_j"] == 2 * 20 * BOOT + 3 * 5 * STOP

    def test_no_job_has_a_node_that_powers_down(self):
        # told to power down at 101, it can be had from 132 on, the first look behind 131
        result = run(1, trace((0, 1, 1, 60), (110, 1, 10, 60)))
        start = result.components["start_time"][1]
        assert steps(result, "nodes_stopping")[:3] == [(0, 0), (102, 1), (109, 0)]
        assert start >= 102 + 30 + 1 + BOOT

    def test_those_that_are_up_are_taken_first_whatever_they_weigh(self):
        sets = [{"name": "heavy", "nodes": 2, "weight": 9}, {"name": "light", "nodes": 2}]
        system = {"modules": [{"name": "cluster", "nodes": 4, "node_sets": sets}]}
        keys = {"SuspendExcNodes": "cluster[0]"}
        result = run(4, trace((0, 1, 1, 60), (1000, 1, 10, 60), (1000, 2, 10, 60)), system=system, **keys)
        # the first of the two has the heavy node that stays on; the other boots two
        assert result.components["start_time"].tolist()[1:] == [1000, 1000 + 1 + BOOT]

    def test_a_job_waits_for_all_its_nodes_and_those_that_are_up_are_held(self):
        result = run(3, trace((0, 1, 1, 60), (1000, 3, 10, 60)), SuspendExcNodes="cluster:1")
        assert result.components["start_time"][1] == 1051
        assert steps(result, "nodes_reserved_idle") == [(0, 0), (1000, 1), (1051, 0)]

    def test_so_many_are_powered_down_and_booted_in_a_minute(self):
        result = run(6, trace((0, 1, 1, 60), (1000, 6, 10, 60)), SuspendRate=2, ResumeRate=3)
        stopping = [value for _, value in steps(result, "nodes_stopping")]
        assert max(stopping) == 2
        booting = steps(result, "nodes_booting")
        assert booting[1] == (1001, 3)
        # of three that were booted one counts less after 10 s, by 10/60 of them: 3 -> 2.5 -> 2.08
        assert booting[2] == (1021, 4)

    def test_nodes_of_partitions_and_of_some_number_stay_on(self):
        system = {
            "modules": [
                {
                    "name": "cluster",
                    "nodes": 6,
                    "node_sets": [{"name": "a", "nodes": 2}, {"name": "b", "nodes": 4}],
                }
            ],
            "partitions": [
                {"name": "p", "module": "cluster", "node_sets": ["a"]},
                {"name": "q", "module": "cluster"},
            ],
        }
        keys = {"SuspendExcParts": ["P"], "SuspendExcNodes": ["cluster[3-5]:2"]}
        result = run(6, trace((0, 1, 1, 60), (900, 1, 1, 60), partition=["p", "p"]), system=system, **keys)
        assert steps(result, "nodes_off")[-1][1] == 2

    def test_cancelled_while_its_nodes_boot_it_never_ran(self):
        sim = simulation(2, trace((0, 1, 1, 60), (500, 2, 100, 60), (505, 1, 20, 60)))
        at(sim, 510, lambda: sim.cancel(2))
        result = sim.run()
        assert fates(result)[2] == (510, 510, "CANCELLED")
        assert steps(result, "nodes_booting")[:3] == [(0, 0), (501, 2), (551, 0)]
        assert result.components["start_time"][2] >= 551

    def test_a_requeued_one_has_lost_nothing(self):
        sim = simulation(2, trace((0, 1, 1, 60), (500, 2, 100, 300)))
        at(sim, 510, lambda: sim.requeue(2))
        result = sim.run()
        assert not len(result.runs)
        assert fates(result)[2][2] == "COMPLETED"

    def test_another_limit_does_not_end_it_before_it_has_begun(self):
        sim = simulation(2, trace((0, 1, 1, 60), (500, 2, 10, 60)))
        at(sim, 505, lambda: sim.update(2, time_limit=120))
        assert fates(sim.run())[2] == (551, 561, "COMPLETED")

    def test_seen_midway_it_has_not_begun(self):
        sim = simulation(2, trace((0, 1, 1, 60), (500, 2, 100, 300)))
        early = sim.run(until=520)
        assert fates(early)[2] == (520, 520, "CANCELLED")
        assert fates(sim.run())[2] == (551, 651, "COMPLETED")

    def test_drained_nodes_are_down_and_not_off(self):
        sim = simulation(4, trace((0, 1, 1, 60), (1000, 1, 10, 60)))
        at(sim, 500, lambda: sim.drain("cluster", 3))
        at(sim, 800, lambda: sim.resume("cluster", 3))
        result = sim.run()
        result.check()
        assert (500, 1) in steps(result, "nodes_off")
        assert (500, 3) in steps(result, "nodes_down")

    def test_one_that_is_drained_by_name_boots_for_its_job_first(self):
        drained = {"time": 510, "end": 1000, "state": "DRAIN", "nodes": "0-1"}
        system = {"modules": [{"name": "cluster", "nodes": 2}], "events": [drained]}
        result = run(2, trace((0, 1, 1, 60), (500, 2, 100, 300)), system=system)
        assert fates(result)[2] == (551, 651, "COMPLETED")
        assert steps(result, "nodes_down") == [(0, 0), (651, 2)]

    @pytest.mark.parametrize(("first", "end"), [("main", 16), ("backfill", 15)])
    def test_what_ends_behind_a_look_is_idle_for_that_of_the_next_second(self, first: str, end: int):
        # backfill starts it at 5. It ends within second 15, before its looks or behind them: idle since then
        keys = {"batch_sched_delay": 30, "bf_interval": 1, "latency": "measured", "power_save_interval": 1}
        jobs = trace((0, 1, 40, 60), (5, 1, 10, 60))
        result = run(2, jobs, SuspendTime=20, looks_first=first, **keys)
        assert fates(result)[2] == (5, end, "COMPLETED")
        assert steps(result, "nodes_stopping")[1] == (36, 1)

    @pytest.mark.parametrize("second", [0, 10, 25])
    def test_a_node_that_fails_as_it_boots_is_counted_once(self, second: int):
        """Of the two nodes of a job that ends one is down, and the other boots for nobody."""
        jobs = trace((0, 1, 1, 60), (1000, 2, 80, 300), (1000 + second, 2, 100, 120))
        sim = simulation(4, jobs, SuspendTime=0, KillWait=0)
        at(sim, 1040, lambda: sim.fail("cluster", 1, until=1140))
        found = fates(sim.run())
        assert found[2] == (1040, 1040, "FAILED")
        assert found[3] == (1051 + second, 1151 + second, "COMPLETED")

    def test_a_delay_after_a_start_counts_from_when_its_nodes_were_up(self):
        after = {"dependency_ids": ["", "", "2"], "dependency_kinds": ["", "", "AFTER+1"]}
        result = run(3, trace((0, 1, 40, 60), (500, 2, 10, 60), (501, 1, 5, 60), **after))
        assert fates(result)[2] == (551, 561, "COMPLETED")
        assert result.components["eligible_time"][2] == 551 + 60

    def test_it_calls_so_many_seconds_after_its_nodes_were_up(self):
        """At 500 it is given two nodes that are off. What waits for its end is free at 551 + 20."""
        ties = {"dependency_kinds": ["", "", "AFTEROK"], "dependency_ids": ["", "", "2"]}
        jobs = trace((0, 1, 1, 60), (500, 2, 100, 120), (500, 1, 10, 60), api_calls=["", "20", ""], **ties)
        found = fates(run(3, jobs))
        assert found[2] == (551, 651, "COMPLETED")
        assert found[3][0] in (571 + 1 + BOOT, 572 + 1 + BOOT)

    @pytest.mark.parametrize(("calls", "end"), [("", 611), ("extend_job:50", 641)])
    def test_it_asks_for_more_time_once_it_has_begun(self, calls: str, end: int):
        jobs = trace((0, 1, 1, 60), (500, 2, 90, 60), api_calls=["", calls])
        sim = simulation(3, jobs, limit_check_s=1, policy={"extend_job": "grant"})
        assert fates(sim.run())[2][:2] == (551, end)

    def test_cancelled_before_it_called_it_frees_nobody(self):
        ties = {"dependency_kinds": ["", "", "AFTEROK"], "dependency_ids": ["", "", "2"]}
        jobs = trace((0, 1, 1, 60), (500, 2, 100, 120), (500, 1, 10, 60), api_calls=["", "20", ""], **ties)
        sim = simulation(3, jobs)
        at(sim, 530, lambda: sim.cancel(2))
        assert fates(sim.run())[3][2] != "COMPLETED"

    def test_the_models_say_when(self):
        given = models(idle_off={"timeout_s": 200, "min_awake": 1})
        result = run(3, trace((0, 1, 1, 60), (1000, 1, 1, 60)), given, SuspendTime=None)
        assert steps(result, "nodes_off")[-1][1] == 2

    def test_without_models_boots_take_their_timeout(self):
        jobs = trace((0, 1, 1, 60), (1000, 1, 10, 60))
        policy = Policy(backfill="slurm", slurm={"SuspendTime": "1m", "ResumeTimeout": 77})
        result = simulate(System.homogeneous(1), jobs, policy)
        result.check()
        assert result.components["start_time"].tolist() == [0, 1078]

    def test_a_branch_is_the_same(self):
        sim = simulation(4, trace((0, 1, 1, 60), (500, 3, 10, 60), (520, 2, 10, 60)))
        sim.run(until=530)
        other = sim.branch()
        pd.testing.assert_frame_equal(sim.run().timeline, other.run().timeline)


@pytest.mark.parametrize(
    ("keys", "given", "words"),
    [
        ({"ResumeTimeout": 49}, None, r"ResumeTimeout: found 49, and nodes of cluster boot in 50 s"),
        ({"SuspendTimeout": 6}, None, r"SuspendTimeout: found 6, and nodes of cluster shut down in 7 s"),
        ({}, {"timeout_s": 9}, r"SuspendTime: found 100 beside energy.idle_off"),
        ({"SuspendExcNodes": "main[0]"}, None, r"SuspendExcNodes: found 'main\[0\]', no such module"),
        ({"SuspendExcNodes": "cluster[0-1]:3"}, None, r"SuspendExcNodes: .*from 1 to 2 of cluster"),
        ({"SuspendExcParts": "x"}, None, r"SuspendExcParts: found 'x'; allowed: cluster"),
        (
            {"PreemptType": "preempt/partition_prio", "PreemptMode": "SUSPEND,GANG"},
            None,
            r"powered down .* beside PreemptMode SUSPEND,GANG",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_name(keys: Any, given: Any, words: str):
    more = {} if given is None else {"idle_off": given}
    with pytest.raises(ConfigError, match=words):
        simulation(3, trace((0, 1, 1)), models(**more), **keys)


# -- the plain model


@st.composite
def powered_cases(draw: st.DrawFn) -> tuple[Case, Power, list[str]]:
    """Sites on which nodes are powered down, and what of them stays on."""
    case = draw(cases()).but(looks_first=draw(st.sampled_from(["main", "backfill"])))
    return case, *draw(powers(numbers_of(case)))


def numbers_of(case: Case) -> dict[str, range]:
    """The nodes of each module in the plain model."""
    numbers, first = {}, 0
    for name, sizes in case.modules.items():
        numbers[name] = range(first, first + sum(sizes))
        first += sum(sizes) + 1
    return numbers


def play(case: Case, power: Power, words: list[str], **more: Any) -> Result:
    keys = keys_of(power, words) | {"starts_before_s": case.begins_s}
    policy = Policy(name="slurm", backfill="slurm", slurm=case.keys | keys | more)
    given = models(*case.modules, boot=power.boot, stop=power.stop)
    result = simulate(system_of(case), workload_of(case), policy, models=given)
    result.check()
    return result


def expected(case: Case, power: Power, kind: type[PowerSavingSlurm] = PowerSavingSlurm) -> Any:
    usual, every = plain(case), chain(*numbers_of(case).values())
    slurm = kind(usual.c, deepcopy(list(case.jobs)), power, every)
    slurm.run(UNTIL_S)
    return {job.id: (job.state, job.start) for job in slurm.jobs}


@pytest.mark.interpreted
@examples(20)
@given(powered_cases())
def test_the_engine_is_the_plain_model(drawn: Any):
    case, power, words = drawn
    assert engine_cases.fates(play(case, power, words)) == expected(case, power)


@pytest.mark.interpreted
def test_priorities_are_computed_on_time_while_only_nodes_are_to_come_back():
    """Of the two nodes one powers down up to 219. No pass is due then: the last computation was at 202."""
    keys = {"KillWait": 0, "latency": "measured", "PriorityType": "priority/multifactor"}
    keys |= {"PriorityCalcPeriod": 45}
    jobs = (Job(1, 0, ["q"], 1, 131, 1), Job(2, 52, ["q"], 2, 194, 1))
    case = Case({"m": (4, 2)}, (Queue("q", "m", ("b",)),), jobs, keys, begins_s=68)
    power = Power(suspend_time=30, suspend_timeout=55, boot=5, stop=9, interval=45)
    assert engine_cases.fates(play(case, power, []))[2] == ("TIMEOUT", 238)
    assert expected(case, power)[2] == ("TIMEOUT", 238)


@pytest.mark.interpreted
@examples(20)
@given(powered_cases())
def test_what_is_there_for_speed_changes_nothing(drawn: Any):
    quick, slow = play(*drawn), play(*drawn, accelerate=False)
    pd.testing.assert_frame_equal(quick.components, slow.components)
    pd.testing.assert_frame_equal(quick.timeline, slow.timeline)


@pytest.mark.interpreted
@examples(20)
@given(powered_cases())
def test_nodes_that_stay_on_change_nothing(drawn: Any):
    case, power, _ = drawn
    never = [f"{name}" for name in case.modules]
    left = play(case, power, never)
    usual = engine_cases.fates(engine_cases.played(case))
    assert engine_cases.fates(left) == usual
    assert not left.timeline[["nodes_off", "nodes_booting", "nodes_stopping"]].to_numpy().any()


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
def test_compiled_it_is_as_in_plain_python():
    jobs = trace(*((20 * i * i % 7000, 1 + i % 4, 40 + i % 90, 60 + 60 * (i % 3)) for i in range(60)))
    sets = [{"name": "a", "nodes": 3}, {"name": "b", "nodes": 4, "weight": 3}]
    system = {
        "modules": [{"name": "cluster", "nodes": 7, "node_sets": sets}],
        "events": [{"time": 900, "end": 1300, "state": "DOWN", "nodes": "0-2"}],
    }
    compiled = simulation(7, jobs, system=system, SuspendRate=2)
    assert has(compiled._core, "slurm_power_saving")
    one = compiled.run()
    one.check()
    assert (one.timeline["nodes_booting"] > 0).any()
    with interpreted():
        other = simulation(7, jobs, system=system, SuspendRate=2).run()
    pd.testing.assert_frame_equal(one.components, other.components)
    pd.testing.assert_frame_equal(one.timeline, other.timeline)
