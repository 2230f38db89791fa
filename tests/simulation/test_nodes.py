"""Drain, fail, resume, announced returns: hand-computed."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim import Policy, Simulation, System
from scheduler_sim.errors import InputError
from tests.simulation.acting import DONE, FAILED, NEVER, at, fates, simulation, steps, trace

pytestmark = pytest.mark.interpreted

CONSERVATIVE = Policy(backfill="conservative")
KEEP = Policy(backfill="conservative", replan="keep")
DEEP = Policy(backfill="easy", depth=3)
PLANNERS = [Policy.named("easy"), DEEP, CONSERVATIVE, KEEP]


def test_drain_takes_idle_nodes_at_once():
    sim = simulation(4, (0, 1, 10), (5, 4, 2))
    at(sim, 2, lambda: sim.drain("cluster", 3))
    at(sim, 8, lambda: sim.resume("cluster", 3))
    result = sim.run()
    assert fates(result) == {1: (0, 10, DONE), 2: (10, 12, DONE)}
    assert steps(result, "nodes_down") == [(0, 0), (2, 3), (8, 0)]


def test_drain_waits_for_busy_nodes():
    """Of A's three nodes two are drained when it ends at 10; B needs two and gets them at 20."""
    sim = simulation(3, (0, 3, 10), (5, 2, 2))
    at(sim, 2, lambda: sim.drain("cluster", 2))
    at(sim, 20, lambda: sim.resume("cluster", 1))
    result = sim.run()
    assert fates(result) == {1: (0, 10, DONE), 2: (20, 22, DONE)}
    assert steps(result, "nodes_down") == [(0, 0), (10, 2), (20, 1)]


def test_resume_of_nodes_that_were_still_to_be_drained_just_keeps_them():
    sim = simulation(3, (0, 3, 10), (5, 3, 2))
    at(sim, 2, lambda: sim.drain("cluster", 2))
    at(sim, 4, lambda: sim.resume("cluster", 2))
    result = sim.run()
    assert fates(result) == {1: (0, 10, DONE), 2: (10, 12, DONE)}
    assert steps(result, "nodes_down") == [(0, 0)]


def test_more_than_there_is_drains_and_resumes_what_there_is():
    sim = simulation(4, (0, 1, 10), (5, 4, 2))
    at(sim, 2, lambda: sim.drain("cluster", 99))
    at(sim, 20, lambda: sim.resume("cluster", 99))
    result = sim.run()
    assert fates(result) == {1: (0, 10, DONE), 2: (20, 22, DONE)}
    assert steps(result, "nodes_down") == [(0, 0), (2, 3), (10, 4), (20, 0)]


def test_a_failure_of_every_node_ends_what_runs():
    sim = simulation(4, (0, 2, 10), (0, 2, 20), (5, 1, 2))
    at(sim, 4, lambda: sim.fail("cluster", 4))
    at(sim, 30, lambda: sim.resume("cluster", 4))
    result = sim.run()
    assert fates(result) == {1: (0, 4, FAILED), 2: (0, 4, FAILED), 3: (30, 32, DONE)}


def test_a_failed_component_gives_back_the_nodes_that_did_not_fail():
    sim = simulation(4, (0, 4, 10), (5, 3, 2))
    at(sim, 6, lambda: sim.fail("cluster", 1))
    result = sim.run()
    assert fates(result) == {1: (0, 6, FAILED), 2: (6, 8, DONE)}
    assert steps(result, "nodes_down") == [(0, 0), (6, 1)]


def test_requeued_components_keep_their_place_and_run_anew():
    """A is hit at 6 and goes before B, which came later; it runs its whole time again."""
    sim = simulation(4, (0, 4, 10), (5, 4, 3))
    at(sim, 6, lambda: sim.fail("cluster", 1, requeue=True))
    at(sim, 7, lambda: sim.resume("cluster", 1))
    result = sim.run()
    assert fates(result) == {1: (7, 17, DONE), 2: (17, 20, DONE)}
    assert result.metrics["counts"]["requeued"] == 1
    row = result.components.iloc[0]
    assert (row["wait_dependency"], row["wait_priority"], row["wait_resources"]) == (0, 0, 7)


def test_failures_hit_components_in_proportion_to_their_nodes():
    """One node of ten fails: A has 6, B has 3, one is idle. Expected 60 %, 30 %, 10 % of 150 seeds."""
    hits = np.zeros(3, dtype=int)
    for seed in range(150):
        sim = simulation(10, (0, 6, 5), (0, 3, 5), seed=seed)
        sim.prepare()
        at(sim, 2, lambda sim=sim: sim.fail("cluster"))
        sim.env.run(until=3)
        states = [sim.state(1), sim.state(2)]
        hits[states.index(FAILED) if FAILED in states else 2] += 1
    assert np.abs(hits - (90, 45, 15)).max() < 3.5 * np.sqrt(150 * 0.6 * 0.4)


def test_the_seed_alone_decides_who_is_hit():
    def outcome(seed: int):
        sim = simulation(10, (0, 6, 50), (0, 3, 50), seed=seed)
        for time in (5, 6, 7):
            at(sim, time, lambda: sim.fail("cluster"))
        return fates(sim.run())

    assert outcome(3) == outcome(3)
    assert len({str(outcome(seed)) for seed in range(6)}) > 1


@pytest.mark.parametrize("policy", PLANNERS, ids=lambda p: f"{p.name}{p.depth or ''}{p.replan}")
def test_an_announced_return_is_planned_with(policy):
    """2 of 4 nodes are out until 10, when A (4 nodes) can start: what ends by then may run before it."""
    sim = simulation(4, (1, 4, 5), (1, 2, 9), (1, 2, 5), policy=policy)
    sim.drain("cluster", 2, until=10)
    result = sim.run()
    assert fates(result) == {1: (10, 15, DONE), 2: (1, 10, DONE), 3: (15, 20, DONE)}
    sim = simulation(4, (1, 4, 5), (1, 2, 10), (1, 2, 5), policy=policy)
    sim.drain("cluster", 2, until=10)
    result = sim.run()
    assert fates(result) == {1: (10, 15, DONE), 2: (15, 25, DONE), 3: (1, 6, DONE)}
    assert steps(result, "nodes_down")[-1] == (10, 0)


@pytest.mark.parametrize("policy", PLANNERS, ids=lambda p: f"{p.name}{p.depth or ''}{p.replan}")
def test_without_an_announcement_plans_take_the_nodes_as_lost(policy):
    """B can never start as far as anybody knows, so it holds nobody back."""
    sim = simulation(4, (1, 4, 5), (1, 2, 100), policy=policy)
    sim.drain("cluster", 2)
    at(sim, 10, lambda: sim.resume("cluster", 2))
    assert fates(sim.run()) == {1: (101, 106, DONE), 2: (1, 101, DONE)}


@pytest.mark.parametrize("policy", PLANNERS, ids=lambda p: f"{p.name}{p.depth or ''}{p.replan}")
def test_an_announced_return_that_is_resumed_early_is_counted_once(policy):
    """All 2 are out until 50 and back at 5: at 50 nothing more comes, also for what failed since."""
    sim = simulation(2, (1, 2, 3), (60, 2, 3), policy=policy)
    sim.drain("cluster", 2, until=50)
    at(sim, 5, lambda: sim.resume("cluster", 2))
    at(sim, 20, lambda: sim.fail("cluster", 1))
    at(sim, 70, lambda: sim.resume("cluster", 1))
    result = sim.run()
    assert fates(result) == {1: (5, 8, DONE), 2: (70, 73, DONE)}
    assert steps(result, "nodes_down") == [(0, 2), (5, 0), (20, 1), (70, 0)] or steps(
        result, "nodes_down"
    ) == [(1, 2), (5, 0), (20, 1), (70, 0)]


def test_resume_takes_nodes_without_an_announced_return_first():
    """One node is out for good, two until 30. One comes back at 10, and the two at 30."""
    sim = simulation(4, (40, 4, 1))
    sim.drain("cluster", 1)
    sim.drain("cluster", 2, until=45)
    at(sim, 41, lambda: sim.resume("cluster", 1))
    result = sim.run()
    assert fates(result) == {1: (45, 46, DONE)}
    assert steps(result, "nodes_down") == [(40, 3), (41, 2), (45, 0)]


def test_part_of_an_announced_return_may_come_early():
    sim = simulation(4, (0, 4, 1))
    sim.drain("cluster", 3, until=20)
    at(sim, 5, lambda: sim.resume("cluster", 2))
    result = sim.run()
    assert fates(result) == {1: (20, 21, DONE)}
    assert steps(result, "nodes_down") == [(0, 3), (5, 1), (20, 0)]


def test_an_announced_return_of_busy_nodes_keeps_them_in_service():
    """A holds all 4 to 30; two of them were to be out from then until 20, so none ever is."""
    sim = simulation(4, (0, 4, 30), (1, 4, 5))
    at(sim, 2, lambda: sim.drain("cluster", 2, until=20))
    result = sim.run()
    assert fates(result) == {1: (0, 30, DONE), 2: (30, 35, DONE)}
    assert steps(result, "nodes_down") == [(0, 0)]


def test_many_returns_may_be_announced_at_once():
    sim = simulation(400, (0, 400, 10), policy=CONSERVATIVE)
    for i in range(300):
        sim.drain("cluster", 1, until=5 + i)
    result = sim.run()
    assert fates(result) == {1: (304, 314, DONE)}


@pytest.mark.parametrize("policy", PLANNERS, ids=lambda p: f"{p.name}{p.depth or ''}{p.replan}")
def test_a_promise_is_void_when_nodes_are_lost(policy):
    """B is promised 10, when A ends, C 15. The idle node goes at 5: B still starts at 10, C never can."""
    sim = simulation(4, (0, 3, 10), (1, 3, 5), (1, 4, 5), policy=policy)
    at(sim, 5, lambda: sim.drain("cluster", 1))
    result = sim.run()
    assert fates(result) == {1: (0, 10, DONE), 2: (10, 15, DONE), 3: (-1, -1, NEVER)}


def test_components_that_wait_for_nodes_that_never_return_are_pending():
    sim = simulation(4, (0, 4, 10), (20, 4, 10))
    at(sim, 15, lambda: sim.drain("cluster", 1), awaited=False)
    assert fates(sim.run()) == {1: (0, 10, DONE), 2: (-1, -1, NEVER)}


def test_the_run_goes_on_while_anything_may_bring_nodes_back():
    sim = simulation(4, (0, 4, 10), (20, 4, 10))
    at(sim, 15, lambda: sim.drain("cluster", 1), awaited=False)
    at(sim, 5000, lambda: sim.resume("cluster", 1), awaited=False)
    assert fates(sim.run()) == {1: (0, 10, DONE), 2: (5000, 5010, DONE)}


def test_modules_fail_apart():
    system = System.from_dict({"modules": [{"name": "A", "nodes": 2}, {"name": "B", "nodes": 2}]})
    jobs = trace((0, 2, 10), (0, 2, 10), partition=["A", "B"])
    sim = Simulation(system, jobs, "easy")
    at(sim, 4, lambda: sim.fail("b", 2))
    result = sim.run()
    assert fates(result) == {1: (0, 10, DONE), 2: (0, 4, FAILED)}
    assert steps(result, "nodes_down", "B")[-1] == (4, 2)
    assert steps(result, "nodes_down", "A") == [(0, 0)]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda sim: sim.drain("clster", 1), "did you mean 'cluster'"),
        (lambda sim: sim.drain("cluster", 0), "1 or more"),
        (lambda sim: sim.fail("cluster", 1.5), "whole number"),
        (lambda sim: sim.fail("cluster", True), "whole number"),
        (lambda sim: sim.fail("cluster", "two"), "whole number"),
        (lambda sim: sim.drain("cluster", 1, until=0), "later than now"),
        (lambda sim: sim.resume("cluster", -1), "1 or more"),
        (lambda sim: sim.set_capacity("matlab", 1), "none declared"),
    ],
)
def test_nonsense_is_refused_where_it_is_asked_for(call, says):
    with pytest.raises(InputError, match=says):
        call(simulation(4, (0, 1, 1)))
