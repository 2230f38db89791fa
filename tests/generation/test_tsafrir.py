"""Tsafrir's model of user estimates: every job fits, and the values have the shares published."""

from __future__ import annotations

import hashlib
import math
from itertools import pairwise

import numpy as np
import pytest

from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.generation.lublin import Lublin
from scheduler_sim.generation.tsafrir import UserEstimates, _ranks
from scheduler_sim.generation.tsafrir_tables import POPULARITY
from scheduler_sim.streams import stream
from tests.generation.without_simd import output_without_simd

MINUTE, HOUR = 60, 3600
TWO_DAYS = 48 * HOUR
COUNT = 100_000
MODEL = UserEstimates(TWO_DAYS)
POPULAR = set(MODEL.popular().tolist())


def streams_of(seed):
    return lambda purpose: stream(seed, purpose)


def run_times(jobs, seed=1):
    return Lublin().draw(jobs, 128, streams_of(seed)).run_time


def shares_by_value(model, jobs=COUNT, seed=1):
    values, counts = model.distribution(jobs, stream(seed, "values"))
    return dict(zip(values.tolist(), (counts / jobs).tolist(), strict=True))


@pytest.mark.parametrize("jobs", [1, 40, 200, 1000, COUNT])
def test_no_estimate_is_shorter_than_its_run(jobs):
    run = run_times(jobs)
    estimates = MODEL.estimates(run, streams_of(1))
    assert estimates.dtype == np.int64
    assert np.all(estimates >= run)
    assert estimates.max() == TWO_DAYS


def test_estimates_are_those_of_the_distribution():
    run = run_times(COUNT)
    values, counts = MODEL.distribution(COUNT, streams_of(1)("estimate values"))
    seen = np.unique(MODEL.estimates(run, streams_of(1)), return_counts=True)
    assert np.array_equal(seen[0], values)
    assert np.array_equal(seen[1], counts)


def test_twenty_values_serve_nine_jobs_of_ten():
    shares = shares_by_value(MODEL)
    assert sum(shares[value] for value in POPULAR) == pytest.approx(0.89, abs=21 / COUNT)
    assert sum(sorted(shares.values())[-20:]) == pytest.approx(0.89, abs=21 / COUNT)


def test_shares_of_the_popular_values_are_those_of_the_exponential():
    """Rank 2: (14.0491 · e**−0.355062 + 0.462513) % = 10.31 %; the largest has what 89 % leave."""
    by_rank = [(14.0491 * math.exp(-0.177531 * rank) + 0.462513) / 100 for rank in range(2, 21)]
    largest = 0.89 - sum(by_rank)
    assert by_rank[0] == pytest.approx(0.1031, abs=5e-5)
    assert largest == pytest.approx(0.2173, abs=5e-5)
    shares = shares_by_value(MODEL)
    popular = sorted((shares[value] for value in POPULAR), reverse=True)
    assert popular == pytest.approx([largest, *by_rank], abs=2 / COUNT)
    assert shares[TWO_DAYS] == popular[0]


@pytest.mark.parametrize(("max_share", "rank"), [(0.6, 1), (0.05, 7), (0.001, 20)])
def test_the_largest_estimate_has_the_share_it_is_given(max_share, rank):
    """The others share the rest: with 5 % for the largest, rank 2 has 10.31 · 84 / 67.27 = 12.88 %."""
    model = UserEstimates(TWO_DAYS, max_share=max_share)
    shares = shares_by_value(model)
    head = sorted((shares[value] for value in model.popular().tolist()), reverse=True)
    assert shares[TWO_DAYS] == pytest.approx(max_share, abs=2 / COUNT)
    assert head.index(shares[TWO_DAYS]) == rank - 1
    assert sum(head) == pytest.approx(0.89, abs=21 / COUNT)


def test_rarer_values_fall_with_the_power_of_their_rank():
    shares = shares_by_value(MODEL)
    rare = sorted((s for v, s in shares.items() if v not in POPULAR), reverse=True)
    law = [rank**-2.267 for rank in range(21, 21 + len(rare))]
    assert rare == pytest.approx([0.11 * x / sum(law) for x in law], abs=2 / COUNT)


@pytest.mark.parametrize(
    ("jobs", "values"),
    [(1, 1), (2, 1), (20, 10), (110, 15), (200, 20), (600, 28), (1000, 35), (5500, 63), (250_000, 565),
     (9_000_000, 565)],
)  # fmt: skip
def test_number_of_different_estimates(jobs, values):
    """On the lines between the published points, halves rounded up: 600 jobs have 27.5."""
    assert MODEL.number_of_values(jobs) == values


@pytest.mark.parametrize("jobs", [1, 7, 150, 200, 1000, 70_000])
def test_as_many_different_estimates_as_the_model_says(jobs):
    values, counts = MODEL.distribution(jobs, stream(2, "values"))
    assert len(values) == MODEL.number_of_values(jobs)
    assert counts.min() >= 1
    assert counts.sum() == jobs
    assert values[-1] == TWO_DAYS
    assert np.all(np.diff(values) > 0)


@pytest.mark.parametrize(
    ("longest", "completing"),
    [
        (18 * HOUR, [13, 14, 15, 16, 17]),  # 10 h, 5 h: 15; 2 h: 16, 14; 1 h: 17, 13
        (48 * HOUR, [18, 20, 30, 40, 45]),  # 18 h is common to all logs; 10 h: 40, 30, 20; 5 h: 45
        (160 * HOUR, [18, 50, 100, 150, 160 - 20]),  # 100 h; 50 h: 150, 50; 10 h: 140
    ],
)
def test_popular_values(longest, completing):
    always = [m * MINUTE for m in (5, 10, 15, 20, 30)] + [h * HOUR for h in (1, 2, 3, 4, 5, 6, 8, 10, 12)]
    expected = sorted(always + [h * HOUR for h in completing])
    assert UserEstimates(longest).popular().tolist() == [longest, *expected]


def test_popular_values_of_a_short_limit():
    """6000 s is the shortest with 20: all multiples of 5 minutes."""
    assert sorted(UserEstimates(6000).popular().tolist()) == list(range(300, 6001, 300))


def test_popular_values_of_ones_own():
    own = tuple(range(100, 2000, 100))
    model = UserEstimates(6000, popular_values=own)
    assert model.popular().tolist() == [6000, *own]
    shares = shares_by_value(model)
    assert sum(shares[value] for value in (*own, 6000)) == pytest.approx(0.89, abs=21 / COUNT)


def test_times_of_rarer_values():
    """45 values: a − 1 = 12.1039 · 45**−0.6026 = 1.2212, so the 5th of 25 is 0.2 · 1.2212 / 2.0212."""
    values, _ = UserEstimates(TWO_DAYS, values_by_jobs=((0, 0), (45, 45))).distribution(45, stream(3, "v"))
    rare = np.setdiff1d(values, MODEL.popular())
    assert len(rare) == 25
    assert rare[4] == round(0.2 * 1.2212 / 2.0212 * 2880) * MINUTE
    assert rare[-1] == TWO_DAYS - 30  # the last is the largest itself, which is taken: 30 s aside


def test_rarer_values_evade_the_popular_ones():
    """Whole minutes, but 30 s more where a popular value is there already; 30 s less below the largest."""
    values, _ = MODEL.distribution(250_000, stream(3, "v"))
    *evading, last = [value for value in values.tolist() if value % MINUTE]
    assert {10 * MINUTE + 30, HOUR + 30} <= set(evading)
    assert {value - 30 for value in evading} <= POPULAR
    assert last == TWO_DAYS - 30


def test_shares_of_rarer_values_do_not_follow_their_length():
    shares = [shares_by_value(MODEL, seed=seed) for seed in (1, 2)]
    rare = [[share for value, share in each.items() if value not in POPULAR] for each in shares]
    assert sorted(rare[0]) == pytest.approx(sorted(rare[1]), abs=2 / COUNT)
    assert rare[0] != rare[1]
    assert not math.isclose(sum(rare[0][: len(rare[0]) // 2]), 0.11, rel_tol=0.2)


def test_each_log_ranks_all_twenty():
    """In every column each rank once: the ranks a draw may need are there when they fall due."""
    assert all(sorted(column) == list(range(1, 21)) for column in zip(*POPULARITY, strict=True))


def test_a_rank_is_taken_where_a_log_has_it_last():
    """Of two that fall due together the more popular first: 6 before 7, and 2 before 4."""
    last = {rank: row for row, ranks in enumerate(POPULARITY) for rank in ranks}
    for seed in range(300):
        ranks = _ranks(1, stream(seed, "ranks")).tolist()
        assert sorted(ranks) == list(range(1, 21))
        assert all(ranks.index(rank) <= last[rank] for rank in (2, 3, 5, 6, 18))
        assert all(row <= last[rank] + 2 for row, rank in enumerate(ranks))


def test_popularity_is_drawn_from_the_logs():
    """5 min: the logs rank it 1, 3, 4 and 6, and another 3 is left from the largest value."""
    draws = [shares_by_value(MODEL, jobs=10_000, seed=seed) for seed in range(300)]
    sizes = sorted(draws[0].values(), reverse=True)
    ranks = [1 + sizes.index(min(sizes, key=lambda s, d=d: abs(s - d[5 * MINUTE]))) for d in draws]
    assert set(ranks) == {3, 4, 6}
    # of 3, 3, 4 and 6 the more popular of two draws: 3 unless both miss it, 1 − (1/2)² = 3/4
    assert abs(ranks.count(3) - 225) < 4 * math.sqrt(300 * 0.75 * 0.25)


def test_jobs_of_the_same_length_are_treated_alike():
    """All runs fit all estimates: the deal is a random order, so early jobs get no other than late ones."""
    estimates = MODEL.estimates(np.full(COUNT, 1), streams_of(4))
    early, late = np.split(estimates == TWO_DAYS, 2)
    deviation = math.sqrt(COUNT / 2 * 0.2173 * 0.7827)
    assert abs(int(early.sum()) - int(late.sum())) < 4 * deviation


def test_every_fitting_deal_is_possible():
    """One run as long as the shortest estimate, two as the middle one: two deals fit."""
    own = tuple(range(1, 20))
    model = UserEstimates(6000, popular_values=own, values_by_jobs=((0, 0), (3, 3)))
    seen = set()
    for seed in range(60):
        values, _ = model.distribution(3, streams_of(seed)("estimate values"))
        low, middle, high = values.tolist()
        run = np.array([low, middle, middle])
        seen.add(tuple(np.searchsorted(values, model.estimates(run, streams_of(seed))).tolist()))
        assert low < middle < high
    assert seen == {(0, 1, 2), (0, 2, 1)}


def test_short_jobs_have_longer_estimates_than_they_need():
    run = run_times(COUNT)
    estimates = MODEL.estimates(run, streams_of(5))
    medians = [
        np.median(estimates[(run > low) & (run <= high)]) for low, high in pairwise((0, 60, 3600, 40_000))
    ]
    assert medians[0] < medians[1] < medians[2]


def test_too_long_a_job():
    with pytest.raises(
        InputError, match="a job runs 172801 s; estimates allow at most max_estimate = 172800 s"
    ):
        MODEL.estimates(np.array([5, TWO_DAYS + 1]), streams_of(1))


def test_more_long_jobs_than_long_estimates():
    run = np.full(1000, 10)
    run[:300] = TWO_DAYS
    with pytest.raises(InputError, match="jobs run 172800 s or longer, 217 estimates do") as caught:
        MODEL.estimates(run, streams_of(1))
    assert "allowed: a larger max_estimate or max_share" in str(caught.value)
    estimates = UserEstimates(TWO_DAYS, max_share=0.3).estimates(run, streams_of(1))
    assert np.all(estimates[:300] == TWO_DAYS)


def test_no_jobs():
    assert len(MODEL.estimates(np.zeros(0, dtype=np.int64), streams_of(1))) == 0


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"max_estimate": 5999}, "max_estimate: found 5999; allowed: at least 6000 s"),
        ({"max_share": 0.9}, "max_share: found 0.9; allowed: between 0 and head_share"),
        ({"max_share": 0.0}, "max_share: found 0.0"),
        ({"head_share": 1.0}, "head_share"),
        ({"head_share": 0.5}, "max_share: found -0.17"),
        ({"head_popularity": (1.0, -1.0, -5.0)}, "head_popularity"),
        ({"tail_exponent": math.nan}, "finite numbers"),
        ({"time_law": (0.0, -0.6)}, "time_law"),
        ({"popular_values": (60, 120)}, "popular_values: found .*; allowed: 19 different times"),
        ({"popular_values": tuple([60] * 19)}, "popular_values"),
        ({"values_by_jobs": ((0, 0),)}, "values_by_jobs"),
        ({"values_by_jobs": ((0, 0), (10, 5), (9, 6))}, "values_by_jobs"),
    ],
)
def test_values_out_of_range(keys, words):
    with pytest.raises(ConfigError, match=words):
        UserEstimates(**{"max_estimate": TWO_DAYS, **keys})


def fingerprint(seed):
    return hashlib.sha256(MODEL.estimates(run_times(COUNT), streams_of(seed)).tobytes()).hexdigest()


def test_the_seed_decides():
    assert fingerprint(1) == fingerprint(1) != fingerprint(2)


def test_the_same_integers_without_wide_instructions():
    program = "from tests.generation.test_tsafrir import fingerprint\nprint(fingerprint(1))"
    assert output_without_simd(program) == fingerprint(1)
