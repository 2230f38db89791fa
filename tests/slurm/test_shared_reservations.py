"""Advance reservations of nodes that jobs share, on random sites: the engine against the plain model."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Policy, simulate
from scheduler_sim.system.reservations import ReservationChangeKeys, ReservationKeys
from tests.conftest import examples
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
from tests.slurm.test_reservations_properties import changes, request, reservations
from tests.slurm.test_shared_properties import ROWS, expanded
from tests.slurm_oracle.shared_engine import settings_of, system_of

Fates = dict[int, tuple[Any, ...]]


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
