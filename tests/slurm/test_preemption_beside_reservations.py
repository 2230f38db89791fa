"""Preemption under Slurm beside advance reservations: the engine against the plain models, and cases."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Result
from scheduler_sim.system.reservations import ReservationChangeKeys, ReservationKeys
from tests.conftest import examples
from tests.oracle.plain_preempting_sites import PreemptingReservedSharedSlurm, PreemptingReservedSlurm
from tests.oracle.plain_preemption_records import PREEMPTED, Preemptable, PreemptRules
from tests.oracle.plain_reservation_records import DELETED, Change, RefusedError
from tests.oracle.plain_slurm_records import Job
from tests.slurm import test_preemption as whole
from tests.slurm import test_preemption_shared as shared
from tests.slurm.engine_cases import fates
from tests.slurm.shared_cases import ANY_ASKS, NODES, had, possible
from tests.slurm.shared_cases import fates as shared_fates
from tests.slurm.test_preemption import QOS, UNTIL_S, keys_of
from tests.slurm.test_preemption_beside_outages import Site
from tests.slurm.test_reservations_properties import changes, request, reservations
from tests.slurm.test_shared_properties import expanded

pytestmark = pytest.mark.interpreted


class Reserved(NamedTuple):
    """A site with preemption, which reservations there are, and what operators do to them."""

    site: Any
    made: tuple[ReservationKeys, ...]
    done: tuple[ReservationChangeKeys, ...]
    by_qos: bool = False

    @property
    def keys(self) -> dict[str, Any]:
        if not self.by_qos:
            return {}
        return {"PreemptType": "preempt/qos", "qos": {name: keys_of(its) for name, its in QOS.items()}}


@st.composite
def reserved(draw: st.DrawFn, sites: st.SearchStrategy[Any], nodes: Any) -> Reserved:
    """Jobs of two users that may name them."""
    site, by_qos = draw(sites), draw(st.sampled_from([False, False, True]))
    size = nodes(site)
    made = tuple(once(draw(reservations(name, size))) for name in ("r", "s", "t")[: draw(st.integers(1, 3))])
    done = tuple(draw(changes(made, size)) for _ in range(draw(st.integers(0, 2))))
    names = ["", "", *(one.name for one in made)]
    jobs = [
        replace(
            job,
            user=draw(st.sampled_from("uv")),
            reservation=draw(st.sampled_from(names)),
            qos=draw(st.sampled_from(list(QOS))),
        )
        for job in site.case.jobs
    ]
    kind = type(site.case.jobs)
    site = replace(site, case=replace(site.case, jobs=kind(jobs)))
    return Reserved(site, made, tuple(sorted(done, key=lambda change: change.at)), by_qos)


def once(one: ReservationKeys) -> ReservationKeys:
    """One that does not come again, which is tested by itself."""
    return one.model_copy(update={"flags": [flag for flag in one.flags if flag != "HOURLY"]})


def told(one: Reserved, config: Any, model: Any, **more: Any) -> Any:
    """What the plain model makes of it."""
    later = sorted((it for it in (*one.made, *one.done) if it.at is not None), key=lambda it: it.at)
    first = config.daemon_start + 1
    asked = [Change(max(it.at, first), getattr(it, "action", "create"), it.name, request(it)) for it in later]
    by = {"kind": "preempt/qos", "qos": deepcopy(QOS)} if one.by_qos else {}
    rules = PreemptRules(partitions=one.site.groups, **one.site.rules | by)
    slurm = model(config, deepcopy(list(one.site.case.jobs)), asked, rules=rules, **more)
    for it in one.made:
        with suppress(RefusedError):
            if it.at is None:
                slurm._create_reservation(it.name, request(it), config.daemon_start)
    slurm.stood = {it.name for it in slurm.reservations}
    slurm.run(UNTIL_S)
    return slurm


def standing(one: Reserved, stood: set[str]) -> Reserved:
    """Without those that an operator is refused before the run begins."""
    made = tuple(it for it in one.made if it.at is not None or it.name in stood)
    names = {it.name for it in made}
    assume(made)
    return one._replace(made=made, done=tuple(it for it in one.done if it.name in names))


def played(one: Reserved, module: Any) -> Result:
    """Play it as the tests of preemption do."""
    site = one.site
    system = replace(site.system, reservations=one.made, reservation_changes=one.done)
    columns = {"qos": [job.qos for job in site.case.jobs]}
    made: Result = module.played(
        Site(site.case, site.rules, site.requeue_delay_s, system), columns, **one.keys
    )
    return made


def shown(state: str) -> str:
    return "PENDING" if state == DELETED else state


@given(reserved(whole.preempting(), lambda site: sum(site.case.modules["m"])))
@examples(100)
def test_on_whole_nodes_the_engine_is_the_plain_model(one: Reserved) -> None:
    slurm = told(one, whole.config_of(one.site), PreemptingReservedSlurm)
    result = played(standing(one, slurm.stood), whole)
    theirs = {job.id: (shown(slurm.ended_as(job)), job.start) for job in slurm.jobs}
    assert fates(result) == theirs | {job.id: ("REJECTED", None) for job in slurm.no_access}
    assert result.metrics["counts"].get("requeued", 0) == whole.lost_runs(slurm)


@given(reserved(shared.preempting(NODES, ANY_ASKS), lambda site: len(site.case.nodes)))
@examples(10)
def test_where_jobs_share_nodes_it_is_the_plain_model_too(one: Reserved) -> None:
    case = possible(one.site.case)
    assume(case.jobs)
    one = one._replace(site=replace(one.site, case=case))
    slurm = told(
        one,
        shared.config_of(one.site),
        PreemptingReservedSharedSlurm,
        nodes=case.nodes,
        settings=case.settings,
    )
    result = played(standing(one, slurm.stood), shared)
    theirs = {
        job.id: (shown(slurm.ended_as(job)), -1 if job.start is None else job.start, *had(job))
        for job in slurm.jobs
    }
    theirs |= {job.id: ("REJECTED", -1, "", 0.0, 0.0, 0.0) for job in slurm.no_access}
    assert {i: expanded(fate) for i, fate in shared_fates(result).items()} == theirs
    assert shared.lost_runs(result) == sorted(run for run in slurm.runs if run.why == PREEMPTED)


# -- worked out by hand: three nodes, the first two of them reserved for u


def site(*jobs: Job, low: Preemptable | None = None, start: int = 0, end: int = 900) -> Reserved:
    """Jobs of u and v in partitions low and high, and the reservation r."""
    one = whole.two(low, mode="CANCEL")
    made = ReservationKeys(name="r", start=start, end=end, nodes=["m[0-1]"], users=["u"])
    return Reserved(replace(one, case=replace(one.case, jobs=jobs)), (made,), ())


def job(number: int, submit: int, partition: str, nodes: int, minutes: int = 10, **more: Any) -> Job:
    return Job(number, submit, [partition], nodes, 60 * minutes - 30, minutes, user="v", **more)


def inside(one: Job) -> Job:
    return replace(one, user="u", reservation="r")


def started(result: Result) -> dict[int, int]:
    return {i: start for i, (_, start) in fates(result).items() if start is not None}


def victims(result: Result) -> set[int]:
    return {i for i, (state, _) in fates(result).items() if state == PREEMPTED}


def test_nobody_goes_for_nodes_that_are_reserved_for_others() -> None:
    """The one on node 2 does, though the one inside has started later, and is as small."""
    low = [job(1, 4, "low", 1), inside(job(2, 8, "low", 1))]
    assert victims(played(site(*low, job(3, 40, "high", 1)), whole)) == {1}
    found = played(site(*low, job(3, 40, "high", 2)), whole)
    assert victims(found) == set()
    assert started(found)[3] >= 900


def test_in_a_reservation_those_inside_go_for_one_of_its_own() -> None:
    low = [job(1, 4, "low", 1), inside(job(2, 8, "low", 2))]
    assert victims(played(site(*low, inside(job(3, 40, "high", 1))), whole)) == {2}


def test_until_it_begins_who_ends_before_it_may_have_its_nodes() -> None:
    """It begins at 600: from 40 on nine minutes have room before it, ten have not."""
    running = job(1, 4, "low", 2, 9)
    for minutes, gone in ((9, {1}), (10, set())):
        urgent = job(2, 40, "high", 3, minutes)
        assert victims(played(site(running, urgent, start=600), whole)) == gone


def test_one_that_may_preempt_goes_before_one_in_a_reservation() -> None:
    """Both wait for the same nodes, as OVERLAP lets its jobs use those of others."""
    first = inside(job(1, 4, "low", 2, 1))
    waiting = inside(job(2, 8, "low", 2, 1))
    urgent = inside(job(3, 12, "high", 2, 1))
    found = started(played(site(first, waiting, urgent, low=Preemptable("OFF")), whole))
    assert found[3] < found[2]


def test_in_grace_the_end_of_its_reservation_ends_nobody() -> None:
    """From 40 on it has 150 s; the reservation is over at 100, and at 120 those still inside end."""
    running = inside(replace(job(1, 4, "low", 2), runtime=500))
    urgent = inside(job(2, 40, "high", 2, 1))
    alone = played(site(running, end=100), whole).components.iloc[0]
    assert (alone["state"], alone["end_time"]) == ("TIMEOUT", 120)
    graceful = played(site(running, urgent, low=Preemptable("CANCEL", 150), end=100), whole).components.iloc[
        0
    ]
    assert (graceful["state"], graceful["end_time"]) == (PREEMPTED, 210)
