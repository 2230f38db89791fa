"""An array is one row in pictures, however many tasks it has."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scheduler_sim import System, Workload, simulate
from scheduler_sim.report.html.run_data import stories
from scheduler_sim.report.prediction_figure import by_array, starts_figure

pytestmark = pytest.mark.interpreted


def waiting(**columns: list[object]) -> pd.DataFrame:
    count = len(columns["job"])
    usual = {"user": "ann", "nodes": 1, "time_limit": 600, "by_limits": 50}
    usual |= {"start_10": 10, "start_50": 20, "start_90": 30}
    return pd.DataFrame({name: [value] * count for name, value in usual.items()} | columns)


def test_tasks_of_an_array_are_one_row_from_the_first_to_the_last():
    table = waiting(
        job=["7", "30_1", "30_2", "31_1", "30_3", "8"],
        nodes=[1, 2, 2, 1, 4, 1],
        start_10=[1, 5, 9, 2, 3, 4],
        start_50=[2, 10, 20, 4, 5, 6],
        start_90=[3, 15, 40, 6, 7, 8],
        by_limits=[9, 9, 99, 9, 9, 9],
    )
    rows = by_array(table)
    assert rows["job"].tolist() == ["7", "30_[2 tasks]", "31_1", "30_3", "8"]
    assert rows.iloc[1][["start_10", "start_50", "start_90", "by_limits"]].tolist() == [5, 15, 40, 99]


def test_jobs_without_arrays_stay_as_they_are():
    table = waiting(job=["7", "8", "9"])
    pd.testing.assert_frame_equal(by_array(table)[list(table)], table)


def test_a_long_array_leaves_room_for_the_others():
    table = waiting(job=[f"30_{i}" for i in range(500)] + ["99"])
    figure = starts_figure(table, [], 0, 1000, None)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert [label.split()[0] for label in labels] == ["30_[500", "99"]
    assert "not shown" not in figure.axes[0].get_title(loc="left")
    assert "arrays from first to last task" in figure.axes[0].get_title(loc="left")


def test_of_an_array_the_longest_wait_has_its_story():
    jobs = Workload.from_columns(nodes=2, submit_time=[0] * 6, run_time=10, time_limit=10)
    result = simulate(System.homogeneous(2), jobs, "easy")
    result.components["array_job_id"] = np.array([-1, 30, 30, 30, 30, -1])
    assert set(stories(result)) == {"4", "5"}  # the last task, and the job behind it
