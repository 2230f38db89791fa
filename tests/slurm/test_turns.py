"""How far a backfill pass gets: it ends with bf_max_job_test tests, and leaves out turns behind those."""

from __future__ import annotations

import pytest

from tests.slurm.engine_cases import fates, played
from tests.slurm.test_engine_large import crowd
from tests.slurm.test_moments import starts

TWO_TESTS = {"nodes": 3, "bf_interval": 30, "bf_max_job_test": 2, "bf_window": 60}


def rows(*jobs: tuple[int, int, int]) -> list[dict[str, int]]:
    """Jobs by submit time, nodes and limit (s), which they use."""
    return [{"submit_time": s, "nodes": n, "run_time": limit, "time_limit": limit} for s, n, limit in jobs]


@pytest.mark.parametrize(("length", "start"), [(7200, 30), (600, 2820)])
def test_only_who_fits_somewhere_in_the_plan_is_a_test(length: int, start: int) -> None:
    """One node of three is taken to 1020, when all are planned for the second, to the end of the plan or to
    1620. So the third, with all for twenty minutes, fits nowhere, or there. Then it is the second test, and
    the fourth, which could start, has no turn before the third runs.
    """
    jobs = rows((0, 1, 1020), (10, 3, length), (20, 3, 1200), (30, 1, 300))
    found = starts(*jobs, **TWO_TESTS)
    assert found[3] == start
    assert found == starts(*jobs, **TWO_TESTS, skip_idle_passes=False)


@pytest.mark.parametrize("seed", range(8))
def test_turns_that_a_pass_never_gets_to_may_be_left_out_of_it(seed: int) -> None:
    """Those before are tests for sure, as others run for longer on nodes that they could use."""
    case = crowd(seed, 60, 120, (1, 1, 2, 3, 30, 60), (2, 5, 5, 10, 30, 60, 400))
    case = case.but(bf_max_job_test=(5, 10)[seed % 2], bf_window=60)
    assert fates(played(case)) == fates(played(case, skip_idle_passes=False))
