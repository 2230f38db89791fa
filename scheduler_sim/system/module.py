"""A pool of nodes and the sets of equal nodes in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from scheduler_sim.system.constraint import parse_constraint
from scheduler_sim.system.gres import GPU, gpus_in, types_of_gpus

KB_PER_GB = 1024 * 1024
NOTHING: Mapping[str, float] = {}


@dataclass(frozen=True)
class NodeSet:
    """Nodes of a module that are alike, and differ from its other nodes.

    Attributes
    ----------
    name : unique within the module, ignoring case.
    nodes : number of nodes, at least 1.
    features : keywords that a constraint may ask for, besides those of the module.
    cores_per_node : 0: as the module states.
    memory_gb : memory of a node, GB of 1,048,576 KB; 0: as the module states.
    weight : Slurm's Weight: nodes of the smallest weight are taken first.
    gpus_per_node : 0: as the module states.
    gres : generic resources of a node by name, besides those of the module.
    sockets, threads_per_core : 0: as the module states.
    """

    name: str
    nodes: int
    features: tuple[str, ...] = ()
    cores_per_node: float = 0
    memory_gb: float = 0.0
    weight: int = 1
    gpus_per_node: float = 0
    gres: Mapping[str, float] = field(default_factory=dict, hash=False)
    sockets: int = 0
    threads_per_core: int = 0

    @property
    def memory_kb(self) -> int:
        """Memory of a node in KB, the unit of traces; 0 where it is not stated."""
        return round(self.memory_gb * KB_PER_GB)

    @property
    def processors(self) -> int:
        """Processors of a node, one where nothing is said: Slurm's own default."""
        return max(int(self.cores_per_node), 1)

    @property
    def gpus(self) -> float:
        """GPUs of a node: those that are counted, else those of all types."""
        return self.gpus_per_node or gpus_in(self.gres)

    @property
    def gpu_types(self) -> tuple[str, ...]:
        """The types of its GPUs, in the order in which they stand on a node: the first has the first GPUs."""
        return types_of_gpus(name for name, amount in self.gres.items() if amount > 0)

    def has(
        self, cores: float = 0, memory_kb: int = 0, gpus: float = 0, gres: Mapping[str, float] = NOTHING
    ) -> bool:
        """Tell whether a node has so much; cores and memory that are not stated are enough."""
        own = {GPU: self.gpus, **{name.lower(): amount for name, amount in self.gres.items()}}
        return (
            not (0 < self.cores_per_node < cores or 0 < self.memory_kb < memory_kb)
            and gpus <= self.gpus
            and all(amount <= own.get(name.lower(), 0) for name, amount in gres.items())
        )


@dataclass(frozen=True)
class Module:
    """A pool of nodes, alike but for the node sets.

    Attributes
    ----------
    name : as results call it.
    nodes : number of nodes, at least 1.
    cores_per_node : 0 where it is not stated, so that nothing is checked against it.
    memory_gb : memory of a node, GB of 1,048,576 KB; 0 where it is not stated.
    gpus_per_node : GPUs of a node.
    features : keywords that a constraint may ask for.
    cost_per_node : in any unit; ranks placements by least cost.
    description : a sentence for people.
    node_sets : sets that together are all nodes, in the order of node numbers; none: all nodes alike.
    shared : whether several jobs may run on a node, each with the part of it that it asks for.
    gres : generic resources of a node by name.
    sockets : of a node; its cores stand on them in equal parts.
    threads_per_core : where ``cores_per_node`` counts hardware threads, how many of them make a core.
    """

    name: str
    nodes: int
    cores_per_node: float = 0
    memory_gb: float = 0.0
    gpus_per_node: float = 0
    features: tuple[str, ...] = ()
    cost_per_node: float = 1.0
    description: str = ""
    node_sets: tuple[NodeSet, ...] = ()
    shared: bool = False
    gres: Mapping[str, float] = field(default_factory=dict, hash=False)
    sockets: int = 1
    threads_per_core: int = 1

    @cached_property
    def sets(self) -> tuple[NodeSet, ...]:
        """The node sets with what the module states filled in; a module of equal nodes is one set."""
        if not self.node_sets:
            return (self._filled(NodeSet(self.name, self.nodes)),)
        return tuple(map(self._filled, self.node_sets))

    def _filled(self, one: NodeSet) -> NodeSet:
        return replace(
            one,
            features=(*self.features, *one.features),
            cores_per_node=one.cores_per_node or self.cores_per_node,
            memory_gb=one.memory_gb or self.memory_gb,
            gpus_per_node=one.gpus_per_node or self.gpus_per_node,
            gres={**self.gres, **one.gres},
            sockets=one.sockets or self.sockets,
            threads_per_core=one.threads_per_core or self.threads_per_core,
        )

    @cached_property
    def ranges(self) -> tuple[range, ...]:
        """Node numbers of each set, from 0, in the order of the sets."""
        ends = [0]
        for one in self.sets:
            ends.append(ends[-1] + one.nodes)
        return tuple(map(range, ends, ends[1:]))

    @cached_property
    def least_cores(self) -> float:
        """Cores that every node has; 0 where it is not stated for all."""
        return min(one.cores_per_node for one in self.sets)

    @cached_property
    def memory_kb(self) -> int:
        """Memory that every node has, in KB, the unit of traces; 0 where it is not stated for all."""
        return min(one.memory_kb for one in self.sets)

    def satisfies(self, constraint: str) -> bool:
        """Tell whether every node has the features that a component asks for.

        The constraint is written as for Slurm: keywords joined by ``&`` and ``|``.
        Raises InputError on one that cannot be understood.
        """
        wanted = parse_constraint(constraint)
        return all(wanted.holds_for(one.features) for one in self.sets)


@dataclass(frozen=True)
class NodeChoice:
    """Nodes of a module among which a component may be placed.

    Attributes
    ----------
    anywhere : node numbers, from 0, one range for each node set that will do, in their order.
    at_least : pairs (n, ranges): at least n of the nodes must be among these ranges.
    of_any_size : as ``anywhere``, with the node sets that would do if they had more of what is asked for.
    """

    anywhere: tuple[range, ...]
    at_least: tuple[tuple[int, tuple[range, ...]], ...] = ()
    of_any_size: tuple[range, ...] = ()

    @property
    def least(self) -> int:
        """Number of nodes a component must ask for at least: each count has nodes of its own; 1 without."""
        return max(sum(count for count, _ in self.at_least), 1)

    @property
    def most(self) -> int:
        """Number of nodes there are to choose from; 0 where a count in itself cannot be met."""
        if any(count > sum(map(len, ranges)) for count, ranges in self.at_least):
            return 0
        return sum(map(len, self.anywhere))


def choices_among(
    sets: Sequence[tuple[NodeSet, range]], constraint: str, **asked: Any
) -> tuple[NodeChoice, ...]:
    """Return the nodes a component may take of some node sets, one choice for each alternative.

    ``asked`` of each node, as of :meth:`NodeSet.has`.

    Raises InputError where the constraint cannot be understood.
    """
    kinds = types_of_gpus(asked.get("gres", NOTHING))
    typed = [(one, numbers) for one, numbers in sets if one.has(gres=dict.fromkeys(kinds, 0.001))]
    choices = []
    for way in parse_constraint(constraint).ways():
        featured = [(one, numbers) for one, numbers in typed if way.every.holds_for(one.features)]
        every = [(one, numbers) for one, numbers in featured if one.has(**asked)]
        at_least = tuple(
            (count, tuple(numbers for one, numbers in every if feature.holds_for(one.features)))
            for count, feature in way.counts
        )
        of_any_size = tuple(numbers for _, numbers in featured)
        choices.append(NodeChoice(tuple(numbers for _, numbers in every), at_least, of_any_size))
    return tuple(choices)
