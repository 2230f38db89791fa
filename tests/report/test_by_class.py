"""Waits and utilisation of parts of the workload: hand-made schedules, and what is put together."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim.report.by_class import MOST, by_class, ways
from tests.report.schedules import EASY, schedule
from tests.result.hand_made import Run

# Submitted, started, run time, nodes: 400 s of CM's 4 nodes and of DAM's 4 nodes.
RUNS = [Run(0, 0, 400, 2), Run(0, 100, 100, 4, "DAM"), Run(10, 10, 100, 1), Run(0, 300, 50, 1)]


def test_shares_add_up_to_what_was_used():
    result = schedule(RUNS, {"CM": 4, "DAM": 4}, EASY, users=["a", "b", "a", "b"])
    by_user = by_class(result, "user")
    assert by_user.index.tolist() == ["a", "b"]
    assert by_user["node_hours"].tolist() == pytest.approx([900 / 3600, 450 / 3600])
    assert by_user["utilization"].sum() == pytest.approx(result.metrics["utilization"]["total"], abs=1e-6)
    assert by_user["wait_mean"].tolist() == [0, 200]
    assert by_user["wait_p90"].tolist() == pytest.approx([0, 280])
    assert by_class(result, "size").index.tolist() == ["1", "2–4"]
    assert ways(result) == ["module", "user", "size"]


def test_of_many_users_those_that_used_most_and_the_others():
    runs = [Run(0, 0, 10 * (1 + i), 1) for i in range(MOST + 3)]
    result = schedule(runs, {"CM": 99}, EASY, users=[f"u{i:02}" for i in range(MOST + 3)])
    found = by_class(result, "user")
    assert found.index[0] == f"u{MOST + 2}"
    assert found.index[-1] == "3 others"
    assert len(found) == MOST + 1
    assert found["components"].iloc[-1] == 3
    assert found["classes"].tolist() == [1] * MOST + [3]
    assert found["node_hours"].iloc[-1] * 3600 == pytest.approx(60)
    assert ways(result) == ["user", "size"]


def test_what_never_ran_has_no_wait():
    result = schedule(RUNS[:1], {"CM": 4}, EASY)
    result.components.loc[0, ["start_time", "end_time"]] = -1
    found = by_class(result, "size")
    assert np.isnan(found["wait_mean"].iloc[0])
    assert found["node_hours"].iloc[0] == 0
