"""The table of metrics: that everything follows from it, and that one more row is all a metric takes."""

from __future__ import annotations

import re
from typing import get_args

import numpy as np
import pytest

from scheduler_sim import Result
from scheduler_sim.cli.run_page import run_text
from scheduler_sim.cli.study_page import study_text
from scheduler_sim.metrics import table
from scheduler_sim.metrics.formulas import OF_JOBS, OF_PART, OF_RUN
from scheduler_sim.metrics.metric import KIND, MODULE, SUMMARY, Better, JobColumns, Metric
from scheduler_sim.metrics.names import better, named
from scheduler_sim.metrics.page import filled
from scheduler_sim.metrics.slices import sliced
from scheduler_sim.metrics.table import METRICS
from scheduler_sim.report.html import write_report
from scheduler_sim.report.measures import is_span, metric_words, untrimmed, with_unit, written
from scheduler_sim.result.documents import METRICS as SHAPE
from scheduler_sim.result.documents import SPREAD, shape_problem
from scheduler_sim.study.conduct import conduct
from scheduler_sim.study.measuring import Trim, measured
from scheduler_sim.study.store import known_metrics
from tests.conftest import ROOT
from tests.report.schedules import behind_a_shadow
from tests.result.hand_made import Run, result_of
from tests.study.studies import small

PAGES = [ROOT / "docs" / "reference" / f"{name}.md" for name in ("metrics", "statistics")]
JOBS = [metric for metric in METRICS if metric.of_jobs]
STRETCH = Metric(
    name="stretch",
    formula="response / max(limit, 1)",
    words="stretch by limit",
    by=SUMMARY,
    shown=("terminal", "report"),
    of_jobs=lambda job: job.response / np.maximum(job.limit, 1),
)


@pytest.fixture
def stretched(monkeypatch):
    """Give the table one more row."""
    monkeypatch.setattr(table, "METRICS", (*METRICS, STRETCH))


# -- what follows from the table ------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_reference_pages_are_up_to_date(page):
    text = page.read_text(encoding="utf-8")
    assert text == filled(text), f"run: python -m scheduler_sim.metrics.page {page.relative_to(ROOT)}"


def test_the_reference_pages_have_every_metric():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES).replace("\\|", "|")
    for metric in METRICS:
        assert metric.formula, metric.path
        wanted = (
            f"> {metric.formula}\n" if metric.by == MODULE and not metric.block else f"| {metric.formula} |"
        )
        assert wanted in text, metric.path


@pytest.mark.parametrize("metric", JOBS, ids=lambda metric: metric.name)
def test_formulas_of_jobs_are_what_is_computed(metric):
    random = np.random.default_rng(1)
    submit, wait, run = (random.integers(0, 1000, 50) * random.integers(0, 2, 50) for _ in range(3))
    jobs = JobColumns(submit, submit + wait, submit + wait + run, run + 1, random.integers(1, 9, 50))
    formula = re.sub("−", "-", metric.formula)
    for row in range(50):
        names = {
            name: int(getattr(jobs, name)[row])
            for name in (*JobColumns.__dataclass_fields__, "run", "response")
        }
        assert metric.of_jobs(jobs)[row] == eval(formula, {"max": max, "min": min}, names)


def test_every_name_in_an_index_is_of_a_row():
    rows = {metric.path for metric in METRICS}
    found = {
        name: named(name).metric
        for name in known_metrics(["CM", "a_b"], {"cap": 100, "facility": {}}, ["CM"])
    }
    assert [name for name, metric in found.items() if metric.path not in rows] == []
    sometimes = {"counts_not_honoured", "counts_unmatched", "counts_preempted", "counts_nodes_not_there"}
    sometimes |= {"counts_failures", "counts_checkpoints_past_limit", "counts_spread_past_limit"}
    sometimes |= {path for path in rows if path.startswith(("lost_", "suspended_", "topology_"))}
    assert rows - {metric.path for metric in found.values()} == sometimes


def test_no_row_stands_twice_and_none_says_half():
    assert len({metric.path for metric in METRICS}) == len(METRICS)
    of_top = {metric.name for metric in METRICS if not metric.block}
    assert of_top == OF_JOBS.keys() | OF_PART.keys() | OF_RUN.keys()
    for metric in METRICS:
        assert metric.better in get_args(Better)
        assert set(metric.shown) <= {"terminal", "report"}
        assert metric.by in ("", SUMMARY, MODULE, KIND)
        assert (metric.by == SUMMARY) >= bool(metric.of_jobs) >= bool(metric.shown), metric.path
        assert bool(metric.block) == (not (metric.of_jobs or metric.of_part or metric.of_run)), metric.path


def test_what_a_study_measures_anew_where_it_trims():
    of_run = {metric.name for metric in METRICS if metric.of_run and not metric.of_part}
    anew = of_run & set(measured(behind_a_shadow(), Trim(0.1, 0.0)))
    assert anew == {metric.name for metric in METRICS if metric.trimmed}


@pytest.mark.parametrize(
    ("name", "path", "statistic", "part"),
    [
        ("wait_time_p90", "wait_time", "p90", ""),
        ("wait_time_weighted", "wait_time_weighted", "", ""),
        ("user_wait_max_over_mean", "user_wait_max_over_mean", "", ""),
        ("utilization_total", "utilization", "", "total"),
        ("offered_load_mean", "offered_load", "", "mean"),
        ("workflow_with_single_components_slowdown_max", "workflow_slowdown", "max", ""),
        ("energy_modules_a_b_off_j", "energy_off_j", "", "a_b"),
        ("energy_energy_delay_product_mean", "energy_energy_delay_product", "mean", ""),
        ("energy_power_from_typical_share", "energy_power_from", "", "typical_share"),
        ("counts_not_honoured_gpus", "counts_not_honoured", "", "gpus"),
        ("counts_requeued", "counts_requeued", "", ""),
        ("cost", "cost", "", ""),
    ],
)
def test_names(name, path, statistic, part):
    found = named(name)
    assert (found.metric.path, found.statistic, found.part) == (path, statistic, part)


def test_words_units_and_directions():
    assert metric_words("user_wait_max_over_mean") == "user wait max over mean"
    assert metric_words("offered_load_max") == "offered load max"
    assert metric_words("counts_requeued") == "counts requeued"
    assert written(12345, "workflow_runtime_mean") == written(12345, "workflow_critical_path_max") == "3.42 h"
    assert written(12345, "workflow_start_time_mean") == "12,345"
    assert not is_span("counts_timed_out")
    assert with_unit(7.2e6, "energy_modules_CM_job_j") == "2 kWh"
    assert with_unit(1.0, "energy_energy_delay_product_mean") is None
    assert {better(f"counts_{name}") for name in ("rejected", "timed_out", "requeued")} == {"less"}
    assert better("counts_completed") == better("workflow_overlapped_share") == "more"
    assert better("offered_load_CM") == better("workflow_end_time_mean") == "neither"


def test_what_is_of_the_whole_run():
    trim = {"warm_up": 10.0, "cool_down": 0.0}
    whole = ("modular_jobs", "offered_load_CM", "workflow_runtime_mean", "energy_system_j", "counts_requeued")
    anew = ("jobs", "ran", "users", "makespan", "utilization_total", "wait_time_mean", "wait_time_weighted")
    assert {untrimmed(name, trim) for name in whole} == {" (whole run)"}
    assert {untrimmed(name, trim) for name in anew} == {""}
    assert untrimmed("energy_system_j", dict.fromkeys(trim, 0.0)) == ""


# -- one more row ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("stretched")
def test_a_row_is_in_the_metrics_the_measures_and_the_slices():
    result = result_of([Run(0, 10, 20, 1, limit=60), Run(0, 30, 30, 1, limit=20)], {"CM": 2})
    assert result.metrics["stretch"] == {"mean": 1.75, "median": 1.75, "p90": 2.75, "p99": 2.975, "max": 3.0}
    assert list(result.metrics)[:6][-1] == "bounded_slowdown"
    assert measured(result, Trim(), ["size"])["slices"]["size"]["1"]["stretch_mean"] == 1.75
    assert sliced(result.components, "module").loc["CM", "stretch_p99"] == 2.975
    assert {f"stretch_{statistic}" for statistic in SPREAD} <= set(known_metrics(["CM"]))
    assert shape_problem(result.metrics, SHAPE) is None


@pytest.mark.usefixtures("stretched")
def test_a_row_is_on_the_pages_of_a_run(tmp_path):
    result = behind_a_shadow()
    result.manifest["system"] = {"name": "s", "partitions": []}
    result.manifest["policy"] = {"name": "easy", "order": "fifo"}
    mean = f"{result.metrics['stretch']['mean']:,.2f}"
    assert re.search(rf"stretch by limit +{mean} ", run_text(result, "t.swf", 1.0))
    result.save(tmp_path / "result")
    report = write_report(tmp_path / "result").read_text(encoding="utf-8")
    assert re.search(rf"stretch by limit</t[hd]><td[^>]*>{mean}<", report)
    titles = (panel.get_title(loc="left") for panel in result.plot.heat_map("stretch_mean").axes)
    assert next(titles).startswith("Mean stretch by limit by size and run time")
    text = filled("<!-- measures: rendered anew -->\n<!-- end -->")
    assert "| `stretch` | summary | less | response / max(limit, 1) |" in text


@pytest.mark.usefixtures("stretched")
def test_a_row_is_a_column_that_studies_compare(tmp_path):
    study = small(metrics=["stretch_mean"], baseline={"policy": "easy"}, slices=["size"], seeds=2)
    conducted = conduct(study, tmp_path / "study")
    assert conducted.failed == {}
    assert (conducted.index["stretch_mean"] > 0).all()
    assert set(conducted.comparison["metric"]) == {"stretch_mean"}
    assert "stretch mean" in study_text(study, conducted, 1.0, None)
    page = write_report(tmp_path / "study").read_text(encoding="utf-8")
    assert "Mean stretch by limit (less is better)" in page


# -- results made by others -----------------------------------------------------------------------


def test_a_result_without_a_metric_has_a_dash_and_half_a_summary_is_refused(tmp_path):
    result = behind_a_shadow()
    del result.metrics["response_time"]
    result.metrics["bounded_slowdown"] = 5
    place = result.save(tmp_path / "result")
    page = write_report(place).read_text(encoding="utf-8")
    assert "response time" in page
    assert "bounded slowdown" in Result.load(place)._repr_html_()
    for wrong in ({"mean": 1.0}, {"p99": "x"}):
        assert shape_problem(result.metrics | {"later": wrong}, SHAPE).startswith("later.")
