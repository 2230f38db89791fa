"""How many replicates: by hand, and the coverage of intervals at which the rule stops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scheduler_sim.metrics.comparison import compare
from scheduler_sim.metrics.intervals import ratio_interval, t_half_width
from scheduler_sim.metrics.replication import enough, needed, needed_for, projected

from .test_intervals import TRUE_RATIO, paired


def test_projection_by_hand():
    assert projected(10, 4.0, 5.0) == 0
    assert projected(10, 5.0, 5.0) == 0
    assert projected(10, 6.0, 5.0) == 5  # 10·(6/5)² = 14.4
    assert projected(10, 50.0, 5.0) == 10  # no more than double
    assert projected(100, 5.001, 5.0) == 1


def test_five_are_the_least():
    assert [projected(pairs, 0.0, 1.0) for pairs in range(7)] == [5, 4, 3, 2, 1, 0, 0]
    assert projected(1, np.nan, 1.0) == 4
    assert projected(6, np.nan, 1.0) == 6
    assert projected(6, np.inf, 1.0) == 6


def test_needed_is_steins_number():
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    half = t_half_width(values)
    assert needed(values, half) == 0
    assert enough(values, half)
    assert not enough(values, half * 0.99)
    assert needed(values, half / 1.2) == int(np.ceil(6 * 1.44)) - 6
    assert not enough(values[:4], 100.0)
    assert enough(np.full(5, 3.3), 1e-9)


def runs_of(**levels):
    return pd.concat(
        pd.DataFrame(
            {"policy": level, "replicate": range(len(values)), "wait": np.array(values, dtype=float)}
        )
        for level, values in levels.items()
    )


def test_a_comparison_asks_for_what_its_worst_row_needs():
    base = np.random.default_rng(3).normal(1000, 100, 8)
    noise = np.random.default_rng(4).normal(0, 1, 8)
    runs = runs_of(easy=base, again=base, near=base + 10 * noise, far=base + 200 * noise)
    table = compare(runs, "wait", "policy", "easy").set_index("policy")
    half = (table["change_high"] - table["change_low"]) / 2
    assert half["again"] == 0
    assert half["near"] < 2 < half["far"]
    assert needed_for(table.loc[["again", "near"]], 2.0) == 0
    assert needed_for(table, half["far"] / 1.1) == int(np.ceil(8 * 1.21)) - 8
    assert needed_for(table, half["far"] * 1.01) == 0
    assert needed_for(table.iloc[:0], 2.0) == 0


def test_a_comparison_with_too_few_or_without_a_ratio():
    assert needed_for(compare(runs_of(easy=[1], sjf=[2]), "wait", "policy", "easy"), 5.0) == 4
    assert needed_for(compare(runs_of(easy=[np.nan], sjf=[2]), "wait", "policy", "easy"), 5.0) == 5
    zero = compare(runs_of(easy=[0] * 6, sjf=[1, 2, 3, 4, 5, 6]), "wait", "policy", "easy")
    assert needed_for(zero, 5.0) == 0


@pytest.mark.parametrize(("law", "half_width"), [("normal", 0.1), ("lognormal", 0.2)])
def test_the_rule_stops_and_its_intervals_still_hold_the_truth(law, half_width):
    random = np.random.default_rng(8)
    stopped, held, trials = [], 0, 300
    for _ in range(trials):
        level, baseline = paired(random, 1000, law)
        pairs = 5
        while True:
            found = ratio_interval(level[:pairs], baseline[:pairs])
            more = projected(pairs, (found.high - found.low) / 2, half_width)
            assert more <= pairs
            if more == 0:
                break
            pairs += more
        stopped.append(pairs)
        held += found.low <= TRUE_RATIO <= found.high
    assert held >= 0.87 * trials
    assert np.mean(stopped) < 60
    assert len(set(stopped)) > 5
