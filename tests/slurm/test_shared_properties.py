"""Slurm's schedulers on nodes that jobs share: the engine is the plain model of select/cons_tres."""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from tests.conftest import examples
from tests.slurm.shared_cases import SharedCase, fates, played, possible, shared_cases, told


@pytest.mark.interpreted
@examples(60)
@given(shared_cases())
def test_the_engine_is_the_plain_model(case: SharedCase) -> None:
    case = possible(case)
    assume(case.jobs)
    ours, theirs = fates(played(case)), told(case)
    assert {i: expanded(fate) for i, fate in ours.items()} == theirs


def expanded(fate: tuple) -> tuple:
    """With each node by itself, as 0-2,5 is 0,1,2,5."""
    state, start, nodes, *rest = fate
    numbers = []
    for item in filter(None, nodes.split(",")):
        first, _, last = item.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return state, start, ",".join(map(str, numbers)), *rest
