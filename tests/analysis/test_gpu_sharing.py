"""The study of GPU sharing: its measures by hand, that it can be repeated, and that its page is its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.common.runs import in_order
from analysis.gpu_sharing import cases, conduct
from analysis.gpu_sharing.__main__ import main
from analysis.gpu_sharing.cases import DATA, HOUR, IN_ORDER, LOADS, PUBLISHED_IN, Trace
from analysis.gpu_sharing.conduct import FACTORS, MEASURES, Setup, load, measured, run_seed, save
from analysis.gpu_sharing.findings import findings
from analysis.gpu_sharing.page import PAGE, RESULTS, page_text
from scheduler_sim import System, Workload, simulate
from scheduler_sim.policy.keys import PACKINGS
from tests.conftest import ROOT, needs_shared

COMMITTED = ROOT / "analysis"


def test_the_page_in_the_repository_is_what_this_version_makes_of_its_runs():
    committed, page = load(COMMITTED / RESULTS), (COMMITTED / PAGE).read_text(encoding="utf-8")
    assert page_text(committed) == page
    assert committed.setup == Setup()
    assert list(committed.runs.columns) == [*FACTORS, *MEASURES]
    assert len(committed.runs) == Setup().simulations()
    assert "nan" not in page
    assert "{" not in page
    assert page.count("\n- **") == len(findings(committed)) >= 3
    assert sorted(IN_ORDER) == sorted(PACKINGS)


def test_without_the_trace_it_says_where_that_is_published(tmp_path, capsys):
    assert main(["--data", str(tmp_path), "--out", str(tmp_path)]) == 2
    assert PUBLISHED_IN in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.interpreted
def test_measures_are_of_pods_that_come_after_the_warm_up(monkeypatch):
    """One node of two GPUs; hours stand for seconds. Not counted: the first, and one that fits nowhere."""
    monkeypatch.setattr(conduct, "HOUR", 60)
    module = {"name": "m", "nodes": 1, "shared": True, "cores_per_node": 8, "gpus_per_node": 2}
    minutes = {"submit_time": [0, 180, 240, 300, 360, 400], "run_time": [600, 60, 120, 60, 60, 60]}
    jobs = Workload.from_columns(
        **{name: np.array(times) for name, times in minutes.items()},
        nodes=[1] * 6,
        cores=[1] * 6,
        gpus=[1, 0.5, 1, 2, 0, 3],
    )
    result = simulate(System.from_dict({"modules": [module]}), jobs, {"backfill": "first_fit"})
    # 0.5 runs from 180 to 240, 1 from 240 to 360, 2 from 600 on, when the first has ended
    found = measured(result, 2)
    assert found["part_wait_min"] == found["one_wait_min"] == found["cpu_wait_min"] == 0
    assert found["several_wait_min"] == 5
    assert found["wait_min"] == 5 / 4
    assert found["waited"] == 25
    # from minute 3 to 12 one of two GPUs but for: 1.5 for 1, 2 for 2, 1 for 4 and 2 for 1
    held = 1 * 1.5 + 2 * 2 + 4 * 1 + 1 * 2
    assert found["allocated"] == pytest.approx(100 * held / 9 / 2)


@needs_shared
def test_pods_ask_for_the_load_on_a_quarter_of_the_nodes():
    trace = Trace(DATA)
    site = trace.site(5)
    gpus = sum(one.gpus for one in site.modules[0].sets)
    assert (site.modules[0].nodes, gpus) == (303, pytest.approx(6212 / 4, rel=0.1))
    for wanted in LOADS:
        jobs = trace.jobs(5, wanted, gpus)
        asked = (jobs["gpus"] * jobs["run_time"]).sum() / (gpus * cases.HOURS * HOUR)
        assert asked == pytest.approx(float(wanted), rel=0.06)
        assert jobs["run_time"].max() <= cases.CUT * HOUR


@needs_shared
@pytest.mark.long
def test_the_runs_of_a_seed_can_be_repeated(tmp_path, monkeypatch):
    """Of one packing at one load; they were made by two processes."""
    monkeypatch.setattr(conduct, "LOADS", LOADS[:1])
    monkeypatch.setattr(conduct, "IN_ORDER", IN_ORDER[:1])
    runs = in_order(run_seed(DATA, 1), FACTORS)
    save(runs, Setup(1), tmp_path)
    committed, ours = load(COMMITTED / RESULTS).runs, load(tmp_path).runs
    same = committed[(committed["seed"] == 1) & (committed["load"] == LOADS[0])]
    same = same[same["packing"].isin(IN_ORDER[:1])]
    frames = ours.reset_index(drop=True), same.reset_index(drop=True)
    pd.testing.assert_frame_equal(*frames, check_dtype=False)  # a column of whole numbers is read as such


def test_every_seed_is_run_once(monkeypatch):
    monkeypatch.setattr(conduct, "run_seed", lambda data, seed: [{"seed": seed, "data": str(data)}])
    monkeypatch.setattr(conduct, "FACTORS", ("data", "seed"))
    assert conduct.conduct(Setup(3), Path("x"))["seed"].tolist() == [1, 2, 3]
