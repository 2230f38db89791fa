"""Gang scheduling where jobs share nodes: the engine against the plain model, cases by hand, and results."""

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
from tests.oracle.plain_slurm_records import Config
from tests.oracle.plain_time_slices import SlicingSlurm
from tests.slurm.engine_cases import UNTIL_S, configure
from tests.slurm.shared_cases import SharedCase, fates, fates_told, possible, shared_cases, workload_of
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
        config.launch_latency, config.main_wait_ms = False, 0
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
