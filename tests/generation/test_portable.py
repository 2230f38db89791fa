"""Elementary functions and variates: near the true values, and their laws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from scheduler_sim.generation import portable

ULP = 2.0**-52
X = np.random.default_rng(1).uniform(-900, 900, 200_000)


def test_exp2_and_log_are_within_a_few_units_in_the_last_place():
    assert np.abs(portable.exp2(X) / np.exp2(X) - 1).max() < 4 * ULP
    y = np.exp2(X)
    assert np.abs(portable.log(y) - np.log(y)).max() < 4 * ULP * np.abs(np.log(y)).max()
    near_one = 1 + X / 1e6
    assert np.abs(portable.log(near_one) / np.log(near_one) - 1).max() < 4 * ULP


def test_powers_of_two_are_exact():
    powers = np.arange(-60, 61)
    assert np.array_equal(portable.exp2(powers), np.ldexp(1.0, powers))
    assert np.array_equal(portable.log2(np.ldexp(1.0, powers)), powers)


@pytest.mark.parametrize("shape", [0.03, 0.6, 1.0, 4.2, 312.0])
def test_gamma_follows_its_law(shape):
    drawn = portable.gamma(np.random.default_rng(2), shape, 50_000)
    assert stats.kstest(drawn, stats.gamma(shape).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("draw", "law"), [(portable.exponential, stats.expon), (portable.normal, stats.norm)]
)
def test_exponential_and_normal_follow_their_laws(draw, law):
    assert stats.kstest(draw(np.random.default_rng(3), 50_000), law.cdf).pvalue > 1e-3


def test_blocks_make_no_difference():
    few, many = X[:1000], np.concatenate([X[:1000]] * 70)
    assert np.array_equal(portable.exp2(many)[:1000], portable.exp2(few))
    assert np.array_equal(portable.exp2(many)[-1000:], portable.exp2(few))
