"""What operators and users do under policy slurm: hand-computed, and against the same told beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scheduler_sim import Policy, Simulation, System, Workload
from scheduler_sim.errors import ConfigError, InputError
from tests.conftest import examples
from tests.simulation.acting import DONE, FAILED, GONE, NEVER, at, fates, trace

pytestmark = pytest.mark.interpreted

QUICK = {
    "batch_sched_delay": 0,
    "bf_interval": 1,
    "bf_resolution": 1,
    "limit_check_s": 1,
    "KillWait": 2,
    "killed_epilog_s": 1,
}
"""Passes at once, and limits to the second."""

BY_FACTORS = {"PriorityType": "priority/multifactor", "PriorityWeightJobSize": 1000}
SHARED = {
    "PriorityType": "priority/multifactor",
    "PriorityWeightAge": 1000,
    "PriorityWeightFairshare": 10000,
    "PriorityCalcPeriod": 60,
}


def policy(**keys: Any) -> Policy:
    return Policy(name="slurm", backfill="slurm", slurm=QUICK | keys)


def cluster(*jobs: tuple[int, ...], nodes: int = 4, keys: dict[str, Any] | None = None, **columns: Any):
    return Simulation(System.homogeneous(nodes), trace(*jobs, **columns), policy(**(keys or {})))


FULL = ((0, 4, 100, 120), (10, 4, 50, 60), (20, 4, 50, 60))
"""One after the other: starts at 0, 100 and 150."""


def eligible(result: Any) -> dict[int, int]:
    table = result.components
    return dict(zip(table["component_id"], table["eligible_time"], strict=True))


def test_what_is_held_waits_for_its_release_and_is_eligible_then():
    sim = cluster(*FULL)
    at(sim, 30, lambda: sim.hold(2))
    at(sim, 40, lambda: sim.hold(2))
    at(sim, 200, lambda: sim.release(2))
    result = sim.run()
    assert fates(result) == {1: (0, 100, DONE), 2: (200, 250, DONE), 3: (100, 150, DONE)}
    assert eligible(result) == {1: 0, 2: 200, 3: 20}
    assert result.metrics["counts"]["held_back"] == 1


def test_what_is_never_released_is_pending():
    sim = cluster(*FULL)
    at(sim, 30, lambda: sim.update(2, priority=0))
    result = sim.run()
    assert fates(result) == {1: (0, 100, DONE), 2: (-1, -1, NEVER), 3: (100, 150, DONE)}
    assert sim.state(2) == "HELD"


def test_a_hold_before_the_submission_counts_at_it():
    sim = cluster(*FULL)
    at(sim, 5, lambda: sim.hold(2))
    at(sim, 60, lambda: sim.release(2))
    assert fates(sim.run())[2] == (150, 200, DONE)  # behind 3, which was submitted before the release


def test_what_was_submitted_held_is_released():
    sim = cluster(*FULL, hold=[0, 1, 0])
    at(sim, 110, lambda: sim.release(2))
    assert fates(sim.run())[2] == (150, 200, DONE)


@pytest.mark.parametrize(("keys", "starts"), [({}, (150, 100)), (BY_FACTORS, (100, 150))])
def test_a_release_computes_the_priority_anew_also_of_what_is_not_held(keys, starts):
    sim = cluster(*FULL, keys=keys)
    at(sim, 30, lambda: sim.release(2))
    ended = fates(sim.run())
    assert (ended[2][0], ended[3][0]) == starts


def test_what_runs_is_requeued_when_its_nodes_are_back_and_after_the_delay():
    sim = cluster(*FULL[:2], dependency_kinds=["", "AFTEROK"], dependency_ids=["", "1"])
    other = []
    at(sim, 10, lambda: other.append(sim.submit(nodes=4, run_time=50, time_limit=60)))
    at(sim, 40, lambda: sim.requeue(1))
    result = sim.run()
    # nodes come back at 43, after KillWait and its epilog; 121 s later it is eligible, which brings no pass
    assert fates(result) == {3: (43, 93, DONE), 1: (180, 280, DONE), 2: (280, 330, DONE)}
    assert eligible(result) == {1: 164, 2: 280, 3: 10}
    assert result.components["submit_time"].tolist()[:2] == [0, 10]
    assert result.metrics["counts"]["requeued"] == 1


def test_what_has_ended_can_run_again_and_keeps_its_priority():
    sim = cluster((0, 4, 10, 60), (5, 4, 200, 240), (6, 4, 50, 60))
    at(sim, 50, lambda: sim.requeue(1))
    at(sim, 60, lambda: sim.submit(nodes=1, run_time=1, time_limit=60, after=[1], component_id=9))
    result = sim.run()
    # eligible at 171, before 3, which has waited since 6
    assert fates(result) == {
        2: (10, 210, DONE),
        1: (210, 220, DONE),
        3: (220, 270, DONE),
        9: (270, 271, DONE),
    }
    assert eligible(result)[1] == 171


def test_a_requeue_that_does_not_apply_changes_nothing():
    sim = cluster(*FULL)
    at(sim, 5, lambda: [sim.requeue(2), sim.requeue(3)])
    at(sim, 30, lambda: sim.requeue(2))
    result = sim.run()
    assert fates(result) == {1: (0, 100, DONE), 2: (100, 150, DONE), 3: (150, 200, DONE)}
    assert "requeued" not in result.metrics["counts"]


def test_cancelled_while_its_nodes_come_back_a_requeued_one_never_runs_again():
    sim = cluster(*FULL[:2])
    at(sim, 40, lambda: sim.requeue(1))
    at(sim, 41, lambda: sim.cancel(1))
    assert fates(sim.run()) == {1: (-1, 41, GONE), 2: (43, 93, DONE)}


def test_requeued_again_during_the_delay_it_waits_anew():
    sim = cluster((0, 4, 100, 120))
    at(sim, 40, lambda: sim.requeue(1))
    at(sim, 50, lambda: sim.cancel(1))
    at(sim, 60, lambda: sim.requeue(1))
    result = sim.run()
    assert fates(result) == {1: (240, 340, DONE)}  # in the next pass over the whole queue
    assert eligible(result) == {1: 181}


@pytest.mark.parametrize(
    ("limit", "when", "end", "state"),
    [
        (60, 30, 60, "TIMEOUT"),
        (31, 30, 60, "TIMEOUT"),  # minutes, rounded up
        (60, 80, 80, "TIMEOUT"),  # at the next look
        (600, 30, 100, DONE),
    ],
)
def test_a_new_limit_of_what_runs_ends_it(limit, when, end, state):
    sim = cluster((0, 4, 100, 120), keys={"KillWait": 0, "killed_epilog_s": 0})
    at(sim, when, lambda: sim.update(1, time_limit=limit))
    result = sim.run()
    result.check()
    table = result.components.iloc[0]
    assert (table["end_time"], table["state"]) == (end, state)
    assert result.metrics["counts"].get("shortened", 0) == (when > limit)


def test_minutes_are_not_counted_by_a_limit_that_came_later():
    """A minute of four nodes, as it starts, is within the limit of twenty; with the new one it is not."""
    keys = {
        "accounts": {"a": {"limits": {"GrpTRESRunMins": {"cpu": 20}}, "users": {"u": 1}}},
        "AccountingStorageEnforce": "limits",
    }
    sim = cluster((0, 4, 100, 60), keys=keys, user=["u"], account=["a"])
    at(sim, 30, lambda: sim.update(1, time_limit=6000))
    result = sim.run()
    result.check()
    assert (result.components["start_time"][0], result.metrics["counts"]["limits_changed"]) == (0, 1)


def test_a_longer_limit_saves_what_runs():
    sim = cluster((0, 4, 100, 60))
    at(sim, 59, lambda: sim.update(1, time_limit=120))
    assert fates(sim.run()) == {1: (0, 100, DONE)}


def test_a_new_limit_of_what_runs_moves_the_plan_at_once():
    # 2 needs all nodes: planned for 7200, then for 120; 3 ends before the one and after the other
    jobs = ((0, 3, 100, 7200), (10, 4, 50, 60), (40, 1, 300, 600))
    assert fates(cluster(*jobs).run())[3] == (40, 340, DONE)
    sim = cluster(*jobs)
    at(sim, 20, lambda: sim.update(1, time_limit=120))
    assert fates(sim.run()) == {1: (0, 100, DONE), 2: (100, 150, DONE), 3: (150, 450, DONE)}


def test_a_new_limit_of_what_waits_lets_it_be_backfilled():
    jobs = ((0, 3, 100, 120), (10, 4, 50, 60), (20, 1, 30, 600))
    assert fates(cluster(*jobs).run())[3][0] == 150
    sim = cluster(*jobs)
    at(sim, 30, lambda: sim.update(3, time_limit=60))
    result = sim.run()
    assert fates(result)[3] == (30, 60, DONE)
    assert result.components["time_limit"].tolist() == [120, 60, 60]


@pytest.mark.parametrize("change", [{"nice": -5}, {"priority": 2**32 - 1}])
def test_nice_and_priority_change_the_place_in_the_queue(change):
    sim = cluster(*FULL)
    at(sim, 30, lambda: sim.update(3, **change))
    assert fates(sim.run()) == {1: (0, 100, DONE), 3: (100, 150, DONE), 2: (150, 200, DONE)}


def test_a_priority_by_hand_stays_until_a_release():
    jobs = ((0, 4, 400, 600), (10, 1, 50, 60), (20, 4, 50, 60))
    for released, first in ((False, 2), (True, 3)):  # 3 is larger: by its factors it goes first
        sim = cluster(*jobs, keys=SHARED | BY_FACTORS)
        at(sim, 30, lambda sim=sim: sim.update(2, priority=10**6))
        if released:
            at(sim, 40, lambda sim=sim: sim.release(2))
        ended = fates(sim.run())
        assert min((2, 3), key=lambda i: ended[i][0]) == first


def test_a_begin_time_takes_what_waits_out_of_the_queue():
    sim = cluster(*FULL)
    at(sim, 30, lambda: sim.update(2, begin_time=500))
    at(sim, 120, lambda: sim.update(2, begin_time=130))
    result = sim.run()
    assert fates(result) == {1: (0, 100, DONE), 3: (100, 150, DONE), 2: (150, 200, DONE)}
    assert eligible(result)[2] == 130
    sim = cluster(*FULL)
    at(sim, 5, lambda: sim.update(2, begin_time=500))
    assert fates(sim.run())[2] == (540, 590, DONE)


def test_what_may_not_be_updated_is_refused_at_once():
    sim = cluster(*FULL)
    for fields, says in (
        ({}, "nothing given"),
        ({"time_limit": 0}, "time_limit.*from 1"),
        ({"time_limit": 1.5}, "whole number"),
        ({"priority": -1}, "priority.*from 0"),
        ({"nice": True}, "nice"),
    ):
        with pytest.raises(InputError, match=says):
            sim.update(1, **fields)
    with pytest.raises(InputError, match="the id of a component"):
        sim.hold(99)
    easy = Simulation(System.homogeneous(4), trace(*FULL), "easy")
    for name in ("priority", "nice"):
        with pytest.raises(ConfigError, match=f"{name}.*policy slurm"):
            easy.update(1, **{name: 5})


@pytest.mark.parametrize("name", ["fcfs", "easy", "conservative", "sjf"])
def test_under_other_policies_too_components_are_held_released_and_requeued(name):
    sim = Simulation(System.homogeneous(4), trace(*FULL), name)
    at(sim, 30, lambda: sim.hold(2))
    at(sim, 40, lambda: sim.requeue(1))
    at(sim, 120, lambda: sim.release(2))
    at(sim, 300, lambda: sim.requeue(2))
    ended = fates(sim.run())
    if name == "sjf":  # 3 is shorter than 1
        assert ended == {3: (40, 90, DONE), 1: (90, 190, DONE), 2: (300, 350, DONE)}
    else:
        assert ended == {1: (40, 140, DONE), 2: (300, 350, DONE), 3: (190, 240, DONE)}


@pytest.mark.parametrize("keep", [False, True])
def test_under_other_policies_a_new_limit_counts_in_plans_and_for_the_kill(keep):
    jobs = ((0, 3, 100, 7200), (10, 4, 50, 60), (40, 1, 300, 600))
    rules = Policy(backfill="conservative", replan="keep" if keep else "scratch")
    sim = Simulation(System.homogeneous(4), trace(*jobs), rules)
    at(sim, 20, lambda: sim.update(1, time_limit=90))
    assert fates(sim.run()) == {1: (0, 90, "TIMEOUT"), 2: (90, 140, DONE), 3: (140, 440, DONE)}
    sim = Simulation(System.homogeneous(4), trace(*jobs), rules)
    at(sim, 70, lambda: sim.update(1, time_limit=30))
    result = sim.run()
    result.check()
    assert fates(result)[1] == (0, 70, "TIMEOUT")


# -- what comes from processes is treated as what a trace has ----------------------------------

SITE = System.from_dict(
    {
        "modules": [{"name": "A", "nodes": 70, "cores_per_node": 2}, {"name": "B", "nodes": 4}],
        "partitions": [
            {"name": "a", "module": "A"},
            {"name": "fast", "module": "A", "priority": 3, "priority_job_factor": 5},
            {"name": "b", "module": "B"},
        ],
    }
)
JOB = st.fixed_dictionaries(
    {
        "submit_time": st.integers(0, 400),
        "nodes": st.integers(1, 4),
        "run_time": st.integers(0, 300),
        "time_limit": st.sampled_from([60, 120, 300]),
        "partition": st.sampled_from(["a", "b", "b,a", "fast"]),
        "user": st.sampled_from(["ada", "bob", "eve"]),
        "account": st.sampled_from(["", "x", "y"]),
        "nice": st.sampled_from([0, 0, 3]),
        "begin_time": st.sampled_from([-1, -1, 350]),
        "array_job_id": st.sampled_from([-1, -1, 77]),
        "array_limit": st.just(2),
        "name": st.sampled_from(["m", "n"]),
        "dependency_kinds": st.sampled_from(["", "", "", "SINGLETON"]),
    }
)


@examples(25)
@given(
    jobs=st.lists(JOB, min_size=1, max_size=30),
    told=st.integers(0, 30),
    keys=st.sampled_from([{}, SHARED | {"bf_max_job_user": 2}]),
)
def test_submitted_by_processes_the_schedule_is_that_of_a_trace(jobs, told, keys):
    jobs = sorted(jobs, key=lambda job: job["submit_time"])
    jobs[0]["submit_time"] = 0
    columns = {name: [job[name] for job in jobs] for name in jobs[0]}
    expected = fates(Simulation(SITE, Workload.from_columns(**columns), policy(**keys)).run())
    told = max(1, min(told, len(jobs)))
    sim = Simulation(
        SITE,
        Workload.from_columns(**{name: values[:told] for name, values in columns.items()}),
        policy(**keys),
    )

    def users() -> Any:
        for number, job in enumerate(jobs[told:], told + 1):
            yield sim.env.timeout(job["submit_time"] - sim.env.now)
            fields = {name: value for name, value in job.items() if name not in ("submit_time",)}
            kind = fields.pop("dependency_kinds") or "AFTEROK"
            sim.submit(**fields, dependency_type=kind, component_id=number)

    sim.process(users())
    assert fates(sim.run()) == expected


@pytest.mark.parametrize(("code", "state"), [(0, DONE), (3, GONE)])
def test_a_dependency_that_can_never_be_met_is_known_at_the_submission(code, state):
    sim = cluster((0, 1, 10, 60), keys={"kill_invalid_depend": True}, exit_code=[code])
    at(sim, 50, lambda: sim.submit(nodes=1, run_time=5, time_limit=60, after=[1]))
    ended = fates(sim.run())
    assert ended[1][2] == (FAILED if code else DONE)
    assert ended[2] == ((50, 55, DONE) if state == DONE else (-1, 50, GONE))


# -- books ---------------------------------------------------------------------------------------


def check_books(sim: Simulation) -> None:
    """Every node in service is idle or held by one component, and the counts agree."""
    core = sim._core
    idle, up = core.slurm.sets.idle.copy(), core.slurm.sets.up
    held = np.zeros_like(idle)
    for row in range(len(core.slurm.job)):
        piece, seen = int(core.slurm.job[row].piece), set()
        while piece >= 0 and piece not in seen:
            seen.add(piece)
            word, bits = int(core.slurm.nodes.piece[piece].word), core.slurm.nodes.piece[piece].bits
            assert not held[word] & bits, "a node is held twice"
            held[word] |= bits
            piece = int(core.slurm.nodes.piece[piece].next)
    assert not (idle & held).any()
    assert ((idle | held) == up).all()
    counted = {number: int(core.pools[number].free) for number in range(len(sim.system.modules))}
    for number, mask in enumerate(core.slurm.nodes.masks[: len(counted)]):
        pool, nodes = core.pools[number], sim.system.modules[number].nodes
        assert pool.draining <= nodes - pool.free - pool.down, "more nodes leave than are in use"
        assert sum(int(word).bit_count() for word in idle & mask) == counted[number]


ACT = st.tuples(
    st.integers(0, 500),
    st.sampled_from(
        ["drain", "fail", "requeue nodes", "resume", "hold", "release", "requeue", "cancel", "limit"]
    ),
    st.integers(1, 12),
)


ENDED = (0, 1, 0)
"""A job of one node that ends at once: its nodes do their epilog."""


@examples(20)
@example([*[ENDED] * 11, (0, 2, 104)], [(0, "drain", n) for n in (1, 1, 4)] + [(116, "fail", 1)], "main")
@example(
    [*[ENDED] * 11, (121, 3, 141)],
    [(0, "drain", 1), (0, "drain", 1), (256, "requeue nodes", 1), (256, "requeue nodes", 1)],
    "main",
)
@example([(0, 1, 0), (0, 1, 63), (0, 2, 0), *[(0, 2, 0)] * 9], [(62, "limit", 3)], "main")
@given(
    jobs=st.lists(
        st.tuples(st.integers(0, 300), st.integers(1, 8), st.integers(0, 200)), min_size=12, max_size=20
    ),
    acts=st.lists(ACT, max_size=15),
    first=st.sampled_from(["main", "backfill"]),
)
def test_whatever_is_done_no_node_is_lost_or_held_twice(jobs, acts, first):
    full = [(0, 1, 1, 600), *((submit, nodes, run, 600) for submit, nodes, run in sorted(jobs))]
    sim = cluster(*full, nodes=8, keys={"looks_first": first, "epilog_s": 3})
    calls = {
        "drain": lambda n: sim.drain("cluster", n % 4 + 1),
        "fail": lambda n: sim.fail("cluster", n % 3 + 1),
        "requeue nodes": lambda n: sim.fail("cluster", n % 3 + 1, requeue=True),
        "resume": lambda n: sim.resume("cluster", n),
        "hold": sim.hold,
        "release": sim.release,
        "requeue": sim.requeue,
        "cancel": sim.cancel,
        "limit": lambda n: sim.update(n, time_limit=60 * (n % 3 + 1)),
    }
    for time, act, number in acts:
        at(sim, time, lambda act=act, number=number: calls[act](number))

    def watch() -> Any:
        for _ in range(60):
            yield sim.env.timeout(11)
            check_books(sim)

    sim.env.process(watch())
    at(sim, 650, lambda: sim.resume("cluster", 8))
    sim.run(until=660)
    sim.run().check()
    check_books(sim)


@examples(20)
@given(
    jobs=st.lists(
        st.tuples(st.integers(0, 100), st.integers(1, 4), st.integers(1, 120)), min_size=3, max_size=12
    ),
    when=st.integers(1, 120),
)
def test_held_and_released_at_once_changes_nothing_but_the_queue_place(jobs, when):
    full = [(0, 1, 1, 120), *((submit, nodes, run, 120) for submit, nodes, run in sorted(jobs))]
    ends = []
    for held in (True, False):
        sim = cluster(*full)

        def act(sim=sim, held=held) -> None:
            if held:
                sim.hold(2)
            sim.release(2)

        at(sim, when, act)
        ends.append(fates(sim.run()))
    assert ends[0] == ends[1]
