"""The order of things at one instant (rule 1): hand-computed."""

from __future__ import annotations

import pytest
import simpy

from scheduler_sim import Policy, Simulation, System
from tests.simulation.acting import DONE, FAILED, GONE, NEVER, at, fates, simulation, steps, trace

pytestmark = pytest.mark.interpreted


def test_ends_come_before_failures():
    """A ends at 10, at which all nodes fail: it is COMPLETED."""
    sim = simulation(2, (0, 2, 10))
    at(sim, 10, lambda: sim.fail("cluster", 2))
    assert fates(sim.run()) == {1: (0, 10, DONE)}


def test_ends_come_before_cancellations():
    sim = simulation(2, (0, 2, 10))
    at(sim, 10, lambda: sim.cancel(1))
    assert fates(sim.run()) == {1: (0, 10, DONE)}


def test_node_changes_come_before_cancellations_whatever_the_order_of_the_calls():
    """Both at 5: the failure hits A first, so it is FAILED and not CANCELLED."""
    sim = simulation(2, (0, 2, 10))

    def both() -> None:
        sim.cancel(1)
        sim.fail("cluster", 2)

    at(sim, 5, both)
    assert fates(sim.run()) == {1: (0, 5, FAILED)}


def test_cancellations_come_before_submissions_of_the_trace():
    """Cancelled at the instant of its submission: it is never in the queue."""
    sim = simulation(2, (0, 1, 1), (5, 2, 10))
    at(sim, 5, lambda: sim.cancel(2))
    result = sim.run()
    assert fates(result) == {1: (0, 1, DONE), 2: (-1, -1, GONE)}
    assert result.components["eligible_time"].tolist() == [0, -1]


def test_what_is_submitted_and_cancelled_at_one_instant_never_waits():
    sim = simulation(2, (0, 1, 1))
    at(sim, 5, lambda: sim.cancel(sim.submit(nodes=1, run_time=3)))
    assert fates(sim.run()) == {1: (0, 1, DONE), 2: (-1, -1, GONE)}


def test_one_pass_sees_all_that_happens_at_an_instant():
    """At 10 A ends, a node is drained, C is cancelled and D submitted: B (2 nodes) no longer fits, D does."""
    sim = simulation(2, (0, 2, 10), (1, 2, 5), (2, 1, 5), policy="fcfs")

    def all_at_once() -> None:
        sim.submit(nodes=1, run_time=4)
        sim.cancel(2)
        sim.cancel(3)
        sim.drain("cluster", 1)

    at(sim, 10, all_at_once)
    result = sim.run()
    assert fates(result) == {1: (0, 10, DONE), 2: (-1, 10, GONE), 3: (-1, 10, GONE), 4: (10, 14, DONE)}


def test_submissions_of_the_trace_come_before_those_of_processes():
    """All in the same second and equal otherwise: trace order decides."""
    sim = simulation(1, (0, 1, 10), (5, 1, 3), policy="fcfs")
    at(sim, 5, lambda: sim.submit(nodes=1, run_time=4))
    assert fates(sim.run()) == {1: (0, 10, DONE), 2: (10, 13, DONE), 3: (13, 17, DONE)}


def test_each_submission_has_its_pass_where_passes_follow_single_events():
    """Shortest first, two nodes: after single events A of the trace starts before B (shorter) is there."""
    for passes, expected in (("event", {2: (1, 9, DONE), 3: (9, 10, DONE)}), ("instant", None)):
        sim = simulation(2, (0, 1, 1), (1, 2, 8), policy=Policy(order="sjf", passes=passes))
        at(sim, 1, lambda sim=sim: sim.submit(nodes=2, run_time=1))
        found = fates(sim.run())
        assert found == {1: (0, 1, DONE), **(expected or {2: (2, 10, DONE), 3: (1, 2, DONE)})}


def test_a_plan_made_before_counts_on_all_ends_of_an_instant_where_passes_follow_single_events():
    """Two nodes come back at 10, one after the other: the third job keeps its start, the fourth its own."""
    policy = Policy(backfill="conservative", passes="event")
    sim = simulation(2, (0, 1, 10), (0, 1, 10), (1, 2, 5), (2, 1, 1), policy=policy)
    assert [start for start, _, _ in fates(sim.run()).values()] == [0, 0, 10, 15]


def test_an_answer_to_a_pass_makes_the_instant_be_handled_again():
    """A starts at 0; who waited for that cancels B, which started in the same pass, and C takes its place."""
    sim = simulation(2, (0, 1, 10), (0, 1, 10), (0, 1, 10), policy="fcfs")

    def watcher():
        yield sim.started(1)
        assert sim.env.now == 0
        assert [sim.state(i) for i in (1, 2, 3)] == ["RUNNING", "RUNNING", "WAITING"]
        sim.cancel(2)

    sim.process(watcher())
    result = sim.run()
    assert fates(result) == {1: (0, 10, DONE), 2: (0, 0, GONE), 3: (0, 10, DONE)}
    assert steps(result, "nodes_busy") == [(0, 2), (10, 0)]


def test_an_answer_to_an_end_comes_after_the_pass_of_that_instant():
    """A ends at 10 and B of the queue starts then, before what its user submits in answer."""
    sim = simulation(1, (0, 1, 10), (1, 1, 5), policy="sjf")

    def user():
        yield sim.ended(1)
        yield sim.ended(sim.submit(nodes=1, run_time=1))

    sim.process(user())
    assert fates(sim.run()) == {1: (0, 10, DONE), 2: (10, 15, DONE), 3: (15, 16, DONE)}


def test_a_chain_of_answers_at_one_instant():
    """Run times of 0: each is submitted, runs and ends in the same second."""
    sim = simulation(1)

    def chain():
        for _ in range(5):
            yield sim.ended(sim.submit(nodes=1, run_time=0))
        assert sim.env.now == 0

    sim.process(chain())
    assert fates(sim.run()) == dict.fromkeys(range(1, 6), (0, 0, DONE))


def test_a_dependency_satisfied_by_a_cancellation_counts_in_the_pass_of_that_instant():
    jobs = trace((0, 2, 10), (0, 2, 5), (0, 2, 5), dependency_ids=["", "1", "1"])
    jobs = jobs.replace(dependency_kinds=["", "AFTERNOTOK", "AFTEROK"])
    sim = Simulation(System.homogeneous(2), jobs, "easy")
    at(sim, 4, lambda: sim.cancel(1))
    result = sim.run()
    assert fates(result) == {1: (0, 4, GONE), 2: (4, 9, DONE), 3: (-1, -1, NEVER)}
    assert result.components["eligible_time"].tolist() == [0, 4, -1]


def test_one_whose_last_dependency_ends_now_may_be_cancelled_now():
    """A ends at 10 and frees B of its dependency; B is cancelled at 10, before it is eligible."""
    jobs = trace((0, 1, 10), (0, 1, 5), dependency_ids=["", "1"]).replace(dependency_kinds=["", "AFTERANY"])
    sim = Simulation(System.homogeneous(2), jobs, "easy")
    at(sim, 10, lambda: sim.cancel(2))
    assert fates(sim.run()) == {1: (0, 10, DONE), 2: (-1, 10, GONE)}


def test_fractions_of_a_second_count_at_the_second_before():
    sim = simulation(2, (0, 2, 10))

    def late():
        yield sim.env.timeout(5.75)
        assert sim.submit(nodes=2, run_time=3) == 2
        yield sim.env.timeout(1.5)
        sim.cancel(1)

    sim.process(late())
    result = sim.run()
    assert fates(result) == {1: (0, 7, GONE), 2: (7, 10, DONE)}
    assert result.components["submit_time"].tolist() == [0, 5]


def test_sums_of_fractions_that_miss_a_second_by_rounding_are_that_second():
    sim = simulation(1, (0, 1, 1000))

    def ticks():
        for _ in range(10):
            yield sim.env.timeout(0.1)
        assert sim.env.now < 1
        sim.cancel(1)

    sim.process(ticks())
    assert fates(sim.run()) == {1: (0, 1, GONE)}


def test_two_simulations_share_an_environment():
    """What ends in one is answered in the other, at that instant."""
    env = simpy.Environment()
    one = Simulation(System.homogeneous(1), trace((0, 1, 7)), "easy", env=env)
    two = Simulation(System.homogeneous(1), None, "fcfs", env=env)

    def bridge():
        yield one.ended(1)
        yield two.ended(two.submit(nodes=1, run_time=3))
        one.submit(nodes=1, run_time=2)

    env.process(bridge())
    env.run()
    assert fates(one.result()) == {1: (0, 7, DONE), 2: (10, 12, DONE)}
    assert fates(two.result()) == {1: (7, 10, DONE)}
    assert env.now == 12


def test_who_is_told_of_an_end_acts_after_the_pass_also_when_others_act_at_that_instant():
    """As in the test above but one: the drain of an idle node at 10 does not let the user in before B."""
    sim = simulation(2, (0, 1, 10), (1, 1, 10), (2, 1, 5), policy="sjf")

    def user():
        yield sim.ended(1)
        sim.submit(nodes=1, run_time=1)

    sim.process(user())
    at(sim, 10, lambda: sim.cancel(2))
    at(sim, 10, lambda: sim.drain("cluster", 1))
    assert fates(sim.run()) == {
        1: (0, 10, DONE),
        2: (1, 10, GONE),
        3: (10, 15, DONE),
        4: (15, 16, DONE),
    }
