"""Idle nodes that Slurm powers down beside preemption: the engine is the plain model."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, simulate
from scheduler_sim.engine.core.jit import COMPILED
from tests.conftest import examples
from tests.engine.interpreted import interpreted
from tests.oracle.plain_power_saving import (
    Power,
    PowerSavingPreemptingSharedSlurm,
    PowerSavingPreemptingSlurm,
)
from tests.oracle.plain_preemption_records import PreemptRules
from tests.simulation.acting import fates as ends
from tests.simulation.acting import trace
from tests.slurm import test_preemption as whole
from tests.slurm import test_preemption_shared as shared
from tests.slurm.engine_cases import fates
from tests.slurm.powered_cases import keys_of, models, powers
from tests.slurm.shared_cases import ANY_ASKS, EQUAL_NODES, NODES, RIGID_ASKS, fates_told, possible
from tests.slurm.shared_cases import fates as fates_and_shares
from tests.slurm.test_shared_properties import expanded

UNTIL_S = 12_000


def with_power(one: st.SearchStrategy[Any], nodes: Any) -> st.SearchStrategy[tuple[Any, Power, list[str]]]:
    """A case, and power saving on its one module of so many nodes."""
    return one.flatmap(
        lambda case: powers({"m": range(nodes(case))}).map(lambda power: (_spread(case, power), *power))
    )


def _spread(one: Any, power: Any) -> Any:
    """Jobs that come with time between them, where nodes are powered down soon."""
    factor = 4 if power[0].suspend_time < 30 else 1
    jobs = [replace(job, submit=factor * job.submit) for job in one.case.jobs]
    return replace(one, case=replace(one.case, jobs=type(one.case.jobs)(jobs)))


def with_steps(sites: st.SearchStrategy) -> st.SearchStrategy:
    """Killed jobs have processes on all of their nodes: ``script_alone`` is not there beside power saving."""
    return sites.map(
        lambda one: replace(one, case=replace(one.case, keys=one.case.keys | {"script_alone": False}))
    )


def keys(power: Power, words: list[str]) -> dict[str, Any]:
    """Boots and shutdowns take their timeouts."""
    return keys_of(power, words) | {"ResumeTimeout": power.boot}


def compare_whole(drawn: tuple[whole.Preempting, Power, list[str]]) -> None:
    """Play a case in the engine and in the plain model: every start, every state, how many runs were lost."""
    one, power, words = drawn
    power = replace(power, stop=power.suspend_timeout)
    rules = PreemptRules(partitions=one.groups, **one.rules)
    jobs, every = deepcopy(list(one.case.jobs)), range(sum(one.case.modules["m"]))
    slurm = PowerSavingPreemptingSlurm(whole.config_of(one), jobs, power, every, ops=[], rules=rules)
    slurm.run(UNTIL_S)
    result = whole.played(one, **keys(power, words))
    assert fates(result) == {job.id: (job.state, job.start) for job in slurm.jobs}


def compare_shared(drawn: tuple[shared.Preempting, Power, list[str]]) -> None:
    """The same with the shares of jobs, and every run that was lost."""
    one, power, words = drawn
    power = replace(power, stop=power.suspend_timeout)
    one = replace(one, case=possible(one.case))
    assume(one.case.jobs)
    case, rules = one.case, PreemptRules(partitions=one.groups, **one.rules)
    more: dict[str, Any] = {"nodes": case.nodes, "settings": case.settings, "ops": [], "rules": rules}
    slurm = PowerSavingPreemptingSharedSlurm(
        shared.config_of(one), deepcopy(case.jobs), power, range(len(case.nodes)), **more
    )
    slurm.run(UNTIL_S)
    result = shared.played(one, **keys(power, words))
    ours = {i: expanded(fate) for i, fate in fates_and_shares(result).items()}
    assert ours == fates_told(slurm)


@pytest.mark.interpreted
@examples(100)
@given(with_power(with_steps(whole.preempting()), lambda one: sum(one.case.modules["m"])))
def test_whole_nodes_are_those_of_the_plain_model(drawn: Any) -> None:
    compare_whole(drawn)


@pytest.mark.interpreted
@examples(60)
@given(with_power(with_steps(shared.preempting(NODES, ANY_ASKS)), lambda one: len(one.case.nodes)))
def test_shared_nodes_are_those_of_the_plain_model(drawn: Any) -> None:
    compare_shared(drawn)


@pytest.mark.interpreted
@examples(60)
@given(
    with_power(
        with_steps(shared.preempting(EQUAL_NODES, RIGID_ASKS, most=20)), lambda one: len(one.case.nodes)
    )
)
def test_so_many_able_nodes_are_those_of_the_plain_model(drawn: Any) -> None:
    compare_shared(drawn)


# -- by hand

SHARED = pytest.mark.parametrize("shares", [False, True])


def run(nodes: int, *jobs: tuple[Any, ...], shares: bool, grace: int = 0) -> Result:
    """Jobs as (submit, nodes, run time, limit, partition), low or high; a boot takes 50 s."""
    module = {"name": "cluster", "nodes": nodes, "cores_per_node": 4, "shared": shares}
    low = {"name": "low", "module": "cluster", "priority": 1, "slurm": {"GraceTime": grace}}
    high = {"name": "high", "module": "cluster", "priority": 2}
    system = System.from_dict({"modules": [module], "partitions": [low, high]})
    workload = trace(*(job[:4] for job in jobs), partition=[job[4] for job in jobs], cores=[4] * len(jobs))
    mode = {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE", "KillWait": 5}
    policy = Policy(backfill="slurm", slurm={"SuspendTime": 100, **mode})
    result = simulate(system, workload, policy, models=models())
    result.check()
    return result


FIRST = (0, 1, 1, 60, "low")


@pytest.mark.interpreted
@SHARED
def test_nobody_goes_as_long_as_nodes_that_are_off_do(shares: bool) -> None:
    result = run(3, (0, 1, 900, 960, "low"), (500, 2, 10, 60, "high"), shares=shares)
    assert ends(result) == {1: (0, 900, "COMPLETED"), 2: (551, 561, "COMPLETED")}


@pytest.mark.interpreted
@SHARED
def test_one_whose_nodes_boot_loses_nothing(shares: bool) -> None:
    """At 510 or a little later it is requeued; the boot for nobody ends at 551, and the other job begins."""
    result = run(2, FIRST, (500, 2, 100, 300, "low"), (510, 2, 10, 60, "high"), shares=shares)
    fates_of = ends(result)
    assert fates_of[3][0] >= 551
    assert fates_of[2][0] >= fates_of[3][1]
    assert result.metrics["counts"]["requeued"] == 1
    assert not len(result.runs)


@pytest.mark.interpreted
@SHARED
def test_its_grace_is_over_when_its_limit_is(shares: bool) -> None:
    """Without that it would end 30 s after it is preempted, before its nodes are up."""
    jobs = (FIRST, (500, 2, 100, 300, "low"), (510, 2, 10, 60, "high"))
    result = run(2, *jobs, shares=shares, grace=30)
    assert ends(result)[2] == (551, 651, "COMPLETED")
    assert ends(result)[3][0] >= 651


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
@SHARED
def test_compiled_it_is_as_in_plain_python(shares: bool) -> None:
    jobs = [
        (20 * i * i % 7000, 1 + i % 4, 40 + i % 90, 60 + 60 * (i % 3), "high" if i % 4 == 0 else "low")
        for i in range(60)
    ]
    one = run(5, *jobs, shares=shares, grace=20)
    assert (one.timeline["nodes_booting"] > 0).any()
    with interpreted():
        other = run(5, *jobs, shares=shares, grace=20)
    pd.testing.assert_frame_equal(one.components, other.components)
    pd.testing.assert_frame_equal(one.timeline, other.timeline)
