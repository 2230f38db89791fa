"""Trimming: limits by hand, MSER-5 against its formula written out, and series with a known warm-up."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim.errors import InputError
from scheduler_sim.metrics.trimming import find_warm_up, mser, trim, trimmed_span
from tests.result.hand_made import Run, components_of


def submitted(*times):
    return components_of([Run(time, time, 10, 1) for time in times])


def waiting(waits, gap=100):
    return components_of([Run(i * gap, i * gap + int(wait), 10, 1) for i, wait in enumerate(waits)])


def test_shares_of_the_span_by_hand():
    components = submitted(1000, 1099, 1100, 1500, 1800, 1801, 2000)
    assert trim(components).all()
    assert trim(components, 0.1).tolist() == [False, False, True, True, True, True, True]
    assert trim(components, 0.1, 0.2).tolist() == [False, False, True, True, True, False, False]


def test_the_rule_looks_at_submissions_only_whatever_ran():
    components = components_of([Run(0, None, 0, 9, state="REJECTED"), Run(50, 90, 1, 1), Run(100, 400, 1, 1)])
    assert trim(components, 0.0, 0.3).tolist() == [True, True, False]


def test_one_instant_counts_whole_and_nothing_is_nothing():
    assert trim(submitted(7, 7), 0.4, 0.4).tolist() == [True, True]
    assert trim(submitted()).tolist() == []


@pytest.mark.parametrize("shares", [(-0.1, 0.0), (0.0, -0.1), (0.5, 0.5), (1.0, 0.0), (float("nan"), 0.0)])
def test_what_is_no_share_is_refused(shares):
    with pytest.raises(InputError, match="shares from 0, together less than 1"):
        trim(submitted(1, 2), *shares)


def test_the_span_that_is_left_by_hand():
    components = submitted(1000, 1099, 1500, 2000)
    assert trimmed_span(components) == (1000, 2000)
    assert trimmed_span(components, 0.1, 0.25) == (1100, 1750)
    assert trimmed_span(submitted()) == (0, 0)


def mser_written_out(waits):
    """Batch by batch, as the paper has it; the first of the smallest."""
    batches = [sum(waits[i : i + 5]) / 5 for i in range(0, len(waits) - len(waits) % 5, 5)]
    best, found = None, 0
    for d in range(len(batches) // 2 + 1):
        kept = batches[d:]
        mean = sum(kept) / len(kept)
        error = sum((z - mean) ** 2 for z in kept) / len(kept) ** 2
        if best is None or error < best * (1 - 1e-12):
            best, found = error, d
    return 5 * found


def test_mser_by_hand():
    # batch means 50, 0, 4, 0: d = 0: 1811/16 = 113.2; d = 1: 10.67/9 = 1.19; d = 2: 8/4 = 2
    waits = np.array([50] * 5 + [0] * 5 + [4] * 5 + [0] * 5 + [999] * 4)
    assert mser(waits) == 5


@pytest.mark.parametrize("seed", range(20))
def test_mser_is_its_formula(seed):
    random = np.random.default_rng(seed)
    count = int(random.integers(10, 200))
    waits = random.integers(0, 1000, count) + (np.arange(count) < count // 4) * 2000
    assert mser(waits) == mser_written_out(waits.tolist())


def test_equal_waits_have_no_warm_up():
    assert mser(np.full(1003, 86_399)) == 0
    assert mser(np.array([1, 2, 3])) == 0


def test_a_warm_up_of_100_waits_is_found():
    random = np.random.default_rng(5)
    waits = np.append(np.linspace(0, 900, 100), np.full(900, 1000)) + random.integers(0, 100, 1000)
    found = find_warm_up(waiting(waits))
    assert found.settled
    assert 60 <= found.left_out <= 110
    assert found.submit_time == found.left_out * 100
    assert found.words == (
        f"the first {found.left_out} of 1000 waits are warm-up by MSER-5: "
        f"components submitted from {found.submit_time} s on count"
    )
    assert found.counts(waiting(waits)).sum() == 1000 - found.left_out


def test_a_queue_that_grows_for_ever_has_not_settled():
    found = find_warm_up(waiting(np.arange(1000) * 50))
    assert not found.settled
    assert found.left_out == 0
    assert "do not settle" in found.words
    assert found.counts(waiting(np.arange(1000))).all()


def test_too_few_waits_say_so():
    found = find_warm_up(waiting([5] * 49))
    assert (found.settled, found.left_out) == (False, 0)
    assert "49 waits are too few" in found.words
    assert find_warm_up(waiting([5] * 50)) == (True, 0, 0, "no warm-up found in 50 waits by MSER-5")
    assert not find_warm_up(components_of([])).settled


def test_what_was_submitted_at_the_same_second_stays_together():
    waits = np.append(np.full(20, 5000), np.full(180, 10))
    components = waiting(waits)
    together = components.assign(submit_time=0, start_time=waits)  # all at second 0
    assert find_warm_up(components).left_out == 20
    assert find_warm_up(together).left_out == 0
