"""Jobs that ask for whole nodes: on equal nodes that are told apart as on nodes that are counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import System, Workload, simulate
from tests.conftest import examples

NODES = 7
TIMES = st.integers(1, 30)
JOBS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, NODES), TIMES, st.integers(0, 20)), min_size=1)
MODULES = {
    "counted": {"cores_per_node": 4},
    "of one core": {"shared": True, "cores_per_node": 1},
    "exclusive": {"shared": True, "cores_per_node": 4},
}


def starts_on(module, jobs, **policy):
    """Start times; jobs are (submit, nodes, run, what the limit adds). The core of a node of one is named."""
    submit, nodes, run, more = (list(column) for column in zip(*sorted(jobs), strict=True))
    columns = {"cores": [1] * len(jobs)} if module == "of one core" else {}
    limits = [one + other for one, other in zip(run, more, strict=True)]
    workload = Workload.from_columns(
        submit_time=submit, nodes=nodes, run_time=run, time_limit=limits, **columns
    )
    system = System.from_dict({"modules": [{"name": "CM", "nodes": NODES} | MODULES[module]]})
    result = simulate(system, workload, policy)
    result.check()
    return result.components["start_time"].tolist()


@pytest.mark.interpreted
@pytest.mark.parametrize("module", ["of one core", "exclusive"])
@pytest.mark.parametrize("backfill", ["none", "first_fit", "easy"])
@given(JOBS)
@examples(100)
def test_starts_are_the_same(backfill, module, jobs):
    assert starts_on(module, jobs, backfill=backfill) == starts_on("counted", jobs, backfill=backfill)


@pytest.mark.interpreted
@pytest.mark.parametrize("module", ["of one core", "exclusive"])
@pytest.mark.parametrize("replan", ["scratch", "keep"])
@given(JOBS)
@examples(100)
def test_the_first_reservation_is_at_the_same_time(replan, module, jobs):
    """Up to the first job that waits, which starts as reserved where limits are run times."""
    jobs = sorted((submit, nodes, run, 0) for submit, nodes, run, _ in jobs)
    policy = {"backfill": "conservative", "replan": replan}
    counted = starts_on("counted", jobs, **policy)
    waits = [i for i, job in enumerate(jobs) if counted[i] > job[0]]
    until = waits[0] + 1 if waits else len(jobs)
    assert starts_on(module, jobs[:until], **policy) == starts_on("counted", jobs[:until], **policy)
