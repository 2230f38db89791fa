"""Policy slurm in predictions: draws go on with the ages of what waits, and with what users had used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scheduler_sim import Policy, System, Workload, simulate
from scheduler_sim.prediction.coverage import Truth
from scheduler_sim.prediction.draws import case_of
from scheduler_sim.prediction.history import History
from scheduler_sim.prediction.past import last_reset, processors_of, used_before, with_past
from scheduler_sim.prediction.predict import predict
from scheduler_sim.prediction.run_times import kinds_of, run_times_of
from scheduler_sim.prediction.state import State, out_of_service
from scheduler_sim.streams import stream
from scheduler_sim.system.node_events import NodeEvent
from scheduler_sim.units import DAY, HOUR

pytestmark = pytest.mark.interpreted

HALF_LIFE = 7 * DAY


def slurm(**keys) -> Policy:
    weights = {"PriorityType": "priority/multifactor", "PriorityWeightAge": 100, **keys}
    return Policy.resolve({"backfill": "slurm", "slurm": weights})


def past(users, start, run, nodes=None) -> History:
    """Jobs that did not wait and ran for half of their limit."""
    rows = len(users)
    asked = {"user": users, "nodes": nodes or [1] * rows}
    jobs = Workload.from_columns(
        submit_time=start, run_time=run, time_limit=[2 * one for one in run], **asked
    )
    limit = 2 * np.array(run)
    return History(jobs, np.array(start), np.array(run), limit, np.zeros(rows, dtype=np.int64))


def present(users, start, at, submit=None, limit=HOUR) -> State:
    """Jobs of one node that run since ``start``, or wait (-1)."""
    rows = len(users)
    submit = np.array(submit or [max(one, 0) for one in start])
    jobs = Workload.from_columns(submit_time=submit, run_time=[0] * rows, nodes=[1] * rows, user=users)
    limits = np.full(rows, limit)
    return State(jobs, tuple(map(str, range(rows))), np.array(start), limits, at, None)


def starts(policy, state, history, used=None):
    """Starts in the draws of those that wait, from the instant on."""
    [told] = predict(System.homogeneous(1), policy, [state], history, used=used, draws=9)
    return told.starts[:, state.waits] - state.at


def test_who_waits_longer_starts_first_as_ages_count_from_submission():
    """Her job is listed first, but his has waited for an hour longer."""
    state = present(["eve", "ann", "bob"], [5000, -1, -1], 6000, submit=[5000, 4900, 1300])
    ann, bob = starts(slurm(), state, past(["eve"] * 40, [0] * 40, [1800] * 40)).T
    assert (bob < ann).all()


def test_who_has_used_more_starts_later():
    """By history it is ann; by what sshare printed it is bob."""
    policy = slurm(PriorityWeightFairshare=10_000)
    state = present(["eve", "ann", "bob"], [5000, -1, -1], 6000, submit=[5000, 5100, 5200])
    history = past(["ann"] * 20 + ["bob"] * 2, [0] * 22, [1800] * 22)
    ann, bob = starts(policy, state, history).T
    assert (bob < ann).all()
    ann, bob = starts(policy, state, history, {("", "ann"): 10.0, ("", "bob"): 5000.0}).T
    assert (ann < bob).all()


def test_usage_is_what_is_left_of_processor_seconds():
    """A job of 2 nodes that ended a half-life ago, after an hour; one of a week that ended now."""
    at = 20 * DAY
    history = past(["ann", "bob"], [at - 7 * DAY - HOUR, at - 7 * DAY], [HOUR, 7 * DAY], nodes=[2, 1])
    found = used_before(System.homogeneous(4), present(["eve"], [-1], at, [at]), history, HALF_LIFE, None)
    whole = HALF_LIFE / np.log(2)
    assert found[("", "bob")] == pytest.approx(whole / 2)
    assert found[("", "ann")] == pytest.approx(2 * whole * (0.5 - 0.5 ** (1 + HOUR / HALF_LIFE)))
    found = used_before(System.homogeneous(4), present(["eve"], [-1], at, [at]), history, 0, None)
    assert found == {("", "ann"): 2 * HOUR, ("", "bob"): 7 * DAY}


def test_what_sshare_printed_is_without_what_draws_charge_anew():
    """Eve's job has run for a half-life: draws begin with it, charge her for it, and let all usage halve."""
    at = 20 * DAY
    state = present(["eve"], [at - HALF_LIFE], at)
    own = HALF_LIFE / np.log(2) / 2
    used = {("", "eve"): own + 30.0, ("", "ann"): 100.0}
    found = used_before(System.homogeneous(4), state, past(["x", "y"], [0, 0], [9, 9]), HALF_LIFE, used)
    assert found == pytest.approx({("", "eve"): 60.0, ("", "ann"): 200.0})


def test_processors_of_a_job_are_its_cores_or_all_of_its_nodes():
    module = {"name": "CM", "nodes": 4, "cores_per_node": 8}
    jobs = Workload.from_columns(
        submit_time=[0, 0, 0], run_time=[9, 9, 9], nodes=[3, 1, 9], cores=[-1, 2, -1]
    )
    assert processors_of(jobs, System.from_dict({"modules": [module]})).tolist() == [24, 8, 9]
    shared = System.from_dict({"modules": [module | {"shared": True}]})
    assert processors_of(jobs, shared).tolist() == [24, 2, 9]


def test_usage_that_was_forgotten_by_then_does_not_count():
    """The clock begins on Monday, 5 January 1970; usage is reset on Sundays: half of that day counts."""
    policy = slurm(PriorityWeightFairshare=1, PriorityDecayHalfLife=0, PriorityUsageResetPeriod="WEEKLY")
    at = 9 * DAY
    state = replace(present(["eve"], [-1], at, [at]), origin=4 * DAY)
    assert last_reset("WEEKLY", state) == 6 * DAY
    assert last_reset("NONE", state) < 0
    history = past(["ann", "bob"], [5 * DAY, 5 * DAY + DAY // 2], [HOUR, DAY])
    used = used_before(System.homogeneous(1), state, history, 0, None, last_reset("WEEKLY", state))
    assert used == {("", "ann"): 0, ("", "bob"): DAY / 2}
    going_on = with_past(policy, System.homogeneous(1), state, history, None)
    assert going_on.slurm.PriorityUsageResetPeriod == "NONE"


def test_a_job_that_waits_for_ages_leaves_numbers_finite():
    state = present(["eve"], [-1], 100 * DAY, [0])
    history = past(["x", "x"], [0, 0], [9, 9])
    [used] = used_before(System.homogeneous(1), state, history, HOUR, {("", "x"): 1e9}).values()
    assert 1e9 < used < float("inf")


def test_other_policies_have_no_past():
    state, history = present(["eve"], [-1], 10, [0]), past(["x"], [0], [9])
    for policy in (Policy.resolve("easy"), slurm(PriorityType="priority/basic")):
        assert with_past(policy, System.homogeneous(1), state, history, None) is policy


def test_nodes_that_are_out_of_service_stay_so():
    """Nodes that are DOWN run nothing from the beginning; on nodes that drain, jobs run on."""
    state = present(["eve"], [-1], 1000, [0])
    events = [
        NodeEvent(100, "DOWN", "CM", (1,)),
        NodeEvent(900, "DRAIN", "CM", (2,), end=1200),
        NodeEvent(100, "DOWN", "CM", (3,), end=1000),
        NodeEvent(1001, "DOWN", "CM", (0,)),
    ]
    found = [(one.time, one.state, one.nodes, one.end) for one in out_of_service(events, state)]
    assert found == [(0, "DOWN", (1,), None), (1000, "DRAIN", (2,), None)]


@pytest.mark.compiled
def test_with_the_true_run_times_and_arrivals_most_jobs_start_as_they_did():
    """Slurm's schedulers look when they do, which a queue does not tell: not all starts are the same.

    Without what users had used before, far fewer are.
    """
    random, jobs = stream(1, "a busy month"), 520
    columns = {
        "submit_time": np.sort(random.integers(0, 28 * DAY, jobs)),
        "run_time": (run := random.integers(600, 6 * HOUR, jobs)),
        "time_limit": run * random.integers(1, 4, jobs),
        "nodes": random.integers(1, 7, jobs),
        "user": random.choice(["ann", "bob", "cyd", "dan"], jobs, p=[0.5, 0.3, 0.1, 0.1]),
    }
    policy, system = slurm(PriorityWeightFairshare=10_000), System.homogeneous(8)
    workload = Workload.from_columns(**columns)
    truth = Truth.of(workload, simulate(system, workload, policy))
    as_before = {True: [], False: []}
    for at in range(8 * DAY, 27 * DAY, 12 * HOUR):
        state, rows = truth.state_at(at)
        later, history = np.flatnonzero(truth.submit > at), truth.history_by(at)
        to_come = History(
            *(truth.jobs.select(later), truth.submit[later], truth.jobs["run_time"][later]),
            *(truth.limit[later], np.zeros(len(later), dtype=np.int64)),
        )
        for known, found in as_before.items():
            going_on = with_past(policy, system, state, history, None if known else {("", "x"): 0.0})
            run_times = run_times_of(state, history, kinds_of(state, history))
            case = case_of(system, going_on, state, to_come, run_times, 0)
            drawn = case.simulated(
                truth.jobs["run_time"][rows], np.arange(len(later)), truth.submit[later], None
            )
            found += np.abs(drawn - truth.start[rows])[state.waits].tolist()
    share = {known: np.mean(np.array(found) <= 120) for known, found in as_before.items()}
    assert len(as_before[True]) > 100
    assert share[True] > 0.7
    assert share[False] < share[True] - 0.2, share


def test_whoever_waits_was_accepted_also_without_an_association_by_now():
    accounts = {"a": {"users": {"somebody": 1}}}
    policy = slurm(accounts=accounts, AccountingStorageEnforce="associations,limits")
    state = present(["x", "y"], start=[-1, -1], at=100, submit=[50, 60])
    going_on = with_past(policy, System.homogeneous(1), state, past(["x"], [0], [10]), None)
    assert going_on.slurm.AccountingStorageEnforce == ("limits",)
