"""Draws: what runs goes on, what waits starts as the policy says; run times and arrivals are of history."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, System, Workload, simulate
from scheduler_sim.prediction.arrivals import WEEK, Arrivals, drawn_from
from scheduler_sim.prediction.coverage import Truth, looked_at
from scheduler_sim.prediction.draws import LATER, case_of
from scheduler_sim.prediction.history import History
from scheduler_sim.prediction.predict import predict, quantiles_of
from scheduler_sim.prediction.run_times import kinds_of, run_times_of
from scheduler_sim.prediction.state import State
from scheduler_sim.units import DAY, HOUR
from tests.conftest import examples

pytestmark = pytest.mark.interpreted

EASY = Policy.resolve("easy")


def history(run, limit, *, users=None, submit=None, nodes=None):
    """Jobs that ended, one an hour unless it is said otherwise."""
    rows = len(run)
    submit = np.arange(rows) * HOUR if submit is None else np.array(submit)
    asked = {"user": ["ann"] * rows if users is None else users, "nodes": nodes or [1] * rows}
    jobs = Workload.from_columns(submit_time=submit, run_time=run, time_limit=limit, **asked)
    return History(jobs, submit, np.array(run), np.array(limit), np.zeros(rows, dtype=np.int64))


def state(start, limit, *, nodes, at, users=None, submit=None):
    """Jobs that run since ``start``, or wait (-1)."""
    rows = len(start)
    users, submit = users or ["ann"] * rows, submit or [0] * rows
    jobs = Workload.from_columns(submit_time=submit, run_time=[0] * rows, nodes=nodes, user=users)
    return State(jobs, tuple(map(str, range(rows))), np.array(start), np.array(limit), at, None)


def believed(found, past, **more):
    """Return what the jobs of a state may take."""
    return run_times_of(found, past, kinds_of(found, past), **more)


def alike_in(past, found):
    """Return the history's jobs of each kind that the state's first job is of."""
    kinds = kinds_of(found, past)
    pairs = zip(kinds.history, kinds.state, strict=True)
    return [np.flatnonzero(old == new[0]).tolist() for old, new in pairs]


@st.composite
def traces(draw):
    """Return jobs on 8 nodes, and an instant among them."""
    rows = draw(st.integers(2, 25))
    column = lambda low, high: draw(st.lists(st.integers(low, high), min_size=rows, max_size=rows))  # noqa: E731
    run = np.array(column(1, 300))
    jobs = {"nodes": column(1, 8), "submit_time": sorted(column(0, 900)), "run_time": run}
    return jobs | {"time_limit": run + column(0, 300)}, draw(st.integers(0, 1200))


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "sjf", "wfp3"])
@examples(100)
@given(traces())
def test_with_the_true_run_times_and_arrivals_a_draw_is_the_run_itself(policy, drawn):
    columns, at = drawn
    system, policy, jobs = System.homogeneous(8), Policy.resolve(policy), Workload.from_columns(**columns)
    truth = Truth.of(jobs, simulate(system, jobs, policy))
    found, rows = truth.state_at(at)
    later = np.flatnonzero(truth.submit > at)
    to_come = History(
        *(truth.jobs.select(later), truth.submit[later]),
        *(truth.jobs["run_time"][later], truth.limit[later], np.zeros(len(later), dtype=np.int64)),
    )
    if not len(later) or not len(rows):
        return
    case = case_of(system, policy, found, to_come, believed(found, to_come), 0).until(at + 10**6)
    starts = case.simulated(truth.jobs["run_time"][rows], np.arange(len(later)), truth.submit[later], None)
    assert starts.tolist() == truth.start[rows].tolist()


def test_a_job_starts_when_those_that_run_end_as_their_like_did():
    """4 nodes are full; all of ann's jobs took half their limit: she is out at 600, and bob after her."""
    found = state([100, -1, -1], [1000, 200, 60], nodes=[4, 4, 4], at=300, users=["ann", "ann", "bob"])
    [told] = predict(System.homogeneous(4), EASY, [found], history([500] * 400, [1000] * 400), draws=19)
    assert (told.starts[:, 1] == 600).all()
    assert (told.starts[:, 2] == 700).all()
    assert told.by_limits.tolist() == [100, 1100, 1300]
    table = told.table()
    assert table["job"].tolist() == ["1", "2"]
    assert table[["start_10", "start_50", "start_90"]].to_numpy().tolist() == [[600] * 3, [700] * 3]


def test_what_runs_takes_longer_than_it_has_run_and_not_longer_than_its_limit():
    """Half of her jobs take a tenth of the limit, half nine tenths: after two tenths only these are left."""
    past = history([100, 900] * 300, [1000] * 600)
    found = state([0, -1], [1000, 1000], nodes=[1, 1], at=200)
    drawn = believed(found, past)
    random = np.random.default_rng(1)
    run = np.array([drawn.draw(random) for _ in range(400)])
    assert set(run[:, 0]) == {900}
    assert set(run[:, 1]) == {100, 900}
    assert 0.35 < (run[:, 1] == 100).mean() < 0.65


def test_a_job_past_its_limit_is_about_to_end():
    found = state([0], [100], nodes=[1], at=150)
    drawn = believed(found, history([50, 60], [100, 100])).draw(np.random.default_rng(1))
    assert drawn.tolist() == [151]


def test_jobs_of_one_kind_take_alike_in_a_draw():
    past = history(list(range(1, 201)), [1000] * 200)
    found = state([-1] * 2, [1000] * 2, nodes=[1, 1], at=0)
    drawn, random = believed(found, past), np.random.default_rng(2)
    pairs = np.array([drawn.draw(random) for _ in range(500)])
    assert 0.3 < np.corrcoef(pairs.T)[0, 1] < 0.7


def test_jobs_of_one_user_take_a_little_alike():
    past = history(list(range(1, 201)) * 2, [1000] * 400, users=["ann"] * 200 + ["bob"] * 200)
    found = state([-1] * 3, [1000, 1000, 999], nodes=[1, 2, 1], at=0, users=["ann", "ann", "bob"])
    drawn, random = believed(found, past), np.random.default_rng(2)
    trios = np.array([drawn.draw(random) for _ in range(4000)])
    assert len(set(drawn.kind.tolist())) == 3
    of_user, of_others = np.corrcoef(trios.T)[0, 1:]
    assert 0.12 < of_user < 0.28
    assert -0.05 < of_others < 0.12


def test_how_likely_a_run_time_is_by_all_kinds_of_a_job():
    """Four of its size and limit take 100 to 400 s: 4 / 9 believe them, and of the others a sixth again, as
    one about such a size and limit; all five count for the rest."""
    past = history([100, 200, 300, 400, 1000], [1000] * 5, nodes=[1, 1, 1, 1, 2])
    drawn = believed(state([-1] * 2, [1000] * 2, nodes=[1, 1], at=10**6), past)
    below, up_to = drawn.shares(np.array([200, 1000]))
    four = 4 / 9 + 5 / 9 / 6
    assert below == pytest.approx([four * 0.25 + (1 - four) * 0.2, four + (1 - four) * 0.8])
    assert up_to == pytest.approx([four * 0.5 + (1 - four) * 0.4, 1])


def test_draws_lie_where_run_times_lay_before():
    past = history(list(range(1, 1001)), [1000] * 1000)
    found, random = state([-1], [1000], nodes=[1], at=10**7), np.random.default_rng(4)
    ranks = np.array([0.5, 0.75, 1.0])
    drawn = [believed(found, past, ranks=ranks).draw(random)[0] for _ in range(200)]
    assert 890 < np.min(drawn) < 920  # of the last 200, 801 to 1000
    assert np.median(drawn) == pytest.approx(950, abs=10)


def test_jobs_that_run_do_not_displace_what_has_ended():
    """Of 300 tasks that ended each took a tenth of its limit; 250 more run since a minute."""
    past = history([100] * 300, [1000] * 300, submit=range(300))
    found = state([940] * 250 + [-1], [1000] * 251, nodes=[1] * 251, at=1000)
    drawn, random = believed(found, past), np.random.default_rng(6)
    assert drawn.count[-1].tolist() == [200, 1, 1, 1, 0]
    assert set(np.concatenate([drawn.draw(random) for _ in range(20)]).tolist()) == {100}


def test_a_rank_of_0_is_the_shortest_run_time_of_the_job():
    past = history([10, 20, 1000] * 100, [1000] * 300, nodes=[1, 1, 2] * 100)
    found = state([-1] * 2, [1000] * 2, nodes=[2, 1], at=10**7)
    drawn = believed(found, past, ranks=np.zeros(2))
    random = np.random.default_rng(4)
    assert {tuple(drawn.draw(random)) for _ in range(300)} == {(1000, 10), (10, 10)}


def test_kinds_go_from_the_narrowest_to_all():
    past = history([9, 9, 9], [60, 60, 120], users=["ann", "bob", "ann"], nodes=[1, 1, 4])
    found = state([-1], [60], nodes=[1], at=0, users=["ann"])
    assert alike_in(past, found) == [[0], [0], [0, 2], [0, 1], [0, 1], [0, 1], [0, 1, 2]]


def test_without_users_kinds_are_by_size_and_limit():
    past = history([9, 9], [60, 60], nodes=[1, 2])
    found = state([-1], [60], nodes=[2], at=0)
    assert alike_in(past, found) == [[1], [1], [0, 1], [0, 1]]


def test_later_arrivals_are_some_whole_weeks_older_and_over():
    submit = np.arange(0, 20 * WEEK, HOUR)
    at = 20 * WEEK
    for horizon in (at + 5000, at + 10 * DAY):
        rows, times = Arrivals(submit, at, horizon).draw(np.random.default_rng(3))
        assert ((times > at) & (times < horizon)).all()
        assert np.unique((times - submit[rows]) % WEEK).tolist() == [0]
        assert len(times) == len(range(at + HOUR, horizon, HOUR))
        assert (submit[rows] < at).all()
        assert times.tolist() == sorted(times.tolist())
    assert len(set((times - submit[rows]).tolist())) > 3


def test_of_a_short_history_any_day_may_come_again():
    submit = np.arange(0, 3 * DAY, HOUR)
    at, random = 3 * DAY, np.random.default_rng(3)  # the last of its 24 hours is not known yet
    back = set()
    for _ in range(30):
        rows, times = Arrivals(submit, at, at + DAY).draw(random)
        back |= set((times - submit[rows]).tolist())
    assert back == {2 * DAY, 3 * DAY}


def test_a_history_that_ended_long_before_is_taken_from_where_it_is_known():
    submit = np.arange(0, 4 * WEEK, HOUR)
    rows, _ = Arrivals(submit, 10 * WEEK, 10 * WEEK + DAY).draw(np.random.default_rng(3))
    assert len(rows) == 24 - 1


def test_pieces_are_from_the_last_weeks_alone():
    past = history([60] * 2000, [100] * 2000, submit=np.arange(2000) * 6 * HOUR)
    recent = drawn_from(past, 2000 * 6 * HOUR)
    assert len(recent.submit) == 9 * 28
    assert recent.submit[-1] == past.submit[-1]


def test_quantiles_are_draws():
    starts = np.arange(99)[::-1].reshape(99, 1)
    assert quantiles_of(starts).ravel().tolist() == [9, 49, 89]
    starts = np.array([[1], [LATER], [5]])
    assert quantiles_of(starts).ravel().tolist() == [1, 5, LATER]


def test_what_can_never_start_and_what_is_not_reached_are_told_apart():
    found = state([0, -1, -1], [100, 10, 10], nodes=[2, 2, 3], at=50, submit=[0, 1, 2])
    [told] = predict(System.homogeneous(2), EASY, [found], history([50, 100], [100, 100]), draws=9)
    assert told.by_limits.tolist() == [0, 100, LATER]
    assert (told.starts[:, 2] == LATER).all()
    assert (told.starts[:, 1] <= 100).all()


def test_coverage_is_looked_at_beside_the_plan_and_the_last_wait():
    """One node, a job every 100 s that takes 150 of 300 s: at 460 job 4 runs since 450 and job 5 waits."""
    jobs = Workload.from_columns(
        nodes=[1] * 6, submit_time=[0, 100, 200, 300, 400, 500], run_time=[150] * 6, time_limit=[300] * 6
    )
    truth = Truth.of(jobs, simulate(System.homogeneous(1), jobs, EASY))
    found = looked_at(System.homogeneous(1), EASY, truth, 460, draws=9)
    assert found["component_id"].tolist() == [5]
    assert found["start"].tolist() == [140]
    assert found["by_limits"].tolist() == [450 + 300 - 460]
    assert found["last_wait"].tolist() == [400 + 150 - 460]
    assert set(found.columns) == {
        *("component_id", "start", "start_10", "start_50", "start_90", "by_limits", "last_wait", "rank")
    }
