"""Dependencies: pairing, targets, circles."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Workload
from scheduler_sim.errors import TraceError


def chain(ids, kinds):
    rows = len(ids)
    return Workload.from_columns(
        nodes=np.ones(rows, dtype=np.int64),
        submit_time=np.arange(rows),
        run_time=np.ones(rows, dtype=np.int64),
        dependency_ids=ids,
        dependency_kinds=kinds,
    )


@pytest.mark.parametrize(
    ("ids", "kinds", "edges"),
    [
        ("-1", "NA", []),
        ("NA", "-1", []),
        ("1", "AFTER", [(2, 0, "AFTER")]),
        ("1", "afterok", [(2, 0, "AFTEROK")]),
        ("1,2", "afterok,AfterAny", [(2, 0, "AFTEROK"), (2, 1, "AFTERANY")]),
        ("1,2", "afternotok", [(2, 0, "AFTERNOTOK"), (2, 1, "AFTERNOTOK")]),
        ("2, 1", "AFTER , AFTEROK", [(2, 1, "AFTER"), (2, 0, "AFTEROK")]),
        ("1,2", "DYNAMIC,AFTER", [(2, 1, "AFTER")]),
        ("-1", "SINGLETON", []),
    ],
)
def test_pairs(ids, kinds, edges):
    found = chain(["", "", ids], ["", "", kinds]).dependencies()
    assert [tuple(row) for row in found.itertuples(index=False)] == edges
    assert found["row"].dtype == found["after_row"].dtype == np.int64


@pytest.mark.parametrize(
    ("ids", "kinds", "message"),
    [
        (["2", "1"], ["AFTER", "AFTER"], "circle"),
        (["1", ""], ["AFTER", ""], "circle"),
        (["2", "3", "1", ""], ["AFTEROK"] * 3 + [""], "circle"),
        (["", "9"], ["", "AFTER"], "not in the trace"),
        (["", "1,,2"], ["", "AFTER"], "not a dependency"),
        (["", "-3"], ["", "AFTER"], "not a dependency"),
        (["", "1"], ["", ""], "do not pair up"),
        (["", "1"], ["", "AFTER,AFTER"], "do not pair up"),
        (["", "1"], ["", "BEFORE"], "unknown kind"),
    ],
)
def test_refusals_name_the_row(ids, kinds, message):
    with pytest.raises(TraceError, match=rf"{message}.* in row \d"):
        chain(ids, kinds).dependencies()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_a_circle_is_found_exactly_where_sorting_fails(edges):
    after = {row: sorted({str(there + 1) for here, there in edges if here == row}) for row in range(10)}
    jobs = chain(
        [",".join(after[row]) for row in range(10)], ["AFTER" if after[row] else "" for row in range(10)]
    )
    left = {row: {int(number) - 1 for number in after[row]} for row in range(10)}
    while free := [row for row, needs in left.items() if not needs & left.keys()]:
        for row in free:
            del left[row]
    if left:
        with pytest.raises(TraceError, match="circle"):
            jobs.dependencies()
    else:
        assert len(jobs.dependencies()) == len(set(edges))


def test_only_rows_with_dependencies_cost_time():
    rows = 200_000
    ids = np.full(rows, "-1", dtype=object)
    kinds = np.full(rows, "NA", dtype=object)
    ids[-1], kinds[-1] = "1", "AFTER"
    jobs = chain(ids, kinds)
    start = time.perf_counter()
    assert jobs.dependencies().values.tolist() == [[rows - 1, 0, "AFTER"]]
    assert time.perf_counter() - start < 1
