"""What explains a difference is found where it is known: the record is a run with one thing changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, System, Workload, simulate
from scheduler_sim.causes.changes import NotTried, changes_of
from scheduler_sim.causes.kept_out import KeptOut
from scheduler_sim.causes.nodes_missing import ANY_NODES, Missing, nodes_missing, wanted_by_several
from scheduler_sim.causes.one_at_a_time import causes, nearer
from scheduler_sim.causes.setup import Setup
from scheduler_sim.errors import InputError
from scheduler_sim.metrics.agreement.waits import waits_of
from scheduler_sim.units import DAY, HOUR
from scheduler_sim.workload.as_ran import as_ran
from scheduler_sim.workload.fields import NOT_ENDED
from tests.conftest import examples

pytestmark = pytest.mark.interpreted

SYSTEM = System.homogeneous(10)


def busy(days: int = 4, each: int = 20) -> Workload:
    """Jobs of three users that fill ten nodes: large long ones, and small short ones that can pass them."""
    draw = np.random.default_rng(7)
    count = each * days
    submit = np.sort(draw.integers(0, days * DAY, count))
    small = draw.random(count) < 0.6
    run = np.where(small, draw.integers(600, 3 * HOUR, count), draw.integers(3 * HOUR, 9 * HOUR, count))
    return Workload.from_columns(
        nodes=np.where(small, draw.integers(1, 4, count), draw.integers(5, 10, count)),
        submit_time=submit,
        run_time=run,
        time_limit=run * draw.integers(1, 6, count),
        user=draw.choice(["ada", "ben", "cy"], count).tolist(),
    )


def recorded_by(policy: str) -> Workload:
    jobs = busy()
    return as_ran(jobs, simulate(SYSTEM, jobs, policy).components)


def test_the_policy_of_the_record_is_found():
    jobs = recorded_by("conservative")
    result = simulate(SYSTEM, jobs, "fcfs")
    told: list[tuple[str, int]] = []
    found = causes(result, jobs, lambda name, number, runs: told.append((name, number)))
    best = found.tried[0]
    assert best.names == (("policy", "conservative"),)
    assert best.chosen.mean_absolute == best.chosen.by_day == 0
    assert best.kept_out.mean_absolute == 0
    assert found.kept_out == KeptOut("last full day", *(found.kept_out.begin + day * DAY for day in (0, 1)))
    assert found.base.chosen.mean_absolute > 0
    assert nearer(best, found.base)
    assert found.together is None  # nothing is nearer than 0
    assert found.base.chosen.components + found.base.kept_out.components == len(jobs)
    assert [number for _, number in told] == list(range(1, len(told) + 1))
    distances = [one.chosen.by_day for one in found.tried]
    assert distances == sorted(distances)
    assert causes(result, jobs) == found


def test_a_run_that_is_its_record_has_no_cause():
    jobs = recorded_by("easy")
    found = causes(simulate(SYSTEM, jobs, "easy"), jobs)
    assert found.base.chosen.mean_absolute == 0
    assert found.together is None
    assert not any(nearer(one, found.base) for one in found.tried)
    assert "easy" not in {to for one in found.tried for _, to in one.names}


def test_another_trace_is_refused():
    jobs = recorded_by("easy")
    result = simulate(SYSTEM, jobs, "easy")
    with pytest.raises(InputError, match="at other times"):
        causes(result, jobs.replace(run_time=jobs["run_time"] + 100))


def test_latencies_are_those_of_slurm_only():
    jobs = recorded_by("easy")

    def latencies(policy):
        result = simulate(SYSTEM, jobs, policy)
        found = changes_of(result, Setup.of(result, jobs), waits_of(result), None)
        return next(one for one in found if one.name == "latencies of the scheduler")

    assert isinstance(latencies("easy"), NotTried)
    assert latencies("slurm").to == "measured"
    assert latencies(Policy.resolve("slurm").with_settings({"policy.slurm.latency": "measured"})).to == "none"


def test_limits_and_jobs_that_had_not_ended():
    jobs = Workload.from_columns(
        nodes=[1, 1, 1, 1],
        submit_time=[0, 10, 20, 30],
        run_time=[100, 300, -1, -1],
        time_limit=[200, 60, 500, 50],
        wait_time=[5, 0, 30, -1],
        skipped=[0, 0, NOT_ENDED, NOT_ENDED],
    )
    result = simulate(SYSTEM, jobs, "easy")
    setup = Setup.of(result, jobs)
    named = {one.name: one for one in changes_of(result, setup, waits_of(result), None)}
    limits = named["time limits"].apply(setup).workload
    assert limits["time_limit"].tolist() == [100, 60, 500, 50]  # what was killed at 60 s is killed again
    on = named["jobs that had not ended"].apply(setup).workload
    assert on["skipped"].tolist() == [0, 0, 0, NOT_ENDED]  # whether the last had started is not known
    assert on["run_time"].tolist() == [100, 300, 310 - 50, -1]  # to the end of the record, at 310
    exact = limits.replace(skipped=[0, 0, 1, 1], wait_time=[5, 0, -1, -1])
    result = simulate(SYSTEM, exact, "easy")
    named = {one.name: one for one in changes_of(result, Setup.of(result, exact), waits_of(result), None)}
    assert isinstance(named["time limits"], NotTried)
    assert isinstance(named["jobs that had not ended"], NotTried)


def held(hours: int) -> Workload:
    """By the record 8 of 10 nodes run one job for so long, and two users' jobs of a node wait beside it."""
    return Workload.from_columns(
        nodes=[8, 1, 1, 10],
        submit_time=[0, 0, 0, 60 * HOUR],
        run_time=[hours * HOUR, HOUR, HOUR, HOUR],
        wait_time=[0, hours * HOUR, hours * HOUR, 0],
        user=["ada", "ben", "cy", "ada"],
    )


def test_nodes_that_nobody_had_though_jobs_waited():
    result = simulate(SYSTEM, held(30), "easy")
    (found,) = nodes_missing(result, waits_of(result))
    assert found.module == "cluster"
    # 30 hours, and half a day more, in which as many nodes were idle anyway
    assert found.spells() == [(0, 42 * HOUR, 2)]
    assert found.at_start().spells() == found.spells()
    assert found.later().spells() == []
    assert found.always() == 0
    assert found.outside((0, 61 * HOUR)).spells() == []


def test_less_than_half_a_day_or_one_user_alone_is_no_sign():
    result = simulate(SYSTEM, held(11), "easy")
    assert [one.spells() for one in nodes_missing(result, waits_of(result))] == [[]]
    one_user = held(30).replace(user="ben")
    result = simulate(SYSTEM, one_user, "easy")
    assert [one.spells() for one in nodes_missing(result, waits_of(result))] == [[]]


def test_nodes_out_of_service_are_found_and_explain_the_difference():
    """Four of ten nodes are away for a day; the same jobs on all of them wait less."""
    jobs = busy(6, 24)
    away = [{"time": 2 * DAY, "state": "DRAIN", "count": 4, "end": 3 * DAY + 12 * HOUR}]
    there = replace(System.from_dict({**SYSTEM.to_dict(), "events": away}), name="cluster")
    recorded = as_ran(jobs, simulate(there, jobs, "easy").components)
    found = causes(simulate(SYSTEM, recorded, "easy"), recorded)
    names = [one.names[0][0] for one in found.tried]
    nodes = found.tried[names.index("out of service for a time")]
    assert nearer(nodes, found.base)
    assert nodes.names[0][1] == "4 of cluster, day 2 3:00 to day 3 12:00"


def test_spells_overlap_like_shelves():
    nodes = np.array([0, 2, 5, 5, 3, 0, 1])
    missing = Missing("CM", np.arange(8) * HOUR, nodes, nodes)
    spells = [(begin // HOUR, end // HOUR, count) for begin, end, count in missing.spells()]
    assert spells == [(1, 5, 2), (2, 4, 2), (2, 5, 1), (6, 7, 1)]
    counted = np.zeros(7, dtype=int)
    for begin, end, count in spells:
        counted[begin:end] += count
    assert counted.tolist() == nodes.tolist()


def test_shared_nodes_are_left_out_by_name():
    shared = {"name": "CM", "nodes": 4, "shared": True, "cores_per_node": 8}
    jobs = Workload.from_columns(nodes=1, submit_time=[0, 5], run_time=60, wait_time=[0, 9], cores=4)
    result = simulate(System.from_dict({"name": "s", "modules": [shared]}), jobs, "easy")
    found = changes_of(result, Setup.of(result, jobs), waits_of(result), None)
    why = {one.name: one.why for one in found if isinstance(one, NotTried)}
    assert "share all nodes" in why["out of service for a time"]


def test_what_is_kept_out():
    assert KeptOut.of(np.array([5, DAY])) is None
    assert KeptOut.of(np.array([5, 5 + 2 * DAY])) == KeptOut("last full day", 5 + DAY, 5 + 2 * DAY)
    assert KeptOut.of(np.array([0, 14 * DAY - 1])) == KeptOut("last full day", 12 * DAY, 13 * DAY)
    assert KeptOut.of(np.array([0, 15 * DAY])) == KeptOut("last full week", 7 * DAY, 14 * DAY)


ASKING = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(1, 6), st.integers(0, 3)), max_size=12
)


@examples(60)
@given(ASKING)
def test_what_is_enough_for_several_users_against_a_plain_count(jobs):
    begin, length, nodes, user = (np.array(column, dtype=np.int64) for column in zip(*jobs, strict=True)) if (
        jobs
    ) else (np.zeros(0, dtype=np.int64),) * 4  # fmt: skip
    found = wanted_by_several(begin, begin + length, nodes, user, 30)
    for cell in range(30):
        least: dict[int, int] = {}
        for first, long, size, whose in jobs:
            if first <= cell < first + long:
                least[whose] = min(size, least.get(whose, size))
        sizes = sorted(least.values())
        assert found[cell] == (sizes[1] if len(sizes) > 1 else ANY_NODES)
