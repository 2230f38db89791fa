"""The machine a workload runs on: modules, partitions and shared resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from scheduler_sim.config.keys import check_keys
from scheduler_sim.config.problem import listed, one_of
from scheduler_sim.config.yaml_file import read_yaml
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.system.budget import with_node_counts
from scheduler_sim.system.failures import FailureKeys
from scheduler_sim.system.keys import ModuleKeys, PartitionKeys, SystemKeys, contradictions
from scheduler_sim.system.module import KB_PER_GB, NOTHING, Module, NodeChoice, NodeSet, choices_among
from scheduler_sim.system.node_events import NodeEvent
from scheduler_sim.system.node_resources import capacities, kinds_of, types_beside_others, types_that_differ
from scheduler_sim.system.over_subscribe import OverSubscribe
from scheduler_sim.system.reservations import ReservationChangeKeys, ReservationKeys
from scheduler_sim.system.topology import Switch, TopologyKeys, switches_of

__all__ = ["Module", "NodeChoice", "NodeSet", "Partition", "Resource", "System"]

NAM = "nam"
NO_PARTITION = ("", "NA", "-1")


@dataclass(frozen=True)
class Partition:
    """A partition of a module.

    Attributes
    ----------
    name : name in traces, ignoring case.
    module : name of the module its components run on.
    max_time_s : longest time limit, s; None without limit.
    max_nodes : most nodes of one component; None without limit.
    priority : larger goes first, under policies that use it.
    default : used by components that name no partition.
    node_sets : names of the module's node sets it covers; none: all nodes.
    default_time_s : time limit of components without one, s; None: ``max_time_s``.
    min_nodes : fewest nodes of one component.
    state : ``UP``; ``DOWN``: components wait for ever; ``DRAIN``, ``INACTIVE``: no submissions.
    priority_job_factor : Slurm's PriorityJobFactor.
    exclusive : components have exclusive nodes, even on shared modules.
    slurm : settings used only by policy ``slurm``, by Slurm's names; those not stated are left out.
    """

    name: str
    module: str
    max_time_s: int | None = None
    max_nodes: int | None = None
    priority: int = 0
    default: bool = False
    node_sets: tuple[str, ...] = ()
    default_time_s: int | None = None
    min_nodes: int = 1
    state: str = "UP"
    priority_job_factor: int = 1
    exclusive: bool = False
    slurm: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def over_subscribe(self) -> OverSubscribe:
        """How many of its jobs may have a core at once under policy ``slurm``."""
        return OverSubscribe.read(self.slurm.get("OverSubscribe", "NO"))


@dataclass(frozen=True)
class Resource:
    """A resource that all modules share, counted like nodes.

    Attributes
    ----------
    name : of the licence, or ``nam``.
    amount : the total, in ``unit``.
    kind : ``licence`` or ``nam`` (network attached memory).
    unit : ``licences`` or ``KB``.
    """

    name: str
    amount: int
    kind: Literal["licence", "nam"] = "licence"
    unit: str = "licences"


@dataclass(frozen=True)
class System:
    """Modules, their partitions, and shared resources.

    Attributes
    ----------
    name : name in reports.
    modules : at least one.
    partitions : at least one per module; one with the module's name where none was given.
    resources : licences and network attached memory.
    swf_partitions : partition name for a partition or queue number of an SWF trace.
    description : text for the reader.
    events : when nodes are out of service.
    reservations : advance reservations, by the keys of a system file.
    reservation_changes : changes of them by operators, likewise.
    topology : which nodes are close to each other, likewise; None: the location does not matter.
    failures : how nodes fail, by the keys of a system file.
    """

    name: str
    modules: tuple[Module, ...]
    partitions: tuple[Partition, ...] = ()
    resources: tuple[Resource, ...] = ()
    swf_partitions: Mapping[str, str] = field(default_factory=dict, hash=False)
    description: str = ""
    events: tuple[NodeEvent, ...] = ()
    reservations: tuple[ReservationKeys, ...] = field(default=(), hash=False)
    reservation_changes: tuple[ReservationChangeKeys, ...] = field(default=(), hash=False)
    topology: TopologyKeys | None = field(default=None, hash=False)
    failures: tuple[FailureKeys, ...] = field(default=(), hash=False)

    def __post_init__(self) -> None:
        reached = {partition.module.lower() for partition in self.partitions}
        own = (Partition(m.name, m.name) for m in self.modules if m.name.lower() not in reached)
        object.__setattr__(self, "partitions", (*self.partitions, *own))
        _checked_keys(self.to_dict(), "system")

    @classmethod
    def from_yaml(cls, path: str | Path) -> System:
        """Read a system file. Raises ConfigError with every problem, each with its line."""
        file = read_yaml(path)
        data, problems = with_node_counts(file.data)
        keys, more = check_keys(SystemKeys, data)
        problems.extend((*more, *contradictions(data)))
        if problems or keys is None:
            raise file.error(problems)
        return _system_of(keys, file.path.stem)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> System:
        """Build a system from the keys of a system file. Raises ConfigError with every problem."""
        return _system_of(_checked_keys(dict(data), "system"), "system")

    @classmethod
    def homogeneous(cls, nodes: int, name: str = "cluster") -> System:
        """Build a plain cluster: one module of ``nodes`` nodes."""
        return cls.from_dict({"name": name, "modules": [{"name": name, "nodes": nodes}]})

    def to_dict(self) -> dict[str, Any]:
        """Return the system as the keys of a system file, defaults filled in."""
        licences = {r.name: r.amount for r in self.resources if r.kind == "licence"}
        nam_kb = sum(r.amount for r in self.resources if r.kind == NAM)
        return {
            "name": self.name,
            "description": self.description,
            "modules": [_module_keys(module) for module in self.modules],
            "partitions": [_partition_keys(partition) for partition in self.partitions],
            "resources": {"licences": licences, "nam_gb": nam_kb / KB_PER_GB},
            "swf": {"partitions": dict(self.swf_partitions)},
            **({"events": [event.to_dict() for event in self.events]} if self.events else {}),
            **self._outages(),
            **({"topology": self.topology.model_dump(exclude_defaults=True)} if self.topology else {}),
        }

    def _outages(self) -> dict[str, Any]:
        """The keys of reservations and failures, where there are any."""
        told = {
            "reservations": self.reservations,
            "reservation_changes": self.reservation_changes,
            "failures": self.failures,
        }
        return {
            name: [one.model_dump(exclude_defaults=True) for one in those]
            for name, those in told.items()
            if those
        }

    @cached_property
    def switches(self) -> tuple[Switch, ...]:
        """The switches, or blocks, of its topology; none without."""
        sizes = [(module.name, module.nodes) for module in self.modules]
        return switches_of(self.topology, sizes) if self.topology else ()

    @cached_property
    def on_switches(self) -> tuple[bool, ...]:
        """Of each module, whether its nodes are on switches: all of them are, or none."""
        there = {one.module for switch in self.switches for one in switch.nodes}
        return tuple(i in there for i in range(len(self.modules)))

    @property
    def nodes(self) -> int:
        """Number of nodes over all modules."""
        return sum(module.nodes for module in self.modules)

    @property
    def default_partition(self) -> Partition:
        """The partition that is marked as default, else the first."""
        return next((p for p in self.partitions if p.default), self.partitions[0])

    def module(self, name: str) -> Module:
        """Return the module of that name, ignoring case. Raises InputError if there is none."""
        return self.modules[self.module_index(name)]

    def module_index(self, name: str) -> int:
        """Return the position of a module, ignoring case. Raises InputError if there is none."""
        if name.lower() not in self._module_places:
            raise InputError(_unknown("module", name, [m.name for m in self.modules], self.name))
        return self._module_places[name.lower()]

    def partition(self, name: str) -> Partition:
        """Return the partition of that name, ignoring case. Raises InputError if there is none."""
        if name.lower() not in self._partition_by_name:
            known = [p.name for p in self.partitions]
            raise InputError(
                f"{_unknown('partition', name, known, self.name)}, or more partitions in the system"
            )
        return self._partition_by_name[name.lower()]

    def partitions_for(self, request: str, *, swf: bool = False) -> tuple[Partition, ...]:
        """Return the partitions that a trace's partition field asks for, in its order.

        Several are separated by commas; an empty field, ``NA`` or ``-1`` is the default partition. In an SWF
        trace the number is looked up in ``swf.partitions``; on a system with one module, a number that is not
        there is the default partition. Raises InputError.
        """
        if swf:
            return (self._swf_partition(request.strip()),)
        names = [name.strip() for name in request.split(",")]
        if names in [[word] for word in NO_PARTITION]:
            return (self.default_partition,)
        return tuple(dict.fromkeys(self.partition(name) for name in names))

    def sets_of(self, partition: str) -> tuple[tuple[NodeSet, range], ...]:
        """Return the node sets of a partition with their node numbers in the module, from 0.

        In the order of the numbers, what the module states filled in. Raises InputError if
        there is no such partition.
        """
        return self._sets[self.partition(partition).name.lower()]

    def nodes_of(self, partition: str) -> int:
        """Return the number of nodes of a partition. Raises InputError if there is no such partition."""
        return sum(one.nodes for one, _ in self.sets_of(partition))

    def node_choices(
        self,
        partition: str,
        constraint: str = "",
        *,
        cores: float = 0,
        memory_kb: int = 0,
        gpus: float = 0,
        gres: Mapping[str, float] = NOTHING,
    ) -> tuple[NodeChoice, ...]:
        """Return the nodes of a partition's module that a component may take, by its requests of each node.

        Usually one choice; ``[a|b]`` gives one for each alternative. Cores and memory that are not
        stated of a node are enough. Raises InputError for an unknown partition and a constraint that
        cannot be understood.
        """
        return choices_among(
            self.sets_of(partition), constraint, cores=cores, memory_kb=memory_kb, gpus=gpus, gres=gres
        )

    @cached_property
    def told_apart(self) -> tuple[bool, ...]:
        """Of each module, whether its nodes are told apart.

        Jobs share them, a partition covers a part, or a topology says which lie together.
        """
        parts = {p.module.lower() for p in self.partitions if self._covers_part(p)}
        return tuple(
            module.shared or module.name.lower() in parts or on
            for module, on in zip(self.modules, self.on_switches, strict=True)
        )

    @cached_property
    def counted(self) -> tuple[str, ...]:
        """What is counted of nodes where jobs share them: cores, memory, GPUs, other generic resources."""
        return kinds_of(one for module in self.modules if module.shared for one in module.sets)

    @cached_property
    def gpu_types(self) -> tuple[str, ...]:
        """The types of GPUs that stand beside others on a node that jobs share."""
        return types_beside_others(one for module in self.modules if module.shared for one in module.sets)

    @cached_property
    def gpu_types_under_slurm(self) -> tuple[str, ...]:
        """The types of GPUs that Slurm counts by themselves, of nodes that jobs share."""
        return types_that_differ(one for module in self.modules if module.shared for one in module.sets)

    @cached_property
    def sizes_of_nodes(self) -> tuple[tuple[int, ...], ...]:
        """What the nodes of each set of each module have, of each kind in ``counted`` and ``gpu_types``."""
        sets, kinds = (one for module in self.modules for one in module.sets), self.counted + self.gpu_types
        return tuple(tuple(capacities(one, kinds)) for one in sets)

    def _covers_part(self, partition: Partition) -> bool:
        return self.nodes_of(partition.name) < self.module(partition.module).nodes

    def _swf_partition(self, number: str) -> Partition:
        if number in self.swf_partitions:
            return self.partition(self.swf_partitions[number])
        if len(self.modules) == 1:
            return self.default_partition
        known = ", ".join(self.swf_partitions) or "none"
        raise InputError(
            f"SWF partition or queue {number or '-1'!r} has no partition in system {self.name}, which has "
            f"several modules; mapped: {known}; write swf: {{partitions: {{{number or '-1'}: "
            f"{self.default_partition.name}}}}} in the system file"
        )

    @cached_property
    def _module_places(self) -> dict[str, int]:
        return {module.name.lower(): i for i, module in enumerate(self.modules)}

    @cached_property
    def _sets(self) -> dict[str, tuple[tuple[NodeSet, range], ...]]:
        return {p.name.lower(): tuple(_sets_of(p, self.module(p.module))) for p in self.partitions}

    @cached_property
    def _partition_by_name(self) -> dict[str, Partition]:
        return {partition.name.lower(): partition for partition in self.partitions}


def _checked_keys(data: dict[str, Any], source: str) -> SystemKeys:
    data, problems = with_node_counts(data)
    keys, more = check_keys(SystemKeys, data)
    problems.extend((*more, *contradictions(data)))
    if problems or keys is None:
        raise ConfigError(listed(f"{source}: {problem}" for problem in problems))
    return keys


def _system_of(keys: SystemKeys, name: str) -> System:
    modules = {m.name.lower(): _module_of(m) for m in keys.modules}
    partitions = (_partition_of(p, modules[p.module.lower()]) for p in keys.partitions)
    resources = [Resource(licence, amount) for licence, amount in keys.resources.licences.items()]
    nam_kb = round(keys.resources.nam_gb * KB_PER_GB)
    if nam_kb > 0:
        resources.append(Resource(NAM, nam_kb, "nam", "KB"))
    return System(
        keys.name or name,
        tuple(modules.values()),
        tuple(partitions),
        tuple(resources),
        dict(keys.swf.partitions),
        keys.description,
        tuple(NodeEvent.of(event, [module.name for module in modules.values()]) for event in keys.events),
        tuple(keys.reservations),
        tuple(keys.reservation_changes),
        keys.topology,
        tuple(keys.failures),
    )


def _sets_of(partition: Partition, module: Module) -> Iterator[tuple[NodeSet, range]]:
    wanted = {name.lower() for name in partition.node_sets}
    for one, numbers in zip(module.sets, module.ranges, strict=True):
        if not wanted or one.name.lower() in wanted:
            yield one, numbers


def _module_of(keys: ModuleKeys) -> Module:
    sets = (NodeSet(**{**one.model_dump(), "features": tuple(one.features)}) for one in keys.node_sets)
    given = {**keys.model_dump(), "features": tuple(keys.features), "node_sets": tuple(sets)}
    return Module(**given)


def _partition_of(keys: PartitionKeys, module: Module) -> Partition:
    spelling = {one.name.lower(): one.name for one in module.node_sets}
    return Partition(
        keys.name,
        module.name,
        keys.max_time,
        keys.max_nodes,
        keys.priority,
        keys.default,
        tuple(spelling[name.lower()] for name in keys.node_sets),
        keys.default_time,
        keys.min_nodes,
        keys.state,
        keys.priority_job_factor,
        keys.exclusive,
        keys.slurm.model_dump(exclude_defaults=True),
    )


def _module_keys(module: Module) -> dict[str, Any]:
    """Keys of a module; of sets and sharing only those that are stated, so that plain systems stay short."""
    keys = {name: getattr(module, name) for name in Module.__dataclass_fields__}
    sets = [
        {**_stated(asdict(one), "gpus_per_node", "gres", *BUILD), "features": list(one.features)}
        for one in keys.pop("node_sets")
    ]
    keys = {**_stated(keys, "shared", "gres"), "features": list(module.features)}
    keys = {key: value for key, value in keys.items() if value != 1 or key not in BUILD}
    return {**keys, **({"node_sets": sets} if sets else {})}


BUILD = ("sockets", "threads_per_core")
"""How the cores of a node stand together."""


def _stated(keys: dict[str, Any], *often_empty: str) -> dict[str, Any]:
    """Leave out what most systems do not state, where it says nothing."""
    return {key: value for key, value in keys.items() if value or key not in often_empty}


def _partition_keys(partition: Partition) -> dict[str, Any]:
    """Keys of a partition; those that came with Slurm only where they differ from their default."""
    limits = {"max_time": partition.max_time_s, "max_nodes": partition.max_nodes}
    given = {key: value for key, value in limits.items() if value is not None}
    rest = {"priority": partition.priority, "default": partition.default}
    slurm = {
        "node_sets": list(partition.node_sets),
        "default_time": partition.default_time_s,
        "min_nodes": partition.min_nodes,
        "state": partition.state,
        "priority_job_factor": partition.priority_job_factor,
        "exclusive": partition.exclusive,
    }
    stated = {key: value for key, value in slurm.items() if value != PartitionKeys.model_fields[key].default}
    own = {"slurm": dict(partition.slurm)} if partition.slurm else {}
    return {"name": partition.name, "module": partition.module, **given, **rest, **stated, **own}


def _unknown(kind: str, name: str, known: list[str], system: str) -> str:
    shown = repr(name if len(name) <= 80 else name[:77] + "...")
    return f"unknown {kind} {shown} in system {system}; {one_of(known, name)}"
