"""Running components make way for others: the engine against the plain reference, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, Simulation, System, Workload, simulate
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.policy.keys import FIXED_ORDERS
from scheduler_sim.result.suspensions import spans_in
from tests.conftest import examples
from tests.oracle.plain_making_room import MakingRoom
from tests.oracle.plain_suspending import Suspending
from tests.oracle.records import Rules
from tests.scheduling.cases import ORDERS, Case, Machine, jobs, policies
from tests.scheduling.test_properties import as_seen, as_told
from tests.simulation.test_energy import power

pytestmark = pytest.mark.interpreted


@dataclass(frozen=True)
class Preempting:
    """A case, the priorities of its partitions, and the two keys."""

    case: Case
    tiers: dict[str, int]
    preempt: dict[str, Any]

    def simulated(self) -> Result:
        parts = [
            {"name": name, "module": module, "priority": self.tiers[name]}
            for name, (module, _, _) in self.case.machine.partitions.items()
        ]
        modules = [{"name": name, "nodes": n} for name, (n, _) in self.case.machine.modules.items()]
        policy = Policy(**self.case.policy, preempt=self.preempt)
        system = System.from_dict({"modules": modules, "partitions": parts})
        return simulate(system, self.case.workload(), policy)

    def referenced(self) -> MakingRoom:
        case = self.case
        kind = Suspending if self.preempt["how"] == "suspend" else MakingRoom
        clock = kind(
            [case.component(row) for row in range(len(case.jobs))],
            {name: n for name, (n, _) in case.machine.modules.items()},
            Rules(**case.policy),
            {row: self.tiers[job.partitions[0]] for row, job in enumerate(case.jobs)},
            self.preempt,
        )
        clock.run()
        return clock


@st.composite
def cases(draw: st.DrawFn, hows: Sequence[str] = ("requeue", "requeue", "cancel")) -> Preempting:
    """Up to three partitions of one or two modules."""
    by = draw(st.sampled_from(["partition", "priority"]))
    policy = draw(policies(simple=True, orders=FIXED_ORDERS if by == "priority" else ORDERS))
    policy |= {"passes": "instant"} | ({"replan": "scratch"} if "replan" in policy else {})
    modules = {"CM": (draw(st.integers(2, 6)), 1.0), "ESB": (draw(st.integers(1, 4)), 1.0)}
    tiers = {"low": 0, "high": draw(st.sampled_from([1, 0])), "top": 2, "other": draw(st.integers(0, 2))}
    parts = {name: ("ESB" if name == "other" else "CM", None, None) for name in tiers}
    machine = Machine(modules, parts, "low")
    drawn = draw(jobs(machine, choices=1, dependencies=False, most=20))
    named = [replace(job, partitions=tuple(map(str.lower, job.partitions or ("low",)))) for job in drawn]
    how = draw(st.sampled_from(hows))
    grace = st.just(0) if how == "suspend" else st.sampled_from([0, 1, 3, 10])
    preempt = {"by": by, "how": how, "grace_s": draw(grace)}
    policy["overrun_s"] = 0 if preempt["grace_s"] or how == "suspend" else policy["overrun_s"]
    return Preempting(Case(machine, tuple(named), policy), tiers, preempt)


@given(cases())
@examples(200)
def test_equal_to_the_plain_reference(one: Preempting) -> None:
    result, clock = one.simulated(), one.referenced()
    assert as_seen(result) == as_told(clock)
    assert result.metrics["counts"].get("requeued", 0) == clock.lost
    result.check()


@given(cases(hows=["suspend"]))
@examples(200)
def test_suspended_they_go_on_as_in_the_plain_reference(one: Preempting) -> None:
    result, clock = one.simulated(), one.referenced()
    assert isinstance(clock, Suspending)
    assert as_seen(result) == as_told(clock)
    assert [spans_in(str(text)) for text in result.components["suspended"]] == list(clock.spans.values())
    result.check()


def run(policy: dict[str, Any], *, models: Any = None, **columns: Any) -> Result:
    """On four nodes, which two partitions have."""
    parts = [{"name": "low", "module": "m"}, {"name": "high", "module": "m", "priority": 1}]
    system = System.from_dict({"modules": [{"name": "m", "nodes": 4}], "partitions": parts})
    workload = Workload.from_columns(**columns)
    result = simulate(system, workload, Policy(**{"backfill": "easy"} | policy), models=models)
    result.check()
    return result


LOW_AND_HIGH: dict[str, Any] = {
    "submit_time": [0, 1, 10],
    "nodes": [2, 2, 2],
    "run_time": [100, 50, 20],
    "partition": ["low", "low", "high"],
}


def test_requeued_it_runs_from_the_beginning() -> None:
    """Who started last makes way."""
    result = run({"preempt": {"by": "partition"}}, **LOW_AND_HIGH)
    assert result.components["start_time"].tolist() == [0, 30, 10]
    assert result.components["end_time"].tolist() == [100, 80, 30]
    assert result.components["wait_resources"].tolist() == [0, 29, 0]
    assert result.metrics["counts"]["requeued"] == 1


def test_what_was_lost_has_drawn_its_power() -> None:
    result = run({"preempt": {"by": "partition"}}, models=power(m=(10, 100)), **LOW_AND_HIGH)
    assert result.runs is not None
    lost = result.runs[result.runs["start_time"] == 1]
    assert lost[["component_id", "end_time", "nodes", "power_w"]].to_numpy().tolist() == [[2, 10, 2, 200]]
    assert result.metrics["energy"]["job_j"] == 100 * 2 * (100 + 50 + 20 + 9)


def test_cancelled_it_is_over() -> None:
    result = run({"preempt": {"by": "partition", "how": "cancel"}}, **LOW_AND_HIGH)
    assert result.components["state"].tolist() == ["COMPLETED", "PREEMPTED", "COMPLETED"]
    assert result.components["end_time"].tolist() == [100, 10, 30]
    assert result.metrics["counts"]["preempted"] == 1


def test_what_depends_on_one_that_was_cancelled_may_run() -> None:
    columns = {name: [*values, values[0]] for name, values in LOW_AND_HIGH.items()}
    kinds = {"dependency_kinds": ["", "", "", "AFTERNOTOK"], "dependency_ids": ["", "", "", "2"]}
    found = run({"preempt": {"by": "partition", "how": "cancel"}}, **columns, **kinds).components
    assert found["eligible_time"].iloc[3] == 10


def test_nobody_makes_way_where_all_would_not_be_enough_or_none_is_needed() -> None:
    columns = LOW_AND_HIGH | {"partition": ["high", "low", "high"], "nodes": [2, 2, 3]}
    assert run({"preempt": {"by": "partition"}}, **columns).metrics["counts"].get("requeued", 0) == 0
    columns = LOW_AND_HIGH | {"nodes": [2, 1, 1]}
    assert run({"preempt": {"by": "partition"}}, **columns).metrics["counts"].get("requeued", 0) == 0


def test_who_is_not_needed_after_all_is_spared() -> None:
    """The small one is tried first; with the large one it is not needed."""
    columns = LOW_AND_HIGH | {"nodes": [3, 1, 3]}
    found = run({"preempt": {"by": "partition"}}, **columns).components
    assert found["start_time"].tolist() == [30, 1, 10]


def test_by_the_order_short_jobs_go_before_long_ones_that_run() -> None:
    columns = LOW_AND_HIGH | {"partition": ["low"] * 3}
    result = run({"order": "sjf", "preempt": {"by": "priority"}}, **columns)
    assert result.components["start_time"].tolist() == [30, 1, 10]
    assert run({"order": "sjf"}, **columns).components["start_time"].tolist() == [0, 1, 51]


GRACE = {"preempt": {"by": "partition", "grace_s": 10}}


def followed_by(**columns: list[Any]) -> dict[str, Any]:
    """LOW_AND_HIGH, and more."""
    return {name: [*values, *columns.get(name, [])] for name, values in LOW_AND_HIGH.items()}


def test_with_grace_it_goes_on_and_only_as_many_as_needed_make_way() -> None:
    """The example of the documents."""
    more = followed_by(submit_time=[12], nodes=[2], run_time=[5], partition=["high"])
    result = run(GRACE, **more)
    assert result.components["start_time"].tolist() == [27, 40, 20, 22]
    assert result.components["end_time"].tolist() == [127, 90, 40, 27]
    assert result.runs is not None
    lost = result.runs[result.runs["state"] == "PREEMPTED"]
    assert sorted(lost[["start_time", "end_time"]].to_numpy().tolist()) == [[0, 22], [1, 20]]
    cancelled = run({"preempt": GRACE["preempt"] | {"how": "cancel"}}, **more).components
    assert cancelled["state"].tolist() == ["PREEMPTED", "PREEMPTED", "COMPLETED", "COMPLETED"]
    assert cancelled["end_time"].tolist() == [22, 20, 40, 27]


@pytest.mark.parametrize("end", [16, 20])
def test_within_its_grace_it_may_end_by_itself(end: int) -> None:
    columns = LOW_AND_HIGH | {"run_time": [100, end - 1, 20], "time_limit": [100, 50, 20]}
    result = run(GRACE, **columns)
    assert result.components["state"].tolist() == ["COMPLETED"] * 3
    assert result.components["end_time"].tolist() == [100, end, end + 20]
    assert result.metrics["counts"].get("requeued", 0) == 0


def test_nobody_makes_way_for_nodes_that_are_due_by_then() -> None:
    """The first is planned to end at 20, no later than any grace would."""
    columns = LOW_AND_HIGH | {"run_time": [20, 50, 20]}
    result = run(GRACE, **columns)
    assert result.components["start_time"].tolist() == [0, 1, 20]
    columns["run_time"] = [21, 50, 20]
    assert run(GRACE, **columns).metrics["counts"]["requeued"] == 1


def test_plans_see_that_it_ends_with_its_grace() -> None:
    """One node is idle: who ends by 20 may have it, who does not would hold up the front."""
    columns = {
        "submit_time": [0, 10, 11, 12],
        "nodes": [3, 4, 1, 1],
        "run_time": [100, 20, 9, 8],
        "time_limit": [100, 20, 10, 8],
        "partition": ["low", "high", "low", "low"],
    }
    assert run(GRACE, **columns).components["start_time"].tolist()[1:] == [20, 40, 12]


def test_under_first_fit_idle_nodes_are_kept_meanwhile() -> None:
    """Else the two would take turns for ever, each as the other makes way."""
    columns = {
        "submit_time": [0, 10, 11],
        "nodes": [2, 4, 2],
        "run_time": [100, 20, 100],
        "partition": ["low", "high", "low"],
    }
    assert run(GRACE | {"backfill": "first_fit"}, **columns).components["start_time"].tolist() == [40, 20, 40]


@pytest.mark.parametrize("how", ["cancel", "requeue"])
def test_who_is_taken_away_in_its_grace_has_all_its_time_again(how: str) -> None:
    """By hand, at 12."""
    parts = [{"name": "low", "module": "m"}, {"name": "high", "module": "m", "priority": 1}]
    system = System.from_dict({"modules": [{"name": "m", "nodes": 4}], "partitions": parts})
    policy = Policy(backfill="easy", **GRACE)
    simulation = Simulation(system, Workload.from_columns(**LOW_AND_HIGH), policy)
    simulation.run(until=12)
    getattr(simulation, how)(2)
    found = simulation.run()
    found.check()
    assert found.components["start_time"].tolist()[2] == 12
    assert found.components["end_time"].tolist() == [100, 82 if how == "requeue" else 12, 32]


SUSPEND = {"preempt": {"by": "partition", "how": "suspend"}}


def test_suspended_they_go_on_where_they_were_once_nobody_above_is_there() -> None:
    """The example of the documents."""
    columns = {
        "submit_time": [0, 1, 10, 12, 31],
        "nodes": [2, 2, 3, 1, 1],
        "run_time": [100, 50, 20, 30, 5],
        "partition": ["low", "low", "high", "high", "low"],
    }
    result = run(SUSPEND, models=power(m=(10, 100)), **columns)
    found = result.components
    assert found["start_time"].tolist() == [0, 1, 10, 12, 71]
    assert found["end_time"].tolist() == [132, 71, 30, 42, 76]
    assert found["suspended"].tolist() == ["10-42", "10-30", "", "", ""]
    assert found["suspended_time"].tolist() == [32, 20, 0, 0, 0]
    assert found["energy_j"].tolist() == [100 * work for work in (200, 100, 60, 30, 5)]
    timeline = result.timeline[result.timeline["module"] == "m"]
    rows = timeline[["time", "nodes_busy", "nodes_reserved_idle"]].to_numpy().tolist()
    before = [[0, 2, 0], [1, 4, 0], [10, 3, 1], [12, 4, 0], [30, 3, 1], [31, 3, 1]]
    assert rows == [*before, [42, 4, 0], [71, 3, 0], [76, 2, 0], [132, 0, 0]]
    assert result.metrics["suspended"]["node_seconds"]["total"] == 2 * 32 + 2 * 20
    assert "lost" not in result.metrics
    assert result.metrics["counts"].get("requeued", 0) == 0


def test_who_suspends_may_be_suspended_itself_on_more_nodes_than_a_word_has() -> None:
    """80 of the second job's 100 nodes are the first one's, and 60 of the third one's 70 are both's."""
    names = ["low", "mid", "high"]
    parts = [{"name": name, "module": "m", "priority": i} for i, name in enumerate(names)]
    system = System.from_dict({"modules": [{"name": "m", "nodes": 130}], "partitions": parts})
    columns = {"submit_time": [0, 5, 9, 10], "nodes": [110, 100, 70, 20], "run_time": [50, 30, 10, 1]}
    workload = Workload.from_columns(**columns, partition=[*names, "low"])
    for backfill in ("none", "easy", "conservative"):
        result = simulate(system, workload, Policy(backfill=backfill, **SUSPEND))
        result.check()
        assert result.components["start_time"].tolist()[:3] == [0, 5, 9]
        assert result.components["end_time"].tolist()[:3] == [90, 45, 19]
        assert result.components["suspended"].tolist() == ["5-45", "9-19", "", ""]
        assert result.components["start_time"].iloc[3] == 19 + 26  # after the second


def test_plans_see_when_they_will_go_on() -> None:
    """The first goes on at 30 and ends at 110: until then the last may have the node idle from 15 on."""
    columns = {
        "submit_time": [0, 0, 10, 11, 16],
        "nodes": [2, 1, 2, 4, 1],
        "run_time": [90, 15, 20, 5, 94],
        "partition": ["low", "high", "high", "low", "low"],
    }
    for backfill in ("easy", "conservative"):
        policy = SUSPEND | {"backfill": backfill}
        assert run(policy, **columns).components["start_time"].tolist() == [0, 0, 10, 110, 16]
        longer = columns | {"run_time": [90, 15, 20, 5, 95]}
        assert run(policy, **longer).components["start_time"].tolist() == [0, 0, 10, 110, 115]


@pytest.mark.parametrize("act", ["cancel", "requeue", "shorter", "longer", "drain", "look"])
def test_what_operators_do_meanwhile(act: str) -> None:
    """At 20, when the first has worked for 10 s; the second has two of its three nodes until 40."""
    parts = [{"name": "low", "module": "m"}, {"name": "high", "module": "m", "priority": 1}]
    system = System.from_dict({"modules": [{"name": "m", "nodes": 3}], "partitions": parts})
    columns = {"submit_time": [0, 10, 21], "nodes": [3, 2, 1], "run_time": [100, 30, 5]}
    workload = Workload.from_columns(**columns, partition=["low", "high", "low"])
    simulation = Simulation(system, workload, Policy(backfill="easy", **SUSPEND))
    midway = simulation.run(until=20)
    midway.check()
    assert midway.components["suspended"].tolist()[:2] == ["10-20", ""]
    if act == "drain":
        simulation.drain("m", 1)
    elif act in ("shorter", "longer"):
        simulation.update(1, time_limit={"shorter": 50, "longer": 200}[act])
    elif act != "look":
        getattr(simulation, act)(1)
    found = simulation.run()
    found.check()
    ends = {
        "cancel": [20, 40, 26],  # the third has the node that the first left
        "requeue": [140, 40, 26],
        "shorter": [80, 40, 85],
        "longer": [130, 40, 135],
        "drain": [130, 40, 135],
        "look": [130, 40, 135],
    }
    assert found.components["end_time"].tolist() == ends[act]


def test_what_processes_submit_suspends_and_is_suspended() -> None:
    """The core grows meanwhile."""
    parts = [{"name": "low", "module": "m"}, {"name": "high", "module": "m", "priority": 1}]
    system = System.from_dict({"modules": [{"name": "m", "nodes": 4}], "partitions": parts})
    first = Workload.from_columns(submit_time=[0], nodes=[4], run_time=[100], partition=["low"])
    simulation = Simulation(system, first, Policy(backfill="easy", **SUSPEND))

    def submitter() -> Any:
        for _ in range(6):
            yield simulation.env.timeout(10)
            simulation.submit(nodes=1, run_time=35, partition="high")
        simulation.submit(nodes=4, run_time=5, partition="low")

    simulation.process(submitter())
    found = simulation.run()
    found.check()
    assert found.components["suspended"].tolist() == ["10-95", *[""] * 7]
    assert found.components["end_time"].tolist() == [185, *range(45, 96, 10), 190]


def test_nodes_that_fail_are_refused_beside_suspension() -> None:
    event = {"module": "m", "time": 5, "state": "DOWN", "count": 1}
    system = System.from_dict({"modules": [{"name": "m", "nodes": 4}], "events": [event]})
    jobs = Workload.from_columns(submit_time=[0], nodes=[1], run_time=[5])
    with pytest.raises(ConfigError, match=r"found suspend beside events or failures of nodes; allowed: req"):
        simulate(system, jobs, Policy(**SUSPEND))
    simulation = Simulation(System.homogeneous(4), jobs, Policy(**SUSPEND))
    with pytest.raises(ConfigError, match=r"found suspend beside fail; allowed: requeue, cancel"):
        simulation.fail("nodes")


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"backfill": "slurm"}, "only with backfill: none or .*slurm.PreemptType"),
        (
            {"backfill": "conservative", "replan": "keep"},
            "found 'keep' beside preempt; allowed: scratch",
        ),
        ({"passes": "event"}, "passes: found 'event' beside preempt; allowed: instant"),
        ({"order": "wfp3"}, "order: found 'wfp3' beside preempt by priority; allowed: fifo, sjf"),
        ({"preempt": {"how": "cancel"}}, "preempt.by"),
        ({"preempt": {"by": "age"}}, "preempt.by: found 'age'; allowed: partition, priority"),
        (
            {"overrun_s": 5, "preempt": {"by": "partition", "grace_s": 1}},
            "overrun_s: found 5 beside preempt.grace_s; allowed: 0",
        ),
        ({"preempt": {"by": "priority", "grace_s": -1}}, "preempt.grace_s: found -1; allowed: "),
        ({"preempt": {"by": "priority", "how": "swap"}}, "preempt.how: found 'swap'; allowed: requeue"),
        (
            {"preempt": {"by": "priority", "how": "suspend", "grace_s": 5}},
            "preempt.grace_s: found 5 beside preempt.how: suspend; allowed: 0",
        ),
        (
            {"overrun_s": 5, "preempt": {"by": "partition", "how": "suspend"}},
            "overrun_s: found 5 beside preempt.how: suspend; allowed: 0",
        ),
    ],
)
def test_what_is_refused(policy: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Policy(**{"preempt": {"by": "priority"}} | policy)


def test_not_where_components_could_run_in_several_ways() -> None:
    columns = LOW_AND_HIGH | {"partition": ["low,high", "low", "high"]}
    with pytest.raises(InputError, match=r"policy\.preempt: .*several placements"):
        run({"preempt": {"by": "partition"}}, **columns)


def test_it_is_set_key_by_key() -> None:
    policy = Policy.named("easy").with_settings({"policy.preempt.by": "partition"})
    assert policy.to_dict()["preempt"] == {"by": "partition", "how": "requeue", "grace_s": 0}
    policy = policy.with_settings({"policy.preempt.how": "cancel"})
    assert policy.to_dict()["preempt"] == {"by": "partition", "how": "cancel", "grace_s": 0}
    assert policy.with_settings({"preempt": "null"}).preempt is None
