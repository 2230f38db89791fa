"""Explanations of waits for parts of nodes, on systems small enough to check by eye."""

from __future__ import annotations

import pytest

from scheduler_sim import Result, System, Workload, simulate
from scheduler_sim.report.explain import explain
from scheduler_sim.report.explain_text import text_of
from scheduler_sim.report.explanation import Explanation

pytestmark = pytest.mark.interpreted

GB = 1024 * 1024


def system(*partitions: dict[str, object]) -> System:
    """Two nodes of 4 cores and 8 GB, and one of 4 cores, 16 GB and 2 GPUs."""
    sets = [{"name": "thin", "nodes": 2}, {"name": "fat", "nodes": 1, "memory_gb": 16, "gpus_per_node": 2}]
    module = {
        "name": "CM",
        "nodes": 3,
        "shared": True,
        "cores_per_node": 4,
        "memory_gb": 8,
        "node_sets": sets,
    }
    return System.from_dict({"modules": [module], "partitions": [{"module": "CM", **p} for p in partitions]})


CPU = {"name": "cpu", "node_sets": ["thin"]}
GPU = {"name": "gpu", "node_sets": ["fat"]}
WHOLE = system({"name": "all"})


def run(of: System, policy: str | dict[str, str] = "easy", **columns: object) -> Result:
    return simulate(of, Workload.from_columns(**columns), policy)


def words(said: Explanation) -> str:
    return " ".join(text_of(said).split())


def lacks(said: Explanation) -> dict[str, tuple[int, int, int]]:
    assert said.shortage is not None
    return {lack.resource: (lack.least, lack.most, lack.seconds) for lack in said.shortage.lacks}


def test_the_missing_resource_is_named():
    """The fat node has cores for job 3 all the time, memory after 20 s and GPUs after 50 s."""
    result = run(
        system(CPU, GPU), partition="gpu", nodes=1, submit_time=[0, 0, 10], run_time=[50, 20, 10],
        cores=1, memory_kb=[1 * GB, 12 * GB, 8 * GB], gpus=[1, 0, 2],
    )  # fmt: skip
    said = explain(result, 3)
    assert lacks(said) == {
        "cores": (1, 1, 0), "memory": (0, 1, 10), "GPUs": (0, 0, 40), "all of these": (0, 0, 40),
    }  # fmt: skip
    assert said.arrival is not None
    assert (said.arrival.idle, [one.component_id for one in said.arrival.holders]) == (0, [1, 2])
    text = words(said)
    assert "not enough nodes had what it asked for" in text
    assert "It could use 1 node of partition gpu" in text
    assert "asked for 1 core, 8 GB of memory and 2 GPUs" in text
    assert "memory 0 to 1 nodes too few for 10 s" in text
    assert "0 of the 1 nodes of partition gpu had all that free" in text
    assert "idle" not in text
    assert not said.notes


def test_each_resource_may_be_there_and_not_all_on_one_node():
    """Jobs 1 and 2 leave cores on one thin node and memory on the other."""
    result = run(
        system(CPU, GPU), partition="cpu", nodes=1, submit_time=[0, 0, 5], run_time=[30, 40, 10],
        cores=[4, 1, 3], memory_kb=[1 * GB, 8 * GB, 6 * GB],
    )  # fmt: skip
    said = explain(result, 3)
    assert lacks(said) == {"cores": (1, 1, 0), "memory": (1, 1, 0), "all of these": (0, 0, 25)}
    assert said.phases[0].resources == 25


def test_one_with_nodes_to_itself_waits_for_idle_nodes():
    result = run(WHOLE, nodes=[1, 1, 3], submit_time=[0, 0, 5], run_time=[30, 40, 10], cores=[1, 1, -1])
    said = explain(result, 3)
    assert lacks(said) == {"idle": (2, 2, 35)}
    text = words(said)
    assert "Of each of the 3 it needed it asked for all there is." in text
    assert "2 of the 3 nodes of CM were idle" in text


@pytest.mark.parametrize(
    ("policy", "why"),
    [("fcfs", "it sat behind component 2"), ("easy", "It sat behind the reservations of the components")],
)
def test_one_that_fits_sits_behind_the_front(policy, why):
    """Job 2 needs all cores of each node; job 3 fits beside job 1 at once, but is too long to pass."""
    result = run(
        WHOLE, policy, nodes=[1, 3, 3], submit_time=[0, 5, 5], run_time=[30, 40, 50], cores=[3, 4, 1]
    )
    said = explain(result, 3)
    first = said.phases[0]
    assert (first.front, first.priority, first.resources) == (2, 25, 0)
    assert (first.idle_least, first.idle_most) == (3, 3)
    text = words(said)
    assert why in text
    assert "enough nodes had what it asked for, but the policy kept them for others" in text
    assert "Enough nodes had all that free all the time (3 had, 3 needed)" in text


def test_the_nodes_that_it_may_have_are_told():
    """The fat node was idle: had job 2 been submitted to all nodes it had not waited."""
    both = system(CPU, {"name": "all"})
    result = run(both, partition="cpu", nodes=[2, 1], submit_time=[0, 5], run_time=[30, 10], cores=[4, 4])
    said = explain(result, 2)
    assert said.shortage is not None
    assert (said.shortage.where, said.shortage.nodes) == ("partition cpu", 2)


def test_nodes_that_are_too_small_are_not_counted():
    """Of the nodes of its partition, which are all, one has as much memory as job 2 asks for."""
    result = run(
        WHOLE, nodes=1, submit_time=[0, 5], run_time=[30, 10], cores=[4, 1], memory_kb=[10 * GB, 10 * GB]
    )
    said = explain(result, 2)
    assert said.shortage is not None
    assert (said.shortage.where, said.shortage.nodes) == ("CM that suit it", 1)
    assert "0 of the 1 nodes of CM that suit it had all that free" in words(said)


def test_nothing_is_said_where_the_nodes_do_not_give_the_recorded_wait():
    """A change of the wait stands for what the result does not say: licences, other resources."""
    result = run(
        system(CPU, GPU), partition="cpu", nodes=1, submit_time=[0, 5], run_time=[30, 10], cores=[4, 2]
    )
    components = result.components
    components["wait_resources"] = 3
    components["wait_priority"] = 7
    components["start_time"] = [0, 15]
    said = explain(result, 2)
    assert (said.shortage, said.arrival, said.phases) == (None, None, ())
    assert any("A result does not record what was free" in note for note in said.notes)


def test_the_order_is_not_told_where_partitions_have_priorities():
    ranked = system({**CPU, "priority": 5}, {"name": "all"})
    result = run(ranked, partition="cpu", nodes=[2, 1], submit_time=[0, 5], run_time=[30, 10], cores=[4, 4])
    said = explain(result, 2)
    assert said.overtaking is None
    assert said.phases[0].front == -1
    assert "Partitions of its module have different priorities" in words(said)
