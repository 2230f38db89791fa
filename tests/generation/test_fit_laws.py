"""Learning one law at a time: likelihoods against plain references, estimates by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, spearmanr

from scheduler_sim.generation.arrivals import Arrivals, Cycle
from scheduler_sim.generation.fitting.cycle_fit import fit_arrivals, hours_seen
from scheduler_sim.generation.fitting.distance import halves_distance, ks_distance, verdict
from scheduler_sim.generation.fitting.estimates import count_interval, profile_interval, wilson_interval
from scheduler_sim.generation.fitting.records import records_of
from scheduler_sim.generation.fitting.size_fit import SizeLikelihood, expected_spearman, fit_sizes, spearman
from scheduler_sim.generation.fitting.time_fit import (
    ALL_OF_IT,
    AccuracyLikelihood,
    fit_accuracy,
    fit_durations,
)
from scheduler_sim.generation.fitting.words import percent, spoken
from scheduler_sim.generation.sizes import SizeLaw
from scheduler_sim.generation.times import Accuracy, LogUniform, correlated
from scheduler_sim.streams import stream
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.table import Workload

DAY = 86400


@given(
    slope=st.floats(0.08, 0.9),
    intercept=st.floats(0.0, 0.95),
    power_of_two=st.floats(0.0, 1.0),
    nodes=st.integers(1, 300),
)
def test_likelihood_of_sizes_is_that_of_the_law(slope, intercept, power_of_two, nodes):
    full = SizeLaw(slope, intercept, power_of_two).pmf(nodes)
    expected = np.zeros(nodes + 1)
    expected[: len(full)] = full
    likelihood = SizeLikelihood(np.arange(1, nodes + 1), nodes)
    found = likelihood.probabilities(slope, intercept, power_of_two)
    assert found == pytest.approx(expected[1:], abs=1e-12)


def test_size_law_that_gave_exactly_these_shares_is_found():
    law = SizeLaw(0.1, 0.25, 0.4)
    pmf = law.pmf(64)
    size = np.repeat(np.arange(len(pmf)), np.rint(1e5 * pmf).astype(np.int64))
    found, estimates = fit_sizes(size, 64)
    assert (found.slope, found.intercept) == pytest.approx((0.1, 0.25), abs=1e-4)
    assert found.power_of_two == pytest.approx(0.4, abs=1e-3)
    assert all(e.low < e.value < e.high for e in estimates)


def test_serial_jobs_alone_tell_nothing_of_the_slope():
    law, (slope, intercept, power) = fit_sizes(np.ones(1000, dtype=np.int64), 64)
    assert law.pmf(64).tolist() == [0.0, 1.0]
    assert np.isnan(slope.low)
    assert np.isnan(power.high)
    assert intercept.low == pytest.approx(np.exp(-1.92 / 1000), abs=1e-5)


def test_powers_of_two_alone_are_all_rounded():
    random = stream(1, "sizes")
    size = SizeLaw(0.1, 0.3, 1.0).draw(128, 1, random.random(3000), random)
    _, (_, _, power) = fit_sizes(size, 128)
    assert power.value == pytest.approx(1.0, abs=1e-6)
    assert power.high == 1.0
    assert 0.99 < power.low < 1.0


@pytest.mark.parametrize("correlation", [-0.6, 0.0, 0.3, 0.9])
def test_rank_correlation_is_that_of_drawn_jobs(correlation):
    law, requests = SizeLaw(), LogUniform(0.1, -0.75)
    where = stream(3, "size").random(200_000)
    size = law.draw(128, 1, where, stream(3, "power"))
    limit = requests.at(correlated(where, correlation, stream(3, "request")))
    assert expected_spearman(correlation, law, 128) == pytest.approx(spearman(size, limit), abs=0.006)


def test_spearman_is_that_of_scipy_with_ties():
    random = stream(2, "ties")
    one = random.integers(1, 5, 400)
    other = one + random.integers(0, 9, 400)
    assert spearman(one, other) == pytest.approx(spearmanr(one, other).statistic)
    assert spearman(one, np.full(400, 7)) == 0.0


def test_durations_on_the_law_give_the_law():
    law = LogUniform(0.08, -0.4)
    seconds = law.at((np.arange(5000) + 0.5) / 5000)
    found, estimates = fit_durations(seconds, stream(0, "fit"))
    assert (found.slope, found.intercept) == pytest.approx((0.08, -0.4), rel=2e-3)
    named = {e.parameter: e for e in estimates}
    assert named["requests.shortest"].value == pytest.approx(2 ** (0.4 / 0.08), rel=0.01)
    assert named["requests.longest"].value == pytest.approx(2 ** (1.4 / 0.08), rel=0.01)
    assert all(e.low < e.value < e.high for e in estimates)


def test_outliers_do_not_move_the_law_of_durations():
    seconds = LogUniform(0.08, -0.4).at((np.arange(5000) + 0.5) / 5000)
    spoilt = np.concatenate([seconds, np.full(5, 10**9)])
    clean, spoilt_law = (fit_durations(s, stream(0, "fit"))[0] for s in (seconds, spoilt))
    assert spoilt_law.slope == pytest.approx(clean.slope, rel=0.005)


def test_equal_durations_give_a_law_of_that_duration():
    law, _ = fit_durations(np.full(100, 14400), stream(0, "fit"))
    assert law.at(np.array([0.0, 0.5, 1.0])) == pytest.approx([14400] * 3, abs=10)


@pytest.mark.parametrize(("shape", "scale"), [(0.6, 0.6), (0.3, 2.0), (1.5, 0.3)])
def test_likelihood_of_accuracy_is_that_of_the_censored_gamma(shape, scale):
    law, random = Accuracy(shape, scale), stream(4, "accuracy")
    limit = random.integers(1, 90_000, 5000)
    run = law.run_times(limit, random)
    run[:50] += limit[:50]  # over the limit
    kept = np.minimum(run, limit)
    p = law.cdf(kept / limit) - law.cdf((kept - 1) / limit)
    assert (p > 0).all()
    found = AccuracyLikelihood(run, limit)(np.log([shape, scale]))
    assert found == pytest.approx(np.log(p).sum(), abs=0.02)  # an interval is at 1.92


def test_accuracy_is_highest_where_a_finer_search_finds_nothing_higher():
    random = stream(5, "accuracy")
    limit = random.integers(60, 90_000, 2000)
    run = Accuracy(0.5, 0.8).run_times(limit, random)
    law, estimates = fit_accuracy(run, limit)
    likelihood = AccuracyLikelihood(run, limit)
    best = np.log([law.shape, law.scale])
    top = likelihood(best)
    for step in (0.01, -0.01):
        assert likelihood(best + np.array([step, 0])) < top
        assert likelihood(best + np.array([0, step])) < top
    assert all(e.low < e.value < e.high for e in estimates)


def test_runs_that_all_reach_their_limit_use_all_of_it():
    law, estimates = fit_accuracy(np.array([10, 300, 50]), np.array([10, 200, 50]))
    assert law == ALL_OF_IT
    assert np.isnan(estimates[0].low)
    limits = LogUniform(0.1, -0.75).at(stream(1, "limits").random(20_000))
    assert (law.run_times(limits, stream(1, "runs")) == limits).all()


def trace(submit, start=345_600, **columns):
    submit = np.asarray(submit)
    given = {"nodes": np.ones(len(submit), dtype=np.int64), "run_time": 60, "time_limit": 100, **columns}
    header = (f"; UnixStartTime: {start}",) if start else ()
    return Workload({"submit_time": submit, **given}, TraceSource(header=header))


def test_hours_seen_by_hand():
    hours, seen = hours_seen(np.array([5400, 9000, 12600]))  # 1:30 to 3:30
    assert hours.tolist() == [1, 2, 3]
    assert seen.tolist() == [0.5, 1.0, 0.5]


def test_cycle_by_hand():
    """Three weeks: every hour one job on the half hour, at noon four, on Sundays none."""
    minutes = [d * DAY + h * 3600 + 60 * m for d in range(21) if d % 7 != 6 for h in range(24)
               for m in ((15, 25, 35, 45) if h == 12 else (30,))]  # fmt: skip
    found = fit_arrivals(records_of(trace([0, *minutes, 21 * DAY]), None, None))
    cycle = found.arrivals.cycle
    assert cycle.weekly[:6] == pytest.approx([7 / 6] * 6, rel=0.03)
    assert cycle.weekly[6] == pytest.approx(0.0, abs=1e-12)
    assert cycle.hourly[12] / cycle.hourly[7] == pytest.approx(4.0)
    assert sum(cycle.hourly) == pytest.approx(27 * 6 / 7, rel=0.02)


def test_days_have_no_weights_without_calendar_or_two_weeks():
    submit = np.arange(0, 20 * DAY, 3600)
    assert fit_arrivals(records_of(trace(submit), None, None)).arrivals.cycle.weekly
    assert not fit_arrivals(records_of(trace(submit, start=0), None, None)).arrivals.cycle.weekly
    assert not fit_arrivals(records_of(trace(submit[: 13 * 24]), None, None)).arrivals.cycle.weekly


def test_hours_that_the_trace_does_not_reach_have_the_mean_rate():
    found = fit_arrivals(records_of(trace(np.arange(0, 7201, 60)), None, None))
    assert found.unseen == 22
    assert found.arrivals.cycle.hourly == pytest.approx([60] * 24, rel=0.02)


@pytest.mark.parametrize("process", ["poisson", "accumulator"])
def test_the_process_is_recognised(process):
    arrivals = Arrivals(Cycle(10, hourly=(20.0,) * 12 + (60.0,) * 12), process)
    submit = arrivals.draw(3000, 10, 1.0, 0, lambda purpose: stream(9, purpose))
    found = fit_arrivals(records_of(trace(submit), None, None))
    assert found.arrivals.process == process
    assert found.distance[process] < 0.03


def test_bursts_widen_the_intervals():
    steady = stream(6, "steady").integers(0, 60 * DAY, 6000)
    bursts = np.repeat(stream(6, "bursts").integers(0, 60 * DAY, 300), 20)
    width = {}
    for name, submit in (("steady", steady), ("bursts", bursts)):
        found = fit_arrivals(records_of(trace(submit), None, None))
        noon = next(e for e in found.estimates if e.parameter == "arrivals.hourly[12]")
        width[name] = (noon.high - noon.low) / noon.value, found.hour_dispersion
    assert width["steady"][1] == pytest.approx(1.0, abs=0.15)
    assert width["bursts"][1] == pytest.approx(20.0, rel=0.2)
    assert width["bursts"][0] > 3 * width["steady"][0]


def test_wilson_interval_of_a_textbook():
    assert wilson_interval(10, 100) == pytest.approx((0.0552, 0.1744), abs=1e-4)
    assert wilson_interval(0, 50)[0] == 0.0
    assert wilson_interval(50, 50)[1] == 1.0


def test_interval_of_a_count_is_garwoods():
    low, high = count_interval(np.array([0.0, 10.0]), 1.0)
    assert low == pytest.approx([0.0, 4.795], abs=1e-3)
    assert high == pytest.approx([3.689, 18.390], abs=1e-3)


def test_profile_interval_of_a_binomial():
    def loglik(x):
        return 30 * np.log(x[0]) + 70 * np.log(1 - x[0]) - (x[1] - 2) ** 2

    low, high = profile_interval(loglik, np.array([0.3, 2.0]), 0, [(1e-9, 1 - 1e-9), (-5, 5)])
    top = loglik(np.array([0.3, 2.0]))
    for end in (low, high):
        assert 2 * (top - loglik(np.array([end, 2.0]))) == pytest.approx(3.8415, abs=5e-3)
    assert low < 0.3 < high


def test_distances_by_hand():
    values = np.array([1, 2, 2, 4])
    found = ks_distance(values, lambda x: np.minimum(x / 4, 1.0))
    assert (found.distance, found.at) == (0.25, 2.0)
    assert (found.found, found.law) == (0.75, 0.5)
    jump = ks_distance(np.array([5, 5, 5]), lambda x: (x >= 5).astype(float))
    assert jump.distance == 0.0
    assert halves_distance(np.array([1, 1, 2, 1, 3, 3])) == pytest.approx(2 / 3)


def test_distance_is_that_of_a_full_search():
    law = beta(2, 3)
    values = np.sort(law.rvs(size=300, random_state=7))
    full = max(
        (np.arange(1, 301) / 300 - law.cdf(values)).max(), (law.cdf(values) - np.arange(300) / 300).max()
    )
    assert ks_distance(values, law.cdf, 1e-9).distance == pytest.approx(full, abs=1e-6)


def test_verdicts():
    assert verdict(0.2, 0.5) == "follows"
    assert [verdict(d, 0.0) for d in (0.01, 0.05, 0.2)] == ["follows closely", "is near", "differs"]


def test_words():
    assert [spoken(s) for s in (14400, 90, 86400, 5400, 100_000.5, 0, 3.14)] == [
        "4 h", "90 s", "1 d", "90 min", "27.8 h", "0 s", "3.1 s",
    ]  # fmt: skip
    assert [percent(x) for x in (0.283, 0.004, 0.997, 1.0, 0.00002)] == [
        "28 %", "0.4 %", "99.7 %", "100 %", "0.002 %",
    ]  # fmt: skip
