"""Blocks of one trace: how it is cut, how blocks are merged, and the coverage under dependence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter

from scheduler_sim.errors import InputError
from scheduler_sim.metrics.blocks import autocorrelation, block_measures, block_spans, blocks, merged
from scheduler_sim.metrics.comparison import compare
from scheduler_sim.metrics.intervals import difference_interval, ratio_interval
from scheduler_sim.metrics.measures import measures
from tests.result.hand_made import Run, components_of

TRIALS = 1500


def submitted(times):
    return components_of([Run(int(time), int(time) + 7, 10, 1) for time in times])


def test_blocks_are_equal_spans_of_submissions():
    block = blocks(submitted(range(1000)))
    assert np.bincount(block).tolist() == [50] * 20
    assert (np.diff(block) >= 0).all()
    assert blocks(submitted(range(1000)), 10).tolist() == [i // 100 for i in range(1000)]


def test_no_block_has_fewer_than_30_jobs():
    assert np.bincount(blocks(submitted(range(599)))).min() >= 30
    assert blocks(submitted(range(599))).max() == 18  # 599 / 30 gives 19 blocks
    assert blocks(submitted(range(240))).max() == 7
    assert set(blocks(submitted(range(239)))) == {0}
    gap = [
        *range(100),
        *range(900, 2000),
    ]  # 20 blocks of 100 s would have empty ones, and so would 8 of 250 s
    assert set(blocks(submitted(gap))) == {0}
    busy = [*range(500), *range(500, 1000, 2)]  # 16 blocks of 62.5 s have 31 jobs in the second half
    assert np.bincount(blocks(submitted(busy), 40)).tolist()[-1] == 31
    assert blocks(submitted(busy), 40).max() == 15


def test_the_mask_and_its_span_count():
    components = submitted(range(1000))
    counted = np.arange(1000) >= 200
    block = blocks(components, 8, counted)
    assert (block[:200] == -1).all()
    assert np.bincount(block[200:]).tolist() == [100] * 8
    assert set(blocks(components, counted=np.zeros(1000, dtype=bool))) == {-1}
    assert blocks(submitted([])).tolist() == []


def test_spans_of_blocks_are_where_their_submissions_are():
    random = np.random.default_rng(3)
    for size in (700, 997, 100):
        components = submitted(np.sort(random.integers(50, 50_000, size)))
        block = blocks(components)
        spans = block_spans(components, block)
        times = components["submit_time"].to_numpy()
        assert len(spans) == block.max() + 1
        assert [end for _, end in spans[:-1]] == [begin for begin, _ in spans[1:]]
        for number, (begin, end) in enumerate(spans):
            assert (times[block == number] >= begin).all()
            assert (times[block == number] < end).all()
        assert (spans[0][0], spans[-1][1]) == (times.min(), times.max() + 1)
    assert block_spans(submitted([]), blocks(submitted([]))) == []


def test_fewer_than_8_blocks_are_refused():
    with pytest.raises(InputError, match="8 or more"):
        blocks(submitted([1]), 7)


def test_each_block_is_measured_by_itself():
    components = submitted(range(500))
    block = blocks(components, 8, np.arange(500) < 400)
    table = block_measures(components, block)
    assert table["block"].tolist() == list(range(8))
    for number, row in table.set_index("block").iterrows():
        assert row.to_dict() == pytest.approx(measures(components, block == number), nan_ok=True)


def test_autocorrelation_by_hand():
    # e = −2, −1, 0, 1, 2: r = (2 + 0 + 0 + 2) / 10, then (5·0.4 + 1) / 1, and no more than 1
    assert autocorrelation(np.array([1.0, 2.0, 3.0, 4.0, 5.0])) == 1.0
    # r = −19/20: (−19 + 1) / 16
    assert autocorrelation(np.array([1.0, -1.0] * 10)) == pytest.approx(-18 / 16)
    assert autocorrelation(np.full(9, 3.0)) == 0.0


def test_the_bias_is_made_up_for():
    random = np.random.default_rng(4)
    found = [autocorrelation(random.standard_normal(20)) for _ in range(4000)]
    assert abs(np.mean(found)) < 0.015  # without, −0.05


def test_neighbours_that_are_alike_are_merged():
    level = np.repeat([3.0, -1.0, 2.0, 0.0, 5.0, -2.0, 1.0, 4.0], 2)
    level = np.append(level, 4.0)
    found = merged(level, np.zeros(17))
    assert found.level.tolist() == [3.0, -1.0, 2.0, 0.0, 5.0, -2.0, 1.0, 4.0]  # the last from three
    assert found.autocorrelation == autocorrelation(found.level)
    assert found.inflation == 1.0


def test_blocks_that_stay_alike_are_worth_fewer():
    found = merged(np.arange(20.0), np.zeros(20))
    assert len(found.level) == 10
    assert found.inflation == pytest.approx(1.9 / 0.1)
    some = np.array([1.0, 2.0, 3.0, 1.0, 0.0, 1.0, 2.0, 2.0, 3.0, 1.0])
    found = merged(some, np.zeros(10))
    assert 0.2 < found.autocorrelation < 0.9
    assert found.inflation == (1 + found.autocorrelation) / (1 - found.autocorrelation)


def test_seven_blocks_are_left_alone():
    found = merged(np.arange(7.0), np.zeros(7))
    assert len(found.level) == 7
    assert found.inflation == 1.0


def covered(phi):
    """Shares of trials of which our interval holds the truth, and of which plain Student's does."""
    random = np.random.default_rng(9)
    held = plainly = 0
    for _ in range(TRIALS):
        noise = lfilter([1.0], [1.0, -phi], random.standard_normal(100))[80:]
        baseline = 1000 * np.exp(0.3 * random.standard_normal(20))
        level = 0.9 * baseline + 50 * noise
        plain = difference_interval(level, 0.9 * baseline)
        plainly += plain.low <= 0 <= plain.high
        found = merged(level, baseline)
        ours = ratio_interval(found.level, found.baseline, inflation=found.inflation)
        held += ours.low <= 0.9 <= ours.high
    return held / TRIALS, plainly / TRIALS


@pytest.mark.parametrize(
    ("phi", "plain_at_most"), [(0.0, 0.97), (0.2, 0.92), (0.4, 0.84), (0.6, 0.72), (0.8, 0.52)]
)
def test_coverage_of_autocorrelated_blocks(phi, plain_at_most):
    ours, plain = covered(phi)
    assert 0.89 <= ours <= 0.98
    assert plain <= plain_at_most


def blocked(policy, times, waits):
    components = components_of([Run(int(t), int(t + w), 10, 1) for t, w in zip(times, waits, strict=True)])
    return block_measures(components, blocks(components)).assign(policy=policy)


def test_one_trace_under_two_policies():
    random = np.random.default_rng(6)
    times = np.sort(random.integers(0, 100_000, 2000))
    waits = random.integers(50, 150, 2000)
    runs = pd.concat([blocked("easy", times, waits), blocked("sjf", times, waits // 2)])
    row = compare(runs, "wait_time_mean", "policy", "easy", replicate="block", blocks=True).iloc[0]
    assert (row["pairs"], row["note"]) == (20, "")  # what is no fixed share of the waits is rounding
    assert row["change_low"] < row["change"] < row["change_high"] < -45
    assert row["verdict"] == "shorter by 50 % (95 %: 50 to 50 %)"
    same = pd.concat([blocked("easy", times, waits), blocked("again", times, waits)])
    row = compare(same, "wait_time_mean", "policy", "easy", replicate="block", blocks=True).iloc[0]
    assert row["verdict"] == "no difference: all 20 pairs are equal"


def test_a_short_trace_has_one_block_and_no_interval():
    times = np.arange(100)
    runs = pd.concat([blocked("easy", times, times), blocked("sjf", times, times // 2)])
    row = compare(runs, "wait_time_mean", "policy", "easy", replicate="block", blocks=True).iloc[0]
    assert row["pairs"] == 1
    assert np.isnan(row[["difference_low", "ratio_high", "p"]].astype(float)).all()
    assert row["verdict"] == "too few replicates: 1, 8 are needed"
    assert row["note"] == "one pair has no spread, so there is no interval"


def test_blocks_that_depend_on_each_other_say_so():
    time = np.arange(20)
    runs = pd.concat(
        [
            pd.DataFrame({"policy": "easy", "block": time, "wait": 100.0}),
            pd.DataFrame({"policy": "sjf", "block": time, "wait": 100.0 - time}),
        ]
    )
    row = compare(runs, "wait", "policy", "easy", replicate="block", blocks=True).iloc[0]
    assert (
        row["note"]
        == "20 blocks merged to 10; autocorrelation of blocks 1.00: they are worth 0.5 independent ones"
    )
    assert np.isnan(row["p_wilcoxon"])  # which knows no dependence
    assert row["difference"] == -9.5
    assert row["change_low"] == -100
    assert row["verdict"] == "undecided: the blocks depend too much on each other"
    shuffled = runs.sample(frac=1.0, random_state=1)
    again = compare(shuffled, "wait", "policy", "easy", replicate="block", blocks=True).iloc[0]
    assert again["note"] == row["note"]
