"""One component's placements, by the rules of ``table`` without its arrays.

Components that processes submit come one at a time; for one, plain Python is a hundred
times quicker than whole columns. Tests hold the two equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from scheduler_sim.placement.shared import NEVER_ENOUGH
from scheduler_sim.placement.table import NO_SUBMISSIONS, default_time
from scheduler_sim.system.licence import parse_licences
from scheduler_sim.system.module import NodeChoice
from scheduler_sim.system.system import Module, Partition, System


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
    """The ways of a component, the priority and time limit (s) in the first partition it asks for.

    ``held``: all its ways are in partitions that are DOWN, so that it waits for ever.
    """

    ways: tuple[Way, ...]
    tier: int
    limit: int
    held: bool

    @property
    def rigid(self) -> bool:
        """Whether it has at most one way and asks for no shared resources."""
        return len(self.ways) <= 1 and not any(any(way.demand) for way in self.ways)


class Placer:
    """Finds the placements of single components on a system, by the options of ``expand``."""

    def __init__(
        self, system: System, *, only_first: bool, by_sets: bool = False, beyond: str = "ANY"
    ) -> None:
        self._system, self._only_first, self._by_sets, self._beyond = system, only_first, by_sets, beyond
        self._partitions = lru_cache(maxsize=4096)(system.partitions_for)

    def place(self, asked: Mapping[str, Any]) -> Single:
        """Return the placements of a component given as the columns of a workload.

        Raises InputError for a partition that does not exist, and where a request for
        features or licences cannot be understood.
        """
        partitions = self._partitions(asked["partition"])
        over = [p for p in partitions if not _within(asked, p, _limit(asked, p))]
        up = [p for p in partitions if p.state != "DOWN" and p not in over]
        waits = [p for p in partitions if p not in up and (p not in over or self._beyond == "NO")]
        refused = self._beyond == "ALL" and over
        open_ways = [] if refused else list(self._ways(asked, up))
        ways = open_ways or ([] if refused else list(self._ways(asked, waits)))
        first = ways[:1] if self._only_first else ways
        tier, limit = partitions[0].priority, _limit(asked, partitions[0])
        return Single(tuple(first), tier, limit, bool(ways) and not open_ways)

    def _ways(self, asked: Mapping[str, Any], partitions: list[Partition]) -> Iterator[Way]:
        demands = [d for d in self._demands(asked) if self._there_is(d)]
        for partition in partitions:
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


def _within(asked: Mapping[str, Any], partition: Partition, limit: int) -> bool:
    """Tell whether a component keeps the limits of a partition on nodes and time."""
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
