"""Lublin's model: its laws computed again with SciPy and plain loops, its limits, its errors."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma

from scheduler_sim.errors import ConfigError
from scheduler_sim.generation import portable
from scheduler_sim.generation.lublin import BATCH, INTERACTIVE, JobType, Lublin
from scheduler_sim.streams import stream
from tests.generation.without_simd import output_without_simd

ALL = JobType()
LAWS = pytest.mark.parametrize("law", [ALL, BATCH, INTERACTIVE], ids=["all", "batch", "interactive"])
COUNT = 200_000
DAY, HALF_HOUR = 86_400, 1800


def streams_of(seed):
    return lambda purpose: stream(seed, purpose)


def day_weights(law):
    """Arrival rates of the half hours 1 to 48 over their mean; half hour i is also i + 48."""
    late = np.arange(11, 59)
    share = gamma.cdf(late + 0.5, law.a_num, scale=law.b_num) - gamma.cdf(
        late - 0.5, law.a_num, scale=law.b_num
    )
    weights = np.empty(48)
    weights[(late - 1) % 48] = share
    return weights / weights.mean()


def size_probabilities(law, nodes):
    """Chance of each size, from the two-stage uniform; the machine is a power of two, 32 or more."""
    low, high = law.u_low, math.log2(nodes) - law.u_hi_below
    bend = high - law.u_med_below

    def below(x):
        return np.interp(x, [low, bend, high], [0.0, law.u_prob, 1.0])

    chance = np.zeros(nodes + 1)
    chance[1] = law.serial_prob
    for power in range(int(math.log2(nodes)) + 1):
        chance[2**power] += law.pow2_prob * (below(power + 0.5) - below(power - 0.5))
    for size in range(1, nodes + 1):
        any_size = below(math.log2(size + 0.5)) - below(math.log2(size - 0.5))
        chance[size] += (1 - law.serial_prob - law.pow2_prob) * any_size
    return chance


def log_run_below(law, nodes, x):
    p = min(max(law.pa * nodes + law.pb, 0), 1)
    return p * gamma.cdf(x, law.a1, scale=law.b1) + (1 - p) * gamma.cdf(x, law.a2, scale=law.b2)


def within_4_sigma(count, of, chance):
    return abs(count - of * chance) <= 4 * math.sqrt(of * chance * (1 - chance))


@pytest.mark.parametrize(
    ("law", "means", "one_node", "second_only_from", "sizes"),
    [
        (ALL, (3.948, 9.36, 5.0953), 0.7746, 144.4, (0.820, 0.8, 4.5, 7, 0.86)),
        (BATCH, (5.40711, 9.96996, 5.4215), 0.6956, 232.9, (0.9613, 1.2, 5, 7, 0.875)),
        (INTERACTIVE, (2.53308, 4.84925, 4.2493), 0.9038, 77.6, (0.7791, 1, 3, 5.5, 0.705)),
    ],
    ids=["all", "batch", "interactive"],
)
def test_published_defaults(law, means, one_node, second_only_from, sizes):
    """Products of the published constants, worked out by hand: ln of run times, and of gaps.

    Sizes: share of serial jobs and powers of two; lowest, bend and highest log2 of 128 nodes; share below.
    """
    high = 7 - law.u_hi_below
    found = (law.serial_prob + law.pow2_prob, law.u_low, high - law.u_med_below, high, law.u_prob)
    assert found == pytest.approx(sizes)
    assert (law.a1 * law.b1, law.a2 * law.b2, law.a_arr * law.arar * law.b_arr) == pytest.approx(
        means, rel=2e-5
    )
    assert law.pa + law.pb == pytest.approx(one_node)
    assert -law.pb / law.pa == pytest.approx(second_only_from, abs=0.06)


@LAWS
def test_shares_of_serial_jobs_and_powers_of_two(law):
    sizes = law.sizes(COUNT, 128, stream(1, "sizes"))
    serial = np.count_nonzero(sizes == 1)
    powers = np.count_nonzero((sizes > 1) & (sizes & (sizes - 1) == 0))
    chance = size_probabilities(law, 128)
    assert chance.sum() == pytest.approx(1)
    assert within_4_sigma(serial, COUNT, law.serial_prob)
    assert within_4_sigma(powers, COUNT, sum(chance[2**k] for k in range(1, 8)))
    assert sum(chance[2**k] for k in range(1, 8)) > law.pow2_prob  # some are powers of two by chance


@LAWS
@pytest.mark.parametrize("nodes", [64, 128, 1024])
def test_every_size_has_its_probability(law, nodes):
    seen = np.bincount(law.sizes(COUNT, nodes, stream(2, "sizes")), minlength=nodes + 1)
    expected = COUNT * size_probabilities(law, nodes)
    assert not seen[expected == 0].any()
    likely = expected > 10
    chi2 = ((seen - expected)[likely] ** 2 / expected[likely]).sum()
    degrees = likely.sum() - 1
    assert chi2 < degrees + 4 * math.sqrt(2 * degrees)


def test_the_largest_interactive_job_of_128_nodes_has_45():
    assert INTERACTIVE.sizes(COUNT, 128, stream(3, "sizes")).max() == 45  # 2**5.5, from the authors


@pytest.mark.parametrize("nodes", [1, 2, 3, 4, 7, 8, 100])
def test_sizes_fit_any_machine(nodes):
    sizes = ALL.sizes(COUNT, nodes, stream(4, "sizes"))
    assert sizes.min() == 1
    assert sizes.max() == nodes
    powers_only = JobType(serial_prob=0, pow2_prob=1)
    assert powers_only.sizes(20_000, nodes, stream(4, "sizes")).max() == 2 ** int(math.log2(nodes))


def test_the_bend_of_a_small_machine():
    """8 nodes: log2 up to 1.5 is 2 nodes; of 1.5 to 3 two thirds are 4 nodes and one third 8."""
    powers_only = JobType(serial_prob=0, pow2_prob=1)
    seen = np.bincount(powers_only.sizes(COUNT, 8, stream(4, "sizes")))
    assert np.flatnonzero(seen).tolist() == [2, 4, 8]
    for nodes, chance in ((2, 0.86), (4, 0.14 * 2 / 3), (8, 0.14 / 3)):
        assert within_4_sigma(seen[nodes], COUNT, chance)


@LAWS
@pytest.mark.parametrize("nodes", [1, 50, 128, 4000])
def test_run_times_follow_the_hyper_gamma(law, nodes):
    cap = 12.0
    run = np.sort(law.run_times(np.full(COUNT, nodes), stream(5, "run times"), cap))
    seconds = np.arange(1, run.max() + 1)
    expected = log_run_below(law, nodes, np.log(seconds + 1.0)) / log_run_below(law, nodes, cap)
    seen = np.searchsorted(run, seconds, side="right") / COUNT
    assert np.abs(seen - np.minimum(expected, 1)).max() < 1.95 / math.sqrt(COUNT)  # one in a thousand


def test_large_jobs_run_longer():
    run_times = [ALL.run_times(np.full(COUNT, n), stream(6, "r"), 12.0) for n in (1, 64, 145)]
    medians = [np.median(run) for run in run_times]
    assert medians[0] < medians[1] < medians[2]
    # from 0.78 / 0.0054 = 144.4 nodes on there is only the second gamma, about 312 · 0.03 = 9.36
    assert medians[2] == pytest.approx(math.exp(9.36), rel=0.02)


def test_run_times_above_the_largest_are_drawn_again():
    longest = Lublin().draw(COUNT, 128, streams_of(7)).run_time.max()
    assert 150_000 < longest <= math.floor(math.exp(12))
    cut = Lublin(max_log_run_time=9.5).draw(COUNT, 128, streams_of(7)).run_time
    assert cut.max() == math.floor(math.exp(9.5))
    assert np.count_nonzero(cut == cut.max()) < 0.001 * COUNT  # drawn again, not cut off


@LAWS
def test_day_weights_are_the_gamma_of_the_half_hours(law):
    weights = law.day_weights()
    assert np.abs(weights - day_weights(law)).max() < 1e-10
    assert weights.sum() == pytest.approx(48)


def test_the_day_is_busiest_after_noon_and_emptiest_at_five():
    weights = ALL.day_weights()
    assert weights.argmax() == 27  # 13:30; the mode of the gamma is 7.1737 · 3.9631 = 28.4 half hours
    assert weights.argmin() == 10  # 5:00, where the cycle begins


def test_submissions_pay_for_each_half_hour_as_in_the_published_recurrence():
    """Points are saved by waiting and spent on half hours, one after another."""
    jobs = 3000
    log_gaps = portable.gamma(stream(8, "arrivals"), ALL.a_arr * ALL.arar, jobs) * ALL.b_arr
    assert log_gaps.max() < 13
    weights, bucket, begun, points, expected = day_weights(ALL), 0, 0, 0.0, []
    for gap in log_gaps:
        points += math.exp(gap) / HALF_HOUR
        while points > weights[bucket]:
            points -= weights[bucket]
            bucket = (bucket + 1) % 48
            begun += HALF_HOUR
        expected.append(begun + HALF_HOUR * points / weights[bucket])
    submit = ALL.submissions(jobs, stream(8, "arrivals"), 13.0, 1.0)
    assert np.array_equal(submit, np.floor(expected))


@LAWS
def test_submissions_of_a_day_share_out_as_the_weights(law):
    submit = law.submissions(COUNT, stream(9, "arrivals"), 13.0, 1.0)
    seen = np.bincount(submit % DAY // HALF_HOUR, minlength=48) / COUNT
    expected = day_weights(law) / 48
    shape = law.a_arr * law.arar
    moment = [
        quad(lambda x, k=k: gamma.pdf(x, shape, scale=law.b_arr) * math.exp(k * x), 0, 13)[0] for k in (1, 2)
    ]
    dispersion = moment[1] / moment[0] ** 2 - 1  # variance of counts over that of a Poisson process
    assert dispersion > 1
    assert np.all(np.abs(seen - expected) < 4 * np.sqrt(expected * dispersion / COUNT))


@LAWS
@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
def test_mean_inter_arrival_time(law, factor):
    shape = law.a_arr * law.arar
    inside = gamma.cdf(13, shape, scale=law.b_arr)
    mean, square = (
        quad(lambda x, k=k: gamma.pdf(x, shape, scale=law.b_arr) * math.exp(k * x), 0, 13)[0] / inside
        for k in (1, 2)
    )
    deviation = math.sqrt((square - mean**2) / COUNT)
    submit = law.submissions(COUNT, stream(10, "arrivals"), 13.0, factor)
    assert abs(submit[-1] / COUNT / factor - mean) < 4 * deviation + DAY / COUNT


@pytest.mark.parametrize("types", [False, True])
def test_a_trace_is_a_trace(types):
    trace = Lublin(types=types).draw(COUNT, 128, streams_of(11))
    assert all(column.dtype == np.int64 and column.shape == (COUNT,) for column in trace)
    assert np.all(np.diff(trace.submit_time) >= 0)
    assert trace.submit_time[0] >= 0
    assert trace.run_time.min() >= 1
    assert np.array_equal(trace.time_limit, trace.run_time)
    assert np.all(trace.cancel_lag == -1)
    assert 1 == trace.nodes.min() < trace.nodes.max() == 128


def test_no_jobs():
    assert all(len(column) == 0 for column in Lublin(types=True).draw(0, 128, streams_of(12)))


def test_types_are_merged_in_order_of_submission():
    jobs, streams = 5000, streams_of(13)
    serial = JobType(serial_prob=1, pow2_prob=0)
    pairs = JobType(serial_prob=0, pow2_prob=1, u_hi_below=6.5)  # 2**0.8 nodes and no more
    trace = Lublin(types=True, batch=serial, interactive=pairs).draw(jobs, 128, streams)
    batch = serial.submissions(jobs, streams("batch arrivals"), 13.0, 1.0)
    interactive = pairs.submissions(jobs, streams("interactive arrivals"), 13.0, 1.0)
    assert np.array_equal(trace.submit_time, np.sort(np.concatenate((batch, interactive)))[:jobs])
    of_batch = trace.nodes == 1
    assert np.array_equal(trace.submit_time[of_batch], batch[: of_batch.sum()])
    assert np.array_equal(trace.submit_time[~of_batch], interactive[: (~of_batch).sum()])
    assert set(trace.nodes[~of_batch].tolist()) == {2}


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: JobType(serial_prob=1.5), "serial_prob: found 1.5; allowed: 0 to 1"),
        (lambda: JobType(serial_prob=0.6), r"serial_prob \+ pow2_prob: found 1.176; allowed: at most 1"),
        (lambda: JobType(u_prob=-0.1), "u_prob: found -0.1"),
        (lambda: JobType(b1=0.0), "b1: found 0.0; allowed: more than 0"),
        (lambda: JobType(pa=math.nan), "pa: found nan; allowed: a finite number"),
        (lambda: JobType(u_med_below=-1.0), "u_med_below: found -1.0; allowed: 0 or more"),
        (lambda: Lublin(a1=math.inf), "a1: found inf"),
        (lambda: Lublin(max_log_run_time=8.0), "max_log_run_time: found 8.0; allowed: 9.36"),
        (lambda: Lublin(max_log_inter_arrival=5.0), "max_log_inter_arrival: found 5.0; allowed: 5.10"),
        (lambda: Lublin(max_log_run_time=math.inf), "max_log_run_time: found inf"),
        (lambda: Lublin(inter_arrival_factor=0.0), "inter_arrival_factor: found 0.0; allowed: more than 0"),
        (lambda: Lublin(types=True, b1=0.9), "b1: has no effect with types"),
    ],
)
def test_values_out_of_range(build, words):
    with pytest.raises(ConfigError, match=words):
        build()


def fingerprint(types, seed):
    trace = Lublin(types=types).draw(100_000, 128, streams_of(seed))
    return hashlib.sha256(b"".join(column.tobytes() for column in trace)).hexdigest()


def test_the_seed_decides():
    assert fingerprint(False, 1) == fingerprint(False, 1) != fingerprint(False, 2)


@pytest.mark.parametrize("types", [False, True])
def test_the_same_integers_without_wide_instructions(types):
    program = f"from tests.generation.test_lublin import fingerprint\nprint(fingerprint({types}, 1))"
    assert output_without_simd(program) == fingerprint(types, 1)
