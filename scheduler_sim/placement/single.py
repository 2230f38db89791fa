"""One component's placements, by the rules of ``table`` without its arrays.

Components that processes submit come one at a time; for one, plain Python is a hundred
times quicker than whole columns. Tests hold the two equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.applications.models import NO_TYPE, UNCHANGED, Models, converted_nodes, scaled
from scheduler_sim.errors import InputError
from scheduler_sim.placement.alternatives import AS_ASKED, Alternative, alternatives, is_unsuited
from scheduler_sim.placement.clocks import with_energy
from scheduler_sim.placement.shared import NEVER_ENOUGH
from scheduler_sim.placement.table import expand
from scheduler_sim.placement.ways import NO_SUBMISSIONS, default_time
from scheduler_sim.system.licence import parse_licences
from scheduler_sim.system.module import NodeChoice
from scheduler_sim.system.system import Module, Partition, System
from scheduler_sim.workload.table import Workload


class Way(NamedTuple):
    """A placement that can run: module number, nodes, limit (s), run time (s), cost, shared resources.

    ``choices``: which nodes it may take; none where nodes are only counted.
    """

    module: int
    nodes: int
    limit: int
    run: int
    cost: float
    demand: tuple[int, ...]
    choices: tuple[NodeChoice, ...] = ()


class Single(NamedTuple):
    """The ways of a component; priority, time limit (s) and nodes in the first partition it asks for.

    ``held``: all its ways are in partitions that are DOWN, so that it waits for ever.
    """

    ways: tuple[Way, ...]
    tier: int
    limit: int
    nodes: int
    held: bool

    @property
    def rigid(self) -> bool:
        """Whether it has at most one way and asks for no shared resources."""
        return len(self.ways) <= 1 and not any(any(way.demand) for way in self.ways)


class Placer:
    """Finds the placements of single components on a system, by the options of ``expand``."""

    def __init__(
        self,
        system: System,
        *,
        only_first: bool,
        by_sets: bool = False,
        beyond: str = "ANY",
        models: Models | None = None,
        seed: int = 0,
    ) -> None:
        self._system, self._only_first, self._by_sets, self._beyond = system, only_first, by_sets, beyond
        self._models, self._seed = models, seed
        self._alternatives = lru_cache(maxsize=4096)(self._found)

    def place(self, asked: Mapping[str, Any]) -> Single:
        """Return the placements of a component given as the columns of a workload.

        Raises InputError for a partition or a type of application that does not exist, and where a
        request for features or licences cannot be understood.
        """
        type_number = self._type_of(asked)
        scales = self._models is not None and self._models.scaling(type_number) is not None
        nodes = asked["nodes"] if scales else AS_ASKED
        found = self._alternatives(asked["partition"], type_number, nodes)
        there = [(one, _request(asked, one)) for one in found]
        over = [one for one in there if not _within(one[1], one[0].partition)]
        able = [one for one in there if not is_unsuited(one[0])]
        up = [one for one in able if one[0].partition.state != "DOWN" and one not in over]
        waits = [one for one in able if one not in up and (one not in over or self._beyond == "NO")]
        refused = self._beyond == "ALL" and over
        open_ways = [] if refused else list(self._ways(up))
        ways = open_ways or ([] if refused else list(self._ways(waits)))
        first = ways[:1] if self._only_first else ways
        (preferred, request), *_ = there
        tier, limit = preferred.partition.priority, _limit(request, preferred.partition)
        left = self._by_energy(first, asked) if self._models and self._models.limited_by_energy else first
        return Single(tuple(left), tier, limit, request["nodes"], bool(ways) and not open_ways)

    def _by_energy(self, ways: list[Way], asked: Mapping[str, Any]) -> list[Way]:
        """The ways that are left, at the P-states that are chosen by energy, with the power they ask for."""
        assert self._models is not None
        alone = Workload.from_columns(**{name: [value] for name, value in asked.items()})
        placements = expand(
            alone,
            self._system,
            only_first=self._only_first,
            by_sets=self._by_sets,
            beyond=self._beyond,
            models=self._models.without_limits(),
            seed=self._seed,
        )
        made, former = with_energy(placements, alone, self._system, self._models, only_first=self._only_first)
        columns = zip(former, made.limit, made.run, made.cost, made.demand, strict=True)
        return [
            ways[place]._replace(
                limit=int(limit), run=int(run), cost=float(cost), demand=tuple(demand.tolist())
            )
            for place, limit, run, cost, demand in columns
        ]

    def _found(self, partition: str, type_number: int, nodes: int) -> tuple[Alternative, ...]:
        chosen = self._models is not None and self._models.chooses_modules
        asked = (self._system.default_partition,) if chosen else self._system.partitions_for(partition)
        return alternatives(self._system, self._models, asked, type_number, nodes)

    def _type_of(self, asked: Mapping[str, Any]) -> int:
        """The type of application that it names, else drawn by its number alone."""
        models = self._models
        if models is None or not models.type_names:
            return NO_TYPE
        named = models.named_type(asked["app"])
        if named != NO_TYPE:
            return named
        if not models.draws_one_by_one:
            raise InputError(
                f"submit: app: found none, and models {models.name} draw the types of a whole trace;"
                f" allowed: {', '.join(models.type_names)}, or draw: hash"
            )
        return int(models.drawn_types(np.array([asked["component_id"]]), self._seed)[0])

    def _ways(self, there: list[tuple[Alternative, Mapping[str, Any]]]) -> Iterator[Way]:
        for (partition, *_), asked in there:
            demands = [d for d in self._demands(asked) if self._there_is(d)]
            number = self._system.module_index(partition.module)
            module, limit, nodes = self._system.modules[number], _limit(asked, partition), asked["nodes"]
            choices = self._choices(asked, partition) if self._by_sets else ()
            fits = any(one.least <= nodes <= one.most for one in choices)
            if (fits if self._by_sets else _fits(asked, module)) and self._takes(asked, partition):
                for demand in demands:
                    cost = nodes * module.cost_per_node * limit
                    yield Way(number, nodes, limit, asked["run_time"], cost, demand, choices)

    def _demands(self, asked: Mapping[str, Any]) -> list[tuple[int, ...]]:
        """What each alternative asks of the shared resources, in their order."""
        resources = self._system.resources
        names = [resource.name for resource in resources if resource.kind == "licence"]
        alternatives = parse_licences(asked["licences"]) if asked["licences"] else [{}]
        if not names:
            alternatives = [{}]
        found = []
        for wanted in alternatives:
            demand = [
                max(asked["nam_kb"], 0) if r.kind == "nam" else wanted.get(r.name, 0) for r in resources
            ]
            if any(name not in names for name in wanted):
                demand[0] = int(NEVER_ENOUGH)
            found.append(tuple(demand))
        return found

    def _choices(self, asked: Mapping[str, Any], partition: Partition) -> tuple[NodeChoice, ...]:
        memory = asked["memory_kb"]
        return self._system.node_choices(
            partition.name, asked["constraint"], cores=_cores(asked), memory_kb=memory
        )

    def _takes(self, asked: Mapping[str, Any], partition: Partition) -> bool:
        """Tell whether a partition takes submissions, and has as many nodes."""
        return partition.state not in NO_SUBMISSIONS and asked["nodes"] <= self._system.nodes_of(
            partition.name
        )

    def _there_is(self, demand: tuple[int, ...]) -> bool:
        return all(d <= r.amount for d, r in zip(demand, self._system.resources, strict=True))


def _request(asked: Mapping[str, Any], alternative: Alternative) -> Mapping[str, Any]:
    """What a component asks for in an alternative: nodes, run time and time limit by the models."""
    _, time, change, size = alternative
    if is_unsuited(alternative) or (time == 1.0 and change == UNCHANGED and not size):
        return asked
    nodes, limit = asked["nodes"], asked["time_limit"]
    factor = np.array(time * (change.time_of_one_node if nodes == 1 else change.time))
    return {
        **asked,
        "nodes": size or int(converted_nodes(np.array(nodes), np.array(change.nodes))),
        "run_time": int(scaled(np.array(asked["run_time"]), factor)),
        "time_limit": int(scaled(np.array(limit), factor)) if limit >= 0 else limit,
    }


def _within(asked: Mapping[str, Any], partition: Partition) -> bool:
    """Tell whether a component keeps the limits of a partition on nodes and time."""
    limit = _limit(asked, partition)
    return (
        partition.min_nodes <= asked["nodes"]
        and (partition.max_nodes is None or asked["nodes"] <= partition.max_nodes)
        and (partition.max_time_s is None or limit <= partition.max_time_s)
    )


def _limit(asked: Mapping[str, Any], partition: Partition) -> int:
    """Time limit: the component's own, else the partition's DefaultTime, else the run time; at least 1 s."""
    if asked["time_limit"] >= 0:
        return max(asked["time_limit"], 1)
    default = default_time(partition)
    return max(asked["run_time"] if default is None else default, 1)


def _fits(asked: Mapping[str, Any], module: Module) -> bool:
    """Tell whether every node of a module has what a component asks of a node."""
    return (
        module.satisfies(asked["constraint"])
        and not 0 < module.memory_kb < asked["memory_kb"]
        and not 0 < module.least_cores < _cores(asked)
    )


def _cores(asked: Mapping[str, Any]) -> int:
    return int(max(asked["processes_per_node"], 0) * max(asked["threads_per_process"], 1))
