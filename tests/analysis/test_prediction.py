"""The study of predictions: its measures by hand, and that its page is its own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.prediction import cases, conduct
from analysis.prediction.__main__ import main
from analysis.prediction.cases import TRACES
from analysis.prediction.conduct import FACTORS, MEASURES, Setup, load, predicted
from analysis.prediction.findings import findings
from analysis.prediction.measures import by_instant, coverage, error, median_error, outside
from analysis.prediction.page import PAGE, RESULTS, page_text
from scheduler_sim import System, Workload, simulate
from scheduler_sim.prediction.coverage import Truth
from tests.conftest import ROOT

COMMITTED = ROOT / "analysis"


def test_the_page_in_the_repository_is_what_this_version_makes_of_its_predictions():
    committed, page = load(COMMITTED / RESULTS), (COMMITTED / PAGE).read_text(encoding="utf-8")
    assert page_text(committed) == page
    assert committed.setup == Setup()
    assert list(committed.runs.columns) == [*FACTORS, *MEASURES]
    assert set(committed.runs["trace"]) == set(TRACES)
    assert "nan" not in page
    assert page.count("\n- **") == len(findings(committed)) >= 3


def test_without_the_traces_it_says_where_they_are_published(tmp_path, capsys):
    assert main(["--data", str(tmp_path), "--out", str(tmp_path)]) == 2
    assert "published by Parallel Workloads Archive" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_measures_by_hand():
    """Three predictions of one instant, one of a week later: two hits, one before the band, one behind it."""
    week = TRACES["kth"].block
    runs = pd.DataFrame(
        {
            "trace": "kth",
            "at": [0, 0, 0, week],
            "start": [3600, 7200, 1800, 3600],
            "start_10": [0, 0, 3600, 3600],
            "start_50": [3600, 3600, 3600, 3600],
            "start_90": [3600, 3600, 7200, 3600],
            "by_limits": [7200] * 4,
            "last_wait": [0, -1, 1800, 3600],
        }
    )
    assert coverage(runs).value == 50
    assert (outside(runs, "below").value, outside(runs, "above").value) == (25, 25)
    assert by_instant(runs) == pytest.approx(100 * (1 / 3 + 1) / 2)
    assert error(runs, "start_50").value == pytest.approx(0.5 / 3)
    assert error(runs, "by_limits").value == pytest.approx(3.5 / 3)
    assert median_error(runs, "last_wait") == 0


@pytest.mark.interpreted
def test_predictions_stand_beside_the_truth(monkeypatch, tmp_path):
    jobs = Workload.from_columns(
        nodes=[1] * 40, submit_time=np.arange(40) * 100, run_time=[150] * 40, time_limit=[300] * 40
    )
    system = System.homogeneous(1)
    truth = Truth.of(jobs, simulate(system, jobs, "easy"))
    monkeypatch.setattr(conduct, "truth", lambda *_: truth)
    monkeypatch.setattr(conduct, "system", lambda _: system)
    rows = predicted(Setup(draws=9), tmp_path, "kth", (1000, 2000), 2)
    assert {row["at"] for row in rows} == {2000}
    assert [row["component_id"] for row in rows] == [15, 16, 17, 18, 19, 20, 21]
    assert [row["start"] for row in rows] == [150 * i - 2000 for i in range(14, 21)]
    assert set(rows[0]) == {*FACTORS, *MEASURES}
    assert [cases.policy(name).backfill for name in TRACES] == ["easy", "easy", "easy", "slurm"]
