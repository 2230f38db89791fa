"""The figures of the table, on schedules small enough to count by hand."""

from __future__ import annotations

import pytest

from tests.slurm_oracle.cases import Run
from tests.slurm_oracle.figures import compare, quantile

pytestmark = pytest.mark.interpreted

DONE = "COMPLETED"


def recorded(starts: dict[int, int | None], states: dict[int, str] | None = None) -> Run:
    states = states or {}
    fates = {i: (i, states.get(i, DONE), start, None) for i, start in starts.items()}
    return Run("r", 0, 0, dict.fromkeys(starts, 0), {i: "A" if i < 3 else "B" for i in starts}, fates)


def test_equal_schedules_have_no_difference():
    run = recorded({1: 0, 2: 5, 3: None})
    found = compare(run.fates, run)
    assert (found.states_equal, found.order_equal, found.jobs) == (True, True, 2)
    assert (found.median, found.p90, found.worst) == (0, 0, 0)


def test_gaps_waits_and_order():
    ours = recorded({1: 0, 2: 9, 3: 4, 4: 4}).fates
    found = compare(ours, recorded({1: 0, 2: 5, 3: 6, 4: 4}))
    assert sorted((found.median, found.worst)) == [1, 4]  # gaps 0, 4, 2, 0
    assert found.p90 == pytest.approx(3.4)
    assert found.inversions == 1  # 2 and 3; 3 and 4 start together in ours
    assert found.pairs == 5
    assert found.waits == {"A": (4.5, 2.5), "B": (4, 5)}


def test_states_count_also_for_what_never_started():
    theirs = recorded({1: 0, 2: None}, {2: "PENDING"})
    assert not compare(recorded({1: 0, 2: None}, {2: "CANCELLED"}).fates, theirs).states_equal


def test_quantile_is_linear():
    assert quantile([4, 1, 3, 2], 0.5) == 2.5
    assert quantile([7], 0.9) == 7
