"""Exact mode: the reference generator's own numbers, job for job."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from scheduler_sim.generation.arrivals import Arrivals, Cycle
from scheduler_sim.generation.cirne import Cirne, cycle_of_site
from scheduler_sim.generation.exact import draw_exact, inexact
from scheduler_sim.generation.model_of import PRESETS
from scheduler_sim.generation.ranlib import Ranlib
from scheduler_sim.generation.times import Accuracy
from tests.conftest import SHARED, needs_shared
from tests.generation.test_cirne import model_of_set

ORACLE = SHARED / "data" / "cirne_oracle"


def test_first_integers_of_the_generator():
    random = Ranlib(12345)
    assert [random.integer() for _ in range(4)] == [242821806, 426133164, 1070668587, 561872117]


@pytest.mark.parametrize(
    ("draw", "mean", "variance"),
    [
        (lambda random: random.exponential(), 1.0, 1.0),
        (lambda random: random.gamma(0.6), 0.6, 0.6),
        (lambda random: random.probability(), 0.5, 1 / 12),
    ],
)
def test_variates_have_their_moments(draw, mean, variance):
    random = Ranlib(99)
    drawn = np.array([draw(random) for _ in range(20_000)])
    assert drawn.mean() == pytest.approx(mean, abs=4.5 * np.sqrt(variance / 20_000))
    assert drawn.var() == pytest.approx(variance, rel=0.15)


@needs_shared
@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("seed12345_n16_anl_300", "anl_n16"),
        ("seed12345_n16_anl_300_k1_rf2", "anl_n16_rf2"),
        ("seed12345_n50_anl_300", "anl_n50"),
        ("seed12345_n50_kth_300", "kth_n50"),
    ],
)
def test_files_of_the_reference_job_for_job(file, name):
    with gzip.open(ORACLE / "bitexact" / f"{file}.swf.gz", "rt") as lines:
        records = [line.split(";") for line in lines]
    expected = np.array([[int(record[place]) for place in (1, 4, 8, 3)] for record in records])
    model, nodes = model_of_set(name)
    trace = draw_exact(model, 300, nodes, 12345)
    assert np.array_equal(np.transpose(trace[:4]), expected)
    assert (trace.cancel_lag == -1).all()


@needs_shared
@pytest.mark.parametrize(
    "name",
    ["anl_n165_rf2", "anl_n50_k0.76", "anl_n16_rf2", "ctc_n165", "kth_n165", "kth_n16_rf2", "sdsc_n75"],
)
def test_samples_of_20000_jobs_job_for_job(name):
    said = json.loads((ORACLE / f"{name}.json").read_text())
    model, nodes = model_of_set(name)
    trace = draw_exact(model, said["jobs"], nodes, said["seed"])
    expected = np.loadtxt(ORACLE / f"{name}.txt.gz", dtype=np.int64)
    assert np.array_equal(np.transpose(trace[:4]), expected)


@needs_shared
def test_the_authors_constants_and_cancellations_job_for_job():
    said = json.loads((ORACLE / "canon_anl_n128.json").read_text())
    trace = draw_exact(PRESETS["cirne-berman"], said["jobs"], 128, said["seed"])
    expected = np.loadtxt(ORACLE / "canon_anl_n128.txt.gz", dtype=np.int64)
    ran = np.where(trace.cancel_lag < 0, trace.run_time, -1)
    ours = np.transpose([trace.submit_time, trace.nodes, trace.time_limit, ran, trace.cancel_lag])
    assert np.array_equal(ours, expected)


def test_what_the_reference_does_not_know_is_named():
    week = Arrivals(Cycle(10, hourly=(1.0,) * 24, weekly=(1.0,) * 7), "poisson")
    assert inexact(Cirne()) == []
    assert inexact(Cirne(week, accuracy=Accuracy(1.5, 0.3), size_time_correlation=0.1)) == [
        "arrivals.process",
        "arrivals.hourly",
        "arrivals.weekly",
        "size_time_correlation",
        "accuracy.shape",
    ]


def test_normal_and_exact_mode_have_the_same_law():
    exact = draw_exact(Cirne(Arrivals(cycle_of_site("kth"))), 5000, 50, 4711)
    assert exact.nodes.mean() == pytest.approx(9.5375, rel=0.08)
    assert np.log2(exact.time_limit).mean() == pytest.approx(12.5, abs=0.12)
