"""Tests of differences: against SciPy, by hand, and Holm's family-wise error by simulation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from scheduler_sim.metrics.intervals import paired_t
from scheduler_sim.metrics.significance import holm, wilcoxon


@pytest.mark.parametrize("count", [2, 3, 10, 60])
def test_paired_t_is_scipys(count):
    differences = np.random.default_rng(count).normal(0.3, 1, count)
    assert paired_t(differences) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, rel=1e-9)


def test_more_variance_is_less_significant():
    differences = np.array(
        [1.0, 2.0, 3.0, 2.0, 2.0, 2.0]
    )  # mean 2, s² = 0.4; worth two, of which t = 2 / √(0.4/2)
    assert paired_t(differences, inflation=3.0) == pytest.approx(2 * stats.t.sf(20**0.5, 1))


def test_no_difference_is_p_1_and_no_spread_is_p_0():
    assert paired_t(np.zeros(5)) == wilcoxon(np.zeros(5)) == 1.0
    assert paired_t(np.full(6, 0.1)) == 0.0
    assert wilcoxon(np.full(6, 0.1)) == 2 / 64
    assert np.isnan(paired_t(np.array([1.0])))
    assert np.isnan(wilcoxon(np.array([1.0])))


def wilcoxon_written_out(differences):
    """All ways to set the signs."""
    differences = [d for d in differences if d != 0]
    ranks = stats.rankdata(np.abs(differences))
    found = sum(rank for rank, d in zip(ranks, differences, strict=True) if d > 0)
    extreme = min(found, sum(ranks) - found)
    sums = [sum(ranks * np.array(signs)) for signs in product((0, 1), repeat=len(ranks))]
    return min(1.0, 2 * sum(s <= extreme for s in sums) / len(sums))


@pytest.mark.parametrize("seed", range(15))
def test_wilcoxon_with_ties_and_zeros(seed):
    differences = np.random.default_rng(seed).integers(-4, 7, 9).astype(float)
    assert wilcoxon(differences) == pytest.approx(wilcoxon_written_out(differences), rel=1e-12)


@pytest.mark.parametrize("count", [6, 30, 50, 51, 200])
def test_wilcoxon_is_scipys_without_ties(count):
    differences = np.random.default_rng(count).normal(0.2, 1, count)
    method = "exact" if count <= 50 else "approx"
    expected = stats.wilcoxon(differences, method=method, correction=True).pvalue
    assert wilcoxon(differences) == pytest.approx(expected, rel=1e-9)


def test_holm_by_hand():
    # sorted 0.01, 0.02, 0.03, 0.04 by 4, 3, 2, 1: 0.04, 0.06, 0.06, then not below: 0.06
    found = holm(np.array([0.03, 0.01, np.nan, 0.04, 0.02]))
    assert found[[0, 1, 3, 4]] == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert np.isnan(found[2])
    assert holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]
    assert holm(np.array([])).tolist() == []


def test_holm_keeps_the_family_wise_error_where_plain_p_values_do_not():
    random = np.random.default_rng(11)
    trials, family, pairs = 2000, 8, 10
    differences = random.standard_normal((trials, family, pairs)) + 0.5 * random.standard_normal(
        (trials, 1, pairs)
    )
    p = np.array([[paired_t(one) for one in trial] for trial in differences])
    plain = (p <= 0.05).any(axis=1).mean()
    corrected = np.mean([(holm(trial) <= 0.05).any() for trial in p])
    assert plain > 0.2
    assert corrected <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / trials)
    assert corrected > 0.02  # and is not idle
