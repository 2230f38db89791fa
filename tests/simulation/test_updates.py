"""Updates of partition and nodes of what waits: hand-computed, and against a trace that was written so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Simulation, System, Workload, simulate
from scheduler_sim.errors import ConfigError, InputError
from tests.conftest import examples
from tests.simulation.acting import DONE, NEVER, TEXTBOOK, at, fates, steps, trace
from tests.simulation.test_energy import power

pytestmark = pytest.mark.interpreted

SITE = {
    "modules": [{"name": "CM", "nodes": 4}, {"name": "GPU", "nodes": 2}],
    "partitions": [
        {"name": "CM", "module": "CM"},
        {"name": "GPU", "module": "GPU", "priority_job_factor": 10},
        {"name": "small", "module": "CM", "max_nodes": 2, "priority_job_factor": 5},
        {"name": "urgent", "module": "CM", "priority": 5},
        {"name": "down", "module": "GPU", "state": "DOWN"},
        {"name": "closed", "module": "GPU", "state": "DRAIN"},
    ],
}
QUICK = {"batch_sched_delay": 0, "bf_interval": 1, "bf_resolution": 1, "limit_check_s": 1}
BY_FACTORS = {
    "PriorityType": "priority/multifactor",
    "PriorityWeightJobSize": 1000,
    "PriorityWeightPartition": 10000,
}


def slurm(**keys: Any) -> Policy:
    return Policy(name="slurm", backfill="slurm", slurm=QUICK | keys)


KEEP = TEXTBOOK["keep"]
POLICIES = TEXTBOOK | {"slurm": slurm(), "factors": slurm(**BY_FACTORS)}
every_policy = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)


def site(*jobs: tuple[int, ...], policy: Any = "easy", models: Any = None, **columns: Any) -> Simulation:
    columns = {"partition": ["CM"] * len(jobs)} | columns
    return Simulation(System.from_dict(SITE), trace(*jobs, **columns), policy, models=models)


def ran_on(result: Any) -> list[tuple[str, int]]:
    return [tuple(row) for row in result.components[["module", "nodes"]].itertuples(index=False, name=None)]


FULL = ((0, 4, 100), (10, 3, 60), (20, 4, 60))
"""One after the other: starts at 0, 100 and 160, all on CM."""


@every_policy
def test_what_moves_to_another_module_starts_there(policy):
    sim = site(*FULL, policy=policy)
    at(sim, 30, lambda: sim.update(2, partition="GPU", nodes=2))
    result = sim.run()
    assert fates(result) == {1: (0, 100, DONE), 2: (30, 90, DONE), 3: (100, 160, DONE)}
    assert ran_on(result) == [("CM", 4), ("GPU", 2), ("CM", 4)]
    assert result.components["eligible_time"].tolist() == [0, 10, 20]
    assert result.components["wait_resources"].tolist() == [0, 20, 80]
    assert result.metrics["counts"]["updated"] == 1
    assert steps(result, "queue_nodes", "CM") == [(0, 0), (10, 3), (20, 7), (30, 4), (100, 0)]
    assert steps(result, "nodes_busy", "GPU") == [(30, 2), (90, 0)]


@every_policy
def test_it_keeps_its_place_in_the_queue(policy):
    """Of three that need the whole module one after the other, the first of those that wait asks for more."""
    sim = site((0, 4, 100), (10, 3, 60), (20, 3, 60), policy=policy)
    at(sim, 30, lambda: sim.update(2, nodes=4))
    expected = {1: (0, 100, DONE), 2: (100, 160, DONE), 3: (160, 220, DONE)}
    if policy is KEEP:  # the one behind it moves up into the slot that is free, and keeps it
        expected = {1: (0, 100, DONE), 2: (160, 220, DONE), 3: (100, 160, DONE)}
    assert fates(sim.run()) == expected


@every_policy
def test_fewer_nodes_fit_beside_others(policy):
    sim = site((0, 3, 100), (10, 3, 60), policy=policy)
    at(sim, 30, lambda: sim.update(2, nodes=1))
    result = sim.run()
    assert fates(result) == {1: (0, 100, DONE), 2: (30, 90, DONE)}
    assert ran_on(result) == [("CM", 3), ("CM", 1)]


def test_the_shadow_of_a_front_that_asks_for_something_else_is_computed_anew():
    """Job 3 would have delayed the front, but not once that is elsewhere, nor once it asks for less."""
    for policy in ("easy", Policy(backfill="easy", shadow="static")):
        sim = site((0, 3, 100), (10, 4, 60), (20, 1, 200), policy=policy)
        at(sim, 30, lambda sim=sim: sim.update(2, nodes=3))
        assert fates(sim.run()) == {1: (0, 100, DONE), 2: (100, 160, DONE), 3: (30, 230, DONE)}
        sim = site((0, 3, 100), (10, 3, 60), (20, 2, 200), (21, 1, 200), policy=policy)
        at(sim, 40, lambda sim=sim: sim.update(2, nodes=4))
        assert fates(sim.run())[2] == (221, 281, DONE)  # job 4 had started beside it before


def test_a_partition_of_a_higher_tier_goes_first():
    sim = site((0, 4, 100), (10, 4, 60), (20, 4, 60))
    at(sim, 30, lambda: sim.update(3, partition="urgent"))
    assert fates(sim.run()) == {1: (0, 100, DONE), 2: (160, 220, DONE), 3: (100, 160, DONE)}


@pytest.mark.parametrize("change", [{"nodes": 4}, {"partition": "small"}], ids=["size", "partition"])
def test_under_slurm_priorities_are_made_anew(change):
    jobs = ((0, 4, 100, 120), (10, 3, 60, 60), (20, 2, 60, 60))
    for keys, first in ((BY_FACTORS, 3), ({}, 2)):  # under priority/basic they stay
        sim = site(*jobs, policy=slurm(**keys))
        at(sim, 30, lambda sim=sim: sim.update(3, **change))
        starts = {name: start for name, (start, *_) in fates(sim.run()).items()}
        assert min((2, 3), key=lambda name: starts[name]) == first


def test_a_priority_set_by_hand_and_a_nice_value_stay():
    jobs = ((0, 4, 100, 120), (10, 4, 60, 60), (20, 3, 60, 60))
    sim = site(*jobs, policy=slurm(**BY_FACTORS))
    at(sim, 30, lambda: [sim.update(3, priority=10**6), sim.update(3, nodes=1), sim.update(3, nodes=4)])
    assert fates(sim.run())[3] == (100, 160, DONE)
    # 1000 for CM and 5000 for small; 667 and 333 for the sizes
    for nice, start in ((3000, 100), (4000, 160)):
        sim = site(*jobs, policy=slurm(**BY_FACTORS))
        at(sim, 30, lambda sim=sim, nice=nice: sim.update(3, partition="small", nodes=1, nice=nice))
        at(sim, 40, lambda sim=sim: sim.update(3, nodes=2))
        assert fates(sim.run())[3][0] == start


def test_one_or_several_partitions_and_back():
    sim = site(*FULL, policy=Policy(backfill="conservative", placement="earliest_start"))
    at(sim, 30, lambda: sim.update(3, partition="GPU,CM", nodes=2))
    at(sim, 30, lambda: sim.update(2, partition="CM,urgent"))
    result = sim.run()
    assert fates(result) == {1: (0, 100, DONE), 2: (100, 160, DONE), 3: (30, 90, DONE)}
    assert ran_on(result) == [("CM", 4), ("CM", 3), ("GPU", 2)]


def test_a_dialect_for_one_placement_refuses_several():
    sim = site(*FULL, policy=POLICIES["static"])
    with pytest.raises(ConfigError, match="shadow"):
        sim.update(2, partition="GPU,CM", nodes=1)
    assert fates(sim.run())[2] == (100, 160, DONE)


@every_policy
def test_a_partition_that_is_down_holds_and_another_lets_go(policy):
    sim = site(*FULL, policy=policy)
    at(sim, 30, lambda: sim.update(3, partition="down", nodes=1))
    at(sim, 30, lambda: sim.update(2, partition="down", nodes=1))
    at(sim, 60, lambda: sim.update(2, partition="GPU"))
    result = sim.run()
    assert fates(result) == {1: (0, 100, DONE), 2: (60, 120, DONE), 3: (-1, -1, NEVER)}
    assert ran_on(result)[1] == ("GPU", 1)


def test_the_default_limit_is_that_of_the_new_partition_unless_one_was_given():
    system = System.from_dict(
        {
            "modules": [{"name": "CM", "nodes": 1}],
            "partitions": [
                {"name": "day", "module": "CM", "default_time": 100},
                {"name": "night", "module": "CM", "default_time": 40},
            ],
        }
    )
    jobs = Workload.from_columns(submit_time=[0, 1, 2], nodes=1, run_time=60, partition=["day"] * 3)
    sim = Simulation(system, jobs, "fcfs")
    at(sim, 10, lambda: [sim.update(2, partition="night")])
    at(sim, 10, lambda: [sim.update(3, time_limit=50), sim.update(3, partition="night")])
    assert sim.run().components["time_limit"].tolist() == [100, 40, 50]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"partition": "nowhere"}, "nowhere"),
        ({"partition": 3}, "text"),
        ({"nodes": 0}, "nodes"),
        ({"nodes": 2.5}, "whole number"),
        ({"nodes": 5}, "too_large"),
        ({"partition": "GPU"}, "GPU.*too_large"),
        ({"partition": "closed", "nodes": 1}, "partition_state"),
        ({"nodes": 2, "time_limit": 0}, "time_limit"),
        ({}, "partition, nodes"),
    ],
)
@pytest.mark.parametrize("policy", ["easy", slurm()], ids=["easy", "slurm"])
def test_what_is_of_no_use_is_refused_and_changes_nothing(policy, fields, says):
    sim = site(*FULL, policy=policy)

    def refused() -> None:
        with pytest.raises(InputError, match=says):
            sim.update(2, **fields)

    at(sim, 30, refused)
    assert fates(sim.run()) == {1: (0, 100, DONE), 2: (100, 160, DONE), 3: (160, 220, DONE)}


@every_policy
def test_what_runs_has_ended_or_never_fits_is_refused(policy):
    sim = site(*FULL, (200, 9, 5), policy=policy)

    def refused(name: int, says: str) -> None:
        with pytest.raises(InputError, match=says):
            sim.update(name, nodes=1)

    at(sim, 30, lambda: [refused(1, "runs or has ended"), refused(4, "rejected")])
    at(sim, 190, lambda: refused(1, "runs or has ended"))
    assert fates(sim.run())[1] == (0, 100, DONE)


def test_limits_of_partitions_refuse_or_under_slurm_let_it_wait_for_ever():
    for policy in ("easy", slurm(EnforcePartLimits="ANY")):
        with pytest.raises(InputError, match="max_nodes"):
            site(*FULL, policy=policy).update(2, partition="small")
    sim = site(*FULL, policy=slurm(EnforcePartLimits="NO"))
    at(sim, 30, lambda: sim.update(2, partition="small"))
    assert fates(sim.run())[2] == (-1, -1, NEVER)


def test_members_of_a_heterogeneous_job_are_refused():
    for policy in ("easy", slurm()):
        sim = site((0, 1, 10), (0, 1, 10), (5, 1, 10), policy=policy, modular_job_id=[1, 1, 3])
        with pytest.raises(InputError, match="with others of its modular job"):
            sim.update(2, partition="GPU")
        sim.update(3, partition="GPU")
        assert ran_on(sim.run()) == [("CM", 1), ("CM", 1), ("GPU", 1)]


@every_policy
def test_what_a_process_submits_may_be_changed_too(policy):
    sim = Simulation(System.from_dict(SITE), None, policy)

    def act() -> Any:
        for _ in range(20):  # more than there was room for
            sim.submit(nodes=4, run_time=10, time_limit=60, partition="CM")
        sim.update(3, partition="GPU,CM" if sim.policy.shadow == "dynamic" else "GPU", nodes=2)
        yield sim.env.timeout(5)
        sim.update(20, partition="GPU", nodes=1)
        yield sim.env.timeout(1)
        sim.submit(nodes=1, run_time=7, time_limit=60, partition="GPU")

    sim.process(act())
    result = sim.run()
    assert ran_on(result) == [("CM", 4)] * 2 + [("GPU", 2)] + [("CM", 4)] * 16 + [("GPU", 1)] * 2
    ended = fates(result)
    assert (ended[3], ended[20], ended[21]) == ((0, 10, DONE), (10, 20, DONE), (10, 17, DONE))


@pytest.mark.parametrize("policy", ["easy", KEEP, slurm(KillWait=0, killed_epilog_s=20, requeue_delay_s=5)])
def test_a_run_that_was_lost_keeps_its_nodes_and_power(policy):
    """3 nodes of CM drew 100 W each for 4 s; then, on 1 of GPU, 70 W for 10 s. Slurm's come back at 24 s."""
    sim = site((0, 3, 10, 60), (1, 1, 5, 60), policy=policy, models=power(CM=(10, 100), GPU=(7, 70)))
    at(sim, 4, lambda: [sim.requeue(1), sim.hold(1)])
    at(sim, 6, lambda: [sim.update(1, partition="GPU", nodes=2), sim.update(1, nodes=1)])
    at(sim, 30, lambda: sim.release(1))
    result = sim.run()
    result.check()
    assert ran_on(result) == [("GPU", 1), ("CM", 1)]
    assert result.components["energy_j"].tolist() == [700, 500]
    assert result.runs[["module", "nodes", "power_w"]].iloc[0].tolist() == ["CM", 3, 300]
    assert sim.idle_nodes("CM") == 4


PLACES = st.tuples(
    st.sampled_from(["CM", "GPU", "small", "urgent", "CM,GPU", "GPU,small"]), st.integers(1, 2)
)


@st.composite
def changed(draw: st.DrawFn, one: bool) -> tuple[Workload, Workload, dict[int, tuple[str, int]]]:
    """A trace, the same with other partitions and nodes for some, and what those are, by row."""
    count = draw(st.integers(2, 12))
    place = PLACES.filter(lambda pair: "," not in pair[0]) if one else PLACES
    columns = {
        "submit_time": sorted(draw(st.lists(st.integers(0, 60), min_size=count, max_size=count))),
        "run_time": draw(st.lists(st.integers(1, 90), min_size=count, max_size=count)),
        "time_limit": [60 * draw(st.integers(1, 2)) for _ in range(count)],
    }
    before, after = (draw(st.lists(place, min_size=count, max_size=count)) for _ in range(2))
    rows = draw(st.sets(st.integers(0, count - 1), min_size=1))
    after = [after[i] if i in rows else before[i] for i in range(count)]
    one_so, other = (
        Workload.from_columns(**columns, partition=[a for a, _ in pairs], nodes=[b for _, b in pairs])
        for pairs in (before, after)
    )
    return one_so, other, {row: after[row] for row in rows}


TOLD = ["component_id", "module", "nodes", "start_time", "end_time", "state", "eligible_time", "time_limit"]
WAITS = ["wait_dependency", "wait_priority", "wait_resources"]


@pytest.mark.parametrize("name", POLICIES)
@examples(15)
@given(data=st.data())
def test_an_update_at_the_submission_is_a_trace_written_so(name: str, data: st.DataObject) -> None:
    """Under ``passes: event``, operators come after all ends of an instant: against updates to the same."""
    before, after, changes = data.draw(changed(one=name in ("static", "event")))

    def updated(workload: Workload) -> Any:
        sim = Simulation(System.from_dict(SITE), workload, POLICIES[name])
        for row, (partition, nodes) in changes.items():
            time = int(before["submit_time"][row])
            at(sim, time, lambda row=row, p=partition, n=nodes: sim.update(row + 1, partition=p, nodes=n))
        return sim.run()

    ours = updated(before)
    theirs = updated(after) if name == "event" else simulate(System.from_dict(SITE), after, POLICIES[name])
    ours.check()
    assert ours.components[TOLD].equals(theirs.components[TOLD])
    assert ours.components[WAITS].equals(theirs.components[WAITS])


@pytest.mark.parametrize("name", POLICIES)
@examples(15)
@given(data=st.data())
def test_whatever_is_updated_whenever_the_laws_hold(name: str, data: st.DataObject) -> None:
    before, _, changes = data.draw(changed(one=name in ("static", "event")))
    sim = Simulation(System.from_dict(SITE), before, POLICIES[name])
    found: dict[int, tuple[str, int]] = {}

    def act(row: int, place: tuple[str, int]) -> None:
        if sim.state(row + 1) in ("NOT SUBMITTED", "HELD", "WAITING"):
            sim.update(row + 1, partition=place[0], nodes=place[1])
            found[row] = place

    for row, place in changes.items():
        for time in data.draw(st.lists(st.integers(0, 120), min_size=1, max_size=3)):
            if time >= before["submit_time"][0]:
                at(sim, time, lambda row=row, place=place: act(row, place))
    result = sim.run()
    result.check()
    modules = {"CM": {"CM"}, "GPU": {"GPU"}, "small": {"CM"}, "urgent": {"CM"}}
    for row, (module, nodes) in enumerate(ran_on(result)):
        partitions, size = found.get(row, (before.table["partition"].iloc[row], int(before["nodes"][row])))
        assert nodes == size
        assert module in set().union(*(modules[one] for one in partitions.split(",")))
    assert result.metrics["counts"]["completed"] + result.metrics["counts"]["timed_out"] == len(before)
