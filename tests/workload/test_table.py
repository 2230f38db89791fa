"""The Workload itself: building, validating, changing it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scheduler_sim import Workload, read_trace, write_trace
from scheduler_sim.errors import TraceError
from scheduler_sim.workload.fields import FIELDS
from tests.workload.records import swf, write


def workload(**columns):
    return Workload.from_columns(
        **{"nodes": [4, 2, 1], "submit_time": [0, 5, 5], "run_time": [60, 30, 0], **columns}
    )


def test_defaults_fill_every_column():
    table = workload().table
    assert list(table.columns) == list(FIELDS)
    for field in FIELDS.values():
        if field.name in ("nodes", "submit_time", "run_time", "component_id", "modular_job_id"):
            continue
        assert set(table[field.name]) == {field.default}, field.name
    assert table["component_id"].tolist() == table["modular_job_id"].tolist() == [1, 2, 3]


def test_types_are_those_of_the_field_table():
    for name, column in workload().table.items():
        field = FIELDS[name]
        assert isinstance(column.dtype, pd.CategoricalDtype) if field.is_text else column.dtype == field.dtype


def test_columns_from_any_sequence_and_single_values():
    jobs = workload(
        time_limit=60, user=["a", "b", "a"], partition="CM", nodes=np.array([1, 2, 3], dtype=np.int16)
    )
    assert jobs["time_limit"].tolist() == [60, 60, 60]
    assert jobs["user"].tolist() == ["a", "b", "a"]
    assert jobs["partition"].tolist() == ["CM", "CM", "CM"]
    assert jobs["nodes"].dtype == np.int64
    assert len(jobs) == 3


def test_a_column_taken_out_is_a_copy():
    jobs = workload()
    jobs["nodes"][0] = 99
    jobs["time_limit"][0] = 99
    assert jobs["nodes"].tolist() == [4, 2, 1]
    assert jobs["time_limit"].tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"nodes": [1, 0, 1]}, r"in row 1 of the workload; field nodes; found 0; allowed: 1 to"),
        ({"nodes": [1, -4, 1]}, r"found -4"),
        ({"run_time": [1, 1, -1]}, r"row 2 .* field run_time; found -1"),
        ({"submit_time": [-5, 1, 1]}, r"row 0 .* field submit_time"),
        ({"time_limit": [0, 1, 1]}, r"field time_limit; found 0; allowed: -1 \(none\), or 1"),
        ({"time_limit": [-2, 1, 1]}, r"field time_limit"),
        ({"nodes": [1.5, 2, 3]}, r"column nodes holds values of type float64; allowed: whole numbers"),
        ({"nodes": ["a", "b", "c"]}, r"column nodes holds values of type"),
        ({"nodes": [2**63, 1, 1]}, r"column nodes .*"),
        ({"nodes": [1, 2]}, r"differ in length"),
        ({"user": ["a", None, "b"]}, r"column user has missing values"),
        ({"knodes": 1}, r"no such column in a workload: knodes"),
        ({"skipped": [0, 99, 0]}, r"field skipped; found 99"),
        ({"delay": -7}, r"field delay"),
        ({"begin_time": -2}, r"field begin_time; found -2; allowed: -1 \(none\), or 0 to"),
        ({"array_limit": 0}, r"field array_limit; found 0; allowed: 1 or more; -1 = any number"),
        ({"array_task_id": -5}, r"field array_task_id"),
        ({"nice": 2**31}, r"field nice; found 2147483648"),
        ({"hold": 2}, r"field hold; found 2; allowed: 0 or 1"),
        ({"dependency_any": -1}, r"field dependency_any"),
        ({"api_calls": "soon"}, r"not an API call"),
        ({"frequency": "fast"}, r"not a frequency"),
    ],
)
def test_what_may_not_be(columns, message):
    with pytest.raises(TraceError, match=message):
        workload(**columns)


def test_needed_columns():
    with pytest.raises(TraceError, match="needs the columns submit_time, run_time"):
        Workload.from_columns(nodes=[1])


def test_rows_that_are_skipped_may_hold_anything():
    assert (
        len(workload(nodes=[4, -1, 1], run_time=[1, -5, 1], submit_time=[0, -9, 1], skipped=[0, 3, 0])) == 3
    )


def test_an_empty_workload():
    jobs = Workload.from_columns(nodes=[], submit_time=[], run_time=[])
    assert len(jobs) == 0
    assert jobs.dependencies().empty
    assert jobs.not_honoured() == {}


def test_select_and_replace(tmp_path):
    jobs = read_trace(write(tmp_path / "t.swf", ["; head", swf(), swf({1: 2}), "; between", swf({1: 3})]))
    for part in (jobs.select([2, 0]), jobs.select(np.array([True, False, True]))):
        assert sorted(part["component_id"].tolist()) == [1, 3]
        assert part.source.header == ("; head",)
        assert part.source.line_of(0) is None
    longer = jobs.replace(time_limit=jobs["time_limit"] * 2)
    assert longer["time_limit"].tolist() == [200, 200, 200]
    assert jobs["time_limit"].tolist() == [100, 100, 100]
    with pytest.raises(TraceError, match=r"t\.swf:2: .* field 8 \(nodes\); found 0"):
        jobs.replace(nodes=[0, 1, 1])


def test_not_honoured_counts_simulated_rows():
    jobs = workload(
        components_total=[2, 2, 1],
        delay=[-1, 10, 0],
        api_calls=["5", "-1", "0"],
        preceding_job=[-1, 1, 0],
        dependency_ids=["", "1", "2"],
        dependency_kinds=["SINGLETON", "DYNAMIC", "afterok"],
    )
    assert jobs.not_honoured() == {
        "heterogeneous": 2, "delay": 1, "api_call": 1, "dynamic": 1, "singleton": 1, "preceding_job": 1,
    }  # fmt: skip
    assert jobs.dependencies().values.tolist() == [[2, 1, "AFTEROK", 0]]
    assert "heterogeneous" not in jobs.replace(skipped=[1, 1, 0]).not_honoured()


def test_what_holds_components_is_counted():
    jobs = workload(
        begin_time=[-1, 5, 6], hold=[1, 0, 0], nice=[0, -5, 5], array_job_id=[1, 1, 1], array_limit=[2, 2, -1]
    )
    assert jobs.not_honoured() == {"begin_time": 1, "hold": 1, "nice": 2, "array_limit": 2}


def test_columns_that_say_nothing_cost_nothing():
    jobs = Workload.from_columns(nodes=np.ones(1000, dtype=np.int64), submit_time=np.arange(1000), run_time=5)
    costly = {
        name
        for name, column in jobs.table.items()
        if column.to_numpy().strides != (0,) and not FIELDS[name].is_text
    }
    assert costly == {"submit_time", "component_id", "modular_job_id"}


def test_it_says_what_it_is(tmp_path):
    assert repr(workload()) == "<Workload of 3 components from table>"


def test_honouring_status_makes_what_failed_in_the_trace_fail():
    jobs = Workload.from_columns(
        nodes=1, submit_time=0, run_time=5, status=[0, 1, 5, -1, 0], exit_code=[0, 0, 0, 0, 3]
    )
    assert jobs.honouring_status()["exit_code"].tolist() == [0, 1, 1, 0, 3]
    assert jobs["exit_code"].tolist() == [0, 0, 0, 0, 3]


@pytest.mark.parametrize("kind", ["swf", "mwf", "parquet"])
def test_what_all_rows_say_alike_takes_no_memory(tmp_path, kind):
    rows = np.arange(1, 1001)
    limit = rows + 1
    made = Workload.from_columns(nodes=rows, submit_time=rows, run_time=rows, time_limit=limit, user="17")
    write_trace(made, tmp_path / f"t.{kind}")
    workload = read_trace(tmp_path / f"t.{kind}")
    columns = {str(name): values.array for name, values in workload.table.items()}
    arrays = {name: getattr(column, "codes", column) for name, column in columns.items()}
    own = {name for name, array in arrays.items() if np.asarray(array).strides != (0,)}
    numbers = {"modular_job_id", "component_id", "nodes", "submit_time", "run_time", "time_limit"}
    listed = {"swf": {"listed_nodes", "listed_time_limit"}, "parquet": set()}
    listed["mwf"] = listed["swf"] | {"listed_component_id"}
    assert own == numbers | listed[kind]
    ids = {name: np.asarray(arrays[name]).__array_interface__["data"] for name in own}
    assert ids["component_id"] == ids["modular_job_id"]
    if kind == "mwf":
        assert ids["listed_component_id"] == ids["modular_job_id"]
    if kind != "parquet":
        assert ids["nodes"] == ids["listed_nodes"]
        assert ids["time_limit"] == ids["listed_time_limit"]
