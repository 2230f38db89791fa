"""Many nodes, long plans: what the engine does for speed alone leaves the plain model's schedule."""

from __future__ import annotations

import random

import pytest

from tests.oracle.plain_slurm_records import Job
from tests.slurm.engine_cases import FIRST, SECOND, Case, Queue, fates, plain, played

LIMITS_MIN = (2, 5, 10, 10, 30, 30, 60, 60, 120, 240, 500)
PLAYED_S = 1800
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
