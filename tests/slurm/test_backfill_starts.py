"""What the backfill scheduler starts: on which nodes, and that its plan knows of it."""

from __future__ import annotations

import pytest

from tests.oracle.plain_slurm_records import Job
from tests.slurm.engine_cases import FIRST, SECOND, Case, Queue, fates, played, told

pytestmark = pytest.mark.interpreted

BY_BACKFILL = {"bf_interval": 2, "batch_sched_delay": 1000, "sched_interval": 1000, "latency": "measured"}
"""The main scheduler starts nothing."""

ONE_STARTS = Case(
    {"m": (2, 1)},
    (Queue("q", "m", (FIRST, SECOND)),),
    (
        Job(1, 0, ["q"], nodes=1, runtime=132, limit=3),
        Job(2, 0, ["q"], nodes=3, runtime=101, limit=2),
        Job(3, 0, ["q"], nodes=1, runtime=24, limit=1),
        Job(4, 0, ["q"], nodes=2, runtime=27, limit=2),
        Job(5, 0, ["q"], nodes=1, runtime=94, limit=2),
    ),
    BY_BACKFILL,
)
"""At 1 jobs 1 and 3 start, until 181 and 61, and job 2 is planned on all three nodes from 180 on. Where job 3
does not stand in the plan, job 4 is tried at 1, to end by 121, and planned at 61 on what job 3 has and the
node that is idle: job 5 waits. Where it does, job 4 is tried at 60, when job 3 leaves the plan, to end by
180: that touches job 2, and leaves the idle node to job 5."""


def begun(case: Case, **keys: object) -> dict[int, int | None]:
    return {job: start for job, (_, start) in fates(played(case, **keys)).items()}


@pytest.mark.parametrize("accelerate", [True, False])
def test_what_has_started_stands_in_the_plan_of_the_pass(accelerate: bool) -> None:
    starts = begun(ONE_STARTS, accelerate=accelerate)
    assert starts[1] == starts[3] == starts[5] == 1
    assert {job: start for job, (_, start) in told(ONE_STARTS).items()} == starts


@pytest.mark.parametrize("keys", [{"version": "19.05", "defer": True}, {"SelectType": "select/linear"}])
def test_not_in_19_05_nor_with_linear(keys: dict[str, str]) -> None:
    """There its end is predicted, no more."""
    starts = begun(ONE_STARTS, **keys)
    assert starts[1] == starts[3] == 1
    assert starts[4] < starts[5]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_plan_that_is_full_takes_no_more(size: int) -> None:
    """It ends the pass with the next that would reserve, not with one that starts."""
    case = ONE_STARTS.but(bf_node_space_size=size)
    assert fates(played(case)) == fates(played(case, accelerate=False)) == told(case)


COMPLETING = Case(
    {"m": (4, 2)},
    (Queue("q", "m", (FIRST, SECOND)), Queue("r", "m", (SECOND,))),
    (
        Job(1, 0, ["q"], nodes=2, runtime=40, limit=4),
        Job(2, 0, ["q"], nodes=1, runtime=500, limit=1),
        Job(3, 0, ["q"], nodes=1, runtime=500, limit=9),
        Job(4, 100, ["q"], nodes=1, runtime=50, limit=1),
        Job(5, 100, ["r"], nodes=2, runtime=50, limit=1),
    ),
    BY_BACKFILL,
)
"""At 100 nodes 0, 1, 4 and 5 are idle, job 2 was killed and is completing on node 2, job 3 runs on node 3."""


@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize("keys", [{}, {"SelectType": "select/linear"}])
def test_nodes_are_chosen_anew_beside_those_that_are_completing(
    accelerate: bool, keys: dict[str, str]
) -> None:
    """Job 4 is planned on the smaller run, 4 and 5, and starts on the first of two that are equal without
    node 2: so job 5 finds its two nodes idle."""
    starts = begun(COMPLETING, accelerate=accelerate, **keys)
    assert starts[4] == starts[5]
    assert keys or {job: start for job, (_, start) in told(COMPLETING).items()} == starts


@pytest.mark.parametrize("accelerate", [True, False])
def test_what_the_main_scheduler_tries_counts_for_no_limit_of_backfill(accelerate: bool) -> None:
    """Job 2 is planned at 29; job 3 comes at 40, and is tried by main, then at 59 as the second of two."""
    jobs = (
        Job(1, 0, ["q"], nodes=2, runtime=500, limit=10),
        Job(2, 10, ["q"], nodes=4, runtime=60, limit=1),
        Job(3, 40, ["q"], nodes=1, runtime=50, limit=1),
    )
    queues = tuple(Queue(name, "m", (FIRST, SECOND)) for name in ("q", "other"))
    keys = {"sched_interval": 20, "bf_interval": 30, "bf_max_job_part": 2, "batch_sched_delay": 0}
    case = Case({"m": (2, 2)}, queues, jobs, keys)
    assert begun(case, accelerate=accelerate)[3] == 59
