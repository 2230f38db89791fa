"""Limits of QOS and associations in the tables of the core: which bind whom, and what jobs ask for."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.engine.core.records import dtype_of, lengthened
from scheduler_sim.engine.engine import FullCore, Sizes, has
from scheduler_sim.engine.rules.slurm.resource_limits.state import (
    MAX_WALL,
    NODES,
    NOT_DEALT,
    Limit,
    LimitSizes,
    Standing,
)
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.limits import ALWAYS, RUN_MINUTES_OF_EACH, QosKeys
from scheduler_sim.policy.shares import associations
from scheduler_sim.policy.slurm_keys import SlurmKeys
from scheduler_sim.result.columns import NEVER
from scheduler_sim.result.limit_waits import limit_waits
from scheduler_sim.simulation.rules.numbers import Jobs, Numbering, Numbers, Run
from scheduler_sim.simulation.rules.shared_nodes import counted_under_slurm, offsets_of, shares_under_slurm
from scheduler_sim.simulation.rules.slurm.masks import WORD, Masks
from scheduler_sim.simulation.rules.slurm.node_weights import nodes_of, with_counting
from scheduler_sim.simulation.rules.slurm.qos import Owners
from scheduler_sim.simulation.rules.slurm.standings import (
    OF_MINUTES,
    Found,
    Made,
    Standings,
    accrues_limited,
    any_limits,
    resources_named,
)
from scheduler_sim.simulation.rules.slurm_needs import KB_PER_MB
from scheduler_sim.system.gres import GPU
from scheduler_sim.system.module import NodeSet
from scheduler_sim.system.node_resources import CORES, GPUS, MEMORY
from scheduler_sim.system.system import System
from scheduler_sim.texts import TextColumn
from scheduler_sim.units import MINUTE

THOUSANDTHS = 1000
NO_WALL = 1 << 40  # minutes


class ResourceLimits(Numbers):
    """Numbers standings: the association, the QOS and the partition's QOS of each placement."""

    part = "resource_limits"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        keys = run.policy.slurm
        self.needed = is_limited(keys)
        if not self.needed:
            return
        if not keys.fixed_nodes:
            raise ConfigError(
                "policy.slurm.fixed_nodes: found False with limits of QOS or associations; allowed here: True"
            )
        self._owners = Owners(keys)
        self._keys: Numbering = {}
        self._made: list[Made] = []
        self._who: list[tuple[str, str]] = []  # account and QOS of each component
        tree = associations(keys.accounts, (), ())
        qos = _enforced(keys)
        resources = resources_named(qos, tree)
        nodes = nodes_of(run.system)
        self._standings = Standings(
            qos,
            resources,
            nodes,
            enforced=keys.charges_ends,
            listed_only=_lists_count(keys),
        )
        self._refuse()

    def _refuse(self) -> None:
        """Jobs of NoReserve are tried as if they took a minute where jobs are preempted: on whole nodes.

        Without its weight no fair share is computed.
        """
        keys = self.run.policy.slurm
        weighs = keys.PriorityType == "priority/multifactor" and keys.PriorityWeightFairshare > 0
        weighs = weighs and keys.AccountingStorageType != "accounting_storage/none"
        if keys.looks_at_shares and not weighs:
            name = next(name for name, one in keys.qos.items() if one.least_share > 0)
            raise ConfigError(
                f"policy.slurm.qos.{name}.Flags: found EnforceUsageThreshold without fair share; needed:"
                " priority/multifactor, PriorityWeightFairshare above 0, and an accounting database"
            )
        named = [name for name, one in keys.qos.items() if "NoReserve" in one.Flags]
        making_way = keys.preempts or keys.gangs
        if named and making_way and shares_under_slurm(self.run.system, self.run.policy):
            raise ConfigError(
                f"policy.slurm.qos.{named[0]}.Flags: found NoReserve with PreemptMode {keys.PreemptMode}"
                " where jobs share nodes; allowed: one of the two"
            )

    @property
    def reasons(self) -> list[str]:
        """Slurm's words for limits, by number."""
        return list(self._standings.reasons)

    def describe(self, jobs: Jobs) -> Ints | None:
        """int64[p]: the standing of each placement."""
        if not self.needed:
            return None
        system, (tree, rows, own) = self.run.system, self._owners.of(jobs)
        above = [tree.names[tree.parent[row]] for row in rows.tolist()]
        self._who[jobs.rows] = zip(above, own, strict=True)
        reserved = (jobs.text("reservation") != "").tolist()
        owner, partition = jobs.placements.owner, jobs.placements.partition
        of_partition = [one.slurm.get("QOS", "") for one in system.partitions]
        found = np.empty(len(owner), dtype=np.int64)
        for i, (job, number) in enumerate(zip(owner.tolist(), partition.tolist(), strict=True)):
            key = (int(rows[job]), own[job], of_partition[number], reserved[job])
            if key not in self._keys:
                self._keys[key] = len(self._keys)
                self._made.append(self._standings.make(tree, *key[:3], reserved=key[3]))
            found[i] = self._keys[key]
        return found

    def room(self, sizes: Sizes) -> LimitSizes:
        """Standings, limits and counters are added as they come."""
        return LimitSizes(
            rows=sizes.rows,
            placements=sizes.placements,
            resources=len(self._standings.resources),
            qos=len(self.run.policy.slurm.qos),
            modules=sizes.modules,
            words=len(self._standings.reasons),
        )

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write how limits are enforced, and what nodes have."""
        keys, system, part = self.run.policy.slurm, self.run.system, core.resource_limits
        part.rules.safe = bool({"safe", "all"} & set(keys.AccountingStorageEnforce))
        part.rules.stop = keys.assoc_limit_stop
        part.rules.brief = keys.preempts
        part.rules.accrual = accrues_limited(keys)
        part.rules.thresholds = keys.looks_at_shares
        kinds = counted_under_slurm(system)
        for i, name in enumerate(self._standings.resources):
            part.by_node[i] = name in ("cpu", "billing") or name.startswith("gres/")
            part.dealt_as[i] = NODES if name == "node" else NOT_DEALT
            if has(core, "cons_tres") and (kind := _kind_of(name, kinds)) is not None:
                part.dealt_as[i] = kind
                part.unit[i] = KB_PER_MB if kind == MEMORY else THOUSANDTHS
        masks = Masks(system)
        node_has = np.zeros((int(masks.low[-1]) * WORD, len(self._standings.resources)), dtype=np.int64)
        for i, module in enumerate(system.modules):
            first = int(masks.low[i]) * WORD
            for one, numbers in zip(module.sets, module.ranges, strict=True):
                node_has[first + numbers.start : first + numbers.stop] = self._of_node(one)
            of_module = node_has[first : first + module.nodes]
            part.unlike[i] = bool((of_module != of_module[:1]).any())
        part.rules.exact = not has(core, "cons_tres") and not part.unlike.any()
        return core._replace(
            resource_limits=part._replace(node_has=node_has, resets=core.slurm.accounts.resets)
        )

    def write(self, core: FullCore, jobs: Jobs, described: Ints) -> FullCore:
        """Write standings, and what jobs ask for."""
        core = self._with_standings(core)
        part, rows, where = core.resource_limits, jobs.rows, jobs.where
        part.of[where] = described
        part.asks[where] = self._asks(jobs)
        part.job["head"][rows] = np.arange(rows.start, rows.stop)
        part.job["tasks"][rows] = 1
        self._write_arrays(core, jobs)
        self._limit_times(core, jobs, described)
        return core

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write what one component asks for instead."""
        described = self.describe(jobs)
        assert described is not None
        core = self._with_standings(core)
        self._count_elsewhere(core, jobs.first, int(described[0]))
        core.resource_limits.of[jobs.where] = described
        core.resource_limits.asks[jobs.where] = self._asks(jobs)
        return core

    def _count_elsewhere(self, core: FullCore, row: int, standing: int) -> None:
        """One that waits counts as submitted where its new request counts, no longer where it did."""
        part = core.resource_limits
        if not part.job[row].counts:
            return
        for number, sign in ((int(part.of[core.jobs[row].first]), -1), (standing, 1)):
            one = part.standing[number]
            np.add.at(part.counter["submitted"], part.counted[one.counted : one.counted_last], sign)

    def columns(self, core: FullCore, rows: int) -> dict[str, Any]:
        """Which limit held each last, for how long limits did, and for how long each of them."""
        job, waited = core.resource_limits.job[:rows], core.resource_limits.waited[:rows].copy()
        words = np.array(self.reasons, dtype=object)
        accounts, qos = zip(*self._who[:rows], strict=True) if rows else ((), ())
        still = np.flatnonzero(job["reason"] > 0)
        over = core.jobs["end"][still]
        until = np.where(over == NEVER, core.clock.now, over)
        waited[still, job["reason"][still]] += until - job["since"][still]
        told = {"account": TextColumn.of(accounts), "qos": TextColumn.of(qos)}
        return told | {
            "limit_reason": TextColumn.of(words[job["last_reason"]]),
            "wait_limit": waited.sum(axis=1),
            "limit_waits": TextColumn.of(limit_waits(words, waited)),
        }

    # -- standings

    def _with_standings(self, core: FullCore) -> FullCore:
        """A core with all standings, limits and counters; what has been counted stays."""
        part, limits, counted = core.resource_limits, list[Found](), list[int]()
        rows = []
        for one in self._made:
            places = [len(limits)]
            for found in (one.before, one.after, one.at_submission):
                limits += found
                places.append(len(limits))
            first = len(counted)
            counted += one.counted
            accruing = len(counted)
            counted += one.accruing
            said = (one.most_nodes, one.nodes_reason, one.least_priority, one.forgoes, one.strict)
            more = (one.refused, *one.qos, one.least_share, one.safe_factor, one.factor)
            places += [first, accruing, accruing, len(counted), *one.accrual]
            rows.append((*places, *said, *more))
        counters = len(self._standings.counters)
        new = slice(len(part.counter), None)
        missing = len(self._standings.reasons) - part.waited.shape[1]
        part = part._replace(
            waited=np.pad(part.waited, ((0, 0), (0, max(missing, 0)))) if missing > 0 else part.waited,
            standing=_table(rows, Standing),
            limit=_table(limits, Limit),
            counted=np.array(counted, dtype=np.int64),
            counter=lengthened(part.counter, counters),
            amount=lengthened(part.amount, counters),
            used=lengthened(part.used, counters),
            may_use=lengthened(part.may_use, counters),
        )
        part.rules.minutes = any(found.kind in OF_MINUTES for found in limits)
        part.counter["nodes"][new] = -1
        part.counter["decays"][new] = 1
        for (name, _, _), number in self._standings.counters.items():
            if name and "NoDecay" in self.run.policy.slurm.qos[name].Flags:
                part.counter["decays"][number] = 0
        if has(core, "cons_tres") and "node" in self._standings.resources:
            part.counter["nodes"][:counters] = np.arange(counters)
            nodes = int(offsets_of(self.run.system, self.run.policy)[-1])
            there = np.zeros((counters, nodes), dtype=np.int64)
            if len(part.on_node):
                there[: len(part.on_node)] = part.on_node
            part = part._replace(on_node=there)
        return with_counting(core._replace(resource_limits=part), self._made, counters)

    # -- jobs

    def _asks(self, jobs: Jobs) -> Ints:
        """int64[p, r]: what placements ask for, the least where that depends on the nodes."""
        placements, system = jobs.placements, self.run.system
        nodes, partition = placements.nodes, placements.partition
        least = np.array([self._least(system, one.name) for one in system.partitions])
        least = least.reshape(len(system.partitions), len(self._standings.resources))[partition]
        whole = np.ones(len(nodes), dtype=bool) if jobs.needs is None else jobs.needs.numbers["whole"] > 0
        asks = np.zeros((len(nodes), len(self._standings.resources)), dtype=np.int64)
        for i, name in enumerate(self._standings.resources):
            if name == "node":
                asks[:, i] = nodes
            elif name == "mem":
                asks[:, i] = self._memory(jobs)
            elif name.startswith("license/"):
                asks[:, i] = self._licences(jobs, name.removeprefix("license/"))
            else:
                asks[:, i] = np.where(whole, nodes * least[:, i], self._part_of_nodes(jobs, name))
        return asks

    def _part_of_nodes(self, jobs: Jobs, name: str) -> Ints | int:
        """What those ask for that do not have their nodes to themselves."""
        if jobs.needs is None:
            return 0
        needs = jobs.needs
        if name in ("cpu", "billing"):
            cpus: Ints = needs.numbers["min_cpus"]
            return cpus
        kind = _kind_of(name, counted_under_slurm(self.run.system))
        if kind is None:
            return 0
        at = kind - GPUS
        if at >= needs.each.shape[1]:
            return 0
        asked: Ints = np.maximum(needs.each[:, at] * needs.numbers["min_nodes"], needs.total[:, at])
        return asked

    def _memory(self, jobs: Jobs) -> Ints:
        """MB."""
        if jobs.needs is not None:
            numbers = jobs.needs.numbers
            times = np.where(numbers["per_cpu"] > 0, numbers["min_cpus"], numbers["min_nodes"])
            asked: Ints = numbers["memory"] * times // KB_PER_MB
            return asked
        each = np.maximum(jobs.column("memory_kb")[jobs.placements.owner], 0)
        all_nodes: Ints = each * jobs.placements.nodes // KB_PER_MB
        return all_nodes

    def _licences(self, jobs: Jobs, name: str) -> Ints | int:
        for i, resource in enumerate(self.run.system.resources):
            if resource.name == name:
                column: Ints = jobs.placements.demand[:, i]
                return column
        return 0

    def _least(self, system: System, partition: str) -> list[int]:
        """What each node of a partition has of each resource, the least of them."""
        amounts = [self._of_node(one) for one, _ in system.sets_of(partition)]
        return [min(column) for column in zip(*amounts, strict=True)]

    def _of_node(self, one: NodeSet) -> list[int]:
        """What a node has of each resource, as far as a job has all of it."""
        has_gres = {name.lower(): int(amount) for name, amount in one.gres.items()} | {GPU: int(one.gpus)}
        found = []
        for name in self._standings.resources:
            if name in ("cpu", "billing"):
                found.append(one.processors)
            else:
                found.append(has_gres.get(name.removeprefix("gres/"), 0))
        return found

    def _write_arrays(self, core: FullCore, jobs: Jobs) -> None:
        """Tasks of an array that are submitted together are one submission."""
        arrays, submit = jobs.column("array_job_id"), jobs.column("submit_time")
        inside = np.flatnonzero((arrays >= 0) & (np.diff(jobs.placements.first) > 0))
        if not len(inside):
            return
        key = np.column_stack((arrays[inside], submit[inside]))
        _, first, which, count = np.unique(
            key, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        job = core.resource_limits.job
        job["head"][jobs.first + inside] = jobs.first + inside[first][which.reshape(-1)]
        job["tasks"][jobs.first + inside] = count[which.reshape(-1)]

    def _limit_times(self, core: FullCore, jobs: Jobs, described: Ints) -> None:
        """A job that asks for no time limit has MaxWall, or its partition's limit if that is less."""
        silent = (jobs.column("time_limit") < 0)[jobs.placements.owner]
        if not silent.any():
            return
        walls = np.array([_max_wall(one) for one in self._made], dtype=np.int64)[described] * MINUTE
        longest = np.array([one.max_time_s or walls.max() for one in self.run.system.partitions])
        wall = np.minimum(walls, longest[jobs.placements.partition])
        limit = core.placements["limit"][jobs.where]
        core.placements["limit"][jobs.where] = np.where(silent & (walls < NO_WALL * MINUTE), wall, limit)


def _table(rows: Sequence[Any], record: type) -> Any:
    return np.array(rows, dtype=dtype_of(record))


def _max_wall(made: Made) -> int:
    """The longest time limit, minutes."""
    return next((one.most for one in made.before if one.kind == MAX_WALL), NO_WALL)


def is_limited(keys: SlurmKeys) -> bool:
    """Tell whether limits are enforced, and any is stated; some flags of a QOS count anyway."""
    if any(not set(ALWAYS).isdisjoint(one.Flags) for one in keys.qos.values()):
        return True
    tree = associations(keys.accounts, (), ())
    return keys.charges_ends and any_limits(keys.qos, tree, listed_only=_lists_count(keys))


def _enforced(keys: SlurmKeys) -> Mapping[str, QosKeys]:
    """QOS with the limits that their release of Slurm enforces; warns of others."""
    if keys.differs("run_minutes_of_each"):
        return keys.qos
    for name, qos in keys.qos.items():
        for left in sorted(qos.model_fields_set.intersection(RUN_MINUTES_OF_EACH)):
            where = f"policy.slurm.qos.{name}.{left}"
            warnings.warn(f"{where}: Slurm {keys.version} does not enforce it", UserWarning, stacklevel=2)
    none: dict[str, Any] = {key: {} for key in RUN_MINUTES_OF_EACH}
    return {name: qos.model_copy(update=none) for name, qos in keys.qos.items()}


def _lists_count(keys: SlurmKeys) -> bool:
    """Tell whether a job may have the QOS alone that its association lists."""
    return bool({"qos", "all"} & set(keys.AccountingStorageEnforce))


def _kind_of(name: str, kinds: tuple[str, ...]) -> int | None:
    """Under which kind of resource of nodes it is counted where jobs share them; None if it is not."""
    if name in ("cpu", "billing"):
        return CORES
    if name == "mem":
        return MEMORY
    if name == "gres/gpu":
        return GPUS
    other = name.removeprefix("gres/")
    return kinds.index(other) if name.startswith("gres/") and other in kinds else None
