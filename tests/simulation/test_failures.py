"""Failures of nodes by a model: their laws, that policies share them, and what becomes of a run with them."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from math import exp, gamma, log, sqrt

import numpy as np
import pytest

from scheduler_sim import Simulation, System, Workload, simulate
from scheduler_sim.errors import ConfigError
from scheduler_sim.simulation.failures import ALONE, RACK, Failures, drawn_failures
from scheduler_sim.system.failures import MOST_OUTAGES
from scheduler_sim.system.node_events import NodeEvent

pytestmark = pytest.mark.interpreted

DAY = 86400


def system(nodes=10, **keys):
    failing = {"mtbf": "1d", "repair": {"mean": 600}, **keys}
    return System.from_dict({"modules": [{"name": "CM", "nodes": nodes}], "failures": [failing]})


def many(count=20_000, **keys):
    """The first failures, from a seed that a right law passes with."""
    return list(islice(Failures(system(**keys), 3), count))


def served(events, nodes=10):
    """How long nodes were in service between their repair and their next failure, s."""
    found, back = [], {}
    for event in events:
        for node in event.nodes:
            if node in back:
                found.append(event.time - back[node])
            back[node] = event.end
    assert len(back) == nodes
    return np.array(found)


@pytest.mark.parametrize("shape", [None, 0.7, 2.0])
def test_times_between_failures_have_the_mean_and_the_shape_of_their_law(shape):
    law = {"law": "weibull", "shape": shape} if shape else {}
    times = served(many(**law))
    k = shape or 1.0
    spread = DAY * sqrt(gamma(1 + 2 / k) / gamma(1 + 1 / k) ** 2 - 1)
    assert times.mean() == pytest.approx(DAY, abs=4 * spread / sqrt(len(times)))
    scale = DAY / gamma(1 + 1 / k)
    for age in (0.1, 1.0, 2.0):  # the law itself: how many are in service for longer
        alive = exp(-(age**k))
        share = np.mean(times > age * scale)
        assert share == pytest.approx(alive, abs=4 * sqrt(alive * (1 - alive) / len(times)))


@pytest.mark.parametrize("shape", [0.5, 1.0, 3.0])
def test_failures_are_as_frequent_at_the_beginning_as_later(shape):
    """Also where new nodes fail more often: they are not new at the first instant. No repairs in between."""
    keys = {"law": "weibull", "shape": shape, "repair": {"mean": 0, "law": "fixed"}}
    events = drawn_failures(system(nodes=4000, **keys), 2 * DAY, seed=5)
    times = np.array([event.time for event in events])
    for begin in (0, DAY // 2, DAY, 3 * DAY // 2):
        count = np.count_nonzero((times > begin) & (times <= begin + DAY // 2))
        assert count == pytest.approx(2000, abs=4 * sqrt(2000))


def test_repairs_have_the_mean_and_the_median_of_their_law():
    repair = {"mean": "4h", "law": "lognormal", "median": "1h"}
    out = np.array([event.end - event.time for event in many(repair=repair)])
    assert np.median(out) == pytest.approx(3600, rel=0.05)
    assert np.log(out).std() == pytest.approx(sqrt(2 * log(4)), rel=0.02)
    out = np.array([event.end - event.time for event in many(repair={"mean": 7200})])
    assert out.mean() == pytest.approx(7200, rel=4 / sqrt(len(out)))
    assert np.mean(out > 7200) == pytest.approx(exp(-1), abs=0.014)
    assert {event.end - event.time for event in many(100, repair={"mean": 77, "law": "fixed"})} == {77}


def test_a_share_of_the_failures_takes_the_rack_and_the_last_rack_may_be_small():
    events = many(rack_size=4, rack_share=0.25)
    assert {event.nodes for event in events if event.reason == RACK} == {
        (0, 1, 2, 3),
        (4, 5, 6, 7),
        (8, 9),
    }
    assert {event.nodes for event in events if event.reason == ALONE} == {(node,) for node in range(10)}
    share = np.mean([event.reason == RACK for event in events])
    assert share == pytest.approx(0.25, abs=4 * sqrt(0.25 * 0.75 / len(events)))


def test_racks_and_repairs_do_not_shift_when_nodes_fail():
    plain, racks = many(5), many(5, rack_size=5, rack_share=1)
    assert [event.time for event in plain] == [event.time for event in racks]
    assert [event.end for event in plain] == [event.end for event in racks]


def test_what_is_drawn_is_the_seeds_and_the_module_s_alone():
    first = drawn_failures(system(), 30 * DAY, seed=1)
    assert first == drawn_failures(system(), 30 * DAY, seed=1) != drawn_failures(system(), 30 * DAY, seed=2)
    assert first[:3] == drawn_failures(system(), 60 * DAY, seed=1)[:3]
    keys = [{"module": name, "mtbf": "1d", "repair": {"mean": 600}} for name in ("CM", "ESB")]
    both = System.from_dict(
        {"modules": [{"name": "CM", "nodes": 10}, {"name": "ESB", "nodes": 7}], "failures": keys}
    )
    mixed = drawn_failures(both, 30 * DAY, seed=1)
    assert [event for event in mixed if event.module == "CM"] == first
    assert [event.time for event in mixed] == sorted(event.time for event in mixed)


JOBS = Workload.from_columns(
    nodes=[5, 3, 10, 1] * 6, submit_time=[900 * i for i in range(24)], run_time=[3000, 9000, 600, 20000] * 6
)


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "slurm"])
def test_a_run_is_that_with_the_same_events_in_a_file(policy):
    drawn = system(mtbf="6h", rack_size=3, rack_share=0.3)
    found = simulate(drawn, JOBS, policy, seed=4)
    end = int(found.components["end_time"].max())
    told = drawn_failures(drawn, end, seed=4)
    assert found.metrics["counts"]["failures"] == len(told) > 0
    stated = replace(drawn, failures=(), events=tuple(told))
    assert found.components.equals(simulate(stated, JOBS, policy, seed=4).components)
    assert found.metrics["lost"]["runs"] > 0
    found.check()


def test_every_policy_sees_the_same_failures():
    drawn = system(mtbf="6h", repair={"mean": 0, "law": "fixed"})
    down = {}
    for policy in ("fcfs", "easy", "conservative"):
        simulation = Simulation(drawn, JOBS, policy, seed=9)
        seen = down[policy] = []
        carry_out = simulation._events.carry_out

        def see(core, one, carry_out=carry_out, seen=seen):
            seen.append((one.time, one.event))
            return carry_out(core, one)

        simulation._events.carry_out = see
        simulation.run()
    shortest = min(map(len, down.values()))
    assert shortest > 10
    assert len({tuple(seen[:shortest]) for seen in down.values()}) == 1


def test_a_repair_of_no_time_brings_the_node_back_at_once():
    drawn = system(nodes=1, mtbf="1h", repair={"mean": 0, "law": "fixed"})
    jobs = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[5000])
    found = simulate(drawn, jobs, "easy", seed=2)
    told = drawn_failures(drawn, int(found.components["end_time"][0]), seed=2)
    assert found.runs["end_time"].tolist()[:-1] == [event.time for event in told]
    assert found.runs["start_time"].tolist()[1:] == [event.time for event in told]
    stated = replace(drawn, failures=(), events=(NodeEvent(70, "DOWN", "CM", (0,), end=70),))
    assert simulate(stated, jobs, "easy").runs["start_time"].tolist() == [0, 70]


@pytest.mark.parametrize("mtbf", ["1000000d", "UNLIMITED"])
def test_where_nothing_fails_in_time_the_run_is_that_without_failures(mtbf):
    drawn = system(mtbf=mtbf)
    found = simulate(drawn, JOBS, "easy")
    assert found.components.equals(simulate(System.homogeneous(10, "CM"), JOBS, "easy").components)
    assert "failures" not in found.metrics["counts"]


def test_jobs_end_failed_without_requeue():
    found = simulate(system(mtbf="3h", requeue=False), JOBS, "easy")
    assert found.metrics["counts"]["failed"] > 0
    assert "requeued" not in found.metrics["counts"]
    assert set(found.runs["state"]) == {"NODE_FAIL"}
    found.check()


def test_a_job_that_can_never_start_does_not_keep_the_failures_coming():
    """A node is out for good by a file: what needs it is PENDING, whatever else fails and is repaired."""
    drawn = replace(system(mtbf="2h"), events=(NodeEvent(100, "DOWN", "CM", (0,)),))
    jobs = Workload.from_columns(nodes=[10, 2], submit_time=[200, 300], run_time=[50, 50])
    found = simulate(drawn, jobs, "easy")
    assert found.components["state"].tolist()[0] == "PENDING"
    assert found.metrics["counts"]["failures"] < 1000


def test_too_many_failures_are_refused_before_the_run_and_in_it(monkeypatch):
    long = Workload.from_columns(nodes=[1, 1], submit_time=[0, 10**9], run_time=[1, 1])
    with pytest.raises(ConfigError, match=r"system.failures\[0\].mtbf: found 60 s .* at most 1,000,000"):
        simulate(system(mtbf=60), long, "easy")
    monkeypatch.setattr("scheduler_sim.simulation.failures.MOST_OUTAGES", 500)
    never = Workload.from_columns(nodes=[10], submit_time=[0], run_time=[DAY])
    with pytest.raises(ConfigError, match="found more than 500 failures of nodes by"):
        simulate(system(mtbf="1h", repair={"mean": 0, "law": "fixed"}), never, "easy")
    assert MOST_OUTAGES == 1_000_000


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"mtbf": 0}, r"failures\[0\].mtbf: found 0; allowed: seconds"),
        ({"law": "weibull"}, r"failures\[0\].shape: found nothing with law: weibull"),
        ({"shape": 0.7}, r"failures\[0\].shape: found 0.7 without law: weibull"),
        ({"law": "weibull", "shape": 0}, r"shape: found 0; allowed: a number from 0.1 to 10"),
        ({"repair": {"mean": 60, "law": "lognormal"}}, r"repair.median: found nothing; allowed: above 0"),
        ({"repair": {"mean": 60, "law": "lognormal", "median": 60}}, r"repair.median: found 60; allowed"),
        ({"repair": {"mean": 60, "median": 6}}, r"repair.median: found 6 without law: lognormal"),
        ({"repair": {"mean": "UNLIMITED"}}, r"repair.mean: found 'UNLIMITED'; allowed: seconds"),
        ({"rack_share": 0.1}, r"rack_size: found nothing beside rack_share"),
        ({"rack_size": 4, "rack_share": 1.1}, r"rack_share: found 1.1; allowed: a number from 0 to 1"),
        ({"module": "DAM"}, r"module: found 'DAM', no such module; allowed: CM"),
    ],
)
def test_mistakes(keys, told):
    with pytest.raises(ConfigError, match=told):
        system(**keys)


def test_the_system_tells_its_failures_again():
    drawn = system(law="weibull", shape=0.7, rack_size=4, rack_share=0.1, requeue=False)
    assert System.from_dict(drawn.to_dict()) == drawn
    alone = system(rack_size=1, rack_share=0.1, mtbf="UNLIMITED")
    assert System.from_dict(alone.to_dict()) == alone
    assert drawn.to_dict()["failures"] == [
        {"mtbf": DAY, "law": "weibull", "shape": 0.7, "repair": {"mean": 600}}
        | {"rack_size": 4, "rack_share": 0.1, "requeue": False}
    ]


def test_failures_that_hit_a_job():
    """10 nodes of racks of 4 stand in three racks: alone 10 fail, with their rack 12."""
    keys = system(rack_size=4, rack_share=0.25).failures[0]
    assert keys.job_rate(10) == pytest.approx((10 * 0.75 + 12 * 0.25) / DAY)
    assert system().failures[0].job_rate(10) == pytest.approx(10 / DAY)
