"""Who is charged for what, and when: fair share as Slurm's database has it, hand-computed on one node.

Priorities are computed at 300, 600, ...; the daemon starts with the first submission.
"""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_sim import Policy, System, Workload, simulate

pytestmark = pytest.mark.interpreted

KEYS = {
    "PriorityType": "priority/multifactor",
    "PriorityWeightFairshare": 600,
    "PriorityCalcPeriod": 300,
    "starts_before_s": 0,
}


def starts(*jobs: tuple[str, int, int, int], **keys: Any) -> list[int]:
    """Starts of jobs of one node: user, submission, run time, nice."""
    users, submitted, runs, nice = zip(*jobs, strict=True)
    workload = Workload.from_columns(
        user=list(users),
        submit_time=list(submitted),
        run_time=list(runs),
        nice=list(nice),
        time_limit=[600] * len(jobs),
        nodes=[1] * len(jobs),
    )
    policy = Policy(name="slurm", backfill="slurm", slurm=KEYS | keys)
    return simulate(System.homogeneous(1), workload, policy).components["start_time"].tolist()


def who_goes_first(first_run: int, **keys: Any) -> str:
    """Ann has run for so long. From then on Cid has the node; Ann asks for it at 400, Ben at 401."""
    found = starts(
        ("ann", 0, first_run, 0), ("cid", 1, 500, 0), ("ann", 400, 9, 0), ("ben", 401, 9, 0), **keys
    )
    return "ann" if found[2] < found[3] else "ben"


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("associations,limits", "ben"),
        ("safe", "ben"),
        ("all", "ben"),
        (2, "ben"),
        ("associations,qos", "ann"),
        ("none", "ann"),
        ([], "ann"),
    ],
)
def test_without_limits_nothing_is_charged_at_an_end(words: Any, first: str) -> None:
    """Ann's 100 s end before the computation at 300: only at their end can they be charged."""
    assert who_goes_first(100, AccountingStorageEnforce=words) == first


@pytest.mark.parametrize("words", ["limits", "associations"])
def test_what_runs_at_a_computation_is_charged_in_any_case(words: str) -> None:
    assert who_goes_first(350, AccountingStorageEnforce=words) == "ben"


def test_limits_are_enforced_where_nothing_is_said() -> None:
    assert who_goes_first(100) == "ben"


@pytest.mark.parametrize(("nice", "first"), [(-350, "ben"), (-450, "ann")])
def test_user_root_counts_in_the_ranks(nice: int, first: str) -> None:
    """Of Ann, Ben and root Ann is the third: she has 200 of 600 points; of two she would have 300."""
    found = starts(("ann", 0, 400, 0), ("ann", 310, 9, nice), ("ben", 311, 9, 0))
    assert ("ann" if found[1] < found[2] else "ben") == first
