"""Preemption under Slurm beside nodes that leave service: the engine against the plain models, and cases."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Result
from tests.conftest import examples
from tests.oracle.plain_outages import Event
from tests.oracle.plain_preempting_sites import (
    GangSlurmWithOutages,
    PreemptingSharedSlurmWithOutages,
    PreemptingSlurmWithOutages,
)
from tests.oracle.plain_preemption_records import PREEMPTED, PreemptRules
from tests.outages.test_against_the_reference import apart, outages, with_events
from tests.slurm import test_preemption as whole
from tests.slurm import test_preemption_shared as shared
from tests.slurm.engine_cases import fates
from tests.slurm.shared_cases import ANY_ASKS, NODES, fates_told, possible
from tests.slurm.shared_cases import fates as shared_fates
from tests.slurm.test_preemption import UNTIL_S
from tests.slurm.test_shared_properties import expanded
from tests.slurm.test_suspension import suspending

pytestmark = pytest.mark.interpreted


class Struck(NamedTuple):
    """A site with preemption, and when which of its nodes are out of service."""

    site: Any
    events: list[Event]


@st.composite
def struck(draw: st.DrawFn, sites: st.SearchStrategy[Any], nodes: Any) -> Struck:
    """Outages from the first submission on."""
    site = draw(sites)
    first = min(job.submit for job in site.case.jobs)
    drawn = apart(draw(outages(list(range(nodes(site))), 200)))
    return Struck(site, [replace(one, time=one.time + first, end=one.end + first) for one in drawn])


class Site(NamedTuple):
    """A site whose system has events, reservations, or a topology."""

    case: Any
    rules: dict[str, Any]
    requeue_delay_s: int
    system: Any
    qos: Any = None


def played(one: Struck, module: Any) -> Result:
    """Play it as the tests of preemption do."""
    site = one.site
    system = with_events(site.system, [("m", event, event.nodes) for event in one.events])
    made: Result = module.played(Site(site.case, site.rules, site.requeue_delay_s, system))
    return made


def told(one: Struck, config: Any, model: Any, mode: dict[str, str], **more: Any) -> Any:
    """What the plain model makes of it."""
    rules = PreemptRules(partitions=one.site.groups, **one.site.rules | mode)
    slurm = model(config, deepcopy(list(one.site.case.jobs)), one.events, rules=rules, **more)
    slurm.run(UNTIL_S)
    return slurm


@given(struck(whole.preempting(), lambda site: sum(site.case.modules["m"])))
@examples(60)
def test_on_whole_nodes_the_engine_is_the_plain_model(one: Struck) -> None:
    result, slurm = played(one, whole), told(one, whole.config_of(one.site), PreemptingSlurmWithOutages, {})
    assert fates(result) == {job.id: (job.state, job.start) for job in slurm.jobs}
    assert result.metrics["counts"].get("requeued", 0) == slurm.requeued + whole.lost_runs(slurm)


@given(struck(shared.preempting(NODES, ANY_ASKS), lambda site: len(site.case.nodes)))
@examples(40)
def test_where_jobs_share_nodes_it_is_the_plain_model_too(one: Struck) -> None:
    case = possible(one.site.case)
    assume(case.jobs)
    one = one._replace(site=replace(one.site, case=case))
    more = {"nodes": case.nodes, "settings": case.settings}
    slurm = told(one, shared.config_of(one.site), PreemptingSharedSlurmWithOutages, {}, **more)
    result = played(one, shared)
    assert {i: expanded(fate) for i, fate in shared_fates(result).items()} == fates_told(slurm)
    assert shared.lost_runs(result) == sorted(run for run in slurm.runs if run.why == PREEMPTED)


@given(struck(suspending(), lambda site: sum(site.case.modules["m"])))
@examples(60)
def test_jobs_that_are_suspended_end_with_the_others(one: Struck) -> None:
    slurm = told(one, whole.config_of(one.site), GangSlurmWithOutages, {"mode": "SUSPEND"})
    result = played(one, whole)
    assert fates(result) == {job.id: (job.state, job.start) for job in slurm.jobs}
    assert result.metrics["counts"].get("requeued", 0) == slurm.requeued
    seconds = result.components["suspended_time"]
    assert set(result.components["component_id"][seconds > 0]) <= set(slurm.suspended)


# -- worked out by hand: three nodes, all of job 1


def site(event: Event, mode: str = "CANCEL", *, nodes: int = 2) -> Struck:
    """Job 1 has all nodes from 4 on for 100 s; job 2, of a higher tier, comes at 40 for some of them."""
    one = whole.two(mode=mode)
    jobs = (replace(one.case.jobs[0], requeue=False), replace(one.case.jobs[1], nodes=nodes))
    return Struck(replace(one, case=replace(one.case, jobs=jobs)), [event])


def spans(result: Result) -> list[tuple[str, int, int]]:
    columns = ["state", "start_time", "end_time"]
    return list(result.components[columns].itertuples(index=False, name=None))


def test_nobody_goes_for_nodes_that_are_leaving_service() -> None:
    """Two of the three are draining: on the one that is left there is no room for two."""
    draining = Event(30, frozenset({0, 1}), down=False, end=500)
    first, second = spans(played(site(draining), whole))
    assert first == ("COMPLETED", 4, 104)
    assert second[1] >= 500
    assert spans(played(site(draining, nodes=1), whole))[0][0] == PREEMPTED


def test_who_is_suspended_ends_with_the_node_and_leaves_it_down() -> None:
    """Node 0 goes at 50; on it job 2 works from 40 on, and job 1 is suspended: both end, and are requeued."""
    one = site(Event(50, frozenset({0}), down=True, end=120), "SUSPEND,GANG")
    result = played(one, whole)
    assert result.runs is not None
    failed = result.runs[result.runs["state"] == "NODE_FAIL"]
    assert failed[["component_id", "end_time", "state", "lost_s"]].values.tolist() == [
        [1, 50, "NODE_FAIL", 36],
        [2, 50, "NODE_FAIL", 10],
    ]
    timeline = result.timeline[result.timeline["module"] == "m"].set_index("time")
    assert timeline["nodes_down"].loc[50:].tolist()[-1] == 0
    assert set(timeline["nodes_down"]) == {0, 1}
    assert timeline["nodes_reserved_idle"].loc[40] == 1
    assert timeline["nodes_reserved_idle"].loc[50:].max() == 0
    assert set(result.components["state"]) == {"COMPLETED"}


def by_number(one: Struck) -> Site:
    """The same, but only how many nodes leave is said."""
    site = one.site
    system = with_events(site.system, [("m", event, event.nodes) for event in one.events])
    system = replace(system, events=tuple(replace(event, nodes=()) for event in system.events))
    return Site(site.case, site.rules, site.requeue_delay_s, system)


def test_who_is_suspended_ends_with_the_node_that_is_drawn() -> None:
    """Both jobs have all three nodes, whichever of them goes."""
    one = site(Event(50, frozenset({0}), down=True, end=120), "SUSPEND,GANG")
    named, drawn = played(one, whole), whole.played(by_number(one))
    assert drawn.runs is not None
    assert sorted(drawn.runs["state"]) == ["COMPLETED", "COMPLETED", "NODE_FAIL", "NODE_FAIL"]
    assert drawn.components["start_time"].tolist() == named.components["start_time"].tolist()
