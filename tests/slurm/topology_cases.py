"""Random sites with a topology under Slurm, played by the engine and by the plain model."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, Workload, simulate
from tests.oracle import plain_cons_tres_choice
from tests.oracle.plain_cons_tres import place
from tests.oracle.plain_cons_tres_room import Room
from tests.oracle.plain_slurm_records import Config
from tests.oracle.plain_topology import (
    Blocks,
    Dragonfly,
    Switch,
    TopologyAttempt,
    TopologySharedSlurm,
    TopologySlurm,
    Tree,
    choose,
)
from tests.slurm import engine_cases, shared_cases
from tests.slurm.engine_cases import Case, cases, configure
from tests.slurm.shared_cases import SharedCase
from tests.slurm_oracle.shared_engine import settings_of

UNTIL_S = 6000


@dataclass(frozen=True)
class Site:
    """Leaves as lists of (module, node); switches above by place among all; sizes of blocks."""

    leaves: list[list[tuple[str, int]]]
    above: list[list[int]]
    first: bool  # those above stand before the leaves in the table
    sizes: tuple[int, ...] = ()
    dragonfly: bool = False

    @property
    def order(self) -> list[int]:
        """The places of the table, leaves numbered before those above."""
        leaves, count = len(self.leaves), len(self.leaves) + len(self.above)
        return [*range(leaves, count), *range(leaves)] if self.first else list(range(count))

    def keys(self) -> dict[str, Any]:
        """As a system file has it."""
        listed = [
            {"name": f"s{i}", "nodes": [f"{module}[{node}]" for module, node in leaf]}
            for i, leaf in enumerate(self.leaves)
        ]
        if self.sizes:
            return {"type": "block", "blocks": listed, "block_sizes": list(self.sizes)}
        first = len(self.leaves)
        listed += [
            {"name": f"s{first + i}", "switches": [f"s{one}" for one in below]}
            for i, below in enumerate(self.above)
        ]
        return {"switches": [listed[i] for i in self.order]}

    def words(self) -> list[str]:
        """Of TopologyParam."""
        return ["Dragonfly"] * self.dragonfly

    def tree(self, number: dict[tuple[str, int], int]) -> Tree:
        """As the plain model has it; ``number`` of a node of a module."""
        made = [Switch(f"s{i}", {number[node] for node in leaf}) for i, leaf in enumerate(self.leaves)]
        if self.sizes:
            return Blocks(made, list(self.sizes))
        for below in self.above:
            made.append(Switch(f"s{len(made)}", below=[made[i] for i in below]))
        return (Dragonfly if self.dragonfly else Tree)([made[i] for i in self.order])


@st.composite
def sites(
    draw: st.DrawFn,
    sizes: dict[str, int],
    *,
    kinds: tuple[str, ...] = ("tree", "block", "dragonfly"),
    under_one: bool = False,
) -> Site:
    """Nodes of all modules on leaves, in any order; a forest above, in which leaves may be at any height.

    ``under_one``: it is one tree.
    """
    kind = draw(st.sampled_from(("tree",) if under_one else kinds))
    nodes = [(module, node) for module, count in sizes.items() for node in range(count)]
    if draw(st.booleans()):
        nodes = draw(st.permutations(nodes))
    leaves, at = [], 0
    while at < len(nodes):
        step = draw(st.integers(1, 3))
        leaves.append(list(nodes[at : at + step]))
        at += step
    if kind == "block":
        base = draw(st.integers(1, 3))
        powers = draw(st.lists(st.integers(1, 2), unique=True))
        return Site(leaves, [], first=False, sizes=(base, *(base << power for power in sorted(powers))))
    above, roots = [], list(range(len(leaves)))
    for _ in range(draw(st.integers(0, 3))):
        below = draw(st.lists(st.sampled_from(roots), min_size=1, unique=True))
        roots = [one for one in roots if one not in below] + [len(leaves) + len(above)]
        above.append(below)
    if under_one or draw(st.integers(0, 3)):  # one above all
        above.append(roots)
    return Site(leaves, above, first=draw(st.booleans()), dragonfly=kind == "dragonfly")


@dataclass(frozen=True)
class OnSwitches:
    """A case with a topology; ``weights`` of the two node sets."""

    case: Case
    site: Site
    weights: tuple[int, int] = (1, 1)
    optional: bool = False
    max_switch_wait: int = 300


ASKED = st.tuples(st.sampled_from([-1, -1, 0, 1, 1, 2]), st.sampled_from([-1, 0, 30, 100, 1000]))


def asking(job: Any, few: int, wait: int) -> Any:
    """A job that asks for few leaves, and waits so long for them."""
    return replace(job, switches=few, switch_wait=wait)


def asked_by(jobs: Any) -> dict[str, list[int]]:
    """What jobs ask of the topology, as columns of a trace."""
    return {"switches": [job.switches for job in jobs], "switch_wait": [job.switch_wait for job in jobs]}


@st.composite
def on_switches(draw: st.DrawFn) -> OnSwitches:
    case = draw(cases())
    site = draw(sites({name: sum(two) for name, two in case.modules.items()}))
    jobs = [asking(job, *draw(ASKED)) for job in case.jobs]
    optional = draw(st.sampled_from([False, False, True]))
    weights = (1, 1) if optional else draw(st.sampled_from([(1, 1), (1, 1), (1, 2), (5, 2)]))
    wait = draw(st.sampled_from([300, 60, 0]))
    found = OnSwitches(replace(case, jobs=tuple(jobs)), site, weights, optional, wait)
    return _possible(found)


def _possible(found: OnSwitches) -> OnSwitches:
    """Without the jobs that no switch holds: these Slurm rejects."""
    slurm = plain(found)
    kept = []
    for job in found.case.jobs:
        own = [set(slurm.c.partitions[part].nodes) for part in job.partitions]
        if (found.optional and job.switches <= 0) or all(
            choose(slurm.tree, job.nodes, nodes, slurm.weights) for nodes in own
        ):
            kept.append(job)
    known = {job.id for job in kept}
    kept = [
        replace(job, depends=(job.depends[0], [t for t in job.depends[1] if known.issuperset(t[1])]))
        for job in kept
    ]
    return replace(found, case=replace(found.case, jobs=tuple(kept)))


def system_of(found: OnSwitches) -> System:
    """With the weights of the two node sets of each module."""
    keys = engine_cases.system_of(found.case).to_dict()
    for module in keys["modules"]:
        for one, weight in zip(module["node_sets"], found.weights, strict=True):
            one["weight"] = weight
    return System.from_dict(keys | {"topology": found.site.keys()})


def policy_of(keys: dict[str, Any], optional: bool, max_switch_wait: int, dragonfly: bool = False) -> Policy:
    words = ["TopoOptional"] * optional + ["Dragonfly"] * dragonfly
    given = keys | {"TopologyParam": words, "max_switch_wait": max_switch_wait}
    return Policy(name="slurm", backfill="slurm", slurm=given)


def _with_switches(workload: Workload, jobs: Any) -> Workload:
    said = {name: workload.table[name] for name in workload.table} | asked_by(jobs)
    return Workload.from_columns(**said)


def played(found: OnSwitches, given: Any = None, **more: Any) -> Result:
    """What the engine makes of it; ``given`` are models, ``more`` keys of policy.slurm."""
    case = found.case
    keys = {"starts_before_s": case.begins_s} | case.keys | more
    policy = policy_of(keys, found.optional, found.max_switch_wait, found.site.dragonfly)
    workload = engine_cases.workload_of(case, **asked_by(case.jobs))
    result = simulate(system_of(found), workload, policy, models=given)
    result.check()
    return result


def numbers_of(case: Case) -> dict[tuple[str, int], int]:
    """Of each node of a module, its number in the plain model."""
    numbers, first = {}, 0
    for name, sizes in case.modules.items():
        numbers |= {(name, node): first + node for node in range(sum(sizes))}
        first += sum(sizes) + 1
    return numbers


def plain(found: OnSwitches, kind: type[TopologySlurm] = TopologySlurm, *more: Any) -> TopologySlurm:
    """The plain model, or one ``kind`` that takes ``more`` behind its jobs."""
    case, numbers = found.case, numbers_of(found.case)
    config = Config(
        engine_cases._partitions(case), nodes=sum(map(sum, case.modules.values())), licences=case.licences
    )
    configure(config, case.keys, min((job.submit for job in case.jobs), default=0) - case.begins_s)
    config.multifactor = case.keys.get("PriorityType") == "priority/multifactor"
    if case.keys.get("AccountingStorageType") == "accounting_storage/none":
        config.calc_period = 10**9
    weights = {
        number: found.weights[node >= case.modules[module][0]] for (module, node), number in numbers.items()
    }
    slurm = kind(
        config,
        deepcopy(list(case.jobs)),
        *more,
        tree=found.site.tree(numbers),
        weights=weights,
        optional=found.optional,
    )
    slurm.most_wait = found.max_switch_wait
    return slurm


Had = dict[int, tuple[str, int | None, frozenset[int]]]


def had(found: OnSwitches, result: Result) -> Had:
    """State, start, module and nodes of each job."""
    names = ["component_id", "state", "start_time", "module", "node_list"]
    numbers, seen = numbers_of(found.case), dict[int, Any]()
    for i, state, start, module, text in result.components[names].itertuples(index=False):
        nodes = frozenset(numbers[str(module), node] for node in listed(text))
        seen[int(i)] = (str(state), None if start < 0 else int(start), nodes)
    return seen


def listed(text: str) -> list[int]:
    parts = [item.split("-") for item in filter(None, str(text).split(","))]
    return [node for part in parts for node in range(int(part[0]), int(part[-1]) + 1)]


def told(found: OnSwitches) -> Had:
    """What the plain model makes of it."""
    slurm = plain(found)
    slurm.run(UNTIL_S)
    return had_by(slurm)


def had_by(slurm: TopologySlurm) -> Had:
    """As of ``had``."""
    where = {job.id: frozenset(job.where if job.start is not None else ()) for job in slurm.jobs}
    return {job.id: (job.state, job.start, where[job.id]) for job in slurm.jobs}


# -------------------------------------------------------------------- shared nodes


@dataclass(frozen=True)
class SharedOnSwitches:
    case: SharedCase
    site: Site
    max_switch_wait: int = 300


@st.composite
def shared_on_switches(draw: st.DrawFn, *, wherever: bool = False, **of: Any) -> SharedOnSwitches:
    """``wherever``: all nodes are under one switch, and hardly any job asks for few leaves."""
    case = draw(shared_cases.shared_cases(**of))
    site = draw(sites({"m": len(case.nodes)}, under_one=wherever))
    few = st.sampled_from([(-1, -1)] * 9 + [(1, 100)]) if wherever else ASKED
    jobs = [asking(job, *draw(few)) for job in case.jobs]
    return SharedOnSwitches(replace(case, jobs=jobs), site, draw(st.sampled_from([300, 60])))


def played_shared(found: SharedOnSwitches, given: Any = None, **more: Any) -> Result:
    """What the engine makes of it; ``given`` are models, ``more`` keys of policy.slurm."""
    case = found.case
    keys = {"starts_before_s": case.begins_s} | case.keys | settings_of(case.settings) | more
    system = shared_cases.system_of(case.nodes, case.partitions)
    system = System.from_dict(system.to_dict() | {"topology": found.site.keys()})
    workload = _with_switches(shared_cases.workload_of(case.jobs), case.jobs)
    policy = policy_of(keys, False, found.max_switch_wait, found.site.dragonfly)
    result = simulate(system, workload, policy, models=given)
    result.check()
    return result


def plain_shared(
    found: SharedOnSwitches,
    patch: pytest.MonkeyPatch,
    kind: type[TopologySharedSlurm] = TopologySharedSlurm,
    *more: Any,
) -> TopologySharedSlurm:
    """The plain model, or one ``kind`` that takes ``more`` behind its jobs."""
    case, tree = found.case, found.site.tree({("m", i): i for i in range(len(found.case.nodes))})

    class OnTree(TopologyAttempt):
        pass

    OnTree.tree = tree
    patch.setattr(plain_cons_tres_choice, "Attempt", OnTree)
    config = Config(case.partitions)
    configure(config, case.keys, min(job.submit for job in case.jobs) - case.begins_s)
    slurm = kind(config, deepcopy(case.jobs), *more, nodes=case.nodes, settings=case.settings)
    slurm.tree, slurm.most_wait = tree, found.max_switch_wait
    return slurm


def that_ever_fit(found: SharedOnSwitches, patch: pytest.MonkeyPatch) -> SharedOnSwitches:
    """Without the jobs that Slurm refuses at submission."""
    slurm, empty = plain_shared(found, patch), Room(found.case.nodes, found.case.settings)
    nodes = {name: set(part.nodes) for name, part in slurm.c.partitions.items()}
    jobs = [
        job
        for job in found.case.jobs
        if any(place(empty, slurm.needs(job, part), nodes[part]) for part in job.partitions)
    ]
    return replace(found, case=replace(found.case, jobs=jobs))
