"""Topology under Slurm beside preemption and limits of nodes: the engine is the plain model, and cases."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, Workload, simulate
from tests.conftest import examples
from tests.oracle import plain_cons_tres_choice
from tests.oracle.plain_cons_tres import place
from tests.oracle.plain_cons_tres_records import SharedJob
from tests.oracle.plain_cons_tres_room import Room
from tests.oracle.plain_preemption_records import PREEMPTED, PreemptRules
from tests.oracle.plain_slurm_records import Job
from tests.oracle.plain_topology import TopologyAttempt, choose
from tests.oracle.plain_topology_sites import (
    LimitedTopologySlurm,
    PreemptingTopologySharedSlurm,
    PreemptingTopologySlurm,
)
from tests.slurm import test_preemption as whole
from tests.slurm import test_preemption_shared as shared
from tests.slurm.engine_cases import fates, plain
from tests.slurm.limit_cases import LimitedCase, limited_cases, limited_fates, limited_simulation
from tests.slurm.shared_cases import ANY_ASKS, NODES, fates_told, possible
from tests.slurm.shared_cases import fates as shared_fates
from tests.slurm.test_preemption import UNTIL_S
from tests.slurm.test_preemption_beside_outages import Site as PlayedSite
from tests.slurm.test_shared_properties import expanded
from tests.slurm.topology_cases import ASKED, Site, asked_by, asking, numbers_of, sites

pytestmark = pytest.mark.interpreted


class Preempting(NamedTuple):
    """A site with preemption, where its nodes lie, and how long jobs wait for few leaves."""

    site: Any
    lie: Site
    max_switch_wait: int
    optional: bool = False

    @property
    def keys(self) -> dict[str, Any]:
        words = ["TopoOptional"] * self.optional + self.lie.words()
        return {"max_switch_wait": self.max_switch_wait, "TopologyParam": words}

    def tree(self, nodes: int) -> Any:
        return self.lie.tree({("m", node): node for node in range(nodes)})


@st.composite
def preempting(draw: st.DrawFn, of: st.SearchStrategy[Any], nodes: Any) -> Preempting:
    site = draw(of)
    jobs = [asking(job, *draw(ASKED)) for job in site.case.jobs]
    case = replace(site.case, jobs=type(site.case.jobs)(jobs))
    lie = draw(sites({"m": nodes(site)}))
    return Preempting(replace(site, case=case), lie, draw(st.sampled_from([300, 60, 0])), draw(st.booleans()))


def played(one: Preempting, module: Any) -> Result:
    site = one.site
    system = System.from_dict(site.system.to_dict() | {"topology": one.lie.keys()})
    as_told = PlayedSite(site.case, site.rules, site.requeue_delay_s, system)
    made: Result = module.played(as_told, asked_by(site.case.jobs), **one.keys)
    return made


def nodes_of(site: Any) -> int:
    return sum(site.case.modules["m"])


# -- preemption


def held(one: Preempting) -> Preempting:
    """Without the jobs for which no switch has enough nodes: Slurm rejects them."""
    size, partitions = nodes_of(one.site), whole.config_of(one.site).partitions
    tree, weights = one.tree(size), dict.fromkeys(range(size), 1)

    def is_held(job: Job) -> bool:
        own = [set(partitions[part].nodes) for part in job.partitions]
        asks = not one.optional or job.switches > 0
        return not asks or all(choose(tree, job.nodes, nodes, weights) for nodes in own)

    jobs = tuple(job for job in one.site.case.jobs if is_held(job))
    assume(jobs)
    return one._replace(site=replace(one.site, case=replace(one.site.case, jobs=jobs)))


@given(preempting(whole.preempting(), nodes_of))
@examples(150)
def test_on_whole_nodes_the_engine_is_the_plain_model(one: Preempting) -> None:
    one = held(one)
    rules = PreemptRules(partitions=one.site.groups, **one.site.rules)
    size = nodes_of(one.site)
    slurm = PreemptingTopologySlurm(
        whole.config_of(one.site),
        deepcopy(list(one.site.case.jobs)),
        [],
        rules,
        tree=one.tree(size),
        weights=dict.fromkeys(range(size), 1),
        optional=one.optional,
    )
    slurm.most_wait = one.max_switch_wait
    slurm.run(UNTIL_S)
    result = played(one, whole)
    assert fates(result) == {job.id: (job.state, job.start) for job in slurm.jobs}
    assert result.metrics["counts"].get("requeued", 0) == whole.lost_runs(slurm)


@given(preempting(shared.preempting(NODES, ANY_ASKS), lambda site: len(site.case.nodes)))
@examples(100)
def test_where_jobs_share_nodes_it_is_the_plain_model_too(one: Preempting) -> None:
    one = one._replace(site=replace(one.site, case=possible(one.site.case)), optional=False)
    assume(one.site.case.jobs)
    with pytest.MonkeyPatch.context() as patch:
        slurm, empty = _shared(one, patch), Room(one.site.case.nodes, one.site.case.settings)

        def ever_fits(job: SharedJob) -> bool:  # others Slurm refuses at submission
            nodes = slurm.c.partitions
            return all(place(empty, slurm.needs(job, p), set(nodes[p].nodes)) for p in job.partitions)

        jobs = [job for job in one.site.case.jobs if ever_fits(job)]
        assume(jobs)
        one = one._replace(site=replace(one.site, case=replace(one.site.case, jobs=jobs)))
        slurm = _shared(one, patch)
        slurm.run(UNTIL_S)
    result = played(one, shared)
    assert {i: expanded(fate) for i, fate in shared_fates(result).items()} == fates_told(slurm)
    assert shared.lost_runs(result) == sorted(run for run in slurm.runs if run.why == PREEMPTED)


def _shared(one: Preempting, patch: pytest.MonkeyPatch) -> PreemptingTopologySharedSlurm:
    case, tree = one.site.case, one.tree(len(one.site.case.nodes))

    class OnTree(TopologyAttempt):
        pass

    OnTree.tree = tree
    patch.setattr(plain_cons_tres_choice, "Attempt", OnTree)
    rules = PreemptRules(partitions=one.site.groups, **one.site.rules)
    slurm = PreemptingTopologySharedSlurm(
        shared.config_of(one.site), deepcopy(case.jobs), [], rules, nodes=case.nodes, settings=case.settings
    )
    slurm.tree, slurm.most_wait = tree, one.max_switch_wait
    return slurm


# -- limits of numbers of nodes


class Limited(NamedTuple):
    """A site with limits, and where its nodes lie."""

    limited: LimitedCase
    lie: Site
    max_switch_wait: int


@st.composite
def limited(draw: st.DrawFn) -> Limited:
    """Some have a limit of nodes, without which nodes weigh what is stated, and no other."""
    one = draw(limited_cases()).without_limits()
    for name in draw(st.lists(st.sampled_from(["root", "a", "b", "a/u"]), min_size=1, unique=True)):
        limits = one.database.associations[name].limits
        limits.grp_tres = limits.grp_tres | {"node": draw(st.integers(2, 6))}
    jobs = [asking(job, *draw(ASKED)) for job in one.case.jobs]
    lie = draw(sites({name: sum(two) for name, two in one.case.modules.items()}))
    one = replace(one, case=replace(one.case, jobs=tuple(jobs)))
    return Limited(one, lie, draw(st.sampled_from([300, 60, 0])))


@given(limited())
@examples(100)
def test_with_limits_of_nodes_the_engine_is_the_plain_model(one: Limited) -> None:
    numbers = numbers_of(one.limited.case)
    tree, weights = one.lie.tree(numbers), dict.fromkeys(numbers.values(), 0)
    partitions = plain(one.limited.case).c.partitions

    def held(job: Job) -> bool:  # by some switch; others Slurm rejects
        own = [set(partitions[part].nodes) for part in job.partitions]
        return all(choose(tree, job.nodes, nodes, weights) for nodes in own)

    assume(all(held(job) for job in one.limited.case.jobs))

    class Model(LimitedTopologySlurm):
        most_wait = one.max_switch_wait

    theirs = limited_fates(one.limited, Model, tree=tree, weights=weights)
    asked = asked_by(one.limited.case.jobs)
    keys = {"max_switch_wait": one.max_switch_wait, "TopologyParam": one.lie.words()}
    ours = limited_simulation(one.limited, one.lie.keys(), asked, **keys)
    assert fates(ours) == theirs


# -- worked out by hand


def _named(result: Result, *columns: str) -> dict[str, Any]:
    rows = result.components.set_index("name")[list(columns)].itertuples(name=None)
    return {name: tuple(rest) if len(rest) > 1 else rest[0] for name, *rest in rows}


def _run(jobs: dict[str, dict[str, Any]], *, shared: bool, **slurm: Any) -> Result:
    """Two leaves of four nodes, in partitions low and high; jobs come a second from each other."""
    module = {"name": "m", "nodes": 8} | ({"shared": True, "cores_per_node": 4} if shared else {})
    partitions = [{"name": name, "module": "m", "priority": tier} for name, tier in (("low", 1), ("high", 2))]
    keys = {"modules": [module], "partitions": partitions, "topology": {"levels": [4]}}
    workload = Workload.from_columns(
        name=list(jobs),
        submit_time=list(range(len(jobs))),
        nodes=[job["nodes"] for job in jobs.values()],
        run_time=[job.get("run_time", 600) for job in jobs.values()],
        time_limit=[900] * len(jobs),
        partition=[job.get("partition", "low") for job in jobs.values()],
        switches=[job.get("switches", -1) for job in jobs.values()],
        cores=[job.get("cores", -1) for job in jobs.values()],
        user=["u"] * len(jobs),
        account=[job.get("account", "p") for job in jobs.values()],
    )
    result = simulate(System.from_dict(keys), workload, Policy(name="slurm", backfill="slurm", slurm=slurm))
    result.check()
    return result


BY_TIERS = {"PreemptType": "preempt/partition_prio", "PreemptMode": "CANCEL"}


@pytest.mark.parametrize("shared", [False, True])
def test_jobs_go_until_one_leaf_is_free(shared: bool) -> None:
    """a and b have two nodes each of leaf 0, c and d of leaf 1. u wants three nodes on one leaf. a and b are
    thought away first: leaf 0 is free. The order is then improved: b alone leaves two nodes, so both go."""
    jobs = {name: {"nodes": 2} for name in "abcd"} | {"u": {"nodes": 3, "partition": "high", "switches": 1}}
    result = _run(jobs, shared=shared, **BY_TIERS)
    assert _named(result, "state") == {
        **dict.fromkeys("ab", "PREEMPTED"),
        **dict.fromkeys("cdu", "COMPLETED"),
    }
    assert _named(result, "node_list", "leaves")["u"] == ("0-2", 1)


def test_nobody_goes_for_a_job_that_must_wait_for_fewer_leaves() -> None:
    """high has one node of each leaf, which stay. u wants four nodes on one leaf: on none there are so many,
    whoever goes, so that all stay until it has waited 300 s and takes nodes of both."""
    one, three = {"nodes": 1, "partition": "high"}, {"nodes": 3}
    jobs = {"a": three, "x": one, "b": three, "y": one}
    jobs["u"] = {"nodes": 4, "partition": "high", "switches": 1}
    result = _run(jobs, shared=False, **BY_TIERS)
    found = _named(result, "state", "start_time", "end_time", "node_list")
    assert [found[name][3] for name in "axby"] == ["0-2", "3", "5-7", "4"]
    assert {found[name][0] for name in "ab"} == {"PREEMPTED"}
    assert all(300 <= found[name][2] <= 370 for name in "ab")


@pytest.mark.parametrize(("most", "node"), [({}, "7"), ({"GrpTRES": {"node": 6}}, "0")])
def test_a_node_that_counts_for_a_limit_comes_before_the_fuller_leaf(most: dict[str, Any], node: str) -> None:
    """Nodes of 4 cores. a of p has half of node 0, c of q nodes 1 and 2, e of q three nodes of leaf 1. d of p
    wants half a node: by location the last of leaf 1, but with a limit of nodes that on which a counts."""
    accounts = {name: {"limits": most, "users": {"u": {}}} for name in "pq"}
    jobs = {
        "a": {"nodes": 1, "cores": 2, "account": "p"},
        "c": {"nodes": 2, "cores": 4, "account": "q"},
        "e": {"nodes": 3, "cores": 4, "account": "q"},
        "d": {"nodes": 1, "cores": 2, "account": "p"},
    }
    result = _run(jobs, shared=True, accounts=accounts, AccountingStorageEnforce="limits")
    assert _named(result, "node_list") == {"a": "0", "c": "1-2", "e": "4-6", "d": node}
