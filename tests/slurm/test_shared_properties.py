"""Slurm's schedulers on nodes that jobs share: the engine is the plain model of select/cons_tres."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.slurm.shared_cases import (
    ALIKE_NODES,
    EQUAL_NODES,
    MIXED_NODES,
    RIGID_ASKS,
    TYPED_ASKS,
    SharedCase,
    fates,
    played,
    possible,
    shared_cases,
    told,
)


@pytest.mark.interpreted
@examples(60)
@given(shared_cases())
def test_the_engine_is_the_plain_model(case: SharedCase) -> None:
    compare(case)


@pytest.mark.interpreted
@examples(60)
@given(shared_cases(of=MIXED_NODES, ask=TYPED_ASKS))
def test_gpus_of_several_types_are_those_of_the_plain_model(case: SharedCase) -> None:
    compare(case)


@pytest.mark.interpreted
@pytest.mark.parametrize("of", [EQUAL_NODES, ALIKE_NODES], ids=["weights", "alike"])
@examples(60)
@given(st.data())
def test_so_many_able_nodes_are_those_of_the_plain_model(of, data) -> None:
    compare(data.draw(shared_cases(most=25, of=of, ask=RIGID_ASKS)))


def compare(case: SharedCase, *, everywhere: bool = False) -> None:
    """Play a case in the engine and in the plain model; ``everywhere``: without jobs that may not fit."""
    case = possible(case, everywhere=everywhere)
    assume(case.jobs)
    ours, theirs = fates(played(case)), told(case)
    assert {i: expanded(fate) for i, fate in ours.items()} == theirs


ROWS = ("FORCE:1", "FORCE:2", "FORCE:3", "YES:2")


@pytest.mark.interpreted
@examples(60)
@given(shared_cases(most=20, of_main=ROWS, sharing=("NO", "EXCLUSIVE", *ROWS), crowded=True))
def test_the_engine_is_the_plain_model_where_cores_are_shared(case: SharedCase) -> None:
    compare(case, everywhere=True)


def expanded(fate: tuple) -> tuple:
    """With each node by itself, as 0-2,5 is 0,1,2,5."""
    state, start, nodes, *rest = fate
    numbers = []
    for item in filter(None, nodes.split(",")):
        first, _, last = item.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return state, start, ",".join(map(str, numbers)), *rest
