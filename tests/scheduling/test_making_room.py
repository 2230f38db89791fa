"""Running components make way for others: the engine against the plain reference, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, Simulation, System, Workload, simulate
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.keys import FIXED_ORDERS
from tests.conftest import examples
from tests.oracle.plain_making_room import MakingRoom
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
        clock = MakingRoom(
            [case.component(row) for row in range(len(case.jobs))],
            {name: n for name, (n, _) in case.machine.modules.items()},
            Rules(**case.policy),
            {row: self.tiers[job.partitions[0]] for row, job in enumerate(case.jobs)},
            self.preempt,
        )
        clock.run()
        return clock


@st.composite
def cases(draw: st.DrawFn) -> Preempting:
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
    how = draw(st.sampled_from(["requeue", "requeue", "cancel"]))
    preempt = {"by": by, "how": how, "grace_s": draw(st.sampled_from([0, 1, 3, 10]))}
    policy["overrun_s"] = 0 if preempt["grace_s"] else policy["overrun_s"]
    return Preempting(Case(machine, tuple(named), policy), tiers, preempt)


@given(cases())
@examples(200)
def test_equal_to_the_plain_reference(one: Preempting) -> None:
    result, clock = one.simulated(), one.referenced()
    assert as_seen(result) == as_told(clock)
    assert result.metrics["counts"].get("requeued", 0) == clock.lost
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
        ({"preempt": {"by": "priority", "how": "suspend"}}, "preempt.how: found 'suspend'; allowed: requeue"),
    ],
)
def test_what_is_refused(policy: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Policy(**{"preempt": {"by": "priority"}} | policy)


def test_not_where_components_could_run_in_several_ways() -> None:
    columns = LOW_AND_HIGH | {"partition": ["low,high", "low", "high"]}
    with pytest.raises(ConfigError, match=r"policy\.preempt: .*several placements"):
        run({"preempt": {"by": "partition"}}, **columns)


def test_it_is_set_key_by_key() -> None:
    policy = Policy.named("easy").with_settings({"policy.preempt.by": "partition"})
    assert policy.to_dict()["preempt"] == {"by": "partition", "how": "requeue", "grace_s": 0}
    policy = policy.with_settings({"policy.preempt.how": "cancel"})
    assert policy.to_dict()["preempt"] == {"by": "partition", "how": "cancel", "grace_s": 0}
    assert policy.with_settings({"preempt": "null"}).preempt is None
