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
from scheduler_sim.system.reservations import ReservationKeys, nodes_named
from tests.conftest import examples
from tests.oracle.plain_reservation_records import DELETED, NODES_ARE_ALL, RefusedError, Request
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

FLAGS = ("MAINT", "OVERLAP", "FLEX", "PURGE_COMP", "ANY_NODES")


@st.composite
def reservations(draw: st.DrawFn, name: str, nodes: int) -> ReservationKeys:
    start = draw(st.integers(-30, 250))
    flags = tuple(sorted(draw(st.sets(st.sampled_from(FLAGS), max_size=2))))
    named = sorted(draw(st.sets(st.integers(0, nodes - 1), min_size=1)))
    words = draw(st.sampled_from([["ALL"], [f"m[{','.join(map(str, named))}]"]]))
    return ReservationKeys(
        name=name,
        start=start,
        end=start + draw(st.integers(1, 200)),
        nodes=[] if "ANY_NODES" in flags else words,
        users=draw(st.sampled_from([["u"], ["v"], ["-v"]])),
        flags=[*flags, "IGNORE_JOBS"],
        purge_comp_s=draw(st.sampled_from([20, 60])),
    )


@st.composite
def reserved_cases(draw: st.DrawFn) -> tuple[Case, tuple[ReservationKeys, ...]]:
    sizes = (draw(st.integers(1, 4)), draw(st.integers(1, 3)))
    queues = [Queue("a", "m", (FIRST, SECOND), draw(st.sampled_from([1, 2])))]
    if draw(st.booleans()):
        queues.append(Queue("b", "m", (FIRST,)))
    made = tuple(draw(reservations(name, sum(sizes))) for name in ("r", "s")[: draw(st.integers(1, 2))])
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
    return Case({"m": sizes}, tuple(queues), tuple(rows), given_keys, begins_s=draw(st.integers(1, 90))), made


def told(case: Case, made: tuple[ReservationKeys, ...]) -> tuple[Fates, set[int]]:
    """What the plain model makes of it, and which jobs it refused."""
    bare = plain(case)
    slurm = ReservedSlurm(bare.c, deepcopy(list(case.jobs)), [])
    for one in made:
        named = {number for _, numbers in nodes_named(one.nodes, [("m", 99)]) for number in numbers}
        nodes = None if not one.nodes else NODES_ARE_ALL if one.nodes == ["ALL"] else named
        asked = Request(
            one.start,
            one.end,
            nodes=nodes,
            users=tuple(one.users),
            flags=tuple(one.flags),
            purge_comp=one.purge_comp_s,
        )
        with suppress(RefusedError):
            slurm._create_reservation(one.name, asked, bare.c.daemon_start)
    created = {one.name for one in slurm.reservations}
    slurm.run(UNTIL_S)
    theirs = {job.id: (slurm.ended_as(job), job.start) for job in slurm.jobs}
    return theirs | {job.id: ("REJECTED", None) for job in slurm.no_access}, created


def played(case: Case, made: tuple[ReservationKeys, ...], **more: Any) -> Fates:
    given_keys = {"starts_before_s": case.begins_s} | case.keys | more
    system = replace(system_of(case), reservations=made)
    result = simulate(system, workload_of(case), Policy(name="slurm", backfill="slurm", slurm=given_keys))
    result.check()
    return fates(result)


@pytest.mark.interpreted
@examples(60)
@given(reserved_cases())
def test_the_engine_is_the_plain_model(given_case: tuple[Case, tuple[ReservationKeys, ...]]) -> None:
    case, made = given_case
    theirs, created = told(case, made)
    made = tuple(one for one in made if one.name in created)
    assume(made)
    expected = {i: ("PENDING" if state == DELETED else state, start) for i, (state, start) in theirs.items()}
    assert played(case, made) == expected
