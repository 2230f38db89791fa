"""Idle nodes switched off: by hand, and against the plain reference that follows every node."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, Workload, simulate
from tests.oracle.plain_switching import Switch, SwitchingClock
from tests.oracle.records import Rules
from tests.scheduling.cases import Case, any_cases, simple_cases
from tests.scheduling.test_properties import as_seen, as_told
from tests.simulation.acting import steps, trace

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
    assert steps(result, "nodes_off") == [(0, 0), (110, 1), (500, 0), (660, 1)]
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
    assert steps(result, "nodes_stopping") == [(0, 0), (110, 1), (130, 0), (290, 1), (310, 0)]
    assert steps(result, "nodes_booting") == [(0, 0), (130, 1), (180, 0)]
    assert steps(result, "nodes_off") == [(0, 0), (310, 1)]


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


@settings(max_examples=250)
@given(switched_cases(simple_cases()))
def test_equal_to_the_plain_reference_with_one_placement(case: SwitchedCase) -> None:
    compare(case)


@settings(max_examples=250)
@given(switched_cases(any_cases()))
def test_equal_to_the_plain_reference_with_placements_and_resources(case: SwitchedCase) -> None:
    compare(case)
