"""Advance reservations on random sites: the engine against the plain model."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Policy, simulate
from scheduler_sim.system.reservations import ReservationChangeKeys, ReservationKeys, nodes_named
from tests.conftest import examples
from tests.oracle.plain_reservation_records import (
    DELETED,
    NODES_ARE_ALL,
    Change,
    RefusedError,
    Request,
)
from tests.oracle.plain_reserved_slurm import ReservedSlurm
from tests.oracle.plain_slurm_records import Job
from tests.slurm.engine_cases import (
    FIRST,
    SECOND,
    UNTIL_S,
    Case,
    Fates,
    Queue,
    fates,
    keys,
    plain,
    system_of,
    workload_of,
)

FLAGS = (
    *("MAINT", "OVERLAP", "FLEX", "PURGE_COMP", "ANY_NODES", "NO_HOLD_JOBS_AFTER", "HOURLY"),
    *("MAGNETIC", "REPLACE"),
)


@st.composite
def reservations(draw: st.DrawFn, name: str, nodes: int) -> ReservationKeys:
    start = draw(st.integers(-30, 250))
    flags = tuple(sorted(draw(st.sets(st.sampled_from(FLAGS), max_size=2))))
    named = sorted(draw(st.sets(st.integers(0, nodes - 1), min_size=1)))
    words = draw(st.sampled_from([["ALL"], [f"m[{','.join(map(str, named))}]"]]))
    counts = [draw(st.integers(1, nodes))] + ([] if "REPLACE" in flags else [None, None])
    count = draw(st.sampled_from(counts))
    flags = tuple(flag for flag in flags if count is None or flag != "ANY_NODES")
    return ReservationKeys(
        name=name,
        at=draw(st.sampled_from([None, None, None, draw(st.integers(-20, 200))])),
        start=start,
        end=start + draw(st.integers(1, 200)),
        nodes=[] if "ANY_NODES" in flags or count else words,
        node_count=None if "ANY_NODES" in flags else count,
        users=draw(st.sampled_from([["u"], ["v"], ["-v"]])),
        flags=[*flags, *draw(st.sampled_from([["IGNORE_JOBS"], []]))],
        purge_comp_s=draw(st.sampled_from([20, 60])),
    )


@st.composite
def changes(draw: st.DrawFn, made: tuple[ReservationKeys, ...], nodes: int) -> ReservationChangeKeys:
    """Something done to one of them: another time, another size, other users, or none of it any more."""
    kind = draw(st.sampled_from(["start", "end", "node_count", "users", "delete"]))
    given: dict[str, Any] = {
        "start": {"start": draw(st.integers(0, 250))},
        "end": {"end": draw(st.integers(50, 400))},
        "node_count": {"node_count": draw(st.integers(1, nodes))},
        "users": {"users": draw(st.sampled_from([["u"], ["v"]]))},
        "delete": {"action": "delete"},
    }[kind]
    return ReservationChangeKeys(
        name=draw(st.sampled_from(made)).name, at=draw(st.integers(-20, 250)), **given
    )


@st.composite
def reserved_cases(
    draw: st.DrawFn,
) -> tuple[Case, tuple[ReservationKeys, ...], tuple[ReservationChangeKeys, ...]]:
    sizes = (draw(st.integers(1, 4)), draw(st.integers(1, 3)))
    queues = [Queue("a", "m", (FIRST, SECOND), draw(st.sampled_from([1, 2])))]
    if draw(st.booleans()):
        queues.append(Queue("b", "m", (FIRST,)))
    made = tuple(draw(reservations(name, sum(sizes))) for name in ("r", "s", "t")[: draw(st.integers(1, 3))])
    done = tuple(draw(changes(made, sum(sizes))) for _ in range(draw(st.integers(0, 3))))
    done = tuple(sorted(done, key=lambda change: change.at))
    rows = []
    for number in range(1, draw(st.integers(2, 12))):
        queue = draw(st.sampled_from(queues))
        most = sizes[0] if queue.name == "b" else sum(sizes)
        rows.append(
            Job(
                number,
                draw(st.integers(0, 200)),
                [queue.name],
                draw(st.integers(1, most)),
                draw(st.integers(1, 200)),
                draw(st.integers(1, 4)),
                user=draw(st.sampled_from("uv")),
                reservation=draw(st.sampled_from(["", "", *(one.name for one in made)])),
            )
        )
    rows.sort(key=lambda row: row.submit)
    rows = [replace(row, id=number) for number, row in enumerate(rows, 1)]
    given_keys = draw(keys()) | {"SchedulerType": "sched/backfill"}
    return (
        Case({"m": sizes}, tuple(queues), tuple(rows), given_keys, begins_s=draw(st.integers(1, 90))),
        made,
        done,
    )


class Waiting(ReservedSlurm):
    """The plain model, which waits for reservations that come again."""

    def _stuck(self, job: Job) -> bool:
        return super()._stuck(job) and not any(one.repeats for one in self.reservations)


def told(
    case: Case, made: tuple[ReservationKeys, ...], done: tuple[ReservationChangeKeys, ...]
) -> tuple[Fates, set[str]]:
    """What the plain model makes of it, and which reservations stand when the run begins."""
    bare = plain(case)
    start = bare.c.daemon_start
    later = [*(one for one in made if one.at is not None), *done]
    later = sorted((one for one in later), key=lambda one: one.at)
    asked = [
        Change(max(one.at, start + 1), getattr(one, "action", "create"), one.name, request(one))
        for one in later
    ]
    slurm = Waiting(bare.c, deepcopy(list(case.jobs)), asked)
    for one in made:
        with suppress(RefusedError):
            if one.at is None:
                slurm._create_reservation(one.name, request(one), start)
    stand = {one.name for one in slurm.reservations}
    slurm.run(UNTIL_S)
    theirs = {job.id: (slurm.ended_as(job), job.start) for job in slurm.jobs}
    return theirs | {job.id: ("REJECTED", None) for job in slurm.no_access}, stand


def request(one: ReservationKeys | ReservationChangeKeys) -> Request:
    """What is asked for in the words of the plain model."""
    named = {number for _, numbers in nodes_named(one.nodes, [("m", 99)]) for number in numbers}
    return Request(
        one.start,
        one.end,
        nodes=None if not one.nodes else NODES_ARE_ALL if one.nodes == ["ALL"] else named,
        node_count=one.node_count,
        users=tuple(one.users),
        flags=tuple(getattr(one, "flags", ())),
        purge_comp=getattr(one, "purge_comp_s", 300),
    )


def played(
    case: Case, made: tuple[ReservationKeys, ...], done: tuple[ReservationChangeKeys, ...], **more: Any
) -> Fates:
    given_keys = {"starts_before_s": case.begins_s} | case.keys | more
    system = replace(system_of(case), reservations=made, reservation_changes=done)
    result = simulate(system, workload_of(case), Policy(name="slurm", backfill="slurm", slurm=given_keys))
    result.check()
    return fates(result)


@pytest.mark.interpreted
@examples(120)
@given(reserved_cases())
def test_the_engine_is_the_plain_model(
    given_case: tuple[Case, tuple[ReservationKeys, ...], tuple[ReservationChangeKeys, ...]],
) -> None:
    case, made, done = given_case
    theirs, stand = told(case, made, done)
    made = tuple(one for one in made if one.at is not None or one.name in stand)
    done = tuple(one for one in done if one.name in {one.name for one in made})
    assume(made)
    expected = {i: ("PENDING" if state == DELETED else state, start) for i, (state, start) in theirs.items()}
    assert played(case, made, done) == expected


@pytest.mark.interpreted
@examples(60)
@given(reserved_cases(), st.sampled_from([1, 3, 1440]))
def test_what_is_left_out_for_speed_makes_no_difference(
    given_case: tuple[Case, tuple[ReservationKeys, ...], tuple[ReservationChangeKeys, ...]], window_min: int
) -> None:
    """Also where reservations outlast the plan."""
    case, made, done = given_case
    _, stand = told(case, made, done)
    made = tuple(one for one in made if one.at is not None or one.name in stand)
    done = tuple(one for one in done if one.name in {one.name for one in made})
    assume(made)
    fast, slow = (played(case, made, done, accelerate=on, bf_window=window_min) for on in (True, False))
    assert fast == slow
