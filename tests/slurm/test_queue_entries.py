"""How far a backfill pass gets: it ends with bf_max_job_test tests, and leaves out entries behind those."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.oracle.plain_limit_records import Association, Database, Limits
from tests.oracle.plain_slurm_records import Job
from tests.slurm.engine_cases import FIRST, SECOND, Case, Queue, fates, played
from tests.slurm.limit_cases import LimitedCase, limited_simulation
from tests.slurm.test_engine_large import crowd
from tests.slurm.test_moments import starts

LONG = (4, 7, 8, 9, 10, 11, 12, 13, 14, 15)
"""Seeds of cases that are left to the long tests."""

TWO_TESTS = {"nodes": 3, "bf_interval": 30, "bf_max_job_test": 2, "bf_window": 60}


def rows(*jobs: tuple[int, int, int]) -> list[dict[str, int]]:
    """Jobs by submit time, nodes and limit (s), which they use."""
    return [{"submit_time": s, "nodes": n, "run_time": limit, "time_limit": limit} for s, n, limit in jobs]


@pytest.mark.parametrize(("length", "start"), [(7200, 30), (600, 2820)])
def test_only_what_fits_somewhere_in_the_plan_is_a_test(length: int, start: int) -> None:
    """One node of three is taken to 1020, when all are planned for the second, to the end of the plan or to
    1620. So the third, with all for twenty minutes, fits nowhere, or there. Then it is the second test, and
    the fourth, which could start, is not looked at before the third runs.
    """
    jobs = rows((0, 1, 1020), (10, 3, length), (20, 3, 1200), (30, 1, 300))
    found = starts(*jobs, **TWO_TESTS)
    assert found[3] == start
    assert found == starts(*jobs, **TWO_TESTS, accelerate=False)


@pytest.mark.parametrize("version", ["22.05", "19.05"])
def test_tests_count_from_the_start_once_there_are_more_entries_than_tests(version: str) -> None:
    """The third that waits finds no start, but would without those who run: a test, once the last two come.

    With the four others there are five then, and the last of the two is not looked at before the pass at 90.
    """
    rows = [
        ("p", 1, 1, 2040, 34),
        ("p", 1, 2, 300, 5),
        ("r", 1, 1, 1020, 17),
        ("p", 10, 1, 600, 10),
        ("p", 12, 1, 7200, 120),
        ("p", 14, 3, 120, 2),
        ("r", 16, 3, 7200, 120),
        ("r", 50, 1, 240, 4),
        ("r", 50, 1, 240, 4),
    ]
    jobs = tuple(Job(i + 1, t, [q], n, run, limit) for i, (q, t, n, run, limit) in enumerate(rows))
    queues = Queue("p", "m", (FIRST,)), Queue("r", "m", (SECOND,))
    case = Case({"m": (3, 3)}, queues, jobs, {"latency": "measured", "bf_interval": 30, "version": version})
    found = fates(played(case.but(bf_max_job_test=5, bf_window=60)))
    assert [found[8][1], found[9][1]] == [60, 90]


@pytest.mark.parametrize("seed", range(8))
def test_entries_that_a_pass_never_gets_to_may_be_left_out_of_it(seed: int) -> None:
    """Those before are tests for sure, as others run for longer on nodes that they could use."""
    case = crowd(seed, 60, 120, (1, 1, 2, 3, 30, 60), (2, 5, 5, 10, 30, 60, 400))
    case = case.but(bf_max_job_test=(5, 10)[seed % 2], bf_window=60)
    assert fates(played(case)) == fates(played(case, accelerate=False))


@pytest.mark.parametrize("seed", range(12))
def test_so_may_they_where_modules_are_shared_and_arrays_have_limits(seed: int) -> None:
    draw = random.Random(seed)
    queues = Queue("q", "m", (FIRST, SECOND)), Queue("r", "m", (FIRST,)), Queue("s", "n", (FIRST, SECOND))
    case = crowd(seed, 60, 150, (1, 1, 2, 3, 14, 20), (2, 5, 5, 10, 30, 60, 400))
    jobs = []
    for job in case.jobs:
        array = {"array": 900 + job.id // 9, "array_limit": 3} if job.id // 9 % 4 == 1 else {}
        jobs.append(replace(job, partitions=[draw.choice("qqrs")], **array))
    keys = {
        "bf_max_job_test": (5, 10, 25)[seed % 3],
        "bf_window": 60,
        "version": ("22.05", "19.05")[seed % 2],
    }
    case = replace(case, modules={"m": (20, 40), "n": (10, 20)}, queues=queues, jobs=tuple(jobs))
    case = case.but(**keys)
    assert fates(played(case)) == fates(played(case, accelerate=False))


@pytest.mark.interpreted
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 6, *(pytest.param(i, marks=pytest.mark.long) for i in LONG)])
def test_so_may_they_where_limits_bind(seed: int) -> None:
    """Who is near a limit of running jobs may be none of the tests: others may start before it."""
    draw = random.Random(seed)
    case = crowd(seed, 60, 150, (1, 1, 2, 3, 14, 20), (2, 5, 5, 10, 30, 60, 400))
    case = case.but(
        bf_max_job_test=(5, 10, 25)[seed % 3],
        bf_window=60,
        PriorityDecayHalfLife=0,
        AccountingStorageType="accounting_storage/slurmdbd",
    )
    few = Limits(max_jobs=draw.choice([2, 4, 8])) if seed % 2 else Limits(grp_tres={"node": 30})
    associations = {
        "root": Association("", Limits(grp_jobs=draw.choice([8, 12, 100]))),
        "a": Association("root", Limits(max_wall=draw.choice([30, 1000]))),
        "b": Association("a", Limits(grp_tres={draw.choice(["cpu", "node"]): draw.choice([20, 40])})),
        **{f"{account}/{user}": Association(account, few, "q") for account in "ab" for user in "uv"},
    }
    qos = {"q": Limits(max_jobs_pu=draw.choice([3, 6])), "r": Limits()}
    named = tuple((draw.choice("uv"), draw.choice("ab"), draw.choice("qr")) for _ in case.jobs)
    limited = LimitedCase(case, Database(associations, qos, {}), named)
    assert fates(limited_simulation(limited)) == fates(limited_simulation(limited, accelerate=False))
