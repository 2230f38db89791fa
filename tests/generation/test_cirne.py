"""Cirne's model against 20,000-job samples of the reference generator, and its laws."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import spearmanr

from scheduler_sim.generation.arrivals import Arrivals
from scheduler_sim.generation.cirne import Cirne, cycle_of_site
from scheduler_sim.generation.model_of import PRESETS
from scheduler_sim.generation.ranlib import Ranlib
from scheduler_sim.generation.times import Cancellations, correlated
from scheduler_sim.streams import stream
from tests.conftest import SHARED, needs_shared

ORACLE = SHARED / "data" / "cirne_oracle"
JOBS = 20_000
SITES = ("anl", "ctc", "kth", "sdsc")
SETS = [f"{site}_n{nodes}" for site in SITES for nodes in ("16", "16_rf2", "50", "75", "165")]
SETS += ["anl_n165_rf2", "anl_n50_k0.76"]


def draw(model, nodes, seed=11):
    return model.draw(JOBS, nodes, lambda purpose: stream(seed, purpose))


def model_of_set(name):
    site, size, *rest = name.split("_")
    return Cirne(
        Arrivals(cycle_of_site(site)),
        reduction_factor=2 if "rf2" in rest else 1,
        load_multiplier=0.76 if "k0.76" in rest else 1.0,
    ), int(size[1:])


@needs_shared
@pytest.mark.parametrize("name", SETS)
def test_statistics_are_within_the_stated_tolerances(name):
    expected = json.loads((ORACLE / f"{name}.json").read_text())
    model, nodes = model_of_set(name)
    trace = draw(model, nodes)
    size, limit, run = trace.nodes, trace.time_limit, trace.run_time
    pmf = model.sizes.pmf(nodes, model.reduction_factor)
    n = np.arange(len(pmf))
    law_of_powers = pmf[(n & (n - 1)) == 0].sum()
    powers = np.mean((size & (size - 1)) == 0)
    accuracy = run / limit
    assert size.mean() == pytest.approx((n * pmf).sum(), rel=0.03)
    assert (size == 1).mean() == pytest.approx(pmf[1], abs=0.010)
    assert powers == pytest.approx(law_of_powers, abs=0.010)
    assert accuracy.mean() == pytest.approx(0.3131, abs=0.007)
    assert (run == limit).mean() == pytest.approx(0.0883, abs=0.006)
    assert limit.mean() == pytest.approx(26716.7 * model.load_multiplier, rel=0.033)
    assert run.mean() == pytest.approx(model.mean_run_time(), rel=0.053)
    assert size.max() == expected["size_max"]

    # against the sample itself, whose own error adds to ours: twice the tolerance
    assert size.mean() == pytest.approx(expected["size"]["mean"], rel=0.045)
    assert run.mean() == pytest.approx(expected["runtime"]["mean"], rel=0.075)
    assert (run <= 1).mean() == pytest.approx(expected["frac_run_le_1s"], abs=0.005)
    span = trace.submit_time[-1] - trace.submit_time[0]
    load = (size * run).sum() / (nodes * span)
    assert load == pytest.approx(model.offered_load(nodes), rel=0.10)
    days = span / 86400
    assert JOBS / days == pytest.approx(expected["jobs_per_day"], rel=1e-3 if days >= 100 else 2e-3)


@needs_shared
@pytest.mark.parametrize("name", SETS)
def test_inter_arrivals_are_those_of_the_process(name):
    expected = json.loads((ORACLE / f"{name}.json").read_text())
    model, nodes = model_of_set(name)
    gaps = np.diff(draw(model, nodes).submit_time)
    for q in (1, 5, 10, 25, 50, 75, 90, 95, 99):
        assert np.percentile(gaps, q) == pytest.approx(expected["interarrival"][f"q{q:02d}"], rel=0.01), q


class Phase:
    """A stream that gives one number."""

    def __init__(self, phase):
        self.random = lambda: phase


@needs_shared
@pytest.mark.parametrize("name", SETS)
def test_arrivals_follow_from_the_phase_alone(name):
    """With 13.00 jobs a day even the shares of the hours hang on it: so it is taken from the sample."""
    expected = json.loads((ORACLE / f"{name}.json").read_text())
    model, nodes = model_of_set(name)
    phase = Ranlib(expected["seed"]).probability()
    submit = model.arrivals.draw(JOBS, nodes, model.rate_factor, 0, lambda _: Phase(phase))
    theirs = np.loadtxt(ORACLE / f"{name}.txt.gz", dtype=np.int64)[:, 0]
    assert np.abs(submit - theirs).max() <= 2  # s: the reference adds up and rounds second by second
    hours = np.bincount(submit // 3600 % 24, minlength=24) / JOBS
    assert hours == pytest.approx(expected["hourly_fraction"], abs=0.001)


@needs_shared
def test_laws_are_the_exact_expectations():
    for name, said in json.loads((ORACLE / "analytic_expectations.json").read_text()).items():
        if "canon" in name or "_k" in name or "ul2" in name:
            continue
        model, nodes = model_of_set(name)
        pmf = model.sizes.pmf(nodes, model.reduction_factor)
        assert (np.arange(len(pmf)) * pmf).sum() == pytest.approx(said["E_size"], rel=1e-9)
        jobs = model.rate_factor * model.arrivals.cycle.jobs_per_day(nodes)
        assert jobs == pytest.approx(said["jobs_per_day"], rel=1e-5)
        assert model.offered_load(nodes) == pytest.approx(said["load"], rel=1e-4)


@needs_shared
@pytest.mark.parametrize("site", ["anl"])
def test_the_authors_own_constants(site):
    expected = json.loads((ORACLE / f"canon_{site}_n128.json").read_text())
    trace = draw(PRESETS["cirne-berman"], 128)
    assert trace.nodes.mean() == pytest.approx(expected["size"]["mean"], rel=0.045)
    assert (trace.cancel_lag >= 0).mean() == pytest.approx(0.15, abs=0.01)
    sample = np.loadtxt(ORACLE / f"canon_{site}_n128.txt.gz", dtype=np.int64)[:, 4]
    for q in (5, 25, 50, 75, 95):
        ours, theirs = (np.percentile(lag[lag >= 0], q) for lag in (trace.cancel_lag, sample))
        assert np.log2(ours) == pytest.approx(np.log2(theirs), abs=1.0)


def test_load_multiplier_acts_twice():
    assert Cirne(load_multiplier=2.0).offered_load(50) == pytest.approx(
        4 * Cirne().offered_load(50), rel=1e-3
    )


@pytest.mark.parametrize("correlation", [-0.6, 0.3, 0.9])
def test_sizes_and_times_correlate_as_asked(correlation):
    where = stream(1, "size").random(JOBS)
    assert spearmanr(where, correlated(where, correlation, stream(1, "request"))).statistic == pytest.approx(
        correlation, abs=0.02
    )
    trace = draw(Cirne(size_time_correlation=correlation), 4096)
    own = spearmanr(trace.nodes, trace.time_limit).statistic
    assert np.sign(own) == np.sign(correlation)
    assert abs(own) > 0.8 * abs(correlation)  # ties of small sizes weaken it


def test_without_correlation_the_laws_are_untouched():
    plain, tied = draw(Cirne(), 50), draw(Cirne(size_time_correlation=0.5), 50)
    assert np.array_equal(plain.nodes, tied.nodes)
    assert np.log2(tied.time_limit).mean() == pytest.approx(12.5, abs=0.06)


def test_nobody_is_cancelled_by_default_and_everybody_may_be():
    assert (draw(Cirne(), 50).cancel_lag == -1).all()
    every = draw(Cirne(cancellations=Cancellations(1.0)), 50)
    assert (every.cancel_lag >= 30).all()
    assert every.node_seconds.sum() == 0


def test_adding_draws_of_one_kind_shifts_no_other():
    plain, cancelled = draw(Cirne(), 50), draw(Cirne(cancellations=Cancellations(0.5)), 50)
    for name in ("submit_time", "nodes", "time_limit", "run_time"):
        assert np.array_equal(getattr(plain, name), getattr(cancelled, name))


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.8, -0.5])
def test_the_load_of_the_law_knows_the_correlation(correlation):
    model = Cirne(size_time_correlation=correlation)
    work = [draw(model, 64, seed).node_seconds.mean() for seed in range(30)]
    assert np.mean(work) == pytest.approx(model.mean_work(64), rel=4 * np.std(work) / np.mean(work) / 30**0.5)
