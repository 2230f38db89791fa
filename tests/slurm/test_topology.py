"""Topology under Slurm: the engine is the plain model, and cases that were worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from scheduler_sim import Policy, Result, System, Workload, simulate
from scheduler_sim.errors import ConfigError
from tests.conftest import examples
from tests.slurm import shared_cases
from tests.slurm.shared_cases import EQUAL_NODES, RIGID_ASKS
from tests.slurm.test_shared_properties import expanded
from tests.slurm.topology_cases import (
    UNTIL_S,
    OnSwitches,
    SharedOnSwitches,
    had,
    on_switches,
    plain_shared,
    played,
    played_shared,
    shared_on_switches,
    that_ever_fit,
    told,
)

pytestmark = pytest.mark.interpreted


@examples(60)
@given(on_switches())
def test_whole_nodes_are_those_of_the_plain_model(found: OnSwitches) -> None:
    assume(found.case.jobs)
    assert had(found, played(found)) == told(found)


@examples(60)
@given(shared_on_switches())
def test_shared_nodes_are_those_of_the_plain_model(found: SharedOnSwitches) -> None:
    compare_shared(found)


@examples(60)
@given(shared_on_switches(most=25, of=EQUAL_NODES, ask=RIGID_ASKS))
def test_so_many_able_nodes_are_those_of_the_plain_model(found: SharedOnSwitches) -> None:
    compare_shared(found)


@examples(100)
@given(shared_on_switches(wherever=True) | shared_on_switches(wherever=True, most=25, ask=RIGID_ASKS))
def test_under_one_switch_so_many_able_nodes_are_enough(found: SharedOnSwitches) -> None:
    compare_shared(found)


def compare_shared(found: SharedOnSwitches) -> None:
    with pytest.MonkeyPatch.context() as patch:
        found = that_ever_fit(found, patch)
        assume(found.case.jobs)
        slurm = plain_shared(found, patch)
        slurm.run(UNTIL_S)
    ours = shared_cases.fates(played_shared(found))
    assert {i: expanded(fate) for i, fate in ours.items()} == shared_cases.fates_told(slurm)


# -- worked out by hand


def run(topology: dict, jobs: dict, *, nodes: int = 12, shared: bool = False, **slurm: object) -> Result:
    """One module; jobs come in the order in which they stand, a second from each other."""
    module = {"name": "m", "nodes": nodes} | ({"shared": True, "cores_per_node": 4} if shared else {})
    columns = {name: [job.get(name, -1) for job in jobs.values()] for name in ("switches", "switch_wait")}
    columns |= {name: [job[name] for job in jobs.values()] for name in ("nodes", "run_time")}
    if shared:
        columns["cores"] = [job.get("cores", -1) for job in jobs.values()]
    workload = Workload.from_columns(
        **columns,
        submit_time=list(range(len(jobs))),
        name=list(jobs),
        time_limit=[-(-job["run_time"] // 60) * 60 for job in jobs.values()],
    )
    system = System.from_dict({"modules": [module], "topology": topology})
    result = simulate(system, workload, Policy(name="slurm", backfill="slurm", slurm=slurm))
    result.check()
    return result


def nodes_of(result: Result) -> dict[str, str]:
    return dict(zip(result.components["name"], map(str, result.components["node_list"]), strict=True))


def starts_of(result: Result) -> dict[str, int]:
    return dict(zip(result.components["name"], result.components["start_time"].tolist(), strict=True))


LONG = 6000


def test_a_job_goes_to_the_fullest_leaf_that_holds_it():
    """a takes 3 of leaf 0, b 2 of leaf 1 (leaf 0 has one left). c fits what is left of leaf 1: 2 nodes, not
    leaf 2 with 4. d needs 4: leaf 2. e takes the last node."""
    jobs = {name: {"nodes": n, "run_time": LONG} for name, n in zip("abcde", (3, 2, 2, 4, 1), strict=True)}
    assert nodes_of(run({"levels": [4]}, jobs)) == {"a": "0-2", "b": "4-5", "c": "6-7", "d": "8-11", "e": "3"}


def test_without_a_topology_nodes_are_taken_side_by_side():
    jobs = {name: {"nodes": n, "run_time": LONG} for name, n in zip("abc", (3, 2, 2), strict=True)}
    found = nodes_of(run({"levels": [4]}, jobs, TopologyPlugin="topology/none"))
    assert found == {"a": "0-2", "b": "3-4", "c": "5-6"}


def test_more_than_a_leaf_takes_leaves_under_one_switch_before_others():
    """Four leaves of 3 nodes, two to a switch. a has a node of leaf 0. b wants 6: no leaf holds them; the
    switch above leaves 2 and 3 does, the other (5 nodes left) does not. So leaf 2 comes first, and its
    neighbour is nearer than leaf 1."""
    jobs = {"a": {"nodes": 1, "run_time": LONG}, "b": {"nodes": 6, "run_time": LONG}}
    result = run({"levels": [3, 2]}, jobs)
    assert nodes_of(result) == {"a": "0", "b": "6-11"}
    assert result.components["leaves"].tolist() == [1, 2]
    assert result.components["groups"].tolist() == [1, 1]


def test_of_leaves_that_do_not_hold_it_the_one_with_more_nodes_comes_first():
    """Three leaves of 4; a and b leave 1 and 2 nodes of the first two. d wants 5: leaf 2 with 4, then for the
    node that remains leaf 0, which has no more."""
    jobs = {name: {"nodes": n, "run_time": LONG} for name, n in zip("abd", (3, 2, 5), strict=True)}
    result = run({"levels": [4]}, jobs)
    assert nodes_of(result) == {"a": "0-2", "b": "4-5", "d": "3,8-11"}
    assert result.metrics["topology"] == {
        "mean_leaves": 1.333333,
        "on_one_leaf": 1.0,
        "excess_leaves": 0.0,
        "mean_hops": 0.666667,
    }


def test_a_job_waits_for_one_leaf_until_its_time_is_over():
    """Two nodes are idle on one leaf, one on the other. w asks for one leaf and 3 nodes: it waits 100 s from
    the first try on, and starts in the next main pass; n, which asks for nothing, at once."""
    fill = {"a": {"nodes": 2, "run_time": LONG}, "b": {"nodes": 3, "run_time": LONG}}
    job = {"nodes": 3, "run_time": 60}
    waits = run({"levels": [4]}, fill | {"w": job | {"switches": 1, "switch_wait": 100}}, nodes=8)
    at_once = run({"levels": [4]}, fill | {"n": job}, nodes=8)
    assert nodes_of(at_once)["n"] == nodes_of(waits)["w"] == "2-3,7"
    first = starts_of(at_once)["n"]
    assert first <= 5
    assert first + 100 <= starts_of(waits)["w"] <= first + 160
    assert waits.components["leaves"].tolist() == [1, 1, 2]


def test_max_switch_wait_is_the_longest_a_job_waits():
    fill = {"a": {"nodes": 2, "run_time": LONG}, "b": {"nodes": 2, "run_time": LONG}}
    job = {"nodes": 2, "run_time": 60, "switches": 1, "switch_wait": 5000}
    for most in (0, 120):
        start = starts_of(run({"levels": [3]}, fill | {"w": job}, nodes=6, max_switch_wait=most))["w"]
        assert most <= start <= most + 65


def test_it_starts_on_one_leaf_as_soon_as_one_is_free():
    """One node is idle on each leaf. b ends at 64, long before w has waited 300 s."""
    fill = {"a": {"nodes": 2, "run_time": LONG}, "b": {"nodes": 2, "run_time": 60}}
    result = run({"levels": [3]}, fill | {"w": {"nodes": 2, "run_time": 60, "switches": 1}}, nodes=6)
    assert nodes_of(result)["w"] == "3-4"
    assert 60 < starts_of(result)["w"] < 130


def test_topo_optional_looks_at_those_alone_that_ask():
    """b has nodes side by side, across two leaves; c asks for one, and gets the fuller."""
    jobs = {"a": {"nodes": 3, "run_time": LONG}, "b": {"nodes": 2, "run_time": LONG}}
    jobs |= {"c": {"nodes": 2, "run_time": LONG, "switches": 1}}
    found = nodes_of(run({"levels": [4]}, jobs, TopologyParam="TopoOptional"))
    assert found == {"a": "0-2", "b": "3-4", "c": "5-6"}


def test_in_a_dragonfly_one_leaf_holds_a_job_or_all_have_a_part():
    """Three leaves of 4. a has two nodes of the first. b wants 5: one of each leaf, twice. c wants 3, which
    the last leaf has left. d wants 2, which the second has; asking for two leaves counts for nothing."""
    jobs = {name: {"nodes": n, "run_time": LONG} for name, n in zip("abc", (2, 5, 3), strict=True)}
    jobs |= {"d": {"nodes": 2, "run_time": LONG, "switches": 2}}
    found = nodes_of(run({"levels": [4]}, jobs, TopologyParam="Dragonfly"))
    assert found == {"a": "0-1", "b": "2-5,8", "c": "9-11", "d": "6-7"}


def test_a_job_that_no_switch_holds_is_rejected():
    trees = {"switches": [{"name": "a", "nodes": "m[0-5]"}, {"name": "b", "nodes": "m[6-11]"}]}
    result = run(trees, {"a": {"nodes": 7, "run_time": 60}, "b": {"nodes": 6, "run_time": 60}})
    assert result.components["state"].tolist() == ["REJECTED", "COMPLETED"]


def test_a_job_is_kept_in_the_smallest_block_that_holds_it():
    """Base blocks of 2, joined to 4. a takes one of block 0. b wants 3: in 0-3 three are idle, in the others
    four. c wants 4: 4-7. d wants 5, more than the largest block: two blocks, then the node of the first."""
    topology = {"type": "block", "levels": [2], "block_sizes": [2, 4]}
    jobs = {name: {"nodes": n, "run_time": LONG} for name, n in zip("abc", (1, 3, 4), strict=True)}
    assert nodes_of(run(topology, jobs)) == {"a": "0", "b": "1-3", "c": "4-7"}
    jobs = {"a": {"nodes": 1, "run_time": LONG}, "d": {"nodes": 5, "run_time": LONG}}
    assert nodes_of(run(topology, jobs, nodes=8)) == {"a": "0", "d": "1-5"}


def test_a_job_in_blocks_waits_for_a_block_though_enough_nodes_are_idle():
    """Two blocks of 4 with 2 idle nodes each: 4 nodes are idle, in no block."""
    topology = {"type": "block", "levels": [4], "block_sizes": [4]}
    fill = {"a": {"nodes": 2, "run_time": LONG}, "b": {"nodes": 3, "run_time": 300}}
    result = run(topology, fill | {"w": {"nodes": 4, "run_time": 60}}, nodes=8)
    assert starts_of(result)["w"] >= 300
    assert nodes_of(result)["w"] == "4-7"


def test_shared_nodes_are_taken_leaf_by_leaf():
    """Leaves of 3 nodes of 4 cores. a has 2 nodes of leaf 0, so that b with 2 does not fit there."""
    jobs = {"a": {"nodes": 2, "run_time": LONG, "cores": 4}, "b": {"nodes": 2, "run_time": LONG, "cores": 3}}
    jobs |= {"c": {"nodes": 1, "run_time": LONG, "cores": 4}}
    found = nodes_of(run({"levels": [3]}, jobs, nodes=6, shared=True))
    assert found == {"a": "0-1", "b": "3-4", "c": "2"}


@pytest.mark.parametrize(
    ("topology", "keys", "told"),
    [
        (
            {"type": "dragonfly", "levels": [2, 2]},
            {},
            "policy.slurm.TopologyPlugin: found by_system with a topology of type dragonfly; allowed here:"
            " topology/none",
        ),
        (
            {"levels": [2]},
            {"TopologyPlugin": "topology/block"},
            "found topology/block with a topology of type tree; allowed here: topology/tree, topology/none",
        ),
        (
            {"levels": [2]},
            {"PreemptType": "preempt/partition_prio", "PreemptMode": "SUSPEND,GANG"},
            "policy.slurm.PreemptMode: found SUSPEND,GANG with a topology",
        ),
        ({"levels": [2]}, {"version": "19.05"}, "policy.slurm.version: found 19.05 with a topology"),
    ],
)
def test_what_is_not_modelled_is_refused(topology, keys, told):
    with pytest.raises(ConfigError, match=told.replace("(", "[(]")):
        run(topology, {"a": {"nodes": 1, "run_time": 60}}, **keys)
