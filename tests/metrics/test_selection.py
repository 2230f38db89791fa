"""Who is best, and how sure that is: by hand, and how often it is right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.metrics.selection import front, looks, margins, quantile, select, undominated


def test_looks_double():
    assert looks(10, 80) == [10, 20, 40, 80]
    assert looks(10, 50) == [10, 20, 40, 50]
    assert looks(10, 10) == [10]


def test_margins_by_hand():
    """Differences 1, 2, 3: mean 2, standard deviation 1, so that W = t / √3."""
    values = np.array([[5.0, 6.0, 7.0], [4.0, 4.0, 4.0]])
    found = margins(values, 0, 4.0)
    assert found.difference.tolist() == [0.0, 2.0]
    assert found.chance == pytest.approx([0.0, 4.0 / np.sqrt(3)])


def test_the_quantile_is_students_shared_by_the_comparisons():
    assert quantile(10, 0.05, 1) == pytest.approx(1.8331, abs=1e-4)  # one-sided 95 %, 9 degrees of freedom
    assert quantile(10, 0.05, 5) == pytest.approx(2.8214, abs=1e-4)  # 99 %


def test_what_is_worse_for_certain_goes_and_the_loss_is_bounded():
    base = np.array([10.0, 12.0, 8.0, 11.0, 9.0, 10.0])
    noise = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    values = np.stack([base, base + 0.1 + noise, base + 100])
    found = select(values, 3, 0.05)
    assert found.left.tolist() == [True, True, False]
    assert found.winner == 0
    t = quantile(6, 0.05, 2)
    assert found.loss == pytest.approx(-0.1 + t * noise.std(ddof=1) / np.sqrt(6))


def test_of_equal_candidates_none_goes_and_nothing_is_lost():
    found = select(np.tile([3.0, 5.0, 4.0], (4, 1)), 4, 0.05)
    assert (found.left.all(), found.winner, found.loss) == (True, 0, 0.0)


def trials(means, count, seeds, alpha):
    """How often the best one stays and the loss is within its bound, over trials with common noise."""
    random = np.random.default_rng(5)
    stays = bounded = 0
    for _ in range(count):
        common = 2 * random.normal(size=seeds)
        values = means[:, None] + common + random.normal(size=(len(means), seeds))
        found = select(values, len(means), alpha)
        stays += bool(found.left[0])
        bounded += bool(means[found.winner] - means[0] <= found.loss)
    return stays / count, bounded / count


@pytest.mark.parametrize("apart", [0.0, 0.5])
def test_the_best_one_stays_and_the_loss_is_bounded_as_often_as_said(apart):
    """The least favourable case is that all are equal; with α = 0.2 at most a fifth may fail."""
    means = np.concatenate(([0.0], np.full(14, apart)))
    stays, bounded = trials(means, 600, 10, 0.2)
    assert stays >= 0.8
    assert bounded >= 0.8


def test_what_cannot_be_negative_is_not_better_by_more_than_all_of_it():
    random = np.random.default_rng(3)
    values = np.exp(2 * random.normal(size=(4, 5)))
    found = select(values, 4, 0.05)
    assert found.left.sum() > 1
    assert found.loss == pytest.approx(values[found.winner].mean())
    assert select(values - 50, 4, 0.05).loss > 2 * found.loss
    near = values[0] * np.array([[1.0], [1.01], [1.02], [1.03]])
    assert 0 <= select(near, 4, 0.05).loss < 0.1 * near[0].mean()


def test_screening_has_power():
    """Nine that are two standard deviations worse: nearly all go after 20 seeds."""
    means = np.concatenate(([0.0], np.full(9, 2.0)))
    random = np.random.default_rng(1)
    values = means[:, None] + 5 * random.normal(size=20) + random.normal(size=(10, 20))
    assert select(values, 10, 0.05).left.tolist() == [True] + [False] * 9


def test_a_front_keeps_who_is_better_in_one():
    """0 is best in the first, 1 in the second, 2 is worse than 0 in both, 3 as dear as 0 and slower."""
    noise = np.array([0.1, -0.1, 0.2, -0.2, 0.0, 0.0])
    first = np.array([[1.0], [5.0], [3.0], [4.0]]) + noise * np.array([[0], [1], [2], [3]])
    second = np.repeat([[5.0], [1.0], [6.0], [5.0]], 6, axis=1)
    assert undominated(first, second, 4, 0.05).tolist() == [True, True, False, False]


def test_all_on_the_front_are_kept_as_often_as_said():
    random = np.random.default_rng(2)
    x = np.arange(6.0)
    kept = 0
    for _ in range(400):
        first = x[:, None] * 0.3 + random.normal(size=(6, 8))
        second = -x[:, None] * 0.3 + random.normal(size=(6, 8))
        kept += bool(undominated(first, second, 6, 0.2).all())
    assert kept / 400 >= 0.8


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=15))
def test_the_front_of_means_is_that_of_the_definition(points):
    first, second = (np.array(part, dtype=float) for part in zip(*points, strict=True))
    expected = [
        not any(
            a <= one and b <= other and (a < one or b < other) for a, b in zip(first, second, strict=True)
        )
        for one, other in zip(first, second, strict=True)
    ]
    assert front(first, second).tolist() == expected
