"""How right estimates were before: ranks are even where jobs go on as they did, high where they take more."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim import Workload
from scheduler_sim.prediction.history import History
from scheduler_sim.prediction.past_ranks import past_ranks
from scheduler_sim.prediction.run_times import EVEN
from scheduler_sim.units import DAY, HOUR

pytestmark = pytest.mark.interpreted

LIMIT = 10_000


def history(run, *, every=HOUR, wait=2 * HOUR, limit=LIMIT):
    """Jobs of one user, one after the other, each of which waits."""
    rows = len(run)
    submit, limits = np.arange(rows) * every, np.full(rows, limit)
    jobs = Workload.from_columns(nodes=[1] * rows, submit_time=submit, run_time=run, time_limit=limits)
    return History(jobs, submit, np.array(run), limits, np.full(rows, wait))


def random_run(rows, low, high):
    return np.random.default_rng(5).integers(low, high, rows)


def quartiles(past, at):
    return np.quantile(past_ranks(past, at), [0.25, 0.5, 0.75])


def test_where_jobs_take_what_they_took_ranks_are_even():
    past = history(random_run(2000, 100, LIMIT), every=HOUR // 4)
    assert quartiles(past, int(past.end[-1])) == pytest.approx([0.25, 0.5, 0.75], abs=0.05)


def test_where_jobs_take_longer_and_longer_ranks_are_high():
    past = history(np.linspace(100, LIMIT, 2000).astype(np.int64), every=HOUR // 4)
    assert quartiles(past, int(past.end[-1]))[0] > 0.7


def test_jobs_that_all_take_their_limit_are_as_likely_as_they_were_believed():
    past = history(np.full(800, LIMIT))
    assert quartiles(past, int(past.end[-1])) == pytest.approx([0.25, 0.5, 0.75], abs=0.05)


def test_a_history_shorter_than_its_longest_job_tells_nothing():
    past = history([100, 200, 5 * DAY])
    assert past_ranks(past, int(past.end[-1])).tolist() == EVEN.tolist()


@pytest.mark.parametrize("change", [{"wait": -1}, {"wait": 0}, {"limit": -1}])
def test_waits_and_limits_may_be_unknown(change):
    """Without limits nothing is believed; where nobody waited, who ran tells."""
    past = history(random_run(2000, 100, LIMIT), every=HOUR // 4, **change)
    ranks = past_ranks(past, int(past.end[-1]))
    assert len(ranks) > 200
    assert np.quantile(ranks, [0.25, 0.5, 0.75]) == pytest.approx([0.25, 0.5, 0.75], abs=0.05)
