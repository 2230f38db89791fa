"""The documented columns: what they accept, and that their reference page is current."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scheduler_sim.result import reference
from scheduler_sim.result.columns import COMPONENTS, TIMELINE, column_problems, frame, rows_named
from tests.conftest import ROOT


def small_timeline():
    numbers = {column.name: np.arange(3) for column in TIMELINE if column.dtype == "int64"}
    return {**numbers, "module": ["CM", "CM", "total"]}


def test_the_contract_is_kept_word_by_word():
    assert ", ".join(column.name for column in COMPONENTS) == (
        "modular_job_id, component_id, name, user, app, module, nodes, frequency_khz, submit_time,"
        " eligible_time, start_time, end_time, time_limit, run_time, state, wait_dependency, wait_priority,"
        " wait_resources, power_w, energy_j"
    )
    assert ", ".join(column.name for column in TIMELINE) == (
        "time, module, nodes_busy, nodes_reserved_idle, nodes_down, queue_components, queue_nodes, power_w"
    )


def test_the_reference_page_is_current():
    assert (ROOT / "docs/reference/result.md").read_text(encoding="utf-8") == reference.page()


def test_a_frame_has_the_documented_order_and_types_and_shares_memory():
    columns = small_timeline()
    data = frame(dict(reversed(columns.items())), TIMELINE)
    assert column_problems(data, TIMELINE) == []
    assert np.shares_memory(data["time"].to_numpy(), columns["time"])
    assert data["power_w"].isna().all()


def test_a_frame_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match="not columns of this table: colour"):
        frame({**small_timeline(), "colour": [1, 2, 3]}, TIMELINE)


def test_problems_name_the_column():
    data = frame(small_timeline(), TIMELINE)
    assert column_problems(data.drop(columns="time"), TIMELINE) == ["column time is missing"]
    assert column_problems(data[list(data.columns)[::-1]], TIMELINE)[0].startswith("columns are in the order")
    assert column_problems(data.assign(module=1), TIMELINE) == ["column module is int64 instead of text"]


@pytest.mark.parametrize("dtype", ["category", object])
def test_rows_are_found_by_name(dtype):
    text = pd.Series(["CM", "ESB", "CM"], dtype=dtype)
    assert rows_named(text, "CM").tolist() == [True, False, True]
    assert rows_named(text, "DAM").tolist() == [False] * 3
