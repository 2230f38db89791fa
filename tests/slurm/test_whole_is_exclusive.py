"""Jobs that have their nodes to themselves run as on nodes that are not shared: whatever rules a site has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, Workload, simulate
from tests.conftest import examples
from tests.oracle.plain_outages import Event
from tests.oracle.plain_power_saving import Power
from tests.oracle.plain_preempting_sites import PreemptingReservedSlurm
from tests.oracle.plain_preemption_records import PreemptQos
from tests.slurm import engine_cases, limit_cases, topology_cases
from tests.slurm import test_power_saving as powered
from tests.slurm import test_power_saving_beside_preemption as preempting_to_save
from tests.slurm import test_preemption as whole
from tests.slurm import test_preemption_beside_outages as outages_of_preempting
from tests.slurm import test_preemption_beside_reservations as reserved_and_preempting
from tests.slurm import test_reservations_properties as reserving
from tests.slurm import test_suspension as suspended
from tests.slurm import test_topology_beside_rules as on_topologies
from tests.slurm.engine_cases import Case, cases
from tests.slurm.limit_cases import LimitedCase, limited_cases
from tests.slurm.powered_cases import keys_of, models
from tests.slurm.test_het_properties import het_cases
from tests.slurm.test_power_saving import powered_cases
from tests.slurm.test_power_saving_beside_het_jobs import powered as powered_het_jobs
from tests.slurm.test_power_saving_beside_preemption import with_power, with_steps
from tests.slurm.test_power_saving_beside_topology import whole as powered_on_switches
from tests.slurm.test_preemption import Preempting, preempting, preempting_by_qos
from tests.slurm.test_preemption_beside_outages import Struck, struck
from tests.slurm.test_preemption_beside_reservations import Reserved, reserved
from tests.slurm.test_reservations_properties import reserved_cases
from tests.slurm.test_suspension import suspending
from tests.slurm.test_topology_beside_rules import Limited, limited
from tests.slurm.test_topology_beside_rules import Preempting as PreemptingOnSwitches
from tests.slurm.test_topology_beside_rules import preempting as preempting_on_switches
from tests.slurm.topology_cases import OnSwitches, Site, asked_by, on_switches

pytestmark = pytest.mark.interpreted

CORES = 4
COLUMNS = ("component_id", "state", "start_time", "end_time", "module", "partition")
IF_THERE = ("node_list", "leaves", "hops", "suspended", "suspended_time", "eligible_time", "wait_dependency")
OF_RUNS = ("component_id", "run", "state", "start_time", "end_time", "lost_s", "node_list", "suspended")

Weights = tuple[int, int]


def same(play: Callable[[], Any], module: ModuleType, weights: Weights | None = None) -> None:
    """Play a case as it is, and with its jobs exclusive where nodes are shared: nothing differs.

    ``module`` is the one whose ``simulate`` the case is played by; ``weights`` are those of the node sets.
    """
    alone, exclusive = (_played(play, module, shared, weights) for shared in (False, True))
    assert_equal(alone.components, exclusive.components, (*COLUMNS, *IF_THERE))
    assert_equal(alone.runs, exclusive.runs, OF_RUNS)


def assert_equal(one: pd.DataFrame, other: pd.DataFrame, names: tuple[str, ...]) -> None:
    """Compare the columns of these names that there are."""
    columns = [name for name in names if name in one]
    pd.testing.assert_frame_equal(one[columns], other[columns])


def _played(play: Callable[[], Any], module: ModuleType, shared: bool, weights: Weights | None) -> Result:
    """Have the case played with more cores in each node, whose module is ``shared`` or is not."""
    made: list[Result] = []

    def instead(system: System, workload: Workload, policy: Policy, **more: Any) -> Result:
        keys = system.to_dict()
        for one in keys["modules"]:
            one |= {"cores_per_node": CORES, "shared": shared}
            for part, weight in zip(one["node_sets"], weights or (1, 1), strict=True):
                part |= {"weight": weight, "cores_per_node": CORES}
        if shared:
            columns = {str(name): workload.table[name] for name in workload.table}
            workload = Workload.from_columns(**columns | {"exclusive": [1] * len(workload.table)})
        made.append(simulate(System.from_dict(keys), workload, policy, **more))
        return made[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "simulate", instead)
        play()
    return made[0]


# -- sites without preemption


@examples(30)
@given(cases(), st.tuples(st.integers(1, 3), st.integers(1, 3)), st.booleans())
def test_tiers_arrays_and_weights(case: Case, weights: tuple[int, int], in_plan: bool) -> None:
    """The node sets of each module weigh differently; what runs stands in the plan, or does not."""
    case = case.but(bf_running_job_reserve=in_plan)
    same(lambda: engine_cases.played(case), engine_cases, weights)


def goes_by_what_jobs_asked(optional: bool, lie: Site, jobs: Any) -> bool:
    """Not a dragonfly of which Slurm forgets at the first try that a job asks for several leaves."""
    return not (optional and lie.dragonfly) or all(job.switches <= 1 for job in jobs)


@examples(30)
@given(on_switches())
def test_a_topology(found: OnSwitches) -> None:
    assume(found.case.jobs and goes_by_what_jobs_asked(found.optional, found.site, found.case.jobs))
    same(lambda: topology_cases.played(found), topology_cases, found.weights)


@examples(30)
@given(het_cases())
def test_heterogeneous_jobs(case: Case) -> None:
    same(lambda: engine_cases.played(case), engine_cases)


@examples(30)
@given(limited_cases())
def test_limits(case: LimitedCase) -> None:
    same(lambda: limit_cases.limited_simulation(case), limit_cases)


@examples(30)
@given(limited())
def test_limits_of_nodes_beside_a_topology(one: Limited) -> None:
    asked = asked_by(one.limited.case.jobs)
    keys: dict[str, Any] = {"max_switch_wait": one.max_switch_wait, "TopologyParam": one.lie.words()}
    same(lambda: limit_cases.limited_simulation(one.limited, one.lie.keys(), asked, **keys), limit_cases)


@examples(30)
@given(powered_cases())
def test_power_saving(drawn: tuple[Case, Power, list[str]]) -> None:
    same(lambda: powered.play(*drawn), powered)


@examples(30)
@given(powered_het_jobs())
def test_power_saving_beside_heterogeneous_jobs(drawn: tuple[Case, Power, list[str]]) -> None:
    same(lambda: powered.play(*drawn), powered)


@examples(30)
@given(powered_on_switches())
def test_power_saving_beside_a_topology(drawn: tuple[OnSwitches, Power, list[str]]) -> None:
    found, power, words = drawn
    assume(found.case.jobs and goes_by_what_jobs_asked(found.optional, found.site, found.case.jobs))
    given_models = models(*found.case.modules, boot=power.boot, stop=power.stop)
    keys = keys_of(power, words)
    same(lambda: topology_cases.played(found, given_models, **keys), topology_cases, found.weights)


def same_beside_reservations(case: Case, made: Any, done: Any) -> None:
    """Where the reservations are such as stand when the run begins, or are made during it."""
    _, stand = reserving.told(case, made, done)
    made = tuple(one for one in made if one.at is not None or one.name in stand)
    done = tuple(one for one in done if one.name in {one.name for one in made})
    assume(made)
    same(lambda: reserving.played(case, made, done), reserving)


@st.composite
def reserved_het_jobs(draw: st.DrawFn) -> Any:
    """Two jobs in turn are components of one, which fit beside one another; no reservation draws jobs."""
    case, made, done = draw(reserved_cases())
    assume(not any("MAGNETIC" in one.flags for one in made))
    jobs = list(case.jobs)
    for at in range(0, len(jobs) - 1, 2):
        head, other = jobs[at : at + 2]
        if draw(st.booleans()) and head.nodes + other.nodes <= sum(case.modules["m"]):
            alike = {"submit": head.submit, "limit": head.limit, "user": head.user}
            jobs[at] = replace(head, het=head.id)
            jobs[at + 1] = replace(other, het=head.id, reservation=head.reservation, **alike)
    return replace(case, jobs=tuple(jobs)), made, done


@examples(30)
@given(reserved_het_jobs())
def test_heterogeneous_jobs_beside_advance_reservations(drawn: Any) -> None:
    same_beside_reservations(*drawn)


@examples(30)
@given(reserved_cases())
def test_advance_reservations(drawn: Any) -> None:
    same_beside_reservations(*drawn)


# -- preemption


def nodes_of(site: Preempting) -> int:
    return sum(site.case.modules["m"])


@examples(30)
@given(preempting_by_qos(), st.booleans())
def test_preemption(drawn: tuple[Preempting, dict[str, PreemptQos]], by_qos: bool) -> None:
    """REQUEUE, CANCEL and grace, by tiers of partitions and by QOS."""
    one, qos = drawn
    columns = {"qos": [job.qos for job in one.case.jobs]}
    keys: dict[str, Any] = {"PreemptType": "preempt/qos"} if by_qos else {}
    keys |= {"qos": {name: whole.keys_of(its) for name, its in qos.items()}}
    same(lambda: whole.played(one, columns, **keys), whole)


def tiers_apart(one: Preempting) -> Preempting:
    """Each partition has a tier of its own.

    Jobs of two partitions of one tier may have cores in common where nodes are shared: the last step of
    ``_job_test`` (job_test.c of 22.05, line 1264) looks at the rows of one partition only.
    """
    queues = tuple(replace(queue, tier=tier) for tier, queue in enumerate(one.case.queues, start=1))
    return replace(one, case=replace(one.case, queues=queues))


@examples(30)
@given(suspending().map(tiers_apart))
def test_suspension(one: Preempting) -> None:
    assume(not suspended.plain(one).is_unclear)
    same(lambda: whole.played(one), whole)


@examples(30)
@given(struck(preempting(), nodes_of) | struck(suspending().map(tiers_apart), nodes_of))
def test_preemption_beside_events_of_nodes(one: Struck) -> None:
    same(lambda: outages_of_preempting.played(one, whole), whole)


@examples(30)
@given(struck(suspending().map(tiers_apart), nodes_of))
def test_suspension_beside_events_that_do_not_name_their_nodes(one: Struck) -> None:
    same(lambda: whole.played(outages_of_preempting.by_number(one)), whole)


def test_who_is_suspended_where_nodes_are_shared_ends_with_a_node() -> None:
    """Job 1 has all three nodes from 4 on, job 2 two of them from 40 on; at 50 the other one goes down."""
    one = outages_of_preempting.site(Event(50, frozenset({2}), down=True, end=120), "SUSPEND,GANG")
    result = _played(lambda: outages_of_preempting.played(one, whole), whole, True, None)
    failed = result.runs[result.runs["state"] == "NODE_FAIL"]
    assert failed[["component_id", "end_time", "lost_s"]].values.tolist() == [[1, 50, 36]]
    assert result.components[["start_time", "end_time"]].values.tolist()[1] == [40, 60]


@examples(30)
@given(reserved(preempting(), nodes_of))
def test_preemption_beside_advance_reservations(one: Reserved) -> None:
    module = reserved_and_preempting
    slurm = module.told(one, whole.config_of(one.site), PreemptingReservedSlurm)
    one = module.standing(one, slurm.stood)
    same(lambda: module.played(one, whole), whole)


@examples(30)
@given(preempting_on_switches(preempting(), nodes_of))
def test_preemption_beside_a_topology(one: PreemptingOnSwitches) -> None:
    one = on_topologies.held(one)
    assume(goes_by_what_jobs_asked(one.optional, one.lie, one.site.case.jobs))
    same(lambda: on_topologies.played(one, whole), whole)


@examples(30)
@given(with_power(with_steps(preempting()), nodes_of))
def test_preemption_beside_power_saving(drawn: tuple[Preempting, Power, list[str]]) -> None:
    one, power, words = drawn
    power = replace(power, stop=power.suspend_timeout)
    keys = preempting_to_save.keys(power, words)
    same(lambda: whole.played(one, **keys), whole)
