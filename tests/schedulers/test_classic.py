"""The schedulers of configs/schedulers/classic.py start every job as the built-in ones do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, System, simulate
from scheduler_sim.result.result import Result
from tests.conftest import SHARED, examples
from tests.oracle.shared_strategies import JOBS, SITES, components
from tests.scheduling import unit_cases
from tests.scheduling.cases import ORDERS, Case, any_cases, simple_cases
from tests.shared_nodes.as_input import in_known_partitions, system_of, workload_of

CLASSIC = Path(__file__).parents[2] / "configs" / "schedulers" / "classic.py"
BUILT_IN = {"Fcfs": "none", "Easy": "easy", "Conservative": "conservative"}
KTH = SHARED / "data" / "traces" / "KTH-SP2-1996-2.1-cln.swf.gz"

KEYS = st.fixed_dictionaries(
    {
        "order": st.sampled_from(ORDERS),
        "passes": st.sampled_from(["instant", "instant", "event"]),
        "overrun_s": st.sampled_from([0, 0, 2]),
    }
)
"""Keys that mean the same to both."""


def own(name: str, **keys: Any) -> Policy:
    """One of them."""
    return Policy.resolve(f"{CLASSIC}:{name}").with_settings(keys)


def compare(name: str, system: System, workload: Any, keys: dict[str, Any]) -> None:
    """Whole results, but for the name of the policy."""
    theirs = simulate(system, workload, own(name, **keys))
    ours = simulate(system, workload, Policy(backfill=BUILT_IN[name], **keys))
    theirs.check()
    assert facts(theirs) == facts(ours)


def facts(result: Result) -> list[Any]:
    names = ["component_id", "start_time", "end_time", "state", "module", "eligible_time", "wait_resources"]
    return result.components[names].values.tolist()


@pytest.mark.interpreted
@pytest.mark.parametrize("name", BUILT_IN)
@examples(250)
@given(simple_cases(KEYS))
def test_on_random_cases(name: str, case: Case) -> None:
    compare(name, case.machine.system(), case.workload(), case.policy)


@pytest.mark.interpreted
@examples(100)
@given(any_cases(KEYS))
def test_with_placements_and_resources(case: Case) -> None:
    compare("Conservative", case.machine.system(), case.workload(), case.policy)


@pytest.mark.interpreted
@pytest.mark.parametrize("name", ["Fcfs", "Conservative"])
@examples(60)
@given(SITES, JOBS, st.sampled_from(["first_fit", "best_fit", "worst_fit"]))
def test_where_jobs_share_nodes(name: str, nodes: Any, jobs: Any, packing: str) -> None:
    rows = in_known_partitions(nodes, components(jobs))
    compare(name, system_of(nodes), workload_of(rows), {"packing": packing})


@pytest.mark.interpreted
@examples(100)
@given(unit_cases.cases(["conservative"]))
def test_with_units_delays_and_calls(case: unit_cases.Case) -> None:
    modules = [{"name": name, "nodes": n} for name, n in case.modules.items()]
    system = System.from_dict({"modules": modules})
    compare("Conservative", system, unit_cases.workload(case.components), case.settings)
