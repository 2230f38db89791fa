"""Nodes that lie together under policies other than Slurm's: cases worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_sim import Policy, Result, Simulation, System, Workload, simulate
from scheduler_sim.errors import ConfigError

pytestmark = pytest.mark.interpreted

LONG = 6000


def run(
    topology: dict[str, Any], nodes: list[int], models: Any = None, *, compact: bool = True, **policy: Any
) -> Result:
    """Jobs of so many nodes come one after the other and stay."""
    system = System.from_dict({"modules": [{"name": "CM", "nodes": 12}], "topology": topology})
    jobs = Workload.from_columns(
        nodes=nodes,
        submit_time=list(range(len(nodes))),
        run_time=[LONG] * len(nodes),
        time_limit=[2 * LONG] * len(nodes),
    )
    given = Policy(**{"backfill": "easy", "topology": "compact" if compact else "none"} | policy)
    result = simulate(system, jobs, given, models=models)
    result.check()
    return result


def nodes_of(result: Result) -> list[str]:
    return [str(text) for text in result.components["node_list"]]


@pytest.mark.parametrize("backfill", ["none", "first_fit", "easy", "conservative"])
def test_the_fullest_leaf_that_holds_it_else_the_emptiest_first(backfill: str) -> None:
    """The example of the documents."""
    result = run({"levels": [4]}, [3, 2, 2, 5], backfill=backfill)
    assert nodes_of(result) == ["0-2", "4-5", "6-7", "3,8-11"]
    assert result.components["hops"].tolist() == [0, 0, 0, 2]
    assert result.metrics["topology"]["mean_hops"] == 0.5
    assert not any("topology" in text for text in result.metrics.get("warnings", []))


def test_the_lowest_switch_that_holds_it() -> None:
    """Four leaves of 3, two to a switch. b wants 4, which the second one has; c then has nodes of both."""
    result = run({"levels": [3, 2]}, [3, 4, 4])
    assert nodes_of(result) == ["0-2", "6-9", "3-5,10"]
    assert result.components["groups"].tolist() == [1, 1, 2]
    assert result.components["hops"].tolist() == [0, 2, 4]


def test_a_dragonfly_has_as_few_groups_as_can_be() -> None:
    """Groups of 2 leaves of 2 nodes, and none above them: 4, 3 and 4 nodes are idle, then 5 are asked for."""
    result = run({"type": "dragonfly", "levels": [2, 2]}, [1, 5, 3])
    assert nodes_of(result) == ["0", "1,4-7", "8-10"]
    assert result.components["groups"].tolist() == [1, 2, 1]
    assert result.components["hops"].tolist() == [0, 3, 1]


def test_blocks_are_joined() -> None:
    """Base blocks of 2; b has what is left of a block of 4, c more than any has: nobody waits for a block."""
    topology = {"type": "block", "levels": [2], "block_sizes": [2, 4]}
    result = run(topology, [1, 3, 7])
    assert nodes_of(result) == ["0", "1-3", "4-10"]
    assert result.components["hops"].tolist() == [0, 2, 4]


def test_in_the_last_leaf_the_packing_chooses() -> None:
    """Two leaves of three nodes that are shared. One of two nodes goes to the first leaf, where nodes 1 and 2
    have 2 and 1 of 4 cores left; one of one node to the same, which has fewer nodes with a core left."""
    module = {"name": "CM", "nodes": 6, "shared": True, "cores_per_node": 4}
    system = System.from_dict({"modules": [module], "topology": {"levels": [3]}})
    columns = {"cores": [4, 2, 3, 1], "submit_time": [0, 1, 2, 3], "run_time": [LONG] * 4}
    jobs = Workload.from_columns(nodes=[1, 1, 1, 1], **columns)
    for packing, last in (("best_fit", "2"), ("worst_fit", "1"), ("first_fit", "1")):
        policy = Policy(backfill="easy", topology="compact", packing=packing)
        result = simulate(system, jobs, policy)
        result.check()
        assert nodes_of(result)[:2] == ["0", "1"]
        assert nodes_of(result)[3] == last


def test_a_module_on_no_switch_is_packed() -> None:
    modules = [{"name": "A", "nodes": 4, "shared": True, "cores_per_node": 2}, {"name": "B", "nodes": 4}]
    leaf = {"name": "leaf", "nodes": "B"}
    system = System.from_dict({"modules": modules, "topology": {"switches": [leaf]}})
    jobs = Workload.from_columns(nodes=[2, 2], submit_time=[0, 0], run_time=[9, 9], partition=["A", "B"])
    result = simulate(system, jobs, Policy(topology="compact"))
    assert nodes_of(result) == ["0-1", "0-1"]
    assert result.components["leaves"].tolist() == [0, 1]


def slower(**spread: Any) -> dict[str, Any]:
    """Models with one type of application, whose jobs take longer where their nodes lie apart."""
    types = [{"name": "a", "percent": 100, "spread": spread}]
    return {"applications": {"named": False, "types": types}}


def test_jobs_take_longer_whose_nodes_lie_apart() -> None:
    """The example of the documents; by hops it is two of them."""
    by_leaves = run({"levels": [4]}, [3, 2, 2, 5], models=slower(by="leaves", percent=10))
    assert by_leaves.components["run_time"].tolist() == [LONG, LONG, LONG, 6600]
    by_hops = run({"levels": [4]}, [3, 2, 2, 5], models=slower(percent=12.5))
    assert by_hops.components["run_time"].tolist() == [LONG, LONG, LONG, 7500]
    packed = run(
        {"levels": [4]},
        [3, 2, 2, 5],
        models=slower(by="leaves", percent=10),
        compact=False,
        packing="first_fit",
    )
    assert packed.components["run_time"].tolist() == [LONG, 6600, LONG, 6600]
    groups = run({"levels": [3, 2]}, [3, 4, 4], models=slower(by="groups", percent=50))
    assert groups.components["run_time"].tolist() == [LONG, LONG, 9000]
    dragonfly = run({"type": "dragonfly", "levels": [2, 2]}, [1, 5, 3], models=slower(by="hops", percent=10))
    assert dragonfly.components["run_time"].tolist() == [LONG, 7800, 6600]


def test_its_limit_stays() -> None:
    result = run({"levels": [4]}, [5], models=slower(percent=100))
    assert result.components["state"].tolist() == ["TIMEOUT"]
    assert result.components["run_time"].tolist() == [2 * LONG]
    assert result.metrics["counts"]["spread_past_limit"] == 1
    assert any("1 component takes longer than the time limit" in one for one in result.metrics["warnings"])


@pytest.mark.parametrize(("requeued", "nodes", "run_time"), [(False, "1-2", 150), (True, "0-1", 100)])
def test_a_run_that_is_done_again_takes_as_long_as_its_nodes_say(
    requeued: bool, nodes: str, run_time: int
) -> None:
    """At first it is on two leaves, as another has node 0; from 30 on, once more, on one."""
    system = System.from_dict({"modules": [{"name": "CM", "nodes": 4}], "topology": {"levels": [2]}})
    jobs = Workload.from_columns(nodes=[1, 2], submit_time=[0, 1], run_time=[20, 100], time_limit=[20, 300])
    policy = Policy(backfill="easy", packing="first_fit")
    simulation = Simulation(system, jobs, policy, models=slower(by="leaves", percent=50))
    simulation.run(until=30)
    if requeued:
        simulation.requeue(2)
    result = simulation.run()
    result.check()
    found = result.components.iloc[1]
    assert (found["node_list"], found["run_time"]) == (nodes, run_time)


@pytest.mark.parametrize(
    ("system", "policy", "more", "message"),
    [
        ({}, {}, {}, "spread: found for system .*, which has no topology; allowed: a system with one"),
        (
            {"topology": {"levels": [2]}},
            {},
            {"checkpoint": {"interval": 5, "cost": 1}},
            "found spread beside checkpoint; allowed: one of them",
        ),
    ],
)
def test_what_is_refused_of_laws(
    system: dict[str, Any], policy: dict[str, Any], more: dict[str, Any], message: str
) -> None:
    models = slower(percent=5)
    models["applications"]["types"][0] |= more
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[1])
    whole = System.from_dict({"modules": [{"name": "CM", "nodes": 4}]} | system)
    with pytest.raises(ConfigError, match=message):
        simulate(whole, jobs, Policy(**policy), models=models)


def test_what_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"topology: found 'compact' beside backfill: slurm; .*TopologyPlugin"
    ):
        Policy(backfill="slurm", topology="compact")
    with pytest.raises(ConfigError, match=r"found compact for system .*, which has no topology"):
        simulate(
            System.homogeneous(4),
            Workload.from_columns(nodes=[1], submit_time=[0], run_time=[1]),
            Policy(topology="compact"),
        )
