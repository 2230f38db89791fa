"""Idle nodes switched off: by hand, and against the plain reference that follows every node."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, Workload, simulate
from tests.conftest import examples
from tests.oracle.plain_switching import Switch, SwitchingClock
from tests.oracle.records import Rules
from tests.scheduling.cases import Case, any_cases, simple_cases
from tests.scheduling.test_properties import as_seen, as_told
from tests.simulation.acting import steps, trace

pytestmark = pytest.mark.interpreted

NEVER = "UNLIMITED"


def models(switches: Mapping[str, Switch], **watts: float) -> dict[str, Any]:
    """Models in which the idle nodes of some modules are switched off."""
    profiles = [
        {
            "name": name,
            "idle_w": 10,
            "typical_w": 100,
            "peak_w": 100,
            "off_w": 1,
            "reference_khz": 1,
            "pstates_khz": [1],
            "boot": {"time_s": rule.boot, "energy_j": 20 * rule.boot},
            "shutdown": {"time_s": rule.stop, "energy_j": 5 * rule.stop},
            **watts,
        }
        for name, rule in switches.items()
    ]
    rules = {
        name: {
            "timeout_s": NEVER if rule.timeout == math.inf else int(rule.timeout),
            "min_awake": rule.awake,
        }
        for name, rule in switches.items()
    }
    return {"energy": {"power": {"modules": profiles}, "idle_off": {"timeout_s": NEVER, "modules": rules}}}


def switched(jobs: Workload, nodes: int, policy: Any = "easy", **rule: Any) -> Result:
    """A cluster by the rule timeout 100, boot 50, or another."""
    switch = Switch(**{"timeout": 100, "boot": 50, **rule})
    result = simulate(System.homogeneous(nodes), jobs, policy, models=models({"cluster": switch}))
    result.check()
    return result


def starts(result: Result) -> list[int]:
    return result.components["start_time"].tolist()


KEEP = {"backfill": "conservative", "replan": "keep"}
POLICIES = ["fcfs", "easy", "conservative", KEEP, {"backfill": "first_fit"}]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_component_waits_for_the_boot_of_its_node(policy: Any) -> None:
    result = switched(trace((0, 1, 10), (500, 1, 10)), 1, policy)
    assert starts(result) == [0, 550]
    assert steps(result, "nodes_off") == [(0, 0), (110, 1), (500, 0)]
    assert steps(result, "nodes_booting") == [(0, 0), (500, 1), (550, 0)]
    assert result.components["wait_resources"].tolist() == [0, 50]


@pytest.mark.parametrize("policy", POLICIES)
def test_who_comes_before_the_timeout_finds_the_node_up(policy: Any) -> None:
    assert starts(switched(trace((0, 1, 10), (109, 1, 10)), 1, policy)) == [0, 109]
    assert starts(switched(trace((0, 1, 10), (110, 1, 10)), 1, policy)) == [0, 110]  # at 110 it is needed
    assert starts(switched(trace((0, 1, 10), (111, 1, 10)), 1, policy)) == [0, 161]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_shutdown_goes_to_its_end_before_the_boot(policy: Any) -> None:
    result = switched(trace((0, 1, 10), (115, 1, 10)), 1, policy, stop=20)
    assert starts(result) == [0, 180]  # stops 110 to 130, boots 130 to 180
    assert steps(result, "nodes_stopping") == [(0, 0), (110, 1), (130, 0)]
    assert steps(result, "nodes_booting") == [(0, 0), (130, 1), (180, 0)]
    assert steps(result, "nodes_off") == [(0, 0)]


@pytest.mark.parametrize("policy", POLICIES)
def test_all_that_can_run_are_booted_for_at_once(policy: Any) -> None:
    """Ten nodes are off when five jobs of two nodes come: nobody waits for the boot of another."""
    jobs = trace((0, 10, 1), *[(500, 2, 10)] * 5)
    result = switched(jobs, 10, policy)
    assert starts(result) == [0, *[550] * 5]
    assert max(nodes for _, nodes in steps(result, "nodes_booting")) == 10


def test_only_as_many_boot_as_are_missing() -> None:
    result = switched(trace((0, 4, 10), (200, 2, 10)), 6, "easy", awake=1)
    # at 100 the two that never ran are switched off, at 110 three of the other four
    assert starts(result) == [0, 250]
    assert steps(result, "nodes_off")[:4] == [(0, 0), (100, 2), (110, 5), (200, 4)]
    assert steps(result, "nodes_booting")[:3] == [(0, 0), (200, 1), (250, 0)]


# -------------------------------------------------------------------- against the plain reference
@dataclass(frozen=True)
class SwitchedCase:
    """A case, and the rules by which nodes of each module are switched off."""

    case: Case
    switches: dict[str, Switch]

    def simulated(self) -> Result:
        case = self.case
        return simulate(
            case.machine.system(), case.workload(), Policy(**case.policy), models=models(self.switches)
        )

    def referenced(self) -> SwitchingClock:
        machine = self.case.machine
        clock = SwitchingClock(
            [self.case.component(row) for row in range(len(self.case.jobs))],
            {name: nodes for name, (nodes, _) in machine.modules.items()},
            {"lic": machine.licences, "nam": machine.nam_gb},
            Rules(**self.case.policy),
            self.switches,
        )
        clock.run()
        return clock


a_switch = st.builds(
    Switch,
    timeout=st.sampled_from([1, 2, 3, 5, 9, math.inf]),
    awake=st.sampled_from([0, 0, 0, 1, 2]),
    boot=st.sampled_from([1, 2, 3, 6, 10]),
    stop=st.sampled_from([0, 0, 1, 4]),
)


@st.composite
def switched_cases(draw: st.DrawFn, cases: st.SearchStrategy[Case]) -> SwitchedCase:
    case = draw(cases)
    case = Case(case.machine, case.jobs, case.policy | {"shadow": "dynamic"})
    switches = {name: draw(a_switch) for name in case.machine.modules}
    if all(rule.timeout == math.inf for rule in switches.values()):
        switches[next(iter(switches))] = Switch(2, 0, 3, 1)
    return SwitchedCase(case, switches)


def compare(case: SwitchedCase) -> None:
    result, clock = case.simulated(), case.referenced()
    assert as_seen(result) == as_told(clock)
    result.check()
    agree_on_nodes(result, clock)


def agree_on_nodes(result: Result, clock: SwitchingClock) -> None:
    """At every instant each module has as many nodes busy, off, booting and stopping as the reference."""
    last = dict(clock.history)  # the last pass of each instant
    for module in clock.nodes:
        rows = result.timeline[result.timeline["module"] == module]
        for state in ("busy", "off", "booting", "stopping"):
            values = rows[f"nodes_{state}"].to_numpy()
            for time, counts in last.items():
                place = np.searchsorted(rows["time"].to_numpy(), time, side="right")
                found = int(values[place - 1]) if place else 0
                assert found == counts[module][state], (module, state, time)


@examples(60)
@given(switched_cases(simple_cases()))
def test_equal_to_the_plain_reference_with_one_placement(case: SwitchedCase) -> None:
    compare(case)


@examples(80)
@given(switched_cases(any_cases()))
def test_equal_to_the_plain_reference_with_placements_and_resources(case: SwitchedCase) -> None:
    compare(case)


@examples(30)
@given(switched_cases(any_cases(st.just({"backfill": "conservative", "replan": "keep"}))))
def test_kept_promises_are_kept_through_shutdowns_and_boots(case: SwitchedCase) -> None:
    clock = case.referenced()
    first: dict[int, int] = {}
    for _, row, start, _ in clock.promised:
        first.setdefault(row, start)
    found = starts(case.simulated())
    overran = any(job.limit > 0 and job.run > job.limit for job in case.case.jobs) and clock.rules.overrun_s
    assert overran or all(found[row] <= start for row, start in first.items())
    compare(case)


# -------------------------------------------------------------------- where nothing changes
@examples(60)
@given(any_cases())
def test_a_timeout_that_never_comes_changes_no_schedule(case: Case) -> None:
    case = Case(case.machine, case.jobs, case.policy | {"shadow": "dynamic"})
    never = models({name: Switch(timeout=10**12, boot=5) for name in case.machine.modules})
    found = simulate(case.machine.system(), case.workload(), Policy(**case.policy), models=never)
    expected = case.simulated()
    energy = ["power_w", "energy_j", "frequency_khz"]
    assert found.components.drop(columns=energy).equals(expected.components.drop(columns=energy))
    assert found.timeline[["nodes_off", "nodes_booting", "nodes_stopping"]].to_numpy().sum() == 0
    assert found.metrics["wait_time"] == expected.metrics["wait_time"]


def test_modules_whose_nodes_all_stay_on_have_the_columns_of_ever() -> None:
    off = models({"cluster": Switch()})
    jobs = trace((0, 1, 10), (500, 1, 10))
    result = simulate(System.homogeneous(1), jobs, models=off)
    assert starts(result) == [0, 500]
    assert "nodes_off" not in result.timeline


# -------------------------------------------------------------------- what plans see, by hand
def test_backfill_goes_round_those_for_whom_nodes_boot() -> None:
    """One of three nodes runs, one is kept awake, one is off when B asks for two: it is planned 350."""
    jobs = trace((0, 1, 1000), (300, 2, 100), (310, 1, 40), (310, 1, 41))
    assert starts(switched(jobs, 3, "easy", awake=1)) == [0, 350, 310, 450]
    assert starts(switched(jobs, 3, "conservative", awake=1)) == [0, 350, 310, 450]
    assert starts(switched(jobs, 3, KEEP, awake=1)) == [0, 350, 310, 450]
    assert starts(switched(jobs, 3, {"backfill": "first_fit"}, awake=1)) == [0, 350, 310, 450]


def test_fcfs_lets_nobody_start_before_those_for_whom_nodes_boot() -> None:
    jobs = trace((0, 1, 1000), (300, 2, 100), (310, 1, 40))
    assert starts(switched(jobs, 3, "fcfs", awake=1)) == [0, 350, 450]


@pytest.mark.parametrize("policy", ["easy", "conservative", KEEP])
def test_nodes_boot_in_time_for_a_reservation(policy: Any) -> None:
    """The other node is off from 100 on; both are wanted from 1000 on, when the first is planned to end."""
    result = switched(trace((0, 1, 1000), (200, 2, 10)), 2, policy)
    assert starts(result) == [0, 1000]
    assert steps(result, "nodes_booting")[:3] == [(0, 0), (950, 1), (1000, 0)]
    early = switched(trace((0, 1, 500, 1000), (200, 2, 10)), 2, policy)
    assert starts(early) == [0, 550]


def test_fcfs_plans_nothing_so_that_the_boot_comes_last() -> None:
    assert starts(switched(trace((0, 1, 1000), (200, 2, 10)), 2, "fcfs")) == [0, 1050]


@pytest.mark.parametrize("policy", ["easy", "conservative", KEEP])
def test_a_node_that_is_needed_soon_stays_on(policy: Any) -> None:
    """At 100 the idle node has a reservation at 160, sooner than it could be off and up again."""
    result = switched(trace((0, 1, 160), (50, 2, 10)), 2, policy, stop=11)
    assert starts(result) == [0, 160]
    assert steps(result, "nodes_stopping") == [(0, 0)]
    result = switched(trace((0, 1, 161), (50, 2, 10)), 2, policy, stop=11)  # just long enough
    assert starts(result) == [0, 161]
    assert steps(result, "nodes_stopping")[:3] == [(0, 0), (100, 1), (111, 0)]
    assert steps(result, "nodes_booting")[:3] == [(0, 0), (111, 1), (161, 0)]


def test_the_sooner_of_two_modules_counts_its_boot() -> None:
    """CM is taken until 100, ESB off: a boot of 50 s is sooner, one of 80 s is not."""
    system = System.from_dict({"modules": [{"name": "CM", "nodes": 1}, {"name": "ESB", "nodes": 1}]})
    jobs = trace((0, 1, 100), (30, 1, 10), partition=["CM", "CM,ESB"])
    for boot, start, module in ((50, 80, "ESB"), (80, 100, "CM")):
        rules = {"CM": Switch(), "ESB": Switch(timeout=20, boot=boot)}
        result = simulate(system, jobs, "easy", models=models(rules))
        result.check()
        assert starts(result) == [0, start]
        assert result.components["module"].tolist() == ["CM", module]
