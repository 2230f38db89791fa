"""What processes do to nodes that jobs share: drain, fail, resume; random scripts of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Simulation, System, Workload
from tests.conftest import examples
from tests.oracle.shared_strategies import (
    ANY_PACKING,
    GPU_JOBS,
    GPU_SITES,
    JOBS,
    PACKINGS,
    SITES,
    components,
)
from tests.shared_nodes.as_input import in_known_partitions, system_of, workload_of
from tests.shared_nodes.test_against_the_reference import POLICIES
from tests.simulation.scripts import actions

pytestmark = pytest.mark.interpreted

PAIR = System.from_dict({"modules": [{"name": "m", "nodes": 2, "shared": True, "cores_per_node": 4}]})


ONE_WAY = ("easy", "depth 2", "depth 4")
"""Policies that refuse, on shared nodes, components with several placements."""


def at(sim: Simulation, time: int, act):
    """Do something at an instant."""

    def process():
        yield sim.env.timeout(time)
        act()

    sim.process(process())


@pytest.mark.parametrize("what", ["drain", "fail"])
def test_a_node_where_a_job_is_completing_is_not_idle_when_it_leaves(what):
    """Under Slurm; the last job is submitted while the first completes, and waits for the node's return."""
    jobs = Workload.from_columns(nodes=[1, 1], submit_time=[0, 61], run_time=[50, 10], cores=[2, 2])
    slurm = {"batch_sched_delay": 0, "epilog_s": 30}
    one = System.from_dict({"modules": [{"name": "m", "nodes": 1, "shared": True, "cores_per_node": 4}]})
    sim = Simulation(one, jobs, {"backfill": "slurm", "slurm": slurm})
    at(sim, 62, lambda: getattr(sim, what)("m", 1))
    at(sim, 70, lambda: seen.append(sim.idle_nodes("m")))
    at(sim, 300, lambda: sim.resume("m", 1))
    seen: list[int] = []
    result = sim.run()
    result.check()
    first, second = result.components[["start_time", "end_time"]].to_numpy().tolist()
    assert first[1] < 62 < first[1] + 30
    assert second[0] >= 300
    assert seen == [0]
    nodes_down = result.timeline.loc[result.timeline["module"] == "m", ["time", "nodes_down"]]
    assert nodes_down.loc[nodes_down["nodes_down"] == 1, "time"].min() == first[1] + 30


@pytest.mark.parametrize("policy", ["easy", "slurm"])
def test_busy_nodes_of_a_module_that_nobody_shares_leave_beside_one_that_is(policy):
    modules = [
        {"name": "m", "nodes": 1, "shared": True, "cores_per_node": 4},
        {"name": "whole", "nodes": 2, "cores_per_node": 4},
    ]
    jobs = Workload.from_columns(
        nodes=[1, 1], submit_time=[0, 100], run_time=[60, 60], partition=["whole"] * 2
    )
    sim = Simulation(System.from_dict({"modules": modules}), jobs, policy)
    at(sim, 50, lambda: sim.drain("whole", 2))
    at(sim, 300, lambda: sim.resume("whole", 1))
    result = sim.run()
    result.check()
    first, second = result.components["start_time"]
    assert first < 50
    assert second >= 300


def two_and_two(*runs: int) -> Workload:
    """Jobs of two cores: the first two share node 0 by best fit, the next two node 1."""
    return Workload.from_columns(
        nodes=[1] * len(runs), submit_time=[0] * len(runs), run_time=runs, cores=[2] * len(runs)
    )


def test_a_failed_node_ends_every_job_on_it():
    sim = Simulation(PAIR, two_and_two(20, 20, 20, 20), "easy")
    at(sim, 5, lambda: sim.fail("m", 1))
    result = sim.run()
    result.check()
    states = result.components["state"].tolist()
    assert sorted(states) == ["COMPLETED", "COMPLETED", "FAILED", "FAILED"]
    assert states[0] == states[1]  # they share a node
    assert result.components["end_time"].tolist().count(5) == 2
    assert result.timeline["nodes_down"].max() == 1


def test_a_drained_node_takes_no_more_jobs_and_leaves_once_it_is_idle():
    jobs = Workload.from_columns(
        nodes=[1, 1, 1], submit_time=[0, 0, 6], run_time=[10, 30, 5], cores=[4, 1, 1], time_limit=[10, 30, 5]
    )
    sim = Simulation(PAIR, jobs, "easy")
    at(sim, 5, lambda: sim.drain("m", 1))  # both are busy with one job: node 0 leaves
    at(sim, 12, lambda: sim.resume("m", 1))
    result = sim.run()
    result.check()
    assert result.components["node_list"].tolist() == ["0", "1", "1"]
    module = result.timeline[result.timeline["module"] == "m"].set_index("time")["nodes_down"]
    assert (module.loc[10], module.loc[12]) == (1, 0)


@pytest.mark.parametrize("back", [None, 20])
@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_plans_count_on_nodes_that_are_announced_to_be_back(policy, back):
    """1 has half of node 0; node 1 is out until 20. 2 wants both; 3 would be on one of them until 23."""
    jobs = Workload.from_columns(
        nodes=[1, 2, 1],
        submit_time=[0, 2, 3],
        run_time=[10, 5, 20],
        time_limit=[10, 5, 20],
        cores=[2, 4, 2],
    )
    sim = Simulation(PAIR, jobs, policy)
    at(sim, 1, lambda: sim.drain("m", 1, until=back))
    if back is None:
        at(sim, 20, lambda: sim.resume("m", 1))
    result = sim.run()
    result.check()
    starts = result.components["start_time"].tolist()
    assert starts == ([0, 20, 25] if back else [0, 23, 3])


@pytest.mark.parametrize("name", POLICIES)
@given(SITES, JOBS, PACKINGS, st.lists(actions, max_size=6), st.booleans())
@examples(60)
def test_the_laws_hold_whatever_is_done(name, nodes, jobs, packing, script, looks):
    play(name, nodes, jobs, packing, script, looks)


@pytest.mark.parametrize("name", POLICIES)
@given(GPU_SITES, GPU_JOBS, ANY_PACKING, st.lists(actions, max_size=6), st.booleans())
@examples(60)
def test_the_laws_hold_with_parts_of_gpus(name, nodes, jobs, packing, script, looks):
    play(name, nodes, jobs, packing, script, looks)


def play(name, nodes, jobs, packing, script, looks) -> None:
    """Run the jobs while processes do what the script says, and check every result."""
    rows = in_known_partitions(nodes, components(jobs))
    sim = Simulation(system_of(nodes), workload_of(rows), POLICIES[name] | {"packing": packing}, seed=3)
    ids = list(range(1, len(rows) + 1))

    def process(action):
        yield sim.env.timeout(action.time)
        action.act(sim, ids)
        if looks:
            sim.result().check()

    for action in script:
        if name not in ONE_WAY or action.other % 3 < 2:  # a list of partitions
            sim.process(process(action))
    sim.run().check()
