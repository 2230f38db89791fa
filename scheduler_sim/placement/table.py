"""The placements table: each component expanded into the ways in which it may run.

A placement is (module, nodes) with its time limit, run time, cost and demand of shared
resources. Here every component of a trace gets one for each partition it names, with the
same nodes, run time and limit (rule 10), unless models change them or offer further sizes; placements
that can never run are dropped, and a component without any is rejected (rule 9). Placements in a
partition that is DOWN are kept only where there are no others: the component is held for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.applications.models import Models, converted_nodes, scaled
from scheduler_sim.errors import InputError, TraceError
from scheduler_sim.placement.alternatives import AS_ASKED, Alternative, alternatives, is_unsuited
from scheduler_sim.placement.clocks import with_energy
from scheduler_sim.placement.node_demand import NodeDemands, joined_demands, node_demands
from scheduler_sim.placement.shared import demands
from scheduler_sim.system.constraint import parse_constraint
from scheduler_sim.system.system import Partition, System
from scheduler_sim.workload.table import Workload

Ints = NDArray[np.int64]

REASONS = (
    "application",
    "partition_state",
    "too_large",
    "max_nodes",
    "min_nodes",
    "max_time",
    "memory",
    "cores",
    "features",
    "resources",
)
"""Why a placement can never run; the first that holds is given."""

BLOCK = 1 << 15
"""Placements worked out at a time, so that what lies between stays in the processor's cache."""

NO_SUBMISSIONS = ("DRAIN", "INACTIVE")
"""States of a partition in which Slurm refuses submissions; DOWN queues them (slurm.conf(5), State)."""


@dataclass(frozen=True)
class Placements:
    """n components in trace order, p placements one after the other.

    Attributes
    ----------
    rows : int64[n], row of the workload's table
    first : int64[n + 1]; those of component i are ``first[i] .. first[i + 1] - 1``, in list order
    module, partition, nodes, limit, run : int64[p]; module number, partition number, nodes, s, s
    cost : float64[p], nodes x cost of a node x limit
    demand : int64[p, shared resources]
    tier : int64[n], priority of the first partition asked for
    asked_module, asked_nodes, asked_limit, asked_run : int64[n], of the first partition, also where it
        was dropped
    of_nodes : which nodes each placement may take, int64[p] and kinds; None where nodes are only counted
    held : bool[n], whether all placements are in partitions that are DOWN, so that it waits for ever
    rejected : number of components without a placement, by reason
    not_limited : components that ask for a kind of shared resource the system does not declare
    khz : int64[p], P-state, kHz; None where it is not chosen
    """

    rows: Ints
    first: Ints
    module: Ints
    partition: Ints
    nodes: Ints
    limit: Ints
    run: Ints
    cost: NDArray[np.float64]
    demand: Ints
    tier: Ints
    asked_module: Ints
    asked_nodes: Ints
    asked_limit: Ints
    asked_run: Ints
    held: NDArray[np.bool_]
    of_nodes: NodeDemands | None
    rejected: dict[str, int]
    not_limited: dict[str, int]
    khz: Ints | None = None

    @property
    def rigid(self) -> bool:
        """Whether every component has at most one placement and none asks for shared resources."""
        return bool((np.diff(self.first) <= 1).all() and not self.demand.any())


def expand(
    workload: Workload,
    system: System,
    *,
    only_first: bool = False,
    by_sets: bool = False,
    beyond: str = "ANY",
    models: Models | None = None,
    seed: int = 0,
) -> Placements:
    """Expand every component that is simulated; ``only_first`` keeps the first placement that can run.

    ``models`` say how long components run on each module, and what they ask for there; ``seed`` is of the
    types of application that are drawn.

    With ``by_sets`` a placement needs enough nodes that will do, and says which; without it, what
    a component asks of a node must hold for every node of the module.

    ``beyond`` is what becomes of who asks for more than the limits of its partitions (Slurm's
    EnforcePartLimits): rejected if it is beyond those of all (ANY), of any (ALL), or it waits for ever (NO).

    Raises TraceError, with the line, where a partition or a type of application does not exist, or a
    request for features or licences cannot be understood.
    """
    rows = _simulated_rows(workload)
    way = _Ways(workload, system, rows, models, seed)
    owner, partition, kind = way.owner, way.partition, way.kind
    demand, unlimited, alternatives = demands(workload, system, rows)
    if alternatives is not None:  # a component that takes either of two licences
        times = alternatives.count[owner]
        picked = np.repeat(np.arange(len(owner)), times)
        place = np.arange(len(picked)) - np.repeat(np.cumsum(times) - times, times)
        owner, partition, kind = owner[picked], partition[picked], kind[picked]
        demand = demand[alternatives.first[owner] + place]
    else:
        demand = demand[owner]
    nodes, run, limit = way.requests(owner, partition, kind)
    module = way.module[partition]
    cost = nodes * np.array([m.cost_per_node for m in system.modules])[module] * limit

    of_nodes = way.demands_of_nodes(owner, partition) if by_sets else None
    reason = way.reasons(owner, partition, kind, nodes, limit, demand, of_nodes)
    possible = reason == len(REASONS)
    asked = np.searchsorted(owner, np.arange(len(rows)))
    over = way.beyond(partition, nodes, limit)
    if beyond == "NO":
        without = way.reasons(owner, partition, kind, nodes, limit, demand, of_nodes, limits_count=False)
        possible |= over & (without == len(REASONS))
    elif beyond == "ALL":
        possible &= np.bincount(owner[over], minlength=len(rows))[owner] == 0
    possible, held = _without_closed(owner, possible, way.down[partition] | over, len(rows))
    if only_first:
        possible &= _first_of_each(owner, possible)
    counts = np.bincount(owner[possible], minlength=len(rows))
    why = reason[asked]  # of the first partition, or of the one that stands in the way
    unsaid = np.flatnonzero(((counts == 0) & (why == len(REASONS)))[owner])
    np.minimum.at(why, owner[unsaid], reason[unsaid])
    impossible = np.bincount(why[counts == 0], minlength=len(REASONS))
    kept = slice(None) if possible.all() else possible
    placements = Placements(
        rows=rows,
        first=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        module=module[kept],
        partition=partition[kept],
        nodes=nodes[kept],
        limit=limit[kept],
        run=run[kept],
        cost=cost[kept].astype(np.float64, copy=False),
        demand=np.ascontiguousarray(demand[kept]),
        tier=way.priority[partition[asked]],
        asked_module=module[asked],
        asked_nodes=nodes[asked],
        asked_limit=limit[asked],
        asked_run=run[asked],
        held=held,
        of_nodes=of_nodes.picked(possible) if of_nodes is not None else None,
        rejected={name: int(count) for name, count in zip(REASONS, impossible, strict=False) if count},
        not_limited=unlimited,
    )
    layer = models.energy if models is not None and models.limited_by_energy else None
    if layer is None:
        return placements
    return with_energy(placements, workload, system, layer, only_first=only_first)[0]


def joined(first: Placements, later: Placements, offset: int) -> Placements:
    """Put two tables one after the other; ``offset`` rows of the workload stand before the later one's."""
    names = (
        *("module", "partition", "nodes", "limit", "run", "cost", "demand"),
        *("tier", "asked_module", "asked_nodes", "asked_limit", "asked_run", "held"),
    )
    return Placements(
        rows=np.concatenate((first.rows, later.rows + offset)),
        first=np.concatenate((first.first, later.first[1:] + first.first[-1])),
        **{name: np.concatenate((getattr(first, name), getattr(later, name))) for name in names},
        of_nodes=joined_demands(first.of_nodes, later.of_nodes),
        khz=None if first.khz is None or later.khz is None else np.concatenate((first.khz, later.khz)),
        rejected=_summed(first.rejected, later.rejected),
        not_limited=_summed(first.not_limited, later.not_limited),
    )


def _summed(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def _simulated_rows(workload: Workload) -> Ints:
    """Rows in trace order: submit time, ties in file order; skipped records left out (rule 11)."""
    table = workload.table
    rows = np.flatnonzero(table["skipped"].to_numpy() == 0)
    submit = table["submit_time"].to_numpy()[rows]
    if (np.diff(submit) < 0).any():
        rows = rows[np.argsort(submit, kind="stable")]
    return rows.astype(np.int64)


class _Ways:
    """The partitions each component asks for, what it asks for in them, and what stands against them."""

    def __init__(
        self, workload: Workload, system: System, rows: Ints, models: Models | None, seed: int
    ) -> None:
        self.workload, self.system, self.rows = workload, system, rows
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
        lists, codes = self._lists()
        count = np.array([len(one) for one in lists], dtype=np.int64)
        start = np.cumsum(count) - count
        self.kinds = [alternative for one in lists for alternative in one]
        self.time = np.nan_to_num(np.array([one.time for one in self.kinds]), nan=1.0)
        self.change = np.array([one.conversion for one in self.kinds]).reshape(-1, 3)
        self.nodes = np.array([one.nodes for one in self.kinds], dtype=np.int64)
        places = {id(p): i for i, p in enumerate(parts)}
        to = np.array([places[id(one.partition)] for one in self.kinds], dtype=np.int64)
        times = count[codes]
        self.owner = np.repeat(np.arange(len(rows)), times)
        place = np.arange(len(self.owner)) - np.repeat(np.cumsum(times) - times, times)
        self.kind = start[codes][self.owner] + place
        self.partition = to[self.kind]

    def _lists(self) -> tuple[list[tuple[Alternative, ...]], Ints]:
        """The alternatives of each spelling of partitions, type and, where it scales, size; who has which."""
        types = self._types()
        sizes = self._scaled_sizes(types)
        if self.models is not None and self.models.chooses_modules:
            asked, codes = [(self.system.default_partition,)], np.zeros(len(self.rows), dtype=np.int64)
        else:
            swf = self.workload.source.format == "swf"
            asked, codes = self._by_text("partition", lambda text: self.system.partitions_for(text, swf=swf))
        kinds, largest = int(types.max(initial=0)) + 1, int(sizes.max(initial=0)) + 1
        keys, which = np.unique((codes * kinds + types) * largest + sizes, return_inverse=True)
        lists = []
        for number, key in enumerate(keys.tolist()):
            (text, type_number), nodes = divmod(key // largest, kinds), key % largest
            try:
                lists.append(alternatives(self.system, self.models, asked[text], type_number, nodes))
            except InputError as error:
                raise self._at(int(np.flatnonzero(which == number)[0]), "partition", str(error)) from None
        return lists, which.reshape(-1).astype(np.int64)

    def _types(self) -> Ints:
        """The type of application of each component: the one that the trace names, else drawn."""
        models = self.models
        if models is None or not models.type_names:
            return np.zeros(len(self.rows), dtype=np.int64)
        named, codes = self._by_text("app", models.named_type)
        types = np.array(named, dtype=np.int64)[codes]
        without = np.flatnonzero(types < 0)
        try:
            types[without] = models.drawn_types(self._column("component_id")[without], self.seed)
        except InputError as error:
            raise self._at(int(without[0]), "app", str(error)) from None
        return types

    def _scaled_sizes(self, types: Ints) -> Ints:
        """The nodes of those components on which their alternatives depend; of others ``AS_ASKED``."""
        if self.models is None or not self.models.scalings:
            return np.full(len(types), AS_ASKED, dtype=np.int64)
        return np.where(self.models.scaled_types[types], self._column("nodes"), AS_ASKED)

    def _at(self, component: int, column: str, problem: str) -> TraceError:
        """An error that names the line of a component."""
        row, source = int(self.rows[component]), self.workload.source
        text = str(self.workload.table[column].array[row])
        return TraceError(
            problem, file=source.name or None, line=source.line_of(row), field=column, found=text
        )

    def _by_text(self, column: str, read: Callable[[str], Any]) -> tuple[list[Any], Ints]:
        """Read each spelling of a text column once; errors name the first line that has it."""
        texts = self.workload.table[column].array
        codes = np.asarray(texts.codes)[self.rows]
        used = np.unique(codes)
        values = []
        for code in used:
            text = str(texts.categories[code])
            try:
                values.append(read(text))
            except InputError as error:
                raise self._at(int(np.flatnonzero(codes == code)[0]), column, str(error)) from None
        return values, np.searchsorted(used, codes)

    def requests(self, owner: Ints, partition: Ints, kind: Ints) -> tuple[Ints, Ints, Ints]:
        """Nodes, run time (s) and time limit (s) of each placement.

        The limit is the trace's, else the partition's DefaultTime, else the run time; at least 1 s.
        """
        asked = [self._column(name) for name in ("nodes", "run_time", "time_limit")]
        made = tuple(np.empty(len(owner), dtype=np.int64) for _ in asked)
        for begin in range(0, len(owner), BLOCK):
            here = slice(begin, begin + BLOCK)
            columns = [column[owner[here]] for column in asked]
            for column, values in zip(
                made, self._requests(columns, partition[here], kind[here]), strict=True
            ):
                column[here] = values
        return made[0], made[1], made[2]

    def _requests(self, asked: list[Ints], partition: Ints, kind: Ints) -> tuple[Ints, Ints, Ints]:
        nodes, run, own = asked
        if self.models is not None:
            nodes, factor = self._converted(nodes, kind)
            run = scaled(run, factor)
            own = np.where(own >= 0, scaled(own, factor), own)
        default = self.default_time[partition]
        limit = np.where(own >= 0, own, np.where(default >= 0, default, run))
        return nodes, run, np.maximum(limit, 1)

    def _converted(self, nodes: Ints, kind: Ints) -> tuple[Ints, NDArray[np.float64]]:
        """Nodes on the module of each placement, and the factor of its times."""
        of_nodes, several, alone = self.change[kind].T
        factor = self.time[kind] * np.where(nodes == 1, alone, several)
        size = self.nodes[kind]
        return np.where(size == AS_ASKED, converted_nodes(nodes, of_nodes), size), factor

    def demands_of_nodes(self, owner: Ints, partition: Ints) -> NodeDemands:
        """Which nodes of its partition each placement may take."""
        constraints, codes = self._by_text("constraint", _checked_constraint)
        memory = self._column("memory_kb")
        return node_demands(
            self.system, partition, constraints, codes[owner], self._cores()[owner], memory[owner]
        )

    def reasons(
        self,
        owner: Ints,
        partition: Ints,
        kind: Ints,
        nodes: Ints,
        limit: Ints,
        demand: Ints,
        of_nodes: NodeDemands | None,
        *,
        limits_count: bool = True,
    ) -> Ints:
        """Number of the first reason why each placement can never run, ``len(REASONS)`` if it can."""
        unsuited = np.array([is_unsuited(one) for one in self.kinds], dtype=bool)
        tests = [
            unsuited[kind],
            self.refuses[partition],
            nodes > self.size[partition],
            *(limits_count & test for test in self._beyond(partition, nodes, limit)),
            *self._unfit(owner, partition, nodes, of_nodes),
            (demand > self._amounts()).any(axis=1),
        ]
        reason = np.full(len(owner), len(tests), dtype=np.int64)
        for number in reversed(range(len(tests))):
            reason[tests[number]] = number
        return reason

    def beyond(self, partition: Ints, nodes: Ints, limit: Ints) -> NDArray[np.bool_]:
        """Whether a placement asks for more, or fewer, than the limits of its partition allow."""
        return np.asarray(np.logical_or.reduce(self._beyond(partition, nodes, limit)))

    def _beyond(self, partition: Ints, nodes: Ints, limit: Ints) -> list[NDArray[np.bool_]]:
        return [
            nodes > self.max_nodes[partition],
            nodes < self.min_nodes[partition],
            limit > self.max_time[partition],
        ]

    def _unfit(
        self, owner: Ints, partition: Ints, nodes: Ints, of_nodes: NodeDemands | None
    ) -> Iterator[NDArray[np.bool_]]:
        """Whether memory, cores or features stand against a placement."""
        if of_nodes is None:
            modules = self.system.modules
            for wrong in (
                _exceeds(self._column("memory_kb"), np.array([[m.memory_kb] for m in modules])),
                _exceeds(self._cores(), np.array([[m.least_cores] for m in modules])),
                ~self._features(),
            ):  # [modules, components]; of most traces nothing is wrong
                yield wrong[self.module[partition], owner] if wrong.any() else np.zeros(len(owner), bool)
        else:
            memory, cores = self._column("memory_kb")[owner], self._cores()[owner]
            sets = [[one for one, _ in self.system.sets_of(p.name)] for p in self.system.partitions]
            yield _exceeds(memory, np.array([_largest(s.memory_kb for s in own) for own in sets])[partition])
            yield _exceeds(
                cores, np.array([_largest(s.cores_per_node for s in own) for own in sets])[partition]
            )
            yield ~of_nodes.can_be_met(nodes)

    def _column(self, name: str) -> Ints:
        return self.workload.table[name].to_numpy()[self.rows]

    def _cores(self) -> Ints:
        processes = np.maximum(self._column("processes_per_node"), 0)
        return processes * np.maximum(self._column("threads_per_process"), 1)

    def _features(self) -> NDArray[np.bool_]:
        """[modules, components]: whether the module has the features asked for."""
        modules = self.system.modules
        answers, codes = self._by_text("constraint", lambda text: [m.satisfies(text) for m in modules])
        return np.array(answers, dtype=bool).reshape(-1, len(modules)).T[:, codes]

    def _amounts(self) -> Ints:
        return np.array([resource.amount for resource in self.system.resources], dtype=np.int64)


def default_time(partition: Partition) -> int | None:
    """Time limit (s) of a component that states none: DefaultTime, else MaxTime; None without either."""
    return partition.max_time_s if partition.default_time_s is None else partition.default_time_s


def _checked_constraint(text: str) -> str:
    """The constraint itself, once it is clear what it means for nodes that differ."""
    parse_constraint(text).ways()
    return text


def _largest(values: Iterable[int]) -> int:
    """The largest of some sizes of nodes; 0, not stated, if one is not stated."""
    sizes = list(values)
    return 0 if 0 in sizes else max(sizes)


def _or_minus_1(values: Iterable[int | None]) -> Ints:
    return np.array([-1 if value is None else value for value in values], dtype=np.int64)


def _or_no_limit(values: Iterable[int | None]) -> Ints:
    return np.array([np.iinfo(np.int64).max if value is None else value for value in values], dtype=np.int64)


def _without_closed(
    owner: Ints, possible: NDArray[np.bool_], down: NDArray[np.bool_], components: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Drop placements in partitions that are DOWN where there are others; tell who has no others."""
    has_open = np.bincount(owner[possible & ~down], minlength=components) > 0
    left = possible & (~down | ~has_open[owner])
    return left, ~has_open & (np.bincount(owner[left], minlength=components) > 0)


def _exceeds(asked: Ints, there_is: Ints) -> NDArray[np.bool_]:
    """Compare where both are stated: what is not stated (at most 0) does not restrict."""
    return (there_is > 0) & (asked > there_is)


def _first_of_each(owner: Ints, possible: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The first possible placement of each component."""
    first = np.zeros(len(owner), dtype=bool)
    _, places = np.unique(owner[possible], return_index=True)
    first[np.flatnonzero(possible)[places]] = True
    return first
