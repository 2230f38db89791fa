"""What jobs need of nodes that they share under Slurm, and how the cores of each node stand together."""

from __future__ import annotations

from itertools import compress
from typing import Any

import numpy as np

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.engine.core.records import lengthened
from scheduler_sim.engine.engine import FullCore, Sizes, has
from scheduler_sim.engine.rules.slurm.cons_tres.state import AMONG_ABLE, ConsTresSizes
from scheduler_sim.errors import ConfigError
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.rules.shared_nodes import counted_under_slurm, offsets_of, shares_under_slurm
from scheduler_sim.simulation.rules.slurm.masks import bits, words_of
from scheduler_sim.simulation.rules.slurm.rows import core_words
from scheduler_sim.simulation.rules.slurm.schedulers import records_for
from scheduler_sim.simulation.rules.slurm.standings import accrues_limited
from scheduler_sim.simulation.rules.slurm_needs import NUMBERS, Needs
from scheduler_sim.system.module import NodeSet
from scheduler_sim.system.node_resources import GPUS
from scheduler_sim.system.shared_cores import rows_of, shares_cores
from scheduler_sim.workload.fields import DELAYED

OF_LEVELS = ("level", "mark", "able_by", "able_at")
"""Tables with a row for each level."""

LONG_AGO = -(1 << 40)
"""In ``read``: all that has changed was before."""

OF_MEMORY = ("memory_kb", "memory_per_core_kb", "memory_per_gpu_kb")
"""Columns by which a job asks for memory."""

GENERIC = ("each", "total", "per_task")
"""Tables of a need by kind of generic resource."""

OF_NEEDS = ("need", "holders", *GENERIC)
"""Tables with a row for each need."""


class ConsTres(Numbers):
    """Numbers what is needed: many ask for the same of the same nodes."""

    part = "cons_tres"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = shares_under_slurm(run.system, run.policy)
        self._numbers: dict[bytes, int] = {}
        self._levels: dict[bytes, int] = {}
        self._families: dict[bytes, int] = {}
        self._memory = False

    def describe(self, jobs: Jobs) -> Ints | None:
        """Number what placements need."""
        if not self.needed:
            return None
        _refuse(self.run)
        needs: Needs = jobs.needs
        self._memory |= any(bool((jobs.workload.columns[name] >= 0).any()) for name in OF_MEMORY)
        demands = jobs.placements.of_nodes
        kind = jobs.placements.module if demands is None else demands.kind
        level = numbered_rows(self._levels, np.column_stack((needs.of_nodes, kind)))
        return numbered_rows(self._numbers, np.column_stack((needs.table(), level)))

    def room(self, sizes: Sizes) -> ConsTresSizes:
        """For all needs that have been described."""
        system = self.run.system
        rows = (
            rows_of(system)
            if shares_cores(system, gang=self.run.policy.slurm.gangs)
            else np.zeros(1, dtype=np.int64)
        )
        return ConsTresSizes(
            nodes=int(offsets_of(system, self.run.policy)[-1]),
            partitions=len(system.partitions),
            placements=sizes.placements,
            needs=max(len(self._numbers), 1),
            kinds=len(counted_under_slurm(system)),
            sockets=max(one.sockets for module in system.modules for one in module.sets),
            slots=1,
            levels=max(len(self._levels), 1),
            words=sum(words_of(module.nodes) for module in system.modules),
            records=records_for(self.run.policy.slurm.settled("bf_node_space_size"), sizes.placements),
            types=len(system.gpu_types_under_slurm),
            several=int((rows > 1).sum()),
            rows=int(rows.sum()),
            core_words=core_words(system),
        )

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """All nodes are empty."""
        part, system = core.cons_tres, self.run.system
        words = self.run.policy.slurm.SelectTypeParameters
        part.rules.memory = any(w.endswith("MEMORY") for w in words) if words else int(self._memory)
        part.rules.whole_sockets = any(word.startswith("CR_SOCKET") for word in words)
        part.rules.least_loaded = "CR_LLN" in words
        keys = self.run.policy.slurm
        part.rules.bounds = keys.accelerate
        part.rules.cuts_off = keys.accelerate and not (
            keys.reserves_running or keys.looks_at_shares or accrues_limited(keys)
        )
        for i, partition in enumerate(system.partitions):
            part.sharing[i].most_cpus = partition.slurm.get("MaxCPUsPerNode", 0)
            part.sharing[i].least_loaded = partition.slurm.get("LLN", False)
        offset, kinds = offsets_of(system, self.run.policy), counted_under_slurm(system)
        for i, module in enumerate(system.modules):
            for one, numbers in zip(module.sets, module.ranges, strict=True):
                there = slice(offset[i] + numbers.start, offset[i] + numbers.stop)
                cores = _cores_of_sockets(one)
                machine = part.machine[there]
                machine["sockets"], machine["cores"] = one.sockets, cores
                machine["threads"], machine["weight"] = one.threads_per_core, one.weight
                part.now.cores[: one.sockets, there] = cores
                for k, name in enumerate(name for name in one.gpu_types if name in kinds):
                    part.types[k, there] = kinds.index(name) - GPUS
        return core

    def write(self, core: FullCore, jobs: Jobs, described: Ints | None) -> FullCore:
        """Write what placements need."""
        part = core.cons_tres
        longer = {name: lengthened(getattr(part, name), len(self._numbers)) for name in OF_NEEDS}
        slots = len(core.shared_nodes.slots)
        longer |= {name: lengthened(getattr(part, name), slots) for name in ("share", "tenant")}
        longer |= {name: lengthened(getattr(part, name), len(self._levels)) for name in OF_LEVELS}
        core = core._replace(cons_tres=part._replace(**longer))
        part, kinds = core.cons_tres, core.cons_tres.each.shape[1]
        columns = len(NUMBERS) + len(GENERIC) * kinds + 1
        rows = np.frombuffer(b"".join(self._numbers), dtype=np.int64).reshape(len(self._numbers), columns)
        for i, name in enumerate(NUMBERS):
            part.need[name][: len(rows)] = rows[:, i]
        for i, name in enumerate(GENERIC):
            first = len(NUMBERS) + i * kinds
            getattr(part, name)[: len(rows)] = rows[:, first : first + kinds]
        part.need["as_asked"][: len(rows)] = self._as_asked(core, part.need[: len(rows)])
        levels = rows[:, -1]
        part.need["level"][: len(rows)] = levels
        cpus = -(-part.need["min_cpus"][: len(rows)] // part.need["min_nodes"][: len(rows)])
        new = part.level["cpus"][levels] == 0
        part.level["need"][levels[new]] = np.flatnonzero(new)
        part.level["read"][levels[new]] = LONG_AGO
        part.level["cpus"][levels] = cpus
        self._tell_apart(part.level, levels[new], part.need[np.flatnonzero(new)], rows[new])
        part.level["alike"][levels[new]] = self._offer_alike(core, np.flatnonzero(new))
        part.holders[: len(rows)] = self._holders(part.need[: len(rows)], part.holders.shape[1])
        if described is not None:
            part.asked["need"][jobs.where] = described
        return core

    def _as_asked(self, core: FullCore, needs: Any) -> Bools:
        """Which get the CPUs and memory that they ask for on whichever nodes: nothing is rounded up."""
        part, each, nodes = core.cons_tres, needs["cpus_per_task"], needs["min_nodes"]
        least = np.maximum(nodes * np.maximum(needs["tasks_per_node"], 1), nodes * needs["node_cpus"])
        said = (needs["memory"] > 0) | (part.rules.memory == 0)
        alike = (needs["even"] > 0) & (needs["generic"] == 0) & (needs["whole"] == 0) & said
        in_tasks = (least <= needs["min_cpus"]) & (needs["min_cpus"] % np.maximum(each, 1) == 0)
        of_threads = (part.machine["threads"] > 1).any() or part.rules.whole_sockets
        exactly: Bools = alike & in_tasks & ((each == 1) | (needs["tasks_per_node"] == 0)) & (not of_threads)
        return exactly

    def _tell_apart(self, level: Any, numbers: Ints, needs: Any, rows: Ints) -> None:
        """What of levels is harder to meet the more it is, and the families that are alike in all else.

        With generic resources that is the memory alone.
        """
        alone = np.where(needs["max_nodes"] == 1, needs["tasks"], 0)
        tasks = np.maximum(np.where(needs["tasks_per_node"] > 0, needs["tasks_per_node"], alone), 1)
        level["node_cpus"][numbers], level["memory"][numbers] = needs["node_cpus"], needs["memory"]
        level["tasks"][numbers] = tasks
        alike = [needs[name] for name in ("partition", "cpus_per_task", "per_cpu", "whole", "kind")]
        others = rows[:, :-1].copy()
        others[:, NUMBERS.index("memory")] = 0
        others *= (needs["generic"] > 0)[:, np.newaxis]
        kinds = np.column_stack((*alike, needs["memory"] == 0, others))
        level["family"][numbers] = numbered_rows(self._families, kinds.astype(np.int64))

    def _holders(self, needs: Any, size: int) -> np.ndarray:
        """uint64[n, size]: nodes large enough by their configuration (``job_req_node_filter`` of Slurm)."""
        system, found = self.run.system, np.zeros((len(needs), size), dtype=np.uint64)
        places = np.array([system.module_index(one.module) for one in system.partitions])[needs["partition"]]
        cpus, low = needs["node_cpus"], 0
        memory = needs["memory"] * np.where(needs["per_cpu"] > 0, cpus, 1)
        for place, module in enumerate(system.modules):
            here = places == place
            large = np.column_stack(
                [
                    (cpus[here] <= _cpus_of(one)) & ((one.memory_kb <= 0) | (memory[here] <= one.memory_kb))
                    for one in module.sets
                ]
            )
            kinds, which = np.unique(large, axis=0, return_inverse=True)
            sets = [bits(compress(module.ranges, kind), low, size) for kind in kinds]
            found[here] = np.array(sets, dtype=np.uint64).reshape(-1, size)[which.reshape(-1)]
            low += words_of(module.nodes)
        return found

    def _offer_alike(self, core: FullCore, numbers: Ints) -> Bools:
        """Whether all nodes that can be able for each need offer the same: as many CPUs as they have."""
        part, need = core.cons_tres, core.cons_tres.need[numbers]
        if has(core, "node_weights") or part.rules.least_loaded:  # weights change, or go by load
            return np.zeros(len(numbers), dtype=bool)
        by_load = part.sharing["least_loaded"] | (part.sharing["most_cpus"] > 0)
        may = (need["even"] == AMONG_ABLE) & (need["generic"] == 0) & ~by_load[need["partition"]].astype(bool)
        asked = part.level["cpus"][need["level"]]
        kinds, which = np.unique(
            np.column_stack((need["partition"], asked, need["whole"])), axis=0, return_inverse=True
        )
        alike = np.array([self._nodes_offer_alike(core, *kind) for kind in kinds.tolist()], dtype=bool)
        offered: Bools = may & alike[which.reshape(-1)]
        return offered

    def _nodes_offer_alike(self, core: FullCore, partition: int, asked: int, whole: int) -> bool:
        """The same for nodes of one partition with at least so many CPUs."""
        system = self.run.system
        module = system.module_index(system.partitions[partition].module)
        machine = core.cons_tres.machine[slice(*offsets_of(system, self.run.policy)[module : module + 2])]
        cpus = machine["sockets"] * machine["cores"] * machine["threads"]
        offered = np.unique(np.column_stack((cpus, machine["weight"]))[cpus >= asked], axis=0)
        return len(offered) == 1 and bool(whole or offered[0, 0] == asked)

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write what one component needs instead."""
        return self.write(core, jobs, self.describe(jobs))


def numbered_rows(known: dict[bytes, int], table: Ints) -> Ints:
    """int64[n]: the number of each row, the same for equal ones; ``known`` grows."""
    if len(table) == 0:
        return np.zeros(0, dtype=np.int64)
    differing = (table != table[0]).any(axis=0)  # to sort by few columns is faster
    _, first, which = np.unique(table[:, differing], axis=0, return_index=True, return_inverse=True)
    rows = np.ascontiguousarray(table[first], dtype=np.int64)
    keys = rows.view(f"V{rows.strides[0]}").ravel().tolist()
    numbers = [known.setdefault(key, len(known)) for key in keys]
    return np.array(numbers, dtype=np.int64)[which.reshape(-1)]


def _cpus_of(one: NodeSet) -> int:
    """CPUs of each node; one of which nothing is stated has one on each socket."""
    return _cores_of_sockets(one) * one.sockets * one.threads_per_core


def _cores_of_sockets(one: NodeSet) -> int:
    """Cores of each socket; a node of which nothing is stated has one."""
    return max(int(one.cores_per_node) // (one.threads_per_core * one.sockets), 1)


def _refuse(run: Run) -> None:
    """Raise ConfigError for what has no meaning where nodes are shared."""
    keys = run.policy.slurm
    run.refuse(
        DELAYED,
        "policy.backfill: found 'slurm' where jobs share nodes, and components that start later than others"
        " of their job; allowed here: no delay, or nodes that are not shared",
    )
    for module in run.system.modules:
        for one in module.sets:
            _refuse_other_cores(module.name, one)
    for name, allowed in (("SelectType", ("select/cons_tres", "select/cons_res")), ("clock", ("daemon",))):
        if getattr(keys, name) not in allowed:
            raise ConfigError(
                f"policy.slurm.{name}: found {getattr(keys, name)!r} where jobs share nodes;"
                f" allowed here: {' or '.join(allowed)}"
            )
    for name, found, newer in keys.older_rules():
        if name != "fixed_nodes":
            raise ConfigError(
                f"policy.slurm.{name}: found {found} where jobs share nodes; allowed here: {newer}"
            )


def _refuse_other_cores(module: str, one: NodeSet) -> None:
    """Raise ConfigError for nodes whose cores do not stand on their sockets in equal parts."""
    each = one.sockets * one.threads_per_core
    if one.cores_per_node % each:
        where = f"module {module}" + (f", node set {one.name}" if one.name != module else "")
        raise ConfigError(
            f"{where}: cores_per_node: found {one.cores_per_node:g} with {one.sockets} sockets and"
            f" {one.threads_per_core} threads_per_core, under policy slurm where jobs share nodes;"
            f" allowed here: a multiple of {each}"
        )
