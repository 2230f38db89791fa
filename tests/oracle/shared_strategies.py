"""Random sites of shared nodes, jobs for them and dialects of policies."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.oracle.plain_shared_records import Node, Request
from tests.oracle.records import Component, Placement

PACKINGS = st.sampled_from(["first_fit", "best_fit", "worst_fit"])
GAPS = st.sampled_from([0, 0, 1, 2, 5])
RUNS, SLACKS, AMOUNTS = st.integers(0, 12), st.integers(-4, 8), st.sampled_from([0, 0, 0, 1, 2, 4])
PARTITIONS = st.sampled_from(["all", "all", "p", "q"])
NODES = st.builds(
    lambda cores, memory, gpus, more: Node("", cores, memory, gpus, ("all", *more)),
    st.integers(1, 4),
    st.integers(0, 4),
    st.integers(0, 2),
    st.sets(st.sampled_from("pq")),
)
REQUESTS = st.builds(
    lambda nodes, run, slack, partition, amounts, exclusive: Request(
        "m", nodes, run, max(1, run + slack), 1.0, {}, partition, *amounts, exclusive
    ),
    st.sampled_from([1, 1, 1, 2, 3]),
    RUNS,
    SLACKS,
    PARTITIONS,
    st.tuples(st.integers(0, 4), AMOUNTS, AMOUNTS),
    st.sampled_from([False, False, False, True]),
)
SITES = st.lists(NODES, min_size=1, max_size=5)
JOBS = st.lists(st.tuples(GAPS, REQUESTS), min_size=1, max_size=14)
DIALECTS = st.fixed_dictionaries(
    {
        "order": st.sampled_from(["fifo", "sjf", "wfp3"]),
        "backfill_order": st.sampled_from([None, "sjf", "largest"]),
        "overrun_s": st.sampled_from([0, 3]),
        "extra_rule": st.booleans(),
        "candidate_time": st.sampled_from(["limit", "run"]),
    }
)


def components(jobs: list[tuple[int, Placement]]) -> list[Component]:
    submit, rows = 0, []
    for row, (gap, request) in enumerate(jobs):
        submit += gap
        rows.append(Component(row, submit, (request,)))
    return rows
