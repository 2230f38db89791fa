"""Gang scheduling where jobs share nodes: the engine against the plain model of gang.c, on random sites."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, simulate
from scheduler_sim.result.suspensions import spans_of
from tests.conftest import examples
from tests.oracle.plain_preemption_records import Preemptable, PreemptRules
from tests.oracle.plain_slurm_records import Config
from tests.oracle.plain_time_slices import SlicingSlurm, SuspendingSharedSlurm
from tests.slurm.engine_cases import UNTIL_S, configure
from tests.slurm.shared_cases import (
    ANY_ASKS,
    NODES,
    SharedCase,
    fates,
    fates_told,
    possible,
    shared_cases,
    workload_of,
)
from tests.slurm.test_preemption_shared import Preempting, preempting
from tests.slurm.test_preemption_shared import config_of as suspending_config
from tests.slurm.test_preemption_shared import played as played_by_tiers
from tests.slurm.test_shared_properties import ROWS, expanded
from tests.slurm_oracle.shared_engine import settings_of, system_of

pytestmark = pytest.mark.interpreted

GANG = {"PreemptMode": "GANG"}


@st.composite
def in_turns(draw: st.DrawFn) -> tuple[SharedCase, int, bool]:
    """A crowded site whose jobs take turns, how long these last, and whether all takes no time."""
    sharing = ("NO", "EXCLUSIVE", *ROWS)
    case = draw(shared_cases(most=20, of_main=("NO", *ROWS), sharing=sharing, crowded=True))
    at_once = draw(st.booleans())
    keys = case.keys | ({"looks_first": "main"} if at_once else {})
    case = replace(case, keys=keys, settings=replace(case.settings, gang=True))
    return possible(case, everywhere=True), draw(st.sampled_from([5, 20, 30])), at_once


def config_of(case: SharedCase, at_once: bool) -> Config:
    config = Config(case.partitions)
    configure(config, case.keys, min(job.submit for job in case.jobs) - case.begins_s)
    if at_once:
        config.launch_latency, config.main_wait_ms, config.kill_epilog_ms = False, 0, 0
    return config


def plain(case: SharedCase, slice_s: int, at_once: bool) -> SlicingSlurm:
    jobs = deepcopy(case.jobs)
    slurm = SlicingSlurm(config_of(case, at_once), jobs, nodes=case.nodes, settings=case.settings)
    slurm.prepare(slice_s, case.nodes)
    slurm.run(UNTIL_S)
    return slurm


def played(case: SharedCase, slice_s: int, at_once: bool, **more: Any) -> Result:
    keys = GANG | {"SchedulerTimeSlice": slice_s, "starts_before_s": case.begins_s} | case.keys
    keys |= settings_of(case.settings) | ({"latency": "none", "killed_epilog_s": 1} if at_once else {}) | more
    system = system_of(case.nodes, case.partitions)
    result = simulate(system, workload_of(case.jobs), Policy(name="slurm", backfill="slurm", slurm=keys))
    result.check()
    return result


def spans(result: Result) -> list[tuple[int, int, int]]:
    """Component, from when, until when."""
    if "suspended" not in result.components:
        return []
    row, since, until = spans_of(result.components)
    return sorted(zip(result.components["component_id"].to_numpy()[row], since, until, strict=True))


@examples(100)
@given(in_turns())
def test_the_engine_is_the_plain_model(given_: tuple[SharedCase, int, bool]) -> None:
    case, slice_s, at_once = given_
    assume(case.jobs)
    slurm = plain(case, slice_s, at_once)
    assume(not slurm.is_unclear)
    result = played(case, slice_s, at_once)
    assert {i: expanded(fate) for i, fate in fates(result).items()} == fates_told(slurm)
    if at_once:
        assert spans(result) == sorted(slurm.spans)


# -------------------------------------------------------------------- by tiers


@st.composite
def by_tiers(draw: st.DrawFn) -> tuple[Preempting, int]:
    """The random sites of preemption where jobs share nodes; partitions' are suspended, or not at all."""
    one = draw(preempting(NODES, ANY_ASKS))
    sharing = st.sampled_from(["NO", "EXCLUSIVE", "FORCE:1", "FORCE:1", "FORCE:2", "FORCE:3", "YES:2"])
    parts = {name: replace(its, oversubscribe=draw(sharing)) for name, its in one.case.partitions.items()}
    modes = st.sampled_from(["", "", "", "OFF", "SUSPEND"])
    groups = {name: Preemptable(draw(modes), its.grace) for name, its in one.groups.items()}
    off = frozenset(name for name, its in groups.items() if its.mode == "OFF")
    settings = replace(one.case.settings, gang=True, by_tier=True, off=off)
    keys = one.case.keys | {"script_alone": False}  # not there where jobs are suspended
    case = replace(one.case, partitions=parts, settings=settings, keys=keys)
    case = possible(case, everywhere=True)
    rules = one.rules | {"mode": "SUSPEND,GANG"}
    return replace(one, case=case, rules=rules, groups=groups), draw(st.sampled_from([5, 20, 30]))


def plain_by_tiers(one: Preempting, slice_s: int) -> SuspendingSharedSlurm:
    rules = PreemptRules(partitions=one.groups, **one.rules | {"mode": "SUSPEND"})
    case, jobs = one.case, deepcopy(one.case.jobs)
    slurm = SuspendingSharedSlurm(
        suspending_config(one), jobs, [], rules, nodes=case.nodes, settings=case.settings
    )
    slurm.prepare(slice_s, case.nodes)
    slurm.run(UNTIL_S)
    return slurm


@examples(100)
@given(by_tiers())
def test_the_engine_is_the_plain_model_by_tiers(given_: tuple[Preempting, int]) -> None:
    one, slice_s = given_
    assume(one.case.jobs)
    slurm = plain_by_tiers(one, slice_s)
    assume(not slurm.is_unclear)
    result = played_by_tiers(one, SchedulerTimeSlice=slice_s)
    assert {i: expanded(fate) for i, fate in fates(result).items()} == fates_told(slurm)
    assert {component for component, _, _ in spans(result)} <= slurm.suspended
