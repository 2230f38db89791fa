"""The keys of a system file, and what must hold between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.problem import Location, Problem, found, one_of
from scheduler_sim.config.value import (
    Amount,
    Check,
    Count,
    Decimal,
    Duration,
    Feature,
    Flag,
    Name,
    OptionalCount,
    Pieces,
    PositiveCount,
    Text,
    Title,
    Units,
    choice,
    whole,
)
from scheduler_sim.errors import InputError
from scheduler_sim.system.failures import FailureKeys, failure_problems
from scheduler_sim.system.node_events import NodeEventKeys, event_problems
from scheduler_sim.system.node_set_checks import (
    limits_at_odds,
    node_set_problems,
    sharing_at_odds,
    sharing_problems,
)
from scheduler_sim.system.over_subscribe import ALLOWED, OverSubscribe
from scheduler_sim.system.reservations import (
    ReservationChangeKeys,
    ReservationKeys,
    reservation_problems,
)
from scheduler_sim.system.topology import TopologyKeys, topology_problems

MOST_NODES = 10_000_000
MOST_MODULES = 1000
TOTAL = "total"  # the timeline's row over all modules; no module may bear this name
STATES = ("UP", "DOWN", "DRAIN", "INACTIVE")

Nodes = Annotated[int, whole(1, MOST_NODES)]
State = Annotated[str, choice(*STATES)]


def _in_lower_case(written: Any) -> Any:
    """Return generic resources as traces are read, so that gpu:A and gpu:a are the same."""
    if not isinstance(written, dict):
        return written  # told as a mistake of its own
    lower = {str(name).lower(): amount for name, amount in written.items()}
    if len(lower) < len(written):
        raise ValueError
    return lower


Gres = Annotated[
    dict[str, Pieces],
    BeforeValidator(Check("a mapping of names that differ in more than case", _in_lower_case)),
]


class NodeSetKeys(Keys):
    """Nodes of a module that are alike, and differ from its other nodes."""

    name: Name = Field(description="name of the set, unique within the module")
    nodes: Nodes = Field(description="number of nodes")
    features: list[Feature] = Field(
        default=[], description="keywords for constraints, in addition to those of the module"
    )
    cores_per_node: Decimal = Field(default=0, description="cores of a node; 0: as the module states")
    memory_gb: Amount = Field(default=0.0, description="memory of a node, GB; 0: as the module states")
    weight: Count = Field(
        default=1, description="Slurm's Weight: nodes with the smallest weight are used first"
    )
    gpus_per_node: Decimal = Field(default=0, description="GPUs of a node; 0: as the module states")
    sockets: Count = Field(default=0, description="sockets of a node; 0: as the module states")
    threads_per_core: Count = Field(
        default=0, description="hardware threads per core; 0: as the module states"
    )
    gres: Gres = Field(
        default={}, description="generic resources of a node by name, in addition to those of the module"
    )


class ModuleKeys(Keys):
    """A pool of identical nodes."""

    name: Name = Field(description="name of the module in results")
    nodes: Nodes = Field(description="number of nodes")
    cores_per_node: Decimal = Field(
        default=0, description="cores of a node; 0: not stated, nothing is checked"
    )
    memory_gb: Amount = Field(default=0.0, description="memory of a node, GB of 1,048,576 KB; 0: not stated")
    gpus_per_node: Decimal = Field(default=0, description="GPUs of a node")
    sockets: PositiveCount = Field(
        default=1,
        description="sockets over which the cores of a node are distributed; policy slurm distributes"
        " the cores of jobs over them",
    )
    threads_per_core: PositiveCount = Field(
        default=1,
        description="threads per core, if cores_per_node counts hardware threads: under slurm a job"
        " gets all threads of a core",
    )
    features: list[Feature] = Field(
        default=[], description="keywords that a component's constraint may ask for"
    )
    cost_per_node: Amount = Field(
        default=1.0, description="cost of a node, in any unit; placement: least_cost ranks placements by it"
    )
    description: Text = Field(default="", description="text for the reader")
    node_sets: list[NodeSetKeys] = Field(
        default=[], description="sets that together contain all nodes, in the order of their numbers"
    )
    shared: Flag = Field(
        default=False,
        description="true: several jobs may run on a node, each with the cores, memory and GPUs it asks for",
    )
    gres: Gres = Field(
        default={},
        description="generic resources of a node by name, as {shard: 40}; a name with a type, gpu:a100, "
        "is a kind of its own, and its GPUs count for gpus_per_node, too",
    )


def _over_subscribe(written: Any) -> str:
    """Accept what OverSubscribe says, also a word that YAML takes for a truth."""
    try:
        return str(
            OverSubscribe.read({True: "YES", False: "NO"}[written] if isinstance(written, bool) else written)
        )
    except (InputError, TypeError):
        raise ValueError from None


PREEMPT_MODES = ("OFF", "REQUEUE", "CANCEL", "SUSPEND")
"""What may become of jobs of a partition that others would preempt."""


class SlurmPartitionKeys(Keys):
    """Settings of a partition by Slurm's own names; memory in MB."""

    MaxCPUsPerNode: Count = Field(
        default=0, description="most cores of a node that its jobs may use; 0: any number"
    )
    LLN: Flag = Field(default=False, description="true: its jobs use the least loaded nodes")
    DefMemPerCPU: Count = Field(default=0, description="memory per core of a job that asks for none")
    DefMemPerNode: Count = Field(default=0, description="memory per node of a job that asks for none")
    QOS: Name | None = Field(
        default=None, description="QOS whose limits apply to its jobs, before those of their own QOS"
    )
    PreemptMode: Annotated[str, choice(*PREEMPT_MODES)] | None = Field(
        default=None,
        description="what happens to its jobs when they are preempted by tiers; by default as in"
        " policy.slurm",
    )
    GraceTime: Count = Field(
        default=0, description="how long its jobs may continue after they are preempted by tiers, s"
    )
    MaxMemPerCPU: Count = Field(
        default=0, description="a job that asks for more memory per core gets more cores; 0: no limit"
    )
    DefCpuPerGPU: Count = Field(default=0, description="cores per GPU of a job that does not state them")
    DefMemPerGPU: Count = Field(default=0, description="memory per GPU of a job that asks for none")
    OverSubscribe: Annotated[str, BeforeValidator(Check(ALLOWED, _over_subscribe))] = Field(
        default="NO",
        description="how many jobs may have a core at once: of all jobs (FORCE), or of those that ask"
        " for it (YES); 4 without a number",
    )


class PartitionKeys(Keys):
    """A named way into a module."""

    name: Name = Field(description="name of the partition in traces, in upper or lower case")
    module: Name = Field(description="module on which its components run")
    max_time: Duration = Field(
        default=None, description="longest time limit, in seconds or as 2-00:00:00; UNLIMITED"
    )
    max_nodes: OptionalCount = Field(default=None, description="most nodes of one component")
    priority: Count = Field(default=0, description="larger goes first, under policies that use it")
    default: Flag = Field(
        default=False,
        description="used by components that name no partition; without a default, the first one is",
    )
    node_sets: list[Name] = Field(default=[], description="node sets of the module; by default all nodes")
    default_time: Duration = Field(
        default=None, description="time limit of components without one; by default max_time"
    )
    min_nodes: PositiveCount = Field(default=1, description="fewest nodes of one component")
    state: State = Field(
        default="UP",
        description="DOWN: components wait for ever; DRAIN, INACTIVE: no submissions, they are rejected",
    )
    priority_job_factor: Count = Field(
        default=1, description="Slurm's PriorityJobFactor, for the partition factor of a job's priority"
    )
    exclusive: Flag = Field(
        default=False, description="true: components have their nodes to themselves, also on a shared module"
    )
    slurm: SlurmPartitionKeys = Field(
        default=SlurmPartitionKeys(), description="settings that only policy slurm uses, by Slurm's own names"
    )


class ResourceKeys(Keys):
    """Resources that all modules share."""

    licences: dict[str, Units] = Field(default={}, description="number of licences by name")
    nam_gb: Amount = Field(default=0.0, description="network attached memory, GB of 1,048,576 KB")


class SwfKeys(Keys):
    """How the numbers in an SWF trace are translated."""

    partitions: dict[Name, Name] = Field(
        default={}, description="partition for each partition or queue number of the trace"
    )


class SystemKeys(Keys):
    """The whole file."""

    name: Title = Field(default="", description="name of the system in reports; by default the file's name")
    description: Text = Field(default="", description="text for the reader")
    modules: list[ModuleKeys] = Field(description="pools of identical nodes; at least one")
    partitions: list[PartitionKeys] = Field(
        default=[], description="partitions of the modules; by default one per module, with its name"
    )
    resources: ResourceKeys = Field(
        default=ResourceKeys(), description="licences and network attached memory"
    )
    swf: SwfKeys = Field(default=SwfKeys(), description="how the numbers in an SWF trace are translated")
    events: list[NodeEventKeys] = Field(default=[], description="events: when nodes are out of service")
    failures: list[FailureKeys] = Field(default=[], description="failures of nodes, by a model")
    reservations: list[ReservationKeys] = Field(
        default=[], description="advance reservations, under policy slurm"
    )
    reservation_changes: list[ReservationChangeKeys] = Field(
        default=[], description="changes of reservations by operators, in the order of time"
    )
    topology: TopologyKeys | None = Field(
        default=None,
        description="which nodes are close to each other; by default the location of nodes does not matter",
    )


def contradictions(data: dict[str, Any]) -> Iterator[Problem]:
    """Check what no single key can tell: names that clash, and names that lead nowhere.

    Works on unchecked data, so that these problems show together with all others.
    """
    modules = _names(data.get("modules"))
    partitions = _names(data.get("partitions"))
    if isinstance(data.get("modules"), list) and not data["modules"]:
        yield Problem(("modules",), "found an empty list; allowed: at least one module")
    if len(modules) > MOST_MODULES:
        yield Problem(("modules",), f"found {len(modules):,} modules; allowed: at most {MOST_MODULES:,}")
    yield from _repeated("modules", modules)
    yield from _too_many_nodes(data.get("modules"))
    yield from _repeated("partitions", partitions)
    for i, name in modules.items():
        if name.lower() == TOTAL:
            yield Problem(
                ("modules", i, "name"), f"{found(name)}; allowed: any other name, '{TOTAL}' is the sum"
            )
    yield from _partitions_without_module(data.get("partitions"), list(modules.values()))
    yield from _partitions_in_the_way(data.get("partitions"), modules)
    yield from _second_defaults(data.get("partitions"))
    yield from node_set_problems(data.get("modules"), data.get("partitions"))
    yield from sharing_problems(data.get("modules"))
    yield from limits_at_odds(data.get("partitions"))
    yield from sharing_at_odds(data.get("partitions"))
    sizes = ((name, data["modules"][i].get("nodes")) for i, name in modules.items())
    known = {name: nodes if isinstance(nodes, int) else MOST_NODES for name, nodes in sizes}
    yield from event_problems(data.get("events"), known)
    yield from topology_problems(data.get("topology"), list(known.items()))
    yield from failure_problems(data.get("failures"), known)
    yield from _odd_licences(data.get("resources"))
    reached = {name.lower() for name in _targets(data.get("partitions"))}
    own = [name for name in modules.values() if name.lower() not in reached]
    yield from _swf_without_partition(data.get("swf"), [*partitions.values(), *own])
    yield from reservation_problems(data, [*partitions.values(), *own])


def _mappings(listing: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    if isinstance(listing, list | tuple):
        yield from ((i, entry) for i, entry in enumerate(listing) if isinstance(entry, dict))


def _names(listing: Any) -> dict[int, str]:
    named = ((i, entry.get("name")) for i, entry in _mappings(listing))
    return {i: str(name) for i, name in named if _is_name(name)}


def _is_name(written: Any) -> bool:
    """Tell whether a value may be read as a name: in YAML a name of digits is a number."""
    return isinstance(written, str | int) and not isinstance(written, bool)


def _targets(listing: Any) -> list[str]:
    return [str(entry["module"]) for _, entry in _mappings(listing) if "module" in entry]


def _repeated(key: str, names: dict[int, str]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for i, name in names.items():
        if name.lower() in seen:
            where: Location = (key, i, "name")
            yield Problem(where, f"{found(name)} again; allowed: names that differ in more than case")
        seen.setdefault(name.lower(), name)


def _too_many_nodes(listing: Any) -> Iterator[Problem]:
    """Nodes are counted one by one, so that all modules together are limited as each is."""
    total = 0
    for i, entry in _mappings(listing):
        nodes = entry.get("nodes", 0)
        if not isinstance(nodes, int) or nodes > MOST_NODES:
            continue  # told as a mistake of its own
        total += nodes
        if total > MOST_NODES:
            text = f"found {nodes}, with those before {total:,}; allowed: at most {MOST_NODES:,} in all"
            yield Problem(("modules", i, "nodes"), text)
            return


def _partitions_without_module(listing: Any, modules: list[str]) -> Iterator[Problem]:
    known = {name.lower() for name in modules}
    for i, entry in _mappings(listing):
        target = entry.get("module")
        if _is_name(target) and str(target).lower() not in known:
            yield Problem(
                ("partitions", i, "module"), f"{found(target)}, no such module; {one_of(modules, target)}"
            )


def _partitions_in_the_way(listing: Any, modules: dict[int, str]) -> Iterator[Problem]:
    """A module that no partition leads to needs its own name for its own partition."""
    reached = {name.lower() for name in _targets(listing)}
    unreached = {name.lower(): name for name in modules.values() if name.lower() not in reached}
    for i, name in _names(listing).items():
        if name.lower() in unreached:
            module = unreached[name.lower()]
            text = f"{found(name)}, the name that module {module} needs for its own partition"
            yield Problem(
                ("partitions", i, "name"), f"{text}; allowed: another name, or a partition for {module}"
            )


def _second_defaults(listing: Any) -> Iterator[Problem]:
    marked = [i for i, entry in _mappings(listing) if entry.get("default") in (True, "true", "yes", "on")]
    for i in marked[1:]:
        yield Problem(("partitions", i, "default"), "found a second default partition; allowed: at most one")


def _odd_licences(resources: Any) -> Iterator[Problem]:
    licences = resources.get("licences") if isinstance(resources, dict) else None
    if not isinstance(licences, dict):
        return
    seen: set[str] = set()
    for name in licences:
        where: Location = ("resources", "licences", str(name))
        if not str(name) or any(sign in str(name) for sign in " ,;|&:*()") or not str(name).isprintable():
            yield Problem(where, "found a name with blanks or signs; allowed: a name without , ; : | & * ( )")
        elif str(name).lower() in ("nam", *seen):
            text = "a name for network attached memory" if str(name).lower() == "nam" else "a name again"
            yield Problem(where, f"found {text}; allowed: names that differ in more than case")
        seen.add(str(name).lower())


def _swf_without_partition(swf: Any, partitions: list[str]) -> Iterator[Problem]:
    mapping = swf.get("partitions") if isinstance(swf, dict) else None
    if not isinstance(mapping, dict):
        return
    known = {name.lower() for name in partitions}
    for number, target in mapping.items():
        if _is_name(target) and str(target).lower() not in known:
            where: Location = ("swf", "partitions", str(number))
            yield Problem(where, f"{found(target)}, no such partition; {one_of(partitions, target)}")
