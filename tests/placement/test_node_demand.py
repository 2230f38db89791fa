"""Which nodes placements may take: against all subsets of the nodes, alone and one by one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import System, Workload
from scheduler_sim.placement.placements import joined
from scheduler_sim.placement.table import expand
from scheduler_sim.workload.fields import FIELDS
from tests.conftest import examples

pytestmark = pytest.mark.interpreted

GB = 1024 * 1024
MIXED = System.from_dict(
    {
        "modules": [
            {
                "name": "CM",
                "nodes": 5,
                "features": ["ib"],
                "node_sets": [
                    {"name": "fast", "nodes": 2, "features": ["hbm", "r1"], "memory_gb": 4},
                    {"name": "slow", "nodes": 1, "features": ["r1"], "memory_gb": 2, "cores_per_node": 4},
                    {"name": "old", "nodes": 2, "features": ["r2"], "memory_gb": 1, "cores_per_node": 8},
                ],
            },
            {"name": "ESB", "nodes": 2, "features": ["gpu"], "memory_gb": 2},
        ],
        "partitions": [
            {"name": "all", "module": "CM"},
            {"name": "new", "module": "CM", "node_sets": ["fast", "slow"]},
            {"name": "esb", "module": "ESB"},
        ],
    }
)
NODES = {
    "all": [0, 1, 2, 3, 4],
    "new": [0, 1, 2],
    "esb": [0, 1],
}
HAVE = {
    "CM": [{"ib", "hbm", "r1"}] * 2 + [{"ib", "r1"}] + [{"ib", "r2"}] * 2,
    "ESB": [{"gpu"}] * 2,
}
MEMORY = {"CM": [4, 4, 2, 1, 1], "ESB": [2, 2]}
CORES = {"CM": [99, 99, 4, 8, 8], "ESB": [99, 99]}

# constraint -> what every node must have (alternatives), and how many must have one more feature
CONSTRAINTS: dict[str, list[tuple[Any, int, str]]] = {
    "": [(lambda f: True, 0, "")],
    "r1": [(lambda f: "r1" in f, 0, "")],
    "gpu|r2": [(lambda f: "gpu" in f or "r2" in f, 0, "")],
    "hbm*2": [(lambda f: True, 2, "hbm")],
    "ib&r2*1": [(lambda f: "ib" in f, 1, "r2")],
    "[r1|r2]": [(lambda f: "r1" in f, 0, ""), (lambda f: "r2" in f, 0, "")],
    "[hbm|r2|gpu]&ib": [(lambda f, w=w: w in f and "ib" in f, 0, "") for w in ("hbm", "r2", "gpu")],
}

jobs = st.fixed_dictionaries(
    {
        "nodes": st.integers(1, 5),
        "partition": st.sampled_from(["all", "new", "esb", "all,esb", "new,all"]),
        "constraint": st.sampled_from(list(CONSTRAINTS)),
        "memory_kb": st.sampled_from([-1, GB, GB + 1, 2 * GB, 3 * GB, 5 * GB]),
        "processes_per_node": st.sampled_from([-1, 4, 6, 9]),
    }
)


def able_sets(job: dict[str, Any], partition: str) -> list[tuple[int, ...]]:
    """Every set of nodes of the partition on which the job could run, tried one by one."""
    module = MIXED.partition(partition).module
    big = [
        n
        for n in NODES[partition]
        if MEMORY[module][n] * GB >= job["memory_kb"] and CORES[module][n] >= job["processes_per_node"]
    ]
    found = []
    for chosen in itertools.combinations(big, job["nodes"]):
        have = [HAVE[module][n] for n in chosen]
        for every, count, feature in CONSTRAINTS[job["constraint"]]:
            if all(map(every, have)) and sum(feature in f for f in have) >= count:
                found.append(chosen)
    return found


def allowed_by(choices: Any, nodes: int) -> set[tuple[int, ...]]:
    """The sets of nodes that some choices allow."""
    found = set()
    for choice in choices:
        anywhere = [n for numbers in choice.anywhere for n in numbers]
        for chosen in itertools.combinations(anywhere, nodes):
            counts = (
                (least, sum(n in numbers for numbers in ranges for n in chosen))
                for least, ranges in choice.at_least
            )
            if all(there >= least for least, there in counts):
                found.add(chosen)
    return found


def workload_of(asked: list[dict[str, Any]]) -> Workload:
    n = len(asked)
    return Workload.from_columns(
        submit_time=list(range(n)), run_time=[5] * n, **{name: [j[name] for j in asked] for name in asked[0]}
    )


@examples(150)
@given(st.lists(jobs, min_size=1, max_size=6))
def test_a_placement_is_there_if_some_nodes_will_do_and_says_which(asked: list[dict[str, Any]]) -> None:
    table = expand(workload_of(asked), MIXED, by_sets=True)
    assert table.of_nodes is not None
    for i, job in enumerate(asked):
        wanted = [set(sets) for name in job["partition"].split(",") if (sets := able_sets(job, name))]
        own = range(table.first[i], table.first[i + 1])
        found = [allowed_by(table.of_nodes.kinds[table.of_nodes.kind[p]], job["nodes"]) for p in own]
        assert found == wanted
        alone = expand(workload_of([job]), MIXED, by_sets=True).of_nodes
        assert alone is not None
        assert [allowed_by(alone.kinds[kind], job["nodes"]) for kind in alone.kind] == wanted


def test_the_first_reason_that_holds_is_given() -> None:
    asked = [
        {"nodes": 4, "partition": "new"},
        {"nodes": 1, "partition": "all", "memory_kb": 5 * GB},
        {"nodes": 1, "partition": "esb", "processes_per_node": 99},
        {"nodes": 3, "partition": "all", "constraint": "hbm"},
        {"nodes": 1, "partition": "all", "constraint": "hbm*2"},
    ]
    columns = ("nodes", "partition", "memory_kb", "processes_per_node", "constraint")
    plain = {name: FIELDS[name].default for name in columns}
    table = expand(workload_of([plain | job for job in asked]), MIXED, by_sets=True)
    assert table.rejected == {"too_large": 1, "memory": 1, "features": 2}
    assert np.diff(table.first).tolist() == [0, 0, 1, 0, 0]  # ESB states no cores


@given(st.lists(jobs, min_size=2, max_size=6), st.integers(1, 5))
def test_demands_of_two_tables_joined_are_those_of_the_whole(asked: list[dict[str, Any]], at: int) -> None:
    at = min(at, len(asked) - 1)
    first, later = workload_of(asked[:at]), workload_of(asked[at:])
    both = joined(expand(first, MIXED, by_sets=True), expand(later, MIXED, by_sets=True)).of_nodes
    whole = expand(workload_of(asked), MIXED, by_sets=True).of_nodes
    assert both is not None
    assert whole is not None
    assert [both.kinds[k] for k in both.kind] == [whole.kinds[k] for k in whole.kind]


def test_counting_tables_say_nothing_of_nodes() -> None:
    whole = MIXED.to_dict() | {"partitions": [{"name": "all", "module": "CM"}]}
    assert expand(workload_of([{"nodes": 1}]), System.from_dict(whole)).of_nodes is None
    assert expand(workload_of([{"nodes": 1}]), MIXED).of_nodes is not None  # a partition covers a part
