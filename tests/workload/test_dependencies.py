"""Dependencies: pairing, targets, circles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Workload
from scheduler_sim.errors import TraceError
from tests.counting import calls_in


def chain(ids, kinds, **columns):
    rows = len(ids)
    return Workload.from_columns(
        nodes=np.ones(rows, dtype=np.int64),
        submit_time=np.arange(rows),
        run_time=np.ones(rows, dtype=np.int64),
        dependency_ids=ids,
        dependency_kinds=kinds,
        **columns,
    )


def edges_of(jobs):
    return [tuple(edge) for edge in jobs.dependencies().itertuples(index=False)]


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
        ("1,2", "SINGLETON", []),
        ("1", "singleton,afterok", [(2, 0, "AFTEROK")]),
        ("2", "AFTERCORR", [(2, 1, "AFTEROK")]),
        ("2", "AFTER+0", [(2, 1, "AFTER")]),
    ],
)
def test_pairs(ids, kinds, edges):
    jobs = chain(["", "", ids], ["", "", kinds])
    assert edges_of(jobs) == [(*edge, 0) for edge in edges]
    assert {str(jobs.dependencies()[name].dtype) for name in ("row", "after_row", "minutes")} == {"int64"}


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
        (["", "1"], ["", "AFTEROK+5"], "unknown kind"),
        (["", "1"], ["", "AFTER+"], "unknown kind"),
        (["", "1_2"], ["", "AFTER"], "not in the trace"),
        (["", "1_"], ["", "AFTER"], "not a dependency"),
        (["", "1"], ["", "AFTER,AFTEROK,SINGLETON"], "do not pair up"),
    ],
)
def test_refusals_name_the_row(ids, kinds, message):
    with pytest.raises(TraceError, match=rf"{message}.* in row \d"):
        chain(ids, kinds).dependencies()


def test_minutes_after_a_start_belong_to_their_edge():
    jobs = chain(["", "", "1,2"], ["", "", "AFTER+10,after"])
    assert edges_of(jobs) == [(2, 0, "AFTER", 10), (2, 1, "AFTER", 0)]


def test_singletons_are_rows_without_an_edge():
    jobs = chain(["", "1", "", ""], ["SINGLETON", "afterok,single", "", "singleton"], skipped=[0, 0, 0, 1])
    assert jobs.singletons().tolist() == [0, 1]
    assert edges_of(jobs) == [(1, 0, "AFTEROK", 0)]
    assert jobs.not_honoured() == {"singleton": 2}


def test_minutes_and_any_one_are_honoured():
    jobs = chain(["", "", "1,2", "1"], ["", "", "AFTEROK", "AFTER+2"], dependency_any=[0, 0, 1, 1])
    assert jobs.not_honoured() == {}


# Two arrays, 10 (tasks 0, 1, 2) and 20 (tasks 1, 2, 3), whose last tasks have the arrays' numbers, and a job.
ARRAYS = {
    "component_id": [8, 9, 10, 18, 19, 20, 30],
    "array_job_id": [10, 10, 10, 20, 20, 20, -1],
    "array_task_id": [0, 1, 2, 1, 2, 3, -1],
}


@pytest.mark.parametrize(
    ("row", "ids", "kinds", "after"),
    [
        (6, "10", "AFTEROK", [0, 1, 2]),  # an array's number names the array, not the task that has it
        (6, "9", "AFTEROK", [1]),
        (6, "10_2", "AFTEROK", [2]),
        (6, "10_0,20_3", "AFTEROK", [0, 5]),
        (3, "10", "AFTERCORR", [1]),
        (4, "10", "AFTERCORR", [2]),
        (5, "10", "AFTERCORR", [0, 1, 2]),  # no task 3 there: the whole array
        (6, "10", "AFTERCORR", [0, 1, 2]),  # no array itself
        (4, "30", "AFTERCORR", [6]),  # no array there
    ],
)
def test_arrays_are_named_whole_or_by_task(row, ids, kinds, after):
    given = [(ids, kinds) if i == row else ("", "") for i in range(7)]
    jobs = chain([text for text, _ in given], [text for _, text in given], **ARRAYS)
    assert edges_of(jobs) == [(row, other, "AFTEROK", 0) for other in after]


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


def array_after_array(tasks):
    """Each task of the second array waits for its own of the first."""
    number = np.repeat([1, 2], tasks)
    return chain(
        np.where(number == 2, "1", ""),
        np.where(number == 2, "AFTERCORR", ""),
        array_job_id=number,
        array_task_id=np.tile(np.arange(tasks), 2),
    )


def test_arrays_that_wait_task_by_task_cost_as_much_as_their_tasks():
    tasks = 1000
    edges = array_after_array(tasks).dependencies()
    assert np.array_equal(edges["row"] - tasks, edges["after_row"])
    assert len(edges) == tasks
    once, twice = (calls_in(array_after_array(many).dependencies) for many in (tasks, 2 * tasks))
    assert twice < 2.1 * once


def last_after_the_first(rows):
    """Nobody else waits for anything, in the words of traces."""
    ids = np.full(rows, "-1", dtype=object)
    kinds = np.full(rows, "NA", dtype=object)
    ids[-1], kinds[-1] = "1", "AFTER"
    return chain(ids, kinds)


def test_only_rows_with_dependencies_cost_time():
    rows = 20_000
    assert last_after_the_first(rows).dependencies().values.tolist() == [[rows - 1, 0, "AFTER", 0]]
    few, many = (calls_in(last_after_the_first(number).dependencies) for number in (10, rows))
    assert many == few
