"""Random sites of shared nodes, jobs for them and dialects of policies."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from tests.oracle.plain_shared_records import Node, Request
from tests.oracle.records import Component, Placement

PACKINGS = st.sampled_from(["first_fit", "best_fit", "worst_fit"])
SCORED = ["dot_product", "gpu_clustering", "gpu_packing", "least_left", "fragmentation_gradient"]
ANY_PACKING = st.sampled_from(["first_fit", "best_fit", "worst_fit", "random", *SCORED])
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
MODELS = st.sampled_from(["a", "b"])
GPU_NODES = st.builds(
    lambda cores, memory, gpus, partitions, model: Node("", cores, memory, gpus, partitions, model=model),
    st.integers(2, 8),
    st.integers(1, 4),
    st.sampled_from([0, 1, 2, 4, 4]),
    st.sampled_from([("all",), ("all", "p")]),
    MODELS,
)
GPU_SITES = st.lists(GPU_NODES, min_size=1, max_size=5)
GPU_REQUESTS = st.builds(
    lambda nodes, run, slack, cores, memory, gpus, more: Request(
        "m",
        nodes,
        run,
        max(1, run + slack),
        1.0,
        {},
        more[0],
        cores,
        memory,
        gpus[0],
        more[1],
        gpus[1],
        more[2],
    ),
    st.sampled_from([1, 1, 1, 2]),
    RUNS,
    SLACKS,
    st.integers(0, 3),
    st.sampled_from([0, 0, 1]),
    st.sampled_from(
        [(0, 1000), (1, 1000), (2, 1000), (1, 300), (1, 500), (1, 501), (1, 250), (1, 999), (4, 1000)]
    ),
    st.tuples(
        st.sampled_from(["all", "all", "p"]),
        st.sampled_from([False, False, False, False, True]),
        st.sampled_from([(), (), (), ("a",), ("a", "b")]),
    ),
)
"""With parts of GPUs, and models of them."""
TYPES = ["a", "b", "c"]
TYPED_NODES = st.builds(
    lambda node, types: replace(node, types=tuple(sorted(types[: node.gpus], key=types.index)), model=""),
    GPU_NODES,
    st.lists(st.sampled_from(TYPES), min_size=4, max_size=4),
)
"""GPUs of one type stand side by side, the first type first."""
TYPED_SITES = st.lists(TYPED_NODES, min_size=1, max_size=4)
TYPED_REQUESTS = st.builds(
    lambda request, kind: replace(request, models=(), type=kind if request.gpus else ""),
    GPU_REQUESTS,
    st.sampled_from(["", "", *TYPES]),
)
TYPED_JOBS = st.lists(st.tuples(GAPS, TYPED_REQUESTS), min_size=1, max_size=18)
GPU_JOBS = st.lists(st.tuples(GAPS, GPU_REQUESTS), min_size=1, max_size=18)
SITES = st.lists(NODES, min_size=1, max_size=5)
JOBS = st.lists(st.tuples(GAPS, REQUESTS), min_size=1, max_size=14)
WIDE_SITES = st.lists(NODES, min_size=1, max_size=9)
WIDE_JOBS = st.lists(
    st.tuples(GAPS, st.builds(lambda one, nodes: replace(one, nodes=nodes), REQUESTS, st.integers(1, 6))),
    min_size=1,
    max_size=14,
)
"""More nodes, and jobs that ask for more of them."""
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
        named = replace(request, number=row + 1) if isinstance(request, Request) else request
        rows.append(Component(row, submit, (named,)))
    return rows
