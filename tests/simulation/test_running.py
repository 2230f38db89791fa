"""Events, ends of runs, results midway, environments that are joined: hand-computed."""

from __future__ import annotations

import pytest
import simpy

from scheduler_sim import Policy, Simulation, System, simulate
from scheduler_sim.errors import InputError
from tests.simulation.acting import DONE, GONE, NEVER, at, fates, simulation, steps, trace

pytestmark = pytest.mark.interpreted


# ------------------------------------------------------------------------ started and ended
def told(sim: Simulation, *events: tuple[str, int]) -> list[tuple[int, str, int, str]]:
    """(instant, event, value, state) as each happens."""
    found: list[tuple[int, str, int, str]] = []

    def wait(kind: str, name: int):
        value = yield getattr(sim, kind)(name)
        found.append((int(sim.env.now), kind, value, sim.state(name)))

    for kind, name in events:
        sim.process(wait(kind, name))
    return found


def test_starts_and_ends_are_told_at_their_instant_with_the_id():
    sim = simulation(2, (0, 2, 10), (3, 2, 5), policy="fcfs")
    found = told(sim, ("started", 1), ("ended", 1), ("started", 2), ("ended", 2))
    sim.run()
    assert found == [
        (0, "started", 1, "RUNNING"),
        (10, "ended", 1, DONE),
        (10, "started", 2, "RUNNING"),
        (15, "ended", 2, DONE),
    ]


def test_what_has_happened_is_told_at_once():
    sim = simulation(2, (0, 1, 5), (0, 1, 50))
    found: list[int] = []

    def late():
        yield sim.env.timeout(20)
        for event in (sim.started(1), sim.ended(1), sim.started(2)):
            yield event
            found.append(int(sim.env.now))
        yield sim.ended(2)
        found.append(int(sim.env.now))

    sim.process(late())
    sim.run()
    assert found == [20, 20, 20, 50]


def test_what_never_starts_is_told_when_it_ends():
    jobs = trace((4, 9, 1), (0, 2, 10), (1, 2, 5), (30, 1, 1))
    sim = Simulation(System.homogeneous(2), jobs, "fcfs")
    found = told(sim, *((kind, name) for name in (1, 3, 4) for kind in ("started", "ended")))
    at(sim, 6, lambda: sim.cancel(3))
    at(sim, 8, lambda: sim.cancel(4))
    sim.run()
    expected = [(4, 1, "REJECTED"), (6, 3, GONE), (8, 4, GONE)]
    assert found == [(t, kind, i, state) for t, i, state in expected for kind in ("started", "ended")]


def test_a_requeued_component_has_not_ended_and_is_told_of_one_start():
    sim = simulation(2, (0, 2, 10))
    found = told(sim, ("started", 1), ("ended", 1))
    at(sim, 4, lambda: sim.fail("cluster", 1, requeue=True))
    at(sim, 4, lambda: told(sim, ("started", 1)))
    at(sim, 6, lambda: sim.resume("cluster", 1))
    sim.run()
    assert found == [(0, "started", 1, "RUNNING"), (16, "ended", 1, DONE)]


def test_who_waits_for_the_start_of_a_requeued_component_is_told_of_its_next_one():
    sim = simulation(2, (0, 2, 10))
    found: list[int] = []

    def watcher():
        yield sim.env.timeout(5)
        assert sim.state(1) == "WAITING"
        yield sim.started(1)
        found.append(int(sim.env.now))

    sim.process(watcher())
    at(sim, 4, lambda: sim.fail("cluster", 1, requeue=True))
    at(sim, 6, lambda: sim.resume("cluster", 1))
    sim.run()
    assert found == [6]


def test_one_may_wait_for_what_was_submitted_a_line_before():
    sim = simulation(2)
    found: list[tuple[int, str]] = []

    def user():
        job = sim.submit(nodes=2, run_time=4)
        assert sim.state(job) == "NOT SUBMITTED"
        yield sim.started(job) & sim.ended(job)
        found.append((int(sim.env.now), sim.state(job)))
        yield sim.ended(1) | sim.env.timeout(99)
        found.append((int(sim.env.now), sim.state(job)))

    sim.process(user())
    sim.run()
    assert found == [(4, DONE), (4, DONE)]


def test_everybody_requeued_at_once_while_watched():
    """More than one notice a component would be more than there is room for."""
    sim = simulation(8, *((0, 1, 10),) * 8)
    found = told(sim, *(("ended", i) for i in range(1, 9)))
    at(sim, 3, lambda: sim.fail("cluster", 8, requeue=True))
    at(sim, 3, lambda: sim.resume("cluster", 8))
    result = sim.run()
    assert len(found) == 8
    assert set(fates(result).values()) == {(3, 13, DONE)}


def test_unknown_components_are_refused():
    sim = simulation(2, (0, 1, 1))
    for ask in (sim.started, sim.ended, sim.state, sim.cancel):
        with pytest.raises(InputError, match="the id of a component"):
            ask(7)


TWO_MODULES = System.from_dict({"modules": [{"name": "CM", "nodes": 2}, {"name": "DAM", "nodes": 1}]})


@pytest.mark.parametrize("system", [System.homogeneous(2), TWO_MODULES], ids=["one module", "two modules"])
def test_a_result_midway_that_nobody_looked_at_stays_what_it_was(system):
    jobs = trace((0, 2, 10), (3, 2, 5), (7, 1, 20))
    apart, whole = Simulation(system, jobs).run(until=8), Simulation(system, jobs).run()
    apart.check()  # looks at its tables
    sim = Simulation(system, jobs)
    midway = sim.run(until=8)
    at_last = sim.run()
    assert midway.components.equals(apart.components)
    assert midway.timeline.equals(apart.timeline)
    assert at_last.timeline.equals(whole.timeline)


def test_what_is_written_into_a_result_stands_nowhere_else():
    jobs = trace((0, 2, 10), (3, 2, 5), user=["ana", "bo"])
    before = jobs.table.copy()
    sim = Simulation(System.homogeneous(2), jobs)
    sim.run()
    mine, other = sim.result(), sim.result()
    mine.components.loc[0, ["submit_time", "nodes", "time_limit", "modular_job_id"]] = 99
    mine.components["user"].array[0] = "bo"
    mine.timeline.loc[0, "time"] = 99
    assert jobs.table.equals(before)
    assert other.components["nodes"].tolist() == [2, 2]
    assert other.timeline["time"].tolist()[0] == 0


def test_what_is_idle_and_waits_can_be_asked_for():
    sim = simulation(4, (0, 3, 10), (0, 3, 10), (0, 2, 10))
    sim.run(until=5)
    assert (sim.idle_nodes("CLUSTER"), sim.waiting()) == (1, 2)


# ------------------------------------------------------------------------ when a run is over
def test_run_waits_for_processes_of_its_own_and_not_for_others():
    sim = simulation(2, (0, 2, 10))
    at(sim, 100, lambda: sim.submit(nodes=1, run_time=5))
    at(sim, 200, lambda: sim.submit(nodes=1, run_time=5), awaited=False)
    assert fates(sim.run()) == {1: (0, 10, DONE), 2: (100, 105, DONE)}


def test_a_process_that_never_stops_does_not_keep_a_run_going():
    sim = simulation(2, (0, 2, 10))
    ticks: list[int] = []

    def clock():
        while True:
            ticks.append(int(sim.env.now))
            yield sim.env.timeout(4)

    sim.env.process(clock())
    assert fates(sim.run()) == {1: (0, 10, DONE)}
    assert ticks == [0, 4, 8]


def test_a_process_that_waits_for_what_never_comes_does_not_keep_a_run_going():
    sim = simulation(2, (0, 2, 10), (1, 2, 5))
    told(sim, ("ended", 2))
    at(sim, 5, lambda: sim.drain("cluster", 1))
    assert fates(sim.run()) == {1: (0, 10, DONE), 2: (-1, -1, NEVER)}


def test_errors_in_processes_come_out_of_run():
    sim = simulation(2, (0, 2, 10))
    at(sim, 3, lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        sim.run()


def test_after_a_run_the_clock_is_at_the_last_instant_and_more_may_come():
    sim = simulation(2, (0, 2, 10))
    assert fates(sim.run()) == {1: (0, 10, DONE)}
    assert sim.env.now == 10
    sim.submit(nodes=2, run_time=5)
    assert fates(sim.run()) == {1: (0, 10, DONE), 2: (10, 15, DONE)}
    sim.env.run(until=40)
    sim.submit(nodes=2, run_time=5)
    assert fates(sim.run())[3] == (40, 45, DONE)


# ------------------------------------------------------------------------ results midway
@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "largest"])
def test_a_run_stops_before_an_instant_and_goes_on(policy):
    """At 12 A has ended, B runs and is cut off, C waits, D comes at 12 and is not there yet."""
    jobs = ((0, 2, 10), (1, 2, 7), (2, 2, 5), (12, 1, 1))
    sim = simulation(2, *jobs, policy=policy)
    result = sim.run(until=12)
    assert sim.env.now == 12
    assert fates(result) == {
        1: (0, 10, DONE), 2: (10, 12, GONE), 3: (-1, -1, NEVER), 4: (-1, -1, NEVER)
    }  # fmt: skip
    assert steps(result, "nodes_busy") == [(0, 2), (12, 0)]
    assert steps(result, "queue_components")[-1] == (10, 1)
    assert result.metrics["utilization"]["cluster"] == 1.0
    assert fates(sim.run()) == fates(simulation(2, *jobs, policy=policy).run())


def test_results_at_every_second_change_nothing():
    jobs = ((0, 2, 10), (1, 3, 7), (2, 1, 5), (12, 1, 0), (12, 4, 3), (20, 2, 2))
    whole = simulation(4, *jobs, policy="conservative").run()
    sim = simulation(4, *jobs, policy="conservative")
    for second in range(1, 40):
        partial = fates(sim.run(until=second))
        for name, (start, end, state) in fates(whole).items():
            if 0 <= end < second:
                assert partial[name] == (start, end, state)
            elif 0 <= start < second:
                assert partial[name] == (start, second, GONE)
            else:
                assert partial[name] == (-1, -1, NEVER)
    last = sim.run()
    assert last.components.equals(whole.components)
    assert last.timeline.equals(whole.timeline)


def test_a_result_within_an_instant_that_is_not_over():
    """Asked for at 10 between two passes; what happened before at 10 is in it, once."""
    sim = simulation(2, (0, 2, 10), (1, 2, 5))
    seen: list[dict[int, tuple[int, int, str]]] = []

    def asks():
        yield sim.started(2)
        seen.append(fates(sim.result()))
        sim.cancel(2)
        sim.submit(nodes=1, run_time=4)
        seen.append(fates(sim.result()))
        yield sim.ended(2)
        seen.append(fates(sim.result()))

    sim.process(asks())
    assert fates(sim.run()) == {1: (0, 10, DONE), 2: (10, 10, GONE), 3: (10, 14, DONE)}
    at_ten = {1: (0, 10, DONE), 2: (10, 10, GONE)}
    assert seen == [at_ten, at_ten, {**at_ten, 3: (10, 10, GONE)}]


def test_a_result_before_anything_has_happened():
    sim = simulation(2, (5, 2, 10))
    assert fates(sim.result()) == {1: (-1, -1, NEVER)}
    assert fates(simulation(2).run()) == {}
    assert fates(sim.run(until=0)) == {1: (-1, -1, NEVER)}


def test_starts_so_far_stand_in_the_order_of_the_trace():
    """The second of the trace is submitted first."""
    sim = simulation(2, (3, 2, 10), (0, 2, 10), (5, 1, 5), policy="fcfs")
    assert sim.starts().tolist() == [-1, -1, -1]
    sim.env.run(until=10)
    assert sim.starts().tolist() == [-1, 0, -1]
    assert sim.run().components["start_time"].tolist() == sim.starts().tolist() == [10, 0, 20]


def test_a_run_until_an_instant_lets_processes_act_until_then():
    """Also after the last component has ended, as more may be submitted later."""
    sim = simulation(2, (0, 2, 10))
    at(sim, 20, lambda: sim.drain("cluster", 1), awaited=False)
    at(sim, 30, lambda: sim.drain("cluster", 1), awaited=False)
    result = sim.run(until=30)
    assert steps(result, "nodes_down") == [(0, 0), (20, 1)]


# ------------------------------------------------------------------------ environments
def test_an_environment_may_stand_before_the_first_submission():
    """It is at 30, the trace begins at 100; a submission at 40 is one at 40."""
    env = simpy.Environment(initial_time=30)
    sim = Simulation(System.homogeneous(2), trace((100, 2, 10)), "easy", env=env)
    at(sim, 40, lambda: sim.submit(nodes=2, run_time=70))
    at(sim, 50, lambda: sim.drain("cluster", 1, until=55))
    result = sim.run()
    assert fates(result) == {1: (110, 120, DONE), 2: (40, 110, DONE)}
    assert result.components["wait_resources"].tolist() == [10, 0]


def test_an_environment_must_not_stand_after_the_first_submission():
    with pytest.raises(InputError, match="after the first submission at 100"):
        Simulation(
            System.homogeneous(2), trace((100, 2, 10)), "easy", env=simpy.Environment(initial_time=101)
        )


def test_an_environment_without_a_trace_may_stand_anywhere():
    env = simpy.Environment(initial_time=1_700_000_000)
    sim = Simulation(System.homogeneous(2), None, Policy(order="f1", backfill="easy"), env=env)
    at(sim, 1_700_000_500, lambda: sim.submit(nodes=2, run_time=5))
    assert fates(sim.run()) == {1: (1_700_000_500, 1_700_000_505, DONE)}


@pytest.mark.parametrize("policy", ["easy", "fcfs", "conservative", "f4", "unicef"])
def test_a_joined_environment_changes_nothing(policy):
    jobs = trace(*((i // 3, 1 + i % 4, 3 + i % 5) for i in range(40)))
    sim = Simulation(System.homogeneous(4), jobs, policy, env=simpy.Environment())
    at(sim, 5, lambda: None)
    alone, joined = simulate(System.homogeneous(4), jobs, policy), sim.run()
    assert joined.components.equals(alone.components)
    assert joined.timeline.equals(alone.timeline)
    assert joined.metrics == alone.metrics


# ------------------------------------------------------------------------ streams
def test_streams_are_named_seeded_and_apart():
    one, same, other = simulation(2, seed=5), simulation(2, seed=5), simulation(2, seed=6)
    first = one.stream("users").integers(0, 1 << 40, 5).tolist()
    one.stream("repairs").random(100)
    assert same.stream("users").integers(0, 1 << 40, 5).tolist() == first
    assert other.stream("users").integers(0, 1 << 40, 5).tolist() != first
    assert same.stream("repairs").integers(0, 1 << 40, 5).tolist() != first
    assert one.stream("users") is one.stream("users")


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1"])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(InputError, match="seed"):
        simulation(2, seed=seed)
