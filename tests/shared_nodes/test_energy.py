"""Power by the part of a node: what components draw, and what is left of their nodes."""

from __future__ import annotations

import pytest
from hypothesis import given

from scheduler_sim import Simulation, System, Workload, simulate
from scheduler_sim.errors import ConfigError
from tests.conftest import examples
from tests.oracle.shared_strategies import JOBS, PACKINGS, SITES, components
from tests.shared_nodes.as_input import MODULE, in_known_partitions, system_of, workload_of

IDLE, TYPICAL = 20, 60
WATTS = {"idle_w": IDLE, "typical_w": TYPICAL, "peak_w": 100, "reference_khz": 1, "pstates_khz": [1]}


def models_of(module):
    """Energy models that know a module's nodes."""
    return {"energy": {"power": {"modules": [{"name": module, **WATTS}]}}}


def pair(**more):
    """Two nodes of four cores."""
    module = {"name": MODULE, "nodes": 2, "cores_per_node": 4}
    return System.from_dict({"modules": [module | more]})


def power_of(result):
    """When the power of the system changes, and to what."""
    rows = result.timeline[result.timeline["module"] == "total"]
    return list(zip(rows["time"], rows["power_w"], strict=True))


@pytest.mark.interpreted
@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "slurm"])
def test_a_component_draws_its_part_of_what_a_node_does(policy):
    """
    On x half of the cores draw 30 W, a quarter 15, and what is left 5, of idle 20. y is idle until both nodes
    are had whole.
    """
    jobs = Workload.from_columns(
        nodes=[1, 1, 2], submit_time=[0, 0, 5], run_time=[60, 120, 60], cores=[2, 1, -1]
    )
    keys = {"name": policy} if policy != "slurm" else {"backfill": "slurm", "slurm": {"clock": "daemon"}}
    result = simulate(
        pair(shared=True), jobs, policy if policy != "slurm" else keys, models=models_of(MODULE)
    )
    result.check()
    assert result.components["power_w"].tolist() == [30, 15, 120]
    power = dict(power_of(result))
    first, second, third = result.components["start_time"]
    assert power[max(first, second)] == 30 + 15 + 5 + IDLE
    assert power[third] == 2 * TYPICAL
    energy = result.metrics["energy"]
    assert energy["job_j"] == 30 * 60 + 15 * 120 + 120 * 60
    assert energy["system_j"] == energy["job_j"] + energy["idle_j"]


@pytest.mark.interpreted
@given(SITES, JOBS, PACKINGS)
@examples(60)
def test_the_books_are_balanced(nodes, jobs, packing):
    rows = in_known_partitions(nodes, components(jobs))
    result = simulate(
        system_of(nodes),
        workload_of(rows),
        {"backfill": "first_fit", "packing": packing},
        models=models_of(MODULE),
    )
    result.check()


@pytest.mark.interpreted
def test_whole_nodes_draw_what_they_do_where_they_are_counted():
    jobs = Workload.from_columns(nodes=[1, 2, 1], submit_time=[0, 3, 4], run_time=[10, 20, 15])
    shared, counted = (
        simulate(pair(shared=one), jobs, "easy", models=models_of(MODULE)) for one in (True, False)
    )
    assert power_of(shared) == power_of(counted)
    assert shared.metrics["energy"] == counted.metrics["energy"]


@pytest.mark.interpreted
def test_parts_of_a_node_draw_no_more_than_all_of_it():
    """Thirds of 20 W idle are 6.666 W: 6.667 W each would leave less than nothing to the rest of the node."""
    jobs = Workload.from_columns(nodes=[1] * 3, cores=[1] * 3, submit_time=[0] * 3, run_time=[60] * 3)
    module = {"name": MODULE, "nodes": 1, "cores_per_node": 3, "shared": True}
    result = simulate(System.from_dict({"modules": [module]}), jobs, models=models_of(MODULE))
    result.check()
    assert result.components["power_w"].tolist() == [19.999] * 3
    assert result.metrics["energy"]["idle_j"] == pytest.approx(0.002 * 60)


def test_cores_that_several_jobs_have_are_refused():
    partitions = [{"name": "p", "module": MODULE, "slurm": {"OverSubscribe": "FORCE:2"}}]
    module = {"name": MODULE, "nodes": 2, "cores_per_node": 4, "shared": True}
    system = System.from_dict({"modules": [module], "partitions": partitions})
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[60], cores=[2], partition=["p"])
    with pytest.raises(ConfigError, match="found energy where several jobs have a core at once"):
        simulate(system, jobs, "slurm", models=models_of(MODULE))
    assert simulate(system, jobs, "easy", models=models_of(MODULE)).components["power_w"].tolist() == [30]


@pytest.mark.interpreted
def test_a_run_that_a_failure_ends_has_drawn_its_part():
    """Half of a node for 4 s until it fails; it is back at 8."""
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[10], cores=[2])
    system = pair(shared=True, nodes=1)
    simulation = Simulation(system, jobs, {"backfill": "easy"}, models=models_of(MODULE))

    def failing():
        yield simulation.env.timeout(4)
        simulation.fail(MODULE, 1, requeue=True, until=8)

    simulation.env.process(failing())
    result = simulation.run()
    result.check()
    assert result.metrics["energy"]["job_j"] == 30 * (4 + 10)
    assert result.runs["parts"].tolist() == [500_000, 500_000]
    assert result.runs["cores"].tolist() == [2, 2]
    assert result.metrics["lost"]["core_seconds"] == {MODULE: 8, "total": 8}
    assert result.metrics["lost"]["node_seconds"] == {MODULE: 2, "total": 2}
    assert power_of(result)[:2] == [(0, 30 + IDLE / 2), (4, IDLE)]
