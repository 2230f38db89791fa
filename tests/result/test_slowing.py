"""Spans in which components were slowed: as text, and what the laws say of them."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Result, System, simulate
from scheduler_sim.errors import InvariantError
from scheduler_sim.result.slowing import slowed_in, slowed_text
from tests.simulation.acting import trace
from tests.simulation.test_power_cap import models, series

spans = st.tuples(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**12))


@given(st.lists(spans, max_size=4))
def test_spans_are_read_as_written(found: list[tuple[int, int, int]]):
    assert slowed_in(slowed_text(found)) == sorted(found)


@pytest.mark.parametrize("text", ["40-65", "40-65:", "40-65:1.2345", "40:65:3", "x"])
def test_other_texts_are_none(text: str):
    with pytest.raises(ValueError, match="no spans"):
        slowed_in(text)


def good() -> Result:
    given = models(series((0, 200), (40, 130), (80, 200)), slow_running=True)
    return simulate(System.homogeneous(1), trace((0, 1, 100, 100)), models=given)


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("column", "value", "law"),
    [
        ("slowed", "40-80", "slowings: '40-80' are no spans of time with powers"),
        ("slowed", "40-200:125", "slowings: component 1 was slowed from 40 to 200, not in its run"),
        ("slowed_time", 41, "slowings: component 1 was slowed for 41 s, its spans are of 40 s"),
        ("slowed", "40-80:126", "component-energy: component 1 took 21000.0 J"),
    ],
)
def test_a_broken_law_is_named(column: str, value: object, law: str):
    result = good()
    result.check()
    result.components[column] = pd.Categorical([value]) if isinstance(value, str) else value
    with pytest.raises(InvariantError) as told:
        result.check()
    assert str(told.value).startswith(law), told.value


@pytest.mark.interpreted
def test_it_is_saved_and_loaded(tmp_path):
    result = good()
    result.save(tmp_path / "result")
    loaded = Result.load(tmp_path / "result")
    loaded.check()
    assert loaded.components["slowed"].astype(str).tolist() == ["40-80:125"]
    assert loaded.components["energy_j"].tolist() == [80 * 200 + 40 * 125]
