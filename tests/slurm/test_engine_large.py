"""Many nodes, long plans: what the engine does for speed alone leaves the plain model's schedule."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.oracle.plain_slurm_records import Job
from tests.slurm.engine_cases import FIRST, SECOND, Case, Queue, fates, plain, played, told

LIMITS_MIN = (2, 5, 10, 10, 30, 30, 60, 60, 120, 240, 500)
PLAYED_S = 1800
SETS = {"q": (FIRST, SECOND), "r": (FIRST,), "s": (SECOND,)}  # of partitions that overlap
FAR = {"bf_max_job_test": 300, "bf_node_space_size": 1000, "bf_window": 1440}


def crowd(
    seed: int, nodes: int, jobs: int, sizes: tuple[int, ...], limits: tuple[int, ...] = LIMITS_MIN
) -> Case:
    """A backlog: mostly short submissions apart, jobs that use a part of their limits."""
    draw = random.Random(seed)
    rows, time = [], 1
    for number in range(1, jobs + 1):
        time += draw.choice((0, 0, 1, 3, 10))
        limit = draw.choice(limits)
        run = max(1, int(60 * limit * draw.random() ** 2))
        rows.append(Job(number, time, ["q"], draw.choice(sizes), run, limit))
    return Case(
        {"m": (nodes // 2, nodes - nodes // 2)},
        (Queue("q", "m", (FIRST, SECOND)),),
        tuple(rows),
        {"latency": "measured", "bf_max_job_test": 50, "bf_node_space_size": 300, "bf_window": 600},
        begins_s=5,
    )


def agrees(case: Case, until_s: int) -> None:
    """The engine starts what the plain model starts by then, and in the same seconds."""
    slurm = plain(case)
    slurm.run(until_s)
    ours = fates(played(case))
    theirs = {job.id: job.start for job in slurm.jobs if job.start is not None}
    assert len(theirs) > 25
    assert theirs == {number: ours[number][1] for number in theirs}


@pytest.mark.parametrize(
    ("seed", "nodes", "sizes"), [(1, 40, (1, 2, 3, 5, 9)), (2, 130, (1, 1, 1, 2, 3, 4, 8, 16))]
)
def test_a_long_plan_is_the_plain_model_s(seed: int, nodes: int, sizes: tuple[int, ...]) -> None:
    agrees(crowd(seed, nodes, 200, sizes), PLAYED_S)


LESS_FAR = crowd(8, 40, 300, (1, 2, 5, 20, 30)).but(**FAR)
"""What a try finds that counts all who run is not noted as found with those who end by some time."""


@pytest.mark.long
def test_tries_that_look_less_far_leave_those_that_look_further_alone() -> None:
    assert fates(played(LESS_FAR)) == fates(played(LESS_FAR, accelerate=False))


@pytest.mark.long
def test_tries_that_look_less_far_are_the_plain_model_s() -> None:
    agrees(LESS_FAR, 3400)


def test_a_lower_bound_holds_only_for_jobs_that_look_as_far() -> None:
    """New boundaries make short jobs look less far. The plain model says 53046, after three minutes."""
    case = crowd(30, 70, 300, (1, 2, 5, 20, 30), limits=(3, 7, 400, 600, 900))
    ours = fates(played(case.but(**FAR)))
    assert ours[256] == ("COMPLETED", 53046)


@pytest.mark.parametrize("seed", [9, 12])
def test_partitions_that_share_their_nodes_have_tries_of_their_own(seed: int) -> None:
    """Where jobs of one partition have a new try, those of another go on from one of theirs."""
    draw, case = random.Random(seed), crowd(seed, 40, 200, (1, 2, 3, 9, 20), limits=(1, 2, 3, 4, 10))
    queues = tuple(Queue(name, "m", sets) for name, sets in SETS.items())
    jobs = tuple(replace(job, partitions=[draw.choice(queues).name]) for job in case.jobs)
    case = replace(case, queues=queues, jobs=jobs).but(bf_max_job_test=20, bf_interval=2)
    assert fates(played(case)) == fates(played(case, accelerate=False))
    agrees(case, PLAYED_S)


@pytest.mark.parametrize(("seed", "nodes", "sizes"), [(0, 20, (1, 2, 3, 5, 8)), (2, 8, (1, 2, 5, 7, 8))])
def test_what_a_pass_has_started_leaves_no_nodes_to_its_tests(
    seed: int, nodes: int, sizes: tuple[int, ...]
) -> None:
    """Jobs that it comes to later may find too few nodes in the plan for a test: others still have theirs."""
    case = crowd(seed, nodes, 200, sizes, limits=(3, 7, 400, 600, 900))
    case = case.but(bf_max_job_test=20, bf_interval=2, bf_window=1440)
    assert fates(played(case)) == fates(played(case, accelerate=False))


@pytest.mark.interpreted
def test_a_job_may_reserve_in_each_of_its_partitions() -> None:
    """Five jobs in eight partitions each: the plan has room for two boundaries of every one of them."""
    names = [f"q{i}" for i in range(8)]
    queues = tuple(Queue(name, f"m{i}", (FIRST, SECOND)) for i, name in enumerate(names))
    run = [Job(i + 1, 0, [name], 3, 3000, 50 + i) for i, name in enumerate(names)]
    wait = [Job(9 + i, 5, names, 3, 100, 3 + 7 * i) for i in range(5)]
    case = Case({f"m{i}": (2, 1) for i in range(8)}, queues, (*run, *wait), {"latency": "measured"})
    assert fates(played(case)) == fates(played(case, accelerate=False)) == told(case)
