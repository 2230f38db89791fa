"""What is free and of no use: small cases by hand, and random sites second by second."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given

from scheduler_sim import Result, Simulation, System, Workload, simulate
from scheduler_sim.metrics import fragmentation
from scheduler_sim.metrics.fragmentation import NodeHistory, stranded
from scheduler_sim.metrics.sharing import sharing_within
from scheduler_sim.result.node_lists import numbers_of
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import value_at
from scheduler_sim.texts import TextColumn
from tests.conftest import examples
from tests.oracle.plain_shared_records import Node, Request, request_of
from tests.oracle.records import Component
from tests.oracle.shared_strategies import JOBS, PACKINGS, SITES, components
from tests.shared_nodes.as_input import MODULE, in_known_partitions, system_of, workload_of

pytestmark = pytest.mark.interpreted

GB = 1024 * 1024


def system(nodes: int) -> System:
    """Nodes of 4 cores, 8 GB and 2 GPUs."""
    has = {"shared": True, "cores_per_node": 4, "memory_gb": 8, "gpus_per_node": 2}
    return System.from_dict({"modules": [{"name": "G", "nodes": nodes, **has}]})


def run(count: int, **columns: object) -> Result:
    jobs = Workload.from_columns(**{"nodes": 1, "cores": 1, **columns})
    result = simulate(system(count), jobs, "fcfs")
    result.check()
    return result


def over_time(result: Result, kind: str, module: str = "G") -> dict[int, float]:
    """Return what is stranded from each second on, in cores or GPUs."""
    schedule = Schedule(result.components, result.timeline, result.metrics, result.manifest)
    nodes = NodeHistory.of(schedule, module)
    assert nodes is not None
    times, values = stranded(nodes, kind)
    return dict(zip(times.tolist(), (values / 1000).tolist(), strict=True))


def shares(result: Result, name: str) -> dict[str, float | None]:
    found: dict[str, float | None] = result.metrics["sharing"][f"{name}_fragmentation"]
    return found


def test_free_gpus_of_nodes_without_the_cores_are_stranded():
    """Job 1 leaves a GPU and no core of node 0 free, 2 has node 1 for 30 s; 3 wants a GPU from 10 on."""
    result = run(2, submit_time=[0, 0, 10], run_time=[100, 30, 10], cores=[4, 4, 1], gpus=[1, 2, 1])
    assert over_time(result, "gpus") == {10: 1, 30: 0}
    assert shares(result, "gpu") == {"G": 0.05, "total": 0.05}  # 20 GPU-seconds of 4 GPUs · 100 s
    assert over_time(result, "cores") == {}  # none is free while 3 waits


def test_nothing_is_stranded_while_nothing_waits_for_it():
    """Job 2 waits for cores: free GPUs are not what it lacks, one free core is too few."""
    result = run(1, submit_time=[0, 10], run_time=[50, 10], cores=[3, 2], gpus=[1, 0])
    assert over_time(result, "gpus") == {}
    assert over_time(result, "cores") == {10: 1, 50: 0}
    assert shares(result, "gpu") == {"G": 0, "total": 0}
    assert shares(result, "core") == {"G": 0.166667, "total": 0.166667}  # 40 of 4 · 60 core-seconds


def test_what_the_policy_holds_back_is_not_stranded():
    """Under fcfs 3 waits behind 2, though the free GPU would do for it."""
    result = run(1, submit_time=[0, 1, 2], run_time=[50, 10, 10], gpus=[1, 2, 1])
    assert over_time(result, "gpus") == {1: 1, 2: 0}


def test_each_node_is_looked_at_by_itself():
    """Job 2 wants two idle nodes, and all that they have: one of them is of use to it, the other not."""
    result = run(2, nodes=[1, 2], submit_time=[0, 5], run_time=[20, 5], cores=[1, -1])
    assert over_time(result, "gpus") == {5: 2, 20: 0}
    assert over_time(result, "cores") == {5: 3, 20: 0}


def test_memory_that_is_gone_strands_gpus():
    result = run(
        1, submit_time=[0, 0, 5], run_time=[30, 40, 10], gpus=[1, 0, 1], memory_kb=[GB, 7 * GB, 4 * GB]
    )
    assert over_time(result, "gpus") == {5: 1, 30: 2, 40: 0}


def test_jobs_that_may_not_go_where_the_gpus_are_do_not_wait_for_them():
    """In partition c there are no GPUs: whole nodes of it have none. Its jobs have no use for other cores."""
    sets = [{"name": "thin", "nodes": 1}, {"name": "fat", "nodes": 1, "gpus_per_node": 2}]
    module = {"name": "G", "nodes": 2, "shared": True, "cores_per_node": 4, "node_sets": sets}
    partitions = [{"name": "c", "module": "G", "node_sets": ["thin"]}, {"name": "all", "module": "G"}]
    jobs = Workload.from_columns(nodes=1, partition="c", submit_time=[0, 5], run_time=[10, 5], cores=[1, -1])
    result = simulate(System.from_dict({"modules": [module], "partitions": partitions}), jobs, "fcfs")
    assert over_time(result, "gpus") == {}
    assert over_time(result, "cores") == {5: 7, 10: 0}


def test_nodes_out_of_service_leave_it_open():
    """A result does not say which nodes were out of service."""
    simulation = Simulation(
        system(2), Workload.from_columns(nodes=1, run_time=10, submit_time=[0, 5]), "fcfs"
    )
    simulation.run(until=2)
    simulation.drain("G", 1)
    simulation.run()
    assert shares(simulation.result(), "gpu") == {"G": None, "total": None}


def test_modules_of_whole_nodes_are_left_out():
    """Also those whose nodes are told apart, as a partition covers a part."""
    sets = [{"name": "a", "nodes": 1}, {"name": "b", "nodes": 1}]
    module = {"name": "W", "nodes": 2, "node_sets": sets}
    keys = {"modules": [module], "partitions": [{"name": "p", "module": "W", "node_sets": ["a"]}]}
    result = simulate(System.from_dict(keys), Workload.from_columns(nodes=1, run_time=5, submit_time=[0, 9]))
    assert "sharing" not in result.metrics
    assert result.metrics["offered_load"] == {"W": 0.555556, "total": 0.555556}


def test_shares_within_spans_of_time():
    """Of the 100 s of the first case all is in the first half: 1 of 4 GPUs for 20 of 50 s."""
    result = run(2, submit_time=[0, 0, 10], run_time=[100, 30, 10], cores=[4, 4, 1], gpus=[1, 2, 1])
    schedule = Schedule(result.components, result.timeline, result.metrics, result.manifest)
    table = sharing_within(schedule, ["G"], [(0, 100), (0, 50), (50, 100), (15, 25)])
    assert table["gpu_fragmentation_G"].tolist() == [0.05, 0.1, 0, 0.25]
    assert table["gpu_utilization_G"].tolist() == [0.425, 0.6, 0.25, 0.75]
    assert table["core_utilization_total"].tolist() == [0.6625, 0.825, 0.5, 1.0]
    for name, values in result.metrics["sharing"].items():
        for module, value in values.items():
            found = table[f"{name}_{module}"][0]
            assert found == value if value is not None else np.isnan(found)


class Free(NamedTuple):
    """What is free on a node, and how many jobs are there; GPUs are whole here."""

    cores: int
    memory: int
    gpus: int
    jobs: int = 0

    @classmethod
    def idle(cls, node: Node) -> Free:
        return cls(node.cores, node.memory, node.gpus)


def plain(result: Result, jobs: list[Component], nodes: list[Node], kind: str) -> Iterator[int]:
    """Count what is stranded in each second, node by node and job by job, from what was asked for."""
    table = result.components
    eligible, start, end = (table[f"{name}_time"].tolist() for name in ("eligible", "start", "end"))
    where = [numbers_of(TextColumn.of(table["node_list"]), np.array([row]))[1] for row in range(len(jobs))]
    asked = [request_of(job) for job in jobs]

    def has(node: Node, left: Free, request: Request) -> bool:
        has = Free.idle(node) if request.whole else left
        enough = all(getattr(has, one) >= getattr(request, one) for one in ("cores", "memory", "gpus"))
        return enough and request.partition in node.partitions and not (request.whole and left.jobs)

    def asks(request: Request) -> bool:
        if not request.whole:
            return bool(getattr(request, kind))
        return any(has(node, Free.idle(node), request) and getattr(node, kind) for node in nodes)

    for now in range(int(table["submit_time"].min()), max(end)):
        left = [Free.idle(node) for node in nodes]
        for row, request in enumerate(asked):
            for number in where[row] if start[row] <= now < end[row] else ():
                node, there = nodes[number], left[number]
                of = Free.idle(node) if request.whole else request
                left[number] = Free(
                    there.cores - of.cores, there.memory - of.memory, there.gpus - of.gpus, there.jobs + 1
                )
        waiting = [
            request
            for row, request in enumerate(asked)
            if table["state"][row] != "REJECTED" and eligible[row] <= now < start[row] and asks(request)
        ]
        yield sum(
            getattr(there, kind)
            for node, there in zip(nodes, left, strict=True)
            if waiting and not any(has(node, there, request) for request in waiting)
        )


@pytest.mark.parametrize("block", [1, fragmentation.BLOCK])
@given(SITES, JOBS, PACKINGS)
@examples(200)
def test_it_is_what_counting_second_by_second_gives(block, nodes, jobs, packing):
    rows = in_known_partitions(nodes, components(jobs))
    result = simulate(system_of(nodes), workload_of(rows), {"backfill": "easy", "packing": packing})
    schedule = Schedule(result.components, result.timeline, result.metrics, result.manifest)
    found = NodeHistory.of(schedule, MODULE)
    if found is None:
        assert (result.components["state"] == "REJECTED").all()
        return
    ran = result.components[result.components["start_time"] >= 0]
    seconds = np.arange(int(result.components["submit_time"].min()), int(ran["end_time"].max()))
    inside = seconds >= int(ran["submit_time"].min())
    for kind, name in (("gpus", "gpu_fragmentation"), ("cores", "core_fragmentation")):
        counted = np.array(list(plain(result, rows, nodes, kind)), dtype=np.int64)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fragmentation, "BLOCK", block)
            np.testing.assert_array_equal(value_at(stranded(found, kind), seconds), 1000 * counted)
        whole = sum(getattr(node, kind) for node in nodes) * int(inside.sum())
        share = result.metrics["sharing"][name][MODULE]
        assert share == (round(int(counted.sum()) / whole, 6) if whole else None)
