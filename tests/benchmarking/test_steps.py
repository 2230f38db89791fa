"""Steps: found where they are, by ranks alone, and rarely where there are none."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from scheduler_sim.benchmarking.steps import FALSE_ALARMS, FEWEST, SHORTEST, find_steps
from scheduler_sim.streams import stream


def noise(n, seed=0):
    return stream(seed, "test of steps").standard_normal(n)


def places(values):
    return [step.at for step in find_steps(values)]


def test_chance_alone_gives_a_step_as_rarely_as_stated():
    draws, series = stream(1, "steps of nothing"), 300
    found = sum(bool(find_steps(draws.standard_normal(20))) for _ in range(series))
    assert found <= binom.ppf(0.999, series, FALSE_ALARMS)


def test_a_step_is_found_where_it_is():
    values = 100 + noise(60)
    values[40:] += 5
    (step,) = find_steps(values)
    assert step.at == 40
    assert step.change == pytest.approx(0.05, abs=0.01)
    assert (step.before, step.after) == (np.median(values[:40]), np.median(values[40:]))
    assert step.p <= FALSE_ALARMS


def test_a_step_up_and_back_and_one_down():
    values = 100 + noise(90)
    values[30:40] += 8
    values[70:] -= 8
    assert places(values) == [30, 40, 70]


def test_an_outlier_is_no_step_and_short_series_are_not_looked_at():
    values = 100 + noise(60)
    values[[20, 21]] = 1000
    assert places(values) == []
    assert find_steps(np.arange(FEWEST - 1.0)) == []
    assert find_steps(np.ones(50)) == []
    assert find_steps(np.array([])) == []


@given(st.lists(st.integers(0, 40), min_size=FEWEST, max_size=40))
def test_steps_hang_on_the_order_of_values_alone(levels):
    values = np.array(levels, dtype=float)
    steps = find_steps(values)
    assert places(np.exp(values / 10)) == [step.at for step in steps]
    edges = [0, *(step.at for step in steps), len(values)]
    assert all(b - a >= SHORTEST for a, b in pairwise(edges))
    for step, first, end in zip(steps, edges, edges[2:], strict=False):
        assert step.before == np.median(values[first : step.at])
        assert step.after == np.median(values[step.at : end])
