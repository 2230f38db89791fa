"""Jobs that take longer whose nodes lie apart, under Slurm: the plain model, and cases worked out by hand."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, Simulation, System, Workload, simulate
from scheduler_sim.errors import InputError
from tests.conftest import examples
from tests.oracle.plain_cons_tres_slurm import SharedSlurm
from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import Job
from tests.shared_nodes.test_by_leaf import slower
from tests.slurm import engine_cases, shared_cases
from tests.slurm.engine_cases import Case, cases
from tests.slurm.shared_cases import SharedCase, possible
from tests.slurm.topology_cases import Site, sites
from tests.slurm_oracle.shared_engine import settings_of

pytestmark = pytest.mark.interpreted

ANYWHERE = {"TopologyPlugin": "topology/none"}
HALF = slower(by="leaves", percent=50)


class Spread:
    """A plain model in which each leaf beyond the first costs half of the run time, rounded up."""

    leaves: list[set[int]]

    def _launch(self, job: Job, now: int, nodes: set[int], by: str) -> None:
        own = self.__dict__.setdefault("own", {}).setdefault(job.id, job.runtime)
        apart = max(sum(bool(leaf & nodes) for leaf in self.leaves) - 1, 0)
        job.runtime = own + -(-own * apart // 2)
        super()._launch(job, now, nodes, by)


class SpreadSlurm(Spread, Slurm):
    """Of whole nodes."""


class SpreadSharedSlurm(Spread, SharedSlurm):
    """Of nodes that jobs share."""


@st.composite
def whole(draw: st.DrawFn) -> tuple[Case, Site]:
    case = draw(cases())
    return case, draw(sites({name: sum(two) for name, two in case.modules.items()}, kinds=("tree",)))


@examples(60)
@given(whole())
def test_the_engine_is_the_plain_model(given: tuple[Case, Site]) -> None:
    case, site = given
    system = System.from_dict(engine_cases.system_of(case).to_dict() | {"topology": site.keys()})
    keys = {"starts_before_s": case.begins_s} | case.keys | ANYWHERE
    policy = Policy(backfill="slurm", slurm=keys)
    result = simulate(system, engine_cases.workload_of(case), policy, models=HALF)
    result.check()
    base = engine_cases.plain(case)
    slurm = SpreadSlurm(base.c, deepcopy(list(case.jobs)))
    numbers = engine_cases._numbers(case)
    of = {
        module: [n for (name, _), its in numbers.items() if name == module for n in its]
        for module in case.modules
    }
    slurm.leaves = [{of[module][node] for module, node in leaf} for leaf in site.leaves]
    slurm.run(engine_cases.UNTIL_S)
    assert engine_cases.fates(result) == {job.id: (job.state, job.start) for job in slurm.jobs}


@st.composite
def shared(draw: st.DrawFn) -> tuple[SharedCase, Site]:
    case = possible(draw(shared_cases.shared_cases()))
    return case, draw(sites({"m": len(case.nodes)}, kinds=("tree",)))


@examples(40)
@given(shared())
def test_so_it_is_where_jobs_share_nodes(given: tuple[SharedCase, Site]) -> None:
    case, site = given
    if not case.jobs:
        return
    system = shared_cases.system_of(case.nodes, case.partitions).to_dict()
    named = system["modules"][0]["name"]
    topology = {"switches": [_renamed(one, named) for one in site.keys()["switches"]]}
    keys = {"starts_before_s": case.begins_s} | case.keys | settings_of(case.settings) | ANYWHERE
    policy = Policy(name="slurm", backfill="slurm", slurm=keys)
    result = simulate(
        System.from_dict(system | {"topology": topology}),
        shared_cases.workload_of(case.jobs),
        policy,
        models=HALF,
    )
    result.check()
    base = shared_cases.plain(case)
    slurm = SpreadSharedSlurm(base.c, deepcopy(case.jobs), nodes=case.nodes, settings=case.settings)
    slurm.leaves = [{node for _, node in leaf} for leaf in site.leaves]
    slurm.run(shared_cases.UNTIL_S)
    ours = {i: fate[:2] for i, fate in shared_cases.fates(result).items()}
    assert ours == {i: fate[:2] for i, fate in shared_cases.fates_told(slurm).items()}


def _renamed(switch: dict[str, Any], module: str) -> dict[str, Any]:
    """With the module's name."""
    if "nodes" in switch:
        return switch | {"nodes": [one.replace("m[", f"{module}[") for one in switch["nodes"]]}
    return switch


# -------------------------------------------------------------------- by hand

FOUR = System.from_dict({"modules": [{"name": "CM", "nodes": 4}], "topology": {"levels": [2]}})
AT_ONCE = {"batch_sched_delay": 0, "bf_interval": 1, "bf_resolution": 1, "limit_check_s": 1, "KillWait": 0}


def play(jobs: Workload, models: Any, **keys: Any) -> Result:
    result = simulate(FOUR, jobs, Policy(backfill="slurm", slurm=AT_ONCE | keys), models=models)
    result.check()
    return result


def test_a_job_on_two_leaves_takes_longer_and_plans_go_by_its_limit() -> None:
    """The second has a node of each leaf: 150 s instead of 100, of 240 s that it may take. The third is
    planned for when these are over, so that the last runs for 200 s on the idle node, though it delays it.
    """
    jobs = Workload.from_columns(
        nodes=[1, 2, 3, 1],
        submit_time=[0, 1, 2, 3],
        run_time=[300, 100, 10, 200],
        time_limit=[300, 240, 60, 200],
    )
    found = play(jobs, HALF, **ANYWHERE).components
    assert found["node_list"].tolist() == ["0", "1-2", "1-3", "3"]
    assert found["start_time"].tolist() == [0, 1, 203, 3]
    assert found["run_time"].tolist() == [300, 150, 15, 200]
    by_hops = play(jobs, slower(by="hops", percent=50), **ANYWHERE).components  # from leaf to leaf: two
    assert by_hops["run_time"].tolist() == [300, 200, 20, 200]


def test_nodes_that_slurm_chooses_by_the_topology_are_on_one_leaf() -> None:
    jobs = Workload.from_columns(nodes=[1, 2], submit_time=[0, 1], run_time=[300, 100], time_limit=[300, 240])
    found = play(jobs, HALF).components
    assert found["node_list"].tolist() == ["0", "2-3"]
    assert found["run_time"].tolist() == [300, 100]


@pytest.mark.parametrize(("check_s", "end"), [(1, 185), (30, 205)])
def test_it_is_killed_at_slurms_moments(check_s: int, end: int) -> None:
    """Four nodes are two leaves: 200 s instead of 100, with a limit of 3 minutes that is over at 185. Slurm
    looks for such jobs each second; or every 30 s, 10 s before second 5 for the first time: at 175 and 205.
    """
    jobs = Workload.from_columns(nodes=[4], submit_time=[5], run_time=[100], time_limit=[180])
    found = play(jobs, slower(by="leaves", percent=100), limit_check_s=check_s, starts_before_s=10)
    assert found.components["start_time"].tolist() == [5]
    assert found.components["state"].tolist() == ["TIMEOUT"]
    assert found.components["end_time"].tolist() == [end]
    assert found.metrics["counts"]["spread_past_limit"] == 1


@pytest.mark.parametrize(("requeued", "nodes", "run_time"), [(False, "1-2", 150), (True, "0-1", 100)])
def test_a_run_that_is_done_again_takes_as_long_as_its_nodes_say(
    requeued: bool, nodes: str, run_time: int
) -> None:
    jobs = Workload.from_columns(nodes=[1, 2], submit_time=[0, 1], run_time=[20, 100], time_limit=[60, 300])
    keys = AT_ONCE | ANYWHERE | {"requeue_delay_s": 1}
    simulation = Simulation(FOUR, jobs, Policy(backfill="slurm", slurm=keys), models=HALF)
    simulation.run(until=30)
    if requeued:
        simulation.requeue(2)
    result = simulation.run()
    result.check()
    found = result.components.iloc[1]
    assert (found["node_list"], found["run_time"]) == (nodes, run_time)


def test_what_is_refused() -> None:
    het = Workload.from_columns(
        modular_job_id=[1, 1], component_id=[1, 2], nodes=[1, 1], submit_time=0, run_time=9
    )
    with pytest.raises(InputError, match="where components of heterogeneous jobs start together"):
        simulate(FOUR, het, Policy(backfill="slurm", slurm=ANYWHERE), models=HALF)
