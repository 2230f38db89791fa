"""Advance reservations of nodes that jobs share, on random sites: the engine against the plain model."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Policy, System, Workload, simulate
from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.system.reservations import ReservationChangeKeys, ReservationKeys
from tests.conftest import examples
from tests.engine.interpreted import interpreted
from tests.oracle.plain_cons_tres_records import Ask, Node
from tests.oracle.plain_reservation_records import DELETED, Change, RefusedError
from tests.oracle.plain_reserved_shared_slurm import ReservedSharedSlurm
from tests.oracle.plain_slurm_records import Job
from tests.slurm.engine_cases import UNTIL_S
from tests.slurm.shared_cases import (
    ALIKE_NODES,
    ANY_ASKS,
    EQUAL_NODES,
    NODES,
    RIGID_ASKS,
    SharedCase,
    fates,
    had,
    plain,
    possible,
    shared_cases,
    workload_of,
)
from tests.slurm.shared_cases import played as shared_played
from tests.slurm.test_reservations_properties import changes, request, reservations
from tests.slurm.test_shared_properties import ROWS, expanded
from tests.slurm_oracle.shared_engine import settings_of, system_of

Fates = dict[int, tuple[Any, ...]]

LATER_S = 4000
JOBS = 120


class Reserved(NamedTuple):
    case: SharedCase
    made: tuple[ReservationKeys, ...]
    done: tuple[ReservationChangeKeys, ...]


@st.composite
def reserved_cases(
    draw: st.DrawFn,
    of: st.SearchStrategy[Node] = NODES,
    ask: st.SearchStrategy[Ask] = ANY_ASKS,
    most: int = 14,
    **how: Any,
) -> Reserved:
    """Reservations of some of the nodes, by name or by number, and jobs of two users that may name them."""
    case = draw(shared_cases(most=most, of=of, ask=ask, **how))
    size = len(case.nodes)
    made = tuple(draw(reservations(name, size)) for name in ("r", "s", "t")[: draw(st.integers(1, 3))])
    done = tuple(draw(changes(made, size)) for _ in range(draw(st.integers(0, 2))))
    names = ["", "", *(one.name for one in made)]
    jobs = [
        replace(job, user=draw(st.sampled_from("uv")), reservation=draw(st.sampled_from(names)))
        for job in case.jobs
    ]
    return Reserved(replace(case, jobs=jobs), made, tuple(sorted(done, key=lambda change: change.at)))


class Waiting(ReservedSharedSlurm):
    """The plain model, which waits for reservations that come again."""

    def _stuck(self, job: Job) -> bool:
        return super()._stuck(job) and not any(one.repeats for one in self.reservations)


def told(given_case: Reserved) -> tuple[Fates, set[str]]:
    """What the plain model makes of it, and which reservations stand when the run begins."""
    case, made, done = given_case
    bare = plain(case)
    start = bare.c.daemon_start
    later = sorted((one for one in (*made, *done) if one.at is not None), key=lambda one: one.at)
    asked = [
        Change(max(one.at, start + 1), getattr(one, "action", "create"), one.name, request(one))
        for one in later
    ]
    slurm = Waiting(bare.c, deepcopy(case.jobs), asked, nodes=case.nodes, settings=case.settings)
    for one in made:
        with suppress(RefusedError):
            if one.at is None:
                slurm._create_reservation(one.name, request(one), start)
    stand = {one.name for one in slurm.reservations}
    slurm.run(UNTIL_S)
    theirs = {
        job.id: (slurm.ended_as(job), -1 if job.start is None else job.start, *had(job)) for job in slurm.jobs
    }
    refused = {job.id: ("REJECTED", -1, "", 0.0, 0.0, 0.0) for job in slurm.no_access}
    return theirs | refused, stand


def played(given_case: Reserved, **more: Any) -> Fates:
    case, made, done = given_case
    keys = settings_of(case.settings) | {"starts_before_s": case.begins_s} | case.keys | more
    system = replace(system_of(case.nodes, case.partitions), reservations=made, reservation_changes=done)
    result = simulate(system, workload_of(case.jobs), Policy(name="slurm", backfill="slurm", slurm=keys))
    result.check()
    return {i: expanded(fate) for i, fate in fates(result).items()}


def compare(given_case: Reserved, *, everywhere: bool = False) -> None:
    case = possible(given_case.case, everywhere=everywhere)
    assume(case.jobs)
    given_case = given_case._replace(case=case)
    theirs, stand = told(given_case)
    made = tuple(one for one in given_case.made if one.at is not None or one.name in stand)
    done = tuple(one for one in given_case.done if one.name in {one.name for one in made})
    assume(made)
    given_case = Reserved(case, made, done)
    expected = {i: ("PENDING" if fate[0] == DELETED else fate[0], *fate[1:]) for i, fate in theirs.items()}
    ours = played(given_case)
    assume(all(start <= UNTIL_S for _, start, *_ in ours.values()))  # the plain model looks no further
    assert ours == expected
    assert played(given_case, accelerate=False) == expected


@pytest.mark.interpreted
@examples(80)
@given(reserved_cases())
def test_the_engine_is_the_plain_model(given_case: Reserved) -> None:
    compare(given_case)


@pytest.mark.interpreted
@pytest.mark.parametrize("of", [EQUAL_NODES, ALIKE_NODES], ids=["weights", "alike"])
@examples(60)
@given(st.data())
def test_so_many_able_nodes_are_those_of_the_plain_model(
    of: st.SearchStrategy[Node], data: st.DataObject
) -> None:
    compare(data.draw(reserved_cases(of=of, ask=RIGID_ASKS, most=25)))


@pytest.mark.interpreted
@examples(40)
@given(reserved_cases(most=20, of_main=ROWS, sharing=("NO", "EXCLUSIVE", *ROWS), crowded=True))
def test_the_engine_is_the_plain_model_where_cores_are_shared(given_case: Reserved) -> None:
    compare(given_case, everywhere=True)


@pytest.mark.interpreted
@examples(30)
@given(shared_cases())
def test_one_that_binds_nobody_changes_nothing(case: SharedCase) -> None:
    """It begins after all have ended, so that no job's limit reaches into it."""
    case = possible(case)
    assume(case.jobs)
    alone = {i: expanded(fate) for i, fate in fates(shared_played(case)).items()}
    assume(all(0 <= start < LATER_S - 600 for _, start, *_ in alone.values()))
    later = ReservationKeys(name="r", start=LATER_S, end=LATER_S + 60, nodes=["ALL"], users=["root"])
    assert played(Reserved(case, (later,), ())) == alone


# -------------------------------------------------------------------- by hand


def starts(jobs: list[dict[str, Any]], *flags: str, **module: Any) -> list[tuple[int, str]]:
    """When jobs of 60 s start, and where: of 4 nodes of 8 cores lab has the first two from 200 to 500."""
    lab = {"name": "lab", "start": 200, "end": 500, "nodes": ["m[0-1]"], "users": ["u"], "flags": list(flags)}
    given = {"tasks": 8, "run_time": 60, "time_limit": 120}
    table = ran([lab], {"nodes": 4} | module, [given | job for job in jobs], AT_ONCE)
    return list(zip(table["start_time"].tolist(), table["node_list"].astype(str).tolist(), strict=True))


def ran(
    made: list[dict[str, Any]], module: dict[str, Any], jobs: list[dict[str, Any]], keys: dict[str, Any]
) -> pd.DataFrame:
    """The components of a run on one module, whose nodes have 8 cores."""
    nodes = {"name": "m", "cores_per_node": 8, "shared": True} | module
    given = {"nodes": 1, "submit_time": 0, "user": "u", "reservation": "", "exclusive": 0, "max_nodes": -1}
    rows = [given | job for job in jobs]
    workload = Workload.from_columns(**{name: [row[name] for row in rows] for name in rows[0]})
    system = System.from_dict({"modules": [nodes], "reservations": made})
    result = simulate(system, workload, Policy(name="slurm", backfill="slurm", slurm=keys))
    result.check()
    return result.components


AT_ONCE = {
    "clock": "daemon",
    "batch_sched_delay": 0,
    "bf_interval": 1,
    "bf_resolution": 1,
    "looks_first": "main",
    "latency": "none",
}


@pytest.mark.interpreted
def test_its_jobs_share_its_nodes_and_others_keep_off() -> None:
    """Two of 4 cores fit beside each other on node 0, the third that is of 8 has node 1."""
    inside = [{"submit_time": 210, "tasks": cores, "reservation": "lab"} for cores in (4, 4, 8)]
    assert starts([*inside, {"submit_time": 210, "tasks": 1}]) == [
        (210, "0"),
        (210, "0"),
        (210, "1"),
        (210, "2"),
    ]


@pytest.mark.interpreted
def test_a_limit_may_not_reach_into_it() -> None:
    """At 80 the limit of 120 s ends as it begins; a second later only the others are left."""
    assert starts([{"submit_time": 80}])[0] == (80, "0")
    assert starts([{"submit_time": 81}])[0] == (81, "2")
    assert starts([{"submit_time": 81, "nodes": 3, "tasks": 24}])[0][0] in (500, 501)


@pytest.mark.interpreted
def test_who_waits_for_reserved_nodes_holds_up_nobody_and_who_waits_for_others_does() -> None:
    """The first wants three nodes, two are left; the second in its place wants two, and one is busy."""
    large = [{"submit_time": 210, "nodes": 3, "tasks": 24}, {"submit_time": 211, "tasks": 1}]
    assert [start for start, _ in starts(large)][1] == 211
    busy = {"submit_time": 205, "tasks": 5, "max_nodes": 1}
    waits = [
        busy,
        {"submit_time": 210, "nodes": 2, "tasks": 16},
        {"submit_time": 211, "tasks": 4, "time_limit": 600},
    ]
    assert [start for start, _ in starts(waits)] == [205, 265, 325]


@pytest.mark.interpreted
def test_with_flex_nodes_inside_come_first() -> None:
    """Node 0 has 4 cores free and node 1 eight, the tightest outside would be node 2 with five."""
    first = [{"submit_time": 20, "tasks": 4, "reservation": "lab"}, {"submit_time": 21, "tasks": 8}]
    later = [
        {"submit_time": 22, "tasks": 8, "reservation": "lab"},
        {"submit_time": 23, "tasks": 8, "reservation": "lab"},
    ]
    assert [nodes for _, nodes in starts([*first, *later], "FLEX")] == ["0", "1", "2", "3"]


def alone(made: list[dict[str, Any]], jobs: list[dict[str, Any]], **keys: Any) -> list[int]:
    """When jobs of one core and 50 s start on a single node."""
    given = {"tasks": 1, "run_time": 50, "time_limit": 240}
    table = ran(made, {"nodes": 1}, [given | job for job in jobs], {"bf_interval": 1} | keys)
    return table["start_time"].tolist()


@pytest.mark.interpreted
def test_a_try_in_a_magnetic_reservation_makes_no_plan() -> None:
    """The first would start in the magnetic one at 230, which is in the way of no other from 200 to 260."""
    own = {"name": "r", "start": 200, "end": 230, "nodes": ["m[0]"], "users": ["v"]}
    magnetic = {"name": "t", "start": 200, "end": 1000, "nodes": ["ALL"], "users": ["-v"]}
    made = [
        own | {"flags": ["MAINT", "IGNORE_JOBS"]},
        magnetic | {"flags": ["MAGNETIC", "IGNORE_JOBS"]},
    ]
    jobs = [{}, {"user": "v", "reservation": "r", "time_limit": 60}]
    assert alone(made, jobs, sched_interval=1000, starts_before_s=1) == [230, 200]


@pytest.mark.interpreted
def test_the_daemon_hears_of_a_start_that_is_over_at_its_next_look() -> None:
    """Looks come at 189 and 194. Nothing looks at 187, when it ends, and moves it to its next hour."""
    hourly = {"name": "r", "start": 186, "end": 187, "nodes": ["m[0]"], "users": ["v"], "flags": ["HOURLY"]}
    keys = {"starts_before_s": 62, "looks_first": "backfill", "bf_min_age_reserve": 25, "bf_max_job_test": 1}
    assert alone([hourly], [{"submit_time": 136}], sched_interval=60, **keys) == [189]


# -------------------------------------------------------------------- compiled

SITE = {
    "modules": [{"name": "m", "nodes": 6, "cores_per_node": 8, "shared": True}],
    "reservations": [
        {
            "name": "lab",
            "start": 200,
            "end": 900,
            "nodes": ["m[0-1]"],
            "users": ["u"],
            "flags": ["FLEX", "MAGNETIC"],
        },
        {
            "name": "maint",
            "start": 1000,
            "end": 1300,
            "nodes": ["m[1-3]"],
            "users": ["v"],
            "flags": ["MAINT"],
        },
        {
            "name": "late",
            "at": 300,
            "start": 1500,
            "end": 4000,
            "node_count": 2,
            "users": ["u"],
            "flags": ["REPLACE"],
        },
    ],
    "reservation_changes": [{"name": "late", "at": 800, "node_count": 3}],
}


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
def test_compiled_and_interpreted_agree() -> None:
    draw = np.random.default_rng(5)
    nodes = draw.choice([1, 1, 1, 2, 3], JOBS)
    jobs = Workload.from_columns(
        submit_time=np.sort(draw.integers(0, 2500, JOBS)).tolist(),
        nodes=nodes.tolist(),
        tasks=(nodes * draw.integers(1, 9, JOBS)).tolist(),
        exclusive=draw.choice([0, 0, 0, 1], JOBS).tolist(),
        run_time=draw.integers(20, 300, JOBS).tolist(),
        time_limit=draw.choice([120, 300, 600], JOBS).tolist(),
        user=draw.choice(["u", "v"], JOBS).tolist(),
        reservation=draw.choice(["", "", "", "lab", "maint", "late"], JOBS).tolist(),
    )
    system, policy = System.from_dict(SITE), Policy(backfill="slurm", slurm={"bf_interval": 5})
    compiled = simulate(system, jobs, policy)
    compiled.check()
    inside = compiled.components["reservation"].astype(str) != ""
    assert (compiled.components["start_time"][inside] > 0).sum() > JOBS // 8
    with interpreted():
        plain_run = simulate(system, jobs, policy)
    pd.testing.assert_frame_equal(compiled.components, plain_run.components, check_exact=True)
    pd.testing.assert_frame_equal(compiled.timeline, plain_run.timeline, check_exact=True)
