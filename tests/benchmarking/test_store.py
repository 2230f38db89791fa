"""The store grows, knows what it has, and touches nothing that it did not write."""

from __future__ import annotations

import sqlite3

import numpy as np
import pandas as pd
import pytest

from scheduler_sim.benchmarking.points import points_of
from scheduler_sim.benchmarking.result_table import ResultTable
from scheduler_sim.benchmarking.series import series_of
from scheduler_sim.benchmarking.store import Added, Store
from scheduler_sim.errors import InputError

DAY = 86400


def table(tmp_path, rows, benchmark="solver"):
    """Make a table of (day, nodes, mpi, seconds)."""
    days, nodes, mpi, values = zip(*rows, strict=True)
    frame = pd.DataFrame({"row": range(len(rows)), "time": np.array(days) * DAY})
    frame = frame.assign(metric="runtime", unit="s", value=np.array(values, dtype=float))
    parameters = pd.DataFrame({"nodes": list(map(str, nodes))})
    return ResultTable(benchmark, tmp_path / "t.csv", frame, parameters, pd.DataFrame({"mpi": mpi}), ())


def test_what_is_there_is_not_added_twice_and_new_points_are(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    first = table(tmp_path, [(1, 1, "a", 10), (1, 1, "a", 11), (2, 1, "a", 12)])
    assert store.add([first]) == Added(new=2)
    assert store.add([first]) == Added(known=2)
    more = table(tmp_path, [(2, 1, "a", 12), (2, 4, "a", 3), (3, 1, "b", 9)])
    assert store.add([more]) == Added(new=2)
    results = store.results()
    assert list(results["value"]) == [10, 11, 12, 9, 3]
    assert list(results["repetition"]) == [0, 1, 0, 0, 0]


def test_other_values_for_a_run_are_refused_whole_or_replaced(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.add([table(tmp_path, [(1, 1, "a", 10)])])
    other = table(tmp_path, [(0, 1, "a", 5), (1, 1, "a", 99)])
    with pytest.raises(
        InputError, match=r"1970-01-02.*found runtime 99 where .* has 10 \(nodes=1\).*--force"
    ):
        store.add([other])
    assert list(store.results()["value"]) == [10]  # nor was the day before it added
    assert store.add([other], replace=True) == Added(new=1, replaced=1)
    assert list(store.results()["value"]) == [5, 99]


def test_what_it_did_not_write_is_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    with pytest.raises(InputError, match="is left alone"):
        Store(path).add([table(tmp_path, [(1, 1, "a", 10)])])
    assert path.read_text() == "mine"
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (a)")
    connection.close()
    before = other.read_bytes()
    with pytest.raises(InputError, match="database of another program"):
        Store(other).add([table(tmp_path, [(1, 1, "a", 10)])])
    assert other.read_bytes() == before
    with pytest.raises(InputError, match="no such store"):
        Store(tmp_path / "none.sqlite").results()
    assert not (tmp_path / "none.sqlite").exists()


def stepped(tmp_path, before=12, after=8):
    """Return a store whose runs on 1 and 4 nodes take longer from some day on, with another MPI."""
    rows = [
        (
            day,
            nodes,
            "a" if day < before else "b",
            (10 / nodes + day % 3 * 0.01) * (1 if day < before else 1.5),
        )
        for day in range(before + after)
        for nodes in (1, 4)
    ]
    store = Store(tmp_path / "s.sqlite")
    store.add([table(tmp_path, rows)])
    return store


def test_a_step_knows_what_changed_with_it(tmp_path):
    one, four = series_of(stepped(tmp_path).results())
    assert (one.parameters, four.parameters) == ({"nodes": "1"}, {"nodes": "4"})
    (step,) = one.steps
    assert step.at == one.since == 12
    assert one.changed_at(step) == {"mpi": ("a", "b")}


def test_points_are_those_since_the_last_step(tmp_path):
    series = list(series_of(stepped(tmp_path).results()))
    points = points_of(series, "solver", "runtime", "nodes", {})
    assert points.left_out == 24
    assert points.text().splitlines()[0] == "processes,time"
    assert list(points.table["processes"]) == [1] * 8 + [4] * 8
    assert points.table["time"].min() == pytest.approx(10 / 4 * 1.5)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("solvr", "runtime", "nodes", {}), "--benchmark: found 'solvr'.*did you mean 'solver'"),
        (("solver", "time", "nodes", {}), "--metric: found 'time'; allowed: runtime"),
        (("solver", "runtime", "tasks", {}), "--processes: found 'tasks'; allowed: nodes"),
        (("solver", "runtime", "nodes", {"size": "1"}), "--where: found 'size'; allowed: nodes"),
        (("solver", "runtime", "nodes", {"nodes": "3"}), "no series has nodes=3"),
    ],
)
def test_points_that_are_not_there(asked, said, tmp_path):
    series = list(series_of(stepped(tmp_path, 2, 1).results()))
    with pytest.raises(InputError, match=said):
        points_of(series, *asked)


def test_different_problems_are_not_mixed(tmp_path):
    rows = table(tmp_path, [(1, 1, "a", 10), (1, 4, "a", 3), (1, 1, "a", 20), (1, 4, "a", 6)])
    rows.parameters["size"] = ["s", "s", "l", "l"]
    store = Store(tmp_path / "s.sqlite")
    store.add([rows])
    series = list(series_of(store.results()))
    with pytest.raises(InputError, match="found size = l, s; allowed: one of them, as in --where size=l"):
        points_of(series, "solver", "runtime", "nodes", {})
    assert list(points_of(series, "solver", "runtime", "nodes", {"size": "s"}).table["time"]) == [10, 3]
