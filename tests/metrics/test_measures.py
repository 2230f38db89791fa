"""Measures of a run: by hand, against metrics.json, and against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from scheduler_sim.metrics.compute import job_metrics
from scheduler_sim.metrics.fairness import gini, jain, max_over_mean, overtaken, user_means, user_numbers
from scheduler_sim.metrics.measures import measures
from tests.result.hand_made import Run, components_of


def with_users(runs, users):
    components = components_of(runs)
    return components.assign(user=pd.Categorical(users))


FOUR = [
    Run(0, 0, 10, 1),  # wait 0, bounded slowdown 1
    Run(0, 30, 10, 3),  # wait 30, 4
    Run(5, 25, 20, 1),  # wait 20, 2
    Run(6, 6, 100, 1),  # wait 0, 1
]


def test_by_hand():
    found = measures(with_users(FOUR, ["ana", "ana", "bo", ""]))
    assert (found["jobs"], found["ran"], found["users"]) == (4, 4, 2)
    assert found["wait_time_mean"] == 12.5
    assert found["bounded_slowdown_mean"] == 2.0
    # node-seconds 10, 30, 20, 100: (30·30 + 20·20) / 160
    assert found["wait_time_weighted"] == 8.125
    # bounded slowdowns: ana (1 + 4)/2 = 2.5, bo 2; who is not known is in no user's mean
    assert found["user_slowdown_jain"] == round(4.5**2 / (2 * (2.5**2 + 2**2)), 6)
    assert found["user_slowdown_gini"] == round(0.5 / (2 * 2 * 2.25), 6)  # |2.5 − 2|, twice, / (2·4·2.25)
    assert found["user_wait_max_over_mean"] == round(20 / 17.5, 6)  # waits 15 and 20
    # at 25 the third and at 6 the fourth pass the second, at 6 the fourth passes the third
    assert found["overtaken_share"] == 0.5


def test_the_values_are_those_of_metrics_json():
    random = np.random.default_rng(3)
    runs = [
        Run(t, t + int(random.integers(0, 500)), int(random.integers(0, 300)), int(random.integers(1, 9)))
        for t in range(200)
    ]
    runs.append(Run(3, None, 0, 99, state="REJECTED"))
    components = components_of(runs)
    found = measures(components)
    for name, statistics in job_metrics(components).items():
        for statistic, value in statistics.items():
            assert found[f"{name}_{statistic}"] == value
    assert (found["jobs"], found["ran"]) == (201, 200)


def test_a_mask_measures_the_part_but_all_can_overtake():
    components = with_users(FOUR, ["ana", "ana", "bo", ""])
    found = measures(components, np.array([True, True, False, False]))
    assert (found["jobs"], found["wait_time_mean"], found["users"]) == (2, 15.0, 1)
    assert found["overtaken_share"] == 0.5
    assert found["user_slowdown_jain"] == 1.0
    assert found["user_slowdown_gini"] == 0.0


@pytest.mark.parametrize("runs", [[], [Run(0, None, 0, 9, state="REJECTED")]])
def test_what_has_nothing_to_average_is_nan(runs):
    found = measures(components_of(runs))
    assert found["jobs"] == len(runs)
    assert found["ran"] == found["users"] == 0
    assert all(math.isnan(found[name]) for name in found if name not in ("jobs", "ran", "users"))


def test_run_times_of_zero_weigh_nothing():
    assert math.isnan(measures(components_of([Run(0, 9, 0, 4)]))["wait_time_weighted"])


def test_indices_at_their_ends():
    equal, one = np.full(7, 3.0), np.array([0.0, 0.0, 0.0, 8.0])
    assert (jain(equal), gini(equal), max_over_mean(equal)) == (1.0, 0.0, 1.0)
    assert (jain(one), gini(one), max_over_mean(one)) == (0.25, 0.75, 4.0)
    for index in (jain, gini, max_over_mean):
        assert math.isnan(index(np.zeros(3)))
        assert math.isnan(index(np.zeros(0)))


def test_gini_is_the_mean_difference():
    values = np.random.default_rng(1).gamma(0.5, size=40)
    pairs = np.abs(values[:, None] - values).sum()
    assert gini(values) == pytest.approx(pairs / (2 * 40**2 * values.mean()), rel=1e-12)


def test_means_of_users():
    users = user_numbers(pd.Series(["b", "", "a", "b"]))
    assert users.tolist() == [0, -1, 2, 0]
    assert user_means(np.array([1.0, 100.0, 7.0, 2.0]), users).tolist() == [1.5, 7.0]
    assert user_means(np.array([1.0]), np.array([-1])).tolist() == []


def overtaken_plainly(runs):
    return [
        one.start is not None
        and any(
            other.start is not None
            and other.module == one.module
            and other.submit > one.submit
            and (one.submit if one.eligible is None else one.eligible) <= other.start < one.start
            for other in runs
        )
        for one in runs
    ]


@pytest.mark.parametrize("seed", range(30))
def test_overtaken_against_all_pairs(seed):
    random = np.random.default_rng(seed)
    runs = []
    for _ in range(int(random.integers(0, 70))):
        submit = int(random.integers(0, 30))
        eligible = submit + int(random.integers(0, 6)) * int(random.integers(0, 2))
        start = eligible + int(random.integers(0, 20)) * int(random.integers(0, 2))
        if random.random() < 0.1:
            runs.append(Run(submit, None, 0, 1, state="REJECTED"))
        else:
            runs.append(Run(submit, start, 5, 1, module=str(random.choice(["A", "B"])), eligible=eligible))
    assert overtaken(components_of(runs)).tolist() == overtaken_plainly(runs)


def test_in_order_nobody_is_overtaken_and_waiting_for_a_dependency_does_not_count():
    assert not overtaken(
        components_of([Run(0, 5, 1, 1), Run(0, 5, 1, 1), Run(1, 5, 1, 1), Run(2, 9, 1, 1)])
    ).any()
    held = [Run(0, 20, 1, 1, eligible=20), Run(1, 2, 1, 1)]
    assert not overtaken(components_of(held)).any()
    assert overtaken(components_of([Run(0, 20, 1, 1, eligible=2), Run(1, 2, 1, 1)])).tolist() == [True, False]
