"""Jobs that share nodes in the engine: the recordings are met, start by start as by the plain model."""

from __future__ import annotations

import pytest

from tests.conftest import needs_shared
from tests.slurm_oracle.figures import meets, nearest
from tests.slurm_oracle.shared_engine import play_shared_engine, shared_orders
from tests.slurm_oracle.shared_nodes import load_shared, play_shared, shared_names

LONG = ("HS1a_cores",)
"""Recordings whose sites compile a shape that no other test here has."""

RECORDED = [pytest.param(name, marks=[pytest.mark.long] * (name in LONG)) for name in shared_names()]


@needs_shared
@pytest.mark.parametrize("name", RECORDED)
def test_recorded(name: str) -> None:
    case = load_shared(name)
    run, found = nearest(case, *shared_orders())
    assert meets(case, found), (run.name, found)


@needs_shared
@pytest.mark.parametrize("first", ["main", "backfill"])
@pytest.mark.parametrize("name", RECORDED)
def test_the_engine_is_the_plain_model(name: str, first: str) -> None:
    case = load_shared(name)
    for run in case.runs:
        ours = play_shared_engine(case, run, looks_first=first)
        theirs = play_shared(case, run, backfill_first=first == "backfill")
        assert {fate[0]: fate[1:3] for fate in ours} == {fate[0]: fate[1:3] for fate in theirs}
