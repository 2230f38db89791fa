"""The ways in which components may run: the partitions they ask for, requests, what stands against them.

They are worked out for some components at a time, so that what lies between stays in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scheduler_sim.applications.conversion import UNCHANGED, converted_nodes, scaled
from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.errors import InputError
from scheduler_sim.placement.alternatives import AS_ASKED, Alternative, alternatives, is_unsuited
from scheduler_sim.placement.node_demand import NodeDemands
from scheduler_sim.placement.node_requests import NodeRequests
from scheduler_sim.placement.parse_once import parse_once
from scheduler_sim.placement.repeating import as_slice, first_of, repeated
from scheduler_sim.placement.shared import demands
from scheduler_sim.placement.slurm_requests import SlurmRequests
from scheduler_sim.system.node_resources import THOUSANDTHS
from scheduler_sim.system.system import Partition, System
from scheduler_sim.workload.carried import CARRIED
from scheduler_sim.workload.refused import refused
from scheduler_sim.workload.table import Workload

if TYPE_CHECKING:
    from scheduler_sim.applications.models import Models

REASONS = (
    "application",
    "partition_state",
    "too_large",
    "max_nodes",
    "min_nodes",
    "max_time",
    "memory",
    "cores",
    "gpus",
    "features",
    "resources",
    "association",
)
"""Why a placement can never run; the first that holds is given."""

PROBLEM_SIZE = f"{CARRIED}problem_size"
"""Column of a trace with the size of each job's problem, for types whose profile depends on it."""

LIMITS = ("max_nodes", "min_nodes", "max_time")

BLOCK = 1 << 15
"""CandidatePlacements worked out at a time, about."""

NO_SUBMISSIONS = ("DRAIN", "INACTIVE")
"""States of a partition in which Slurm refuses submissions; DOWN queues them (slurm.conf(5), State)."""


@dataclass(frozen=True)
class Block:
    """The w ways of some components, those of the first one first.

    Attributes
    ----------
    rows : int64[b], of the workload's table
    here, all_here : which these components and their ways are, of all of the workload
    first : int64[b], the first way of each
    owner : int64[w], position of the component in ``rows``
    partition, kind : int64[w], numbers of the partition and of the alternative
    demand : int64[w, shared resources]
    """

    rows: Ints
    here: slice
    all_here: slice
    first: Ints
    owner: Ints
    partition: Ints
    kind: Ints
    demand: Ints


class CandidatePlacements:
    """The partitions each component asks for, what it asks for in them, and what stands against them."""

    def __init__(
        self,
        workload: Workload,
        system: System,
        rows: Ints,
        models: Models | None,
        seed: int,
        *,
        by_sets: bool = False,
        lifted: Bools | None = None,
    ) -> None:
        self.workload, self.system, self.rows, self.lifted = workload, system, rows, lifted
        self.models, self.seed = models, seed
        parts = system.partitions
        self.module = np.array([system.module_index(p.module) for p in parts], dtype=np.int64)
        self.priority = np.array([p.priority for p in parts], dtype=np.int64)
        self.max_time = _or_no_limit(p.max_time_s for p in parts)
        self.default_time = _or_minus_1(default_time(p) for p in parts)
        self.max_nodes = _or_no_limit(p.max_nodes for p in parts)
        self.min_nodes = np.array([p.min_nodes for p in parts], dtype=np.int64)
        self.size = np.array([system.nodes_of(p.name) for p in parts], dtype=np.int64)
        self.down = np.array([p.state == "DOWN" for p in parts], dtype=bool)
        self.refuses = np.array([p.state in NO_SUBMISSIONS for p in parts], dtype=bool)
        self.told_apart = np.array(
            [by_sets or system.told_apart[number] for number in self.module], dtype=bool
        )
        requests = SlurmRequests if by_sets and any(one.shared for one in system.modules) else NodeRequests
        self.of_nodes = requests(workload, system, rows) if self.told_apart.any() else None
        self.type_number = self._types()
        lists, self.codes = self._lists()
        self.count = np.array([len(one) for one in lists], dtype=np.int64)
        self.start = np.cumsum(self.count) - self.count
        self.kinds = [alternative for one in lists for alternative in one]
        self.unsuited = np.array([is_unsuited(one) for one in self.kinds], dtype=bool)
        self.time = np.nan_to_num(np.array([one.time for one in self.kinds]), nan=1.0)
        self.change = np.array([one.conversion for one in self.kinds]).reshape(-1, 3)
        self.nodes = np.array([one.nodes for one in self.kinds], dtype=np.int64)
        places = {id(p): i for i, p in enumerate(parts)}
        self.to = np.array([places[id(one.partition)] for one in self.kinds], dtype=np.int64)
        self.converts = any(one.conversion != UNCHANGED for one in self.kinds)
        self.demand, self.unlimited, self.either = demands(workload, system, rows)
        times = self.count[self.codes]
        if self.either is not None:  # components that take either of two licences
            times = times * np.diff(self.either)
        self.first = first_of(times)
        self.amounts = np.array([resource.amount for resource in system.resources], dtype=np.int64)

    def blocks(self) -> Iterator[Block]:
        """Yield the ways of all components, those of some at a time; at least one block."""
        cuts = np.searchsorted(self.first, np.arange(BLOCK, self.first[-1], BLOCK))
        for begin, end in pairwise([0, *np.unique([*cuts, len(self.rows)]).tolist()]):
            yield self.block(begin, end)

    def block(self, begin: int, end: int) -> Block:
        """Return the ways of the components from ``begin`` to before ``end``."""
        codes = self.codes[begin:end]
        owner, place = repeated(self.count[codes])
        kind = self.start[codes][owner] + place
        demand = owner
        if self.either is not None:
            again, place = repeated(np.diff(self.either)[begin:end][owner])
            owner, kind = owner[again], kind[again]
            demand = self.either[begin:end][owner] + place
        first = self.first[begin:end] - self.first[begin]
        ours = slice(int(self.first[begin]), int(self.first[end]))
        table = self.demand if self.either is not None else self.demand[begin:end]
        return Block(
            self.rows[begin:end], slice(begin, end), ours, first, owner, self.to[kind], kind, table[demand]
        )

    def _lists(self) -> tuple[list[tuple[Alternative, ...]], Ints]:
        """The alternatives of each spelling of partitions, type and, where it scales, request, and whose."""
        types = self.type_number
        requests, of_request = self._scaled_requests(types)
        if self.models is not None and self.models.chooses_modules:
            asked, codes = [(self.system.default_partition,)], np.zeros(len(self.rows), dtype=np.int64)
        else:
            asked, codes = parse_once(self.workload, self.rows, "partition", self._partitions_for)
        kinds, many = int(types.max(initial=0)) + 1, len(requests)
        spelt = (codes * kinds + types) * many + of_request
        if len(spelt) and spelt.min() == spelt.max():
            keys, which = spelt[:1], np.zeros(len(spelt), dtype=np.int64)
        else:
            keys, which = np.unique(spelt, return_inverse=True)
        lists = []
        for number, key in enumerate(keys.tolist()):
            (text, type_number), (nodes, problem) = divmod(key // many, kinds), requests[key % many]
            try:
                lists.append(alternatives(self.system, self.models, asked[text], type_number, nodes, problem))
            except InputError as error:
                those = self.rows[which.reshape(-1) == number]
                raise refused(self.workload, those, "partition", str(error)) from None
        return lists, which.reshape(-1).astype(np.int64)

    def _partitions_for(self, text: str) -> tuple[Partition, ...]:
        source = self.workload.source
        try:
            return self.system.partitions_for(text, swf=source.format == "swf")
        except InputError as error:
            if not source.is_table:
                raise
            raise InputError(f"{error}, or a column map (--columns) that says what it is here") from None

    def _types(self) -> Ints:
        """The type of application of each component: the one that the trace names, else drawn; 0 without."""
        models = self.models
        if models is None or not models.type_names:
            return np.zeros(len(self.rows), dtype=np.int64)
        named, codes = parse_once(self.workload, self.rows, "app", models.named_type)
        types = np.array(named, dtype=np.int64)[codes]
        without = np.flatnonzero(types < 0)
        try:
            types[without] = models.drawn_types(self._column("component_id", self.rows)[without], self.seed)
        except InputError as error:
            raise refused(self.workload, self.rows[without], "app", str(error)) from None
        return types

    def _scaled_requests(self, types: Ints) -> tuple[list[tuple[int, float | None]], Ints]:
        """The nodes and problem sizes on which alternatives depend, and which each component has.

        Those of types that do not scale are ``AS_ASKED`` and None; so is a size that is not stated.
        """
        if self.models is None or not self.models.scalings:
            return [(AS_ASKED, None)], np.zeros(len(types), dtype=np.int64)
        nodes = np.where(self.models.scaled_types[types], self._column("nodes", self.rows), AS_ASKED)
        problems, of_problem = self._problems(self.models.types_by_problem[types])
        pairs, of_pair = np.unique(nodes * len(problems) + of_problem, return_inverse=True)
        requests = [(pair // len(problems), problems[pair % len(problems)]) for pair in pairs.tolist()]
        return requests, of_pair.reshape(-1)

    def _problems(self, depends: Bools) -> tuple[list[float | None], Ints]:
        """The problem sizes that the trace states, and which each component has; None = not stated."""
        column = self.workload.carried.get(PROBLEM_SIZE)
        if column is None or not depends.any():
            return [None], np.zeros(len(depends), dtype=np.int64)
        stated = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)[self.rows]
        sizes, of_size = np.unique(np.where(depends & (stated >= 1), stated, np.nan), return_inverse=True)
        return [None if np.isnan(size) else size for size in sizes.tolist()], of_size.reshape(-1)

    def plain_requests(self) -> tuple[Ints, Ints, Ints] | None:
        """Nodes, run time (s) and time limit (s), where all ask for one partition and nothing is against any.

        As ``requests``, the workload's own columns where they say it. None where there is more to look at.
        """
        if self.models is not None or self.either is not None or len(self.kinds) != 1 or self.demand.any():
            return None
        if self.lifted is not None:
            return None
        number, here = int(self.to[0]), as_slice(self.rows)
        module = self.system.modules[self.module[number]]
        nodes, run, limit = (self._column(name, here) for name in ("nodes", "run_time", "time_limit"))
        if (limit < 0).any():
            default = self.default_time[number]
            limit = np.where(limit >= 0, limit, default if default >= 0 else run)
        limit = limit if limit.min() >= 1 else np.maximum(limit, 1)
        if (
            self.unsuited[0]
            or self.refuses[number]
            or self.down[number]
            or nodes.max() > min(self.size[number], self.max_nodes[number])
            or nodes.min() < self.min_nodes[number]
            or limit.max() > self.max_time[number]
            or _exceeds(self._column("memory_kb", here), np.array(module.memory_kb)).any()
            or (module.least_cores > 0 and _exceeds(self._cores(here), np.array(module.least_cores)).any())
            or self._lacks[self.module[number]].any()
        ):
            return None
        return nodes, run, limit

    def requests(self, block: Block) -> tuple[Ints, Ints, Ints]:
        """Nodes, run time (s) and time limit (s) of each way.

        The limit is the trace's, else the partition's DefaultTime, else the run time; at least 1 s.
        """
        nodes, run, own = (
            self._column(name, block.rows)[block.owner] for name in ("nodes", "run_time", "time_limit")
        )
        stated = own >= 0
        if self.models is not None:
            nodes, factor = self._converted(nodes, block.kind)
            run = scaled(run, factor)
            own = scaled(own, factor)
        if not stated.all():
            default = self.default_time[block.partition]
            own = np.where(stated, own, np.where(default >= 0, default, run))
        return nodes, run, np.maximum(own, 1)

    def on_nodes(self, block: Block, nodes: Ints) -> tuple[Ints, NodeDemands | None]:
        """Return how many nodes each way takes, and what it asks of them where nodes are told apart.

        ``nodes`` is what it asks for; of an SWF trace that is processors, which share nodes where jobs do.
        """
        if self.of_nodes is None:
            return nodes, None
        asked = nodes
        if self.of_nodes.by_processors:
            nodes = self.of_nodes.nodes_for(asked, block.partition)
        return nodes, self.of_nodes.demands(block.owner + block.here.start, block.partition, asked, nodes)

    def _converted(self, nodes: Ints, kind: Ints) -> tuple[Ints, NDArray[np.float64]]:
        """Nodes on the module of each way, and the factor of its times."""
        size, factor = self.nodes[kind], self.time[kind]
        if self.converts:
            of_nodes, several, alone = self.change[kind].T
            factor = factor * np.where(nodes == 1, alone, several)
            nodes = converted_nodes(nodes, of_nodes)
        return np.where(size == AS_ASKED, nodes, size), factor

    def reasons(self, block: Block, nodes: Ints, over: list[Bools], of_nodes: NodeDemands | None) -> Ints:
        """Number of the first reason why each way can never be taken, ``len(REASONS)`` if it can.

        ``over`` are the tests of ``beyond``, or none where limits do not count.
        """
        tests = [
            (self.unsuited[block.kind], "application"),
            (self.refuses[block.partition], "partition_state"),
            (nodes > self.size[block.partition], "too_large"),
            *zip(over, LIMITS, strict=False),
            *zip(self._unfit(block, nodes, of_nodes), ("memory", "cores", "gpus", "features"), strict=True),
            ((block.demand > self.amounts).any(axis=1), "resources"),
        ]
        reason = np.full(len(block.owner), len(REASONS), dtype=np.int64)
        for stands_against, name in reversed(tests):
            if stands_against.any():
                reason[stands_against] = REASONS.index(name)
        return reason

    def beyond(self, block: Block, nodes: Ints, limit: Ints) -> list[Bools]:
        """Whether each way asks for more, or fewer, than the limits of its partition allow, by ``LIMITS``."""
        beyond = [
            nodes > self.max_nodes[block.partition],
            nodes < self.min_nodes[block.partition],
            limit > self.max_time[block.partition],
        ]
        if self.lifted is None:
            return beyond
        free = self.lifted[:, block.rows][:, block.owner]
        return [one & ~of_it for one, of_it in zip(beyond, free, strict=True)]

    def _unfit(self, block: Block, nodes: Ints, of_nodes: NodeDemands | None) -> list[Bools]:
        """Whether memory, cores, GPUs or features stand against a way."""
        memory, cores = self._column("memory_kb", block.rows), self._cores(block.rows)
        partition, owner, modules = block.partition, block.owner, self.system.modules
        wrong = [
            _exceeds(memory, np.array([[m.memory_kb] for m in modules])),
            _exceeds(cores, np.array([[m.least_cores] for m in modules])),
            np.zeros((len(modules), len(cores)), dtype=bool),
            self._lacks[:, block.here],
        ]  # [modules, components]; of most traces nothing is wrong
        unfit = [
            one[self.module[partition], owner] if one.any() else np.zeros(len(owner), bool) for one in wrong
        ]
        if of_nodes is None:
            return unfit
        sets = [[one for one, _ in self.system.sets_of(p.name)] for p in self.system.partitions]
        most_memory = np.array([_largest(s.memory_kb for s in own) for own in sets])
        most_cores = np.array([_largest(s.cores_per_node for s in own) for own in sets])
        most_gpus = np.array([max(s.gpus for s in own) for own in sets])
        unfit_apart = [
            _exceeds(np.maximum(memory[owner], of_nodes.memory), most_memory[partition]),
            _exceeds(
                np.maximum(cores[owner] * THOUSANDTHS, of_nodes.cores), most_cores[partition] * THOUSANDTHS
            ),
            of_nodes.gpus > most_gpus[partition] * THOUSANDTHS,
            ~of_nodes.can_be_met(nodes),
        ]
        apart = self.told_apart[partition]
        return [np.where(apart, one, other) for one, other in zip(unfit_apart, unfit, strict=True)]

    def _column(self, name: str, rows: slice | Ints) -> Ints:
        numbers: Ints = self.workload.columns[name][rows]
        return numbers

    def _cores(self, rows: slice | Ints) -> Ints:
        processes = np.maximum(self._column("processes_per_node", rows), 0)
        return processes * np.maximum(self._column("threads_per_process", rows), 1)

    @cached_property
    def _lacks(self) -> Bools:
        """[modules, components]: whether the module lacks some of the features asked for."""
        modules = self.system.modules
        answers, codes = parse_once(
            self.workload, self.rows, "constraint", lambda text: [m.satisfies(text) for m in modules]
        )
        return ~np.array(answers, dtype=bool).reshape(-1, len(modules)).T[:, codes]


def default_time(partition: Partition) -> int | None:
    """Time limit (s) of a component that states none: DefaultTime, else MaxTime; None without either."""
    return partition.max_time_s if partition.default_time_s is None else partition.default_time_s


def _largest(values: Iterable[float]) -> float:
    """The largest of some sizes of nodes; 0, not stated, if one is not stated."""
    sizes = list(values)
    return 0 if 0 in sizes else max(sizes)


def _or_minus_1(values: Iterable[int | None]) -> Ints:
    return np.array([-1 if value is None else value for value in values], dtype=np.int64)


def _or_no_limit(values: Iterable[int | None]) -> Ints:
    return np.array([np.iinfo(np.int64).max if value is None else value for value in values], dtype=np.int64)


def _exceeds(asked: Ints, there_is: Ints) -> NDArray[np.bool_]:
    """Compare where both are stated: what is not stated (at most 0) does not restrict."""
    return (there_is > 0) & (asked > there_is)
