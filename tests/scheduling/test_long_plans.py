"""Long queues under conservative backfill: what the engine does for speed alone leaves the plan as it is."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.scheduling.cases import Case, Job, Machine
from tests.scheduling.test_properties import compare

SIZES = (1, 1, 1, 2, 3, 4, 8, 11)
LIMITS_S = (3, 10, 30, 60, 60, 91, 200, 207, 411, 900)
TWO = Machine(
    {"CM": (11, 1.0), "DAM": (17, 1.0)}, {"CM": ("CM", None, None), "DAM": ("DAM", None, None)}, "CM"
)


def backlog(seed: int, jobs: int, policy: dict[str, Any]) -> Case:
    """Far more jobs than fit, most of which end early, in two modules."""
    draw = random.Random(seed)
    rows, time = [], 0
    for _ in range(jobs):
        time += draw.choice((0, 0, 0, 1, 2))
        limit = draw.choice(LIMITS_S) + draw.choice((0, 0, 1, 2, 7))
        run = draw.choice((limit, int(limit * draw.random() ** 2)))
        rows.append(Job(time, draw.choice(SIZES), run, limit, (draw.choice(("CM", *5 * ("DAM",))),)))
    return Case(TWO, tuple(rows), policy)


@pytest.mark.long
def test_a_long_plan_is_that_of_the_plain_reference() -> None:
    case = backlog(1, 220, {"backfill": "conservative"})
    compare(case)
    assert case.simulated().timeline["queue_components"].max() > 150
