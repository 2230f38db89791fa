"""A site as its slurm.conf describes it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scheduler_sim.config.problem import listed
from scheduler_sim.errors import ConfigError
from scheduler_sim.numerals import is_digits
from scheduler_sim.system.releases import DEFAULTS_OF_23_11
from scheduler_sim.system.shared_cores import shares_cores
from scheduler_sim.system.slurm_conf.gres_conf import FILE, read_gres_conf
from scheduler_sim.system.slurm_conf.hostlist import natural_key
from scheduler_sim.system.slurm_conf.ignored import (
    FOUND_BESIDE,
    NO_POWER_SAVING,
    NO_TOPOLOGY_CONF,
    NO_TURNS,
    NODES_ARE_ON,
    NOT_MODELLED,
    ON_NO_SWITCH,
    PREEMPTION,
    TOO_SHORT,
    why_ignored,
)
from scheduler_sim.system.slurm_conf.known_keys import is_known, misspelt
from scheduler_sim.system.slurm_conf.lines import Pair, Record, read_lines
from scheduler_sim.system.slurm_conf.modules import build_modules
from scheduler_sim.system.slurm_conf.nodes import (
    Node,
    as_given_out,
    known_names,
    named_line,
    read_nodes,
    read_sets,
)
from scheduler_sim.system.slurm_conf.notes import Ignored, Notes
from scheduler_sim.system.slurm_conf.partitions import can_suspend, read_partitions
from scheduler_sim.system.slurm_conf.policy_keys import (
    OF_POWER_SAVING,
    OF_PREEMPTION,
    is_policy_key,
    read_policy_key,
)
from scheduler_sim.system.slurm_conf.power_saving import INTERVAL, PROGRAMS, kept_on
from scheduler_sim.system.slurm_conf.release_by_keys import release_by_keys
from scheduler_sim.system.slurm_conf.topology_conf import FILE as TOPOLOGY
from scheduler_sim.system.slurm_conf.topology_conf import nodes_of, read_topology, topology_keys
from scheduler_sim.system.slurm_conf.values import licences
from scheduler_sim.system.system import Resource, System

MODES = ("OFF", "REQUEUE", "CANCEL")
SUSPEND, GANG = "SUSPEND,GANG", "GANG"
"""What may become of jobs that are preempted here."""

SLICE, SHORTEST_SLICE_S = "SchedulerTimeSlice", 5
"""How long a turn lasts, and what Slurm does not take."""

CHECKED = ("launchparameters", "slurmctldparameters")
"""Lists that change nothing, of whose words only the misspelt are told."""

SLURMS_OWN = {
    "SelectType": "select/linear",
    "SelectTypeParameters": "CR_CORE_MEMORY",
    "AccountingStorageType": "accounting_storage/none",
    "AccountingStorageEnforce": "none",
}
"""Defaults of Slurm up to 23.02 that policy.slurm does not have; the second where jobs share nodes."""

BY_DEFAULT = "default"
"""In place of a line, where none says it."""


@dataclass(frozen=True)
class Site:
    """What a slurm.conf says.

    Attributes
    ----------
    system : its nodes and partitions, licences as shared resources.
    policy : keys of ``policy.slurm`` that it sets, by Slurm's own names, times in seconds.
    places : ``file:line`` of each of these keys, BY_DEFAULT of what is left to Slurm's default.
    ignored : what the simulation does without, in the order of the file, with the reason.
    cluster : its ClusterName, "" without.
    node_names : of all nodes that it names, also of those that are left out.
    numbers : of those that are there, the module and the number in it.
    node_defaults : the nodes whose CPUs or RealMemory are left to Slurm's default, by key.
    """

    system: System
    policy: dict[str, Any]
    places: dict[str, str]
    ignored: tuple[Ignored, ...]
    cluster: str
    node_names: frozenset[str]
    numbers: Mapping[str, tuple[str, int]]
    node_defaults: Mapping[str, NodeDefault] = field(default_factory=dict)


@dataclass(frozen=True)
class NodeDefault:
    """A key of nodes that some of them leave to Slurm's default: whose, and whether that counts here."""

    names: tuple[str, ...]
    counts: bool


def found_as(path: Path) -> Path | None:
    """A file by its name, or packed, as ``NAME.gz``; None where neither is there."""
    packed = path.with_name(f"{path.name}.gz")
    return path if os.path.isfile(path) else packed if os.path.isfile(packed) else None


def read_slurm_conf(
    path: str | Path, modelled: Collection[str] | None = None, release: str | None = None
) -> Site:
    """Read a slurm.conf with the files it includes, and the gres.conf and topology.conf beside it, if any.

    Parameters
    ----------
    path : the file.
    modelled : names of the policy keys that are modelled; others that the file sets are ignored
        and listed as such. None: all are kept.
    release : whose defaults count where the file says nothing, one of ``releases.RELEASES``. None: the
        one that its keys ask for, else 22.05.

    Raises
    ------
    ConfigError : every mistake with file and line; nodes, partitions and values that cannot be read.
    """
    notes = Notes()
    said = list(read_lines(Path(path), notes.problems, notes.moved))
    records = [one for one in said if isinstance(one, Record)]
    settings = _Settings(notes, modelled)
    settings.settle_release(release, said)
    for pair in said:
        if isinstance(pair, Pair):
            settings.take(pair)
    settings.complete(records)
    known = known_names(records)
    nodes = read_nodes(records, notes)
    nodes = as_given_out(
        nodes, cpus=settings.shares, memory=settings.shares_memory, sockets=settings.shares_sockets
    )
    topology = _topology(Path(path), settings, known, notes)
    if "switches" in topology and not settings.topology_is_optional:
        nodes = _on_switches(nodes, nodes_of(topology), records, notes)
    sets = read_sets(records, nodes, known, notes)
    if (devices := found_as(Path(path).parent / FILE)) is not None:
        said += read_gres_conf(devices, nodes, known, notes)
    partitions = read_partitions(
        records,
        nodes,
        sets,
        known,
        notes,
        shares=settings.shares,
        suspends=settings.suspends,
    )
    if not partitions and not notes.problems:
        notes.wrong(str(path), "PartitionName", "found none with nodes; allowed: at least one")
    if notes.problems:
        raise ConfigError(listed(dict.fromkeys(notes.problems)))
    cluster = settings.cluster or Path(path).stem
    modules, led, numbers = build_modules(
        nodes, partitions, cluster, shared=settings.shares, memory=settings.shares_memory
    )
    _note_unused(nodes.keys() - {name for one in partitions for name in one.nodes}, records, notes)
    shared = tuple(Resource(name, amount) for name, amount in settings.licences.items())
    laid_out = topology_keys(topology, numbers, records, notes)
    try:
        system = System(cluster, tuple(modules), tuple(led), shared, topology=laid_out)
    except ConfigError as error:
        raise ConfigError([f"{path}: {problem}" for problem in error.problems]) from None
    settings.leave_preemption_out(cores_are_shared=shares_cores(system))
    settings.settle_power_saving(numbers, known)
    if notes.problems:
        raise ConfigError(listed(dict.fromkeys(notes.problems)))
    for pair in notes.moved:
        notes.ignore(pair, FOUND_BESIDE)
    place = {one.place: i for i, one in reversed(list(enumerate(said)))}
    ignored = sorted(dict.fromkeys(notes.ignored), key=lambda one: place.get(one.place, len(said)))
    named = frozenset(known)
    return Site(
        system,
        settings.policy,
        settings.places,
        tuple(ignored),
        settings.cluster,
        named,
        numbers,
        _node_defaults([nodes[name] for name in numbers]),
    )


def _node_defaults(nodes: list[Node]) -> dict[str, NodeDefault]:
    found = {}
    for key, amount in (("CPUs", "cpus"), ("RealMemory", "memory_mb")):
        if those := [one for one in nodes if key in one.by_default]:
            counts = getattr(those[0], amount) > 0
            found[key] = NodeDefault(tuple(one.name for one in those), counts)
    return found


def _topology(path: Path, settings: _Settings, known: Collection[str], notes: Notes) -> dict[str, Any]:
    """The topology.conf beside a slurm.conf, where its TopologyPlugin looks at one; empty without."""
    if not settings.looks_at_topology:
        return {}
    file = found_as(path.parent / TOPOLOGY)
    if file is None:
        notes.ignore(settings.topology_plugin, NO_TOPOLOGY_CONF)
        return {}
    form = read_topology(file, known, notes)
    if notes.problems:
        raise ConfigError(listed(dict.fromkeys(notes.problems)))
    return form


def _on_switches(
    nodes: dict[str, Node], on: Collection[str], records: list[Record], notes: Notes
) -> dict[str, Node]:
    """The nodes that jobs get under a tree; all of them where none is on a switch."""
    kept = {name: node for name, node in nodes.items() if name in on}
    left = [name for name in nodes if name not in on]
    if kept and left:
        notes.ignore(named_line(left, records), ON_NO_SWITCH)
    return kept or nodes


class _Settings:
    """The keys of the whole file, the last of each counting, as in Slurm."""

    def __init__(self, notes: Notes, modelled: Collection[str] | None) -> None:
        self._left = SLURMS_OWN
        self.policy: dict[str, Any] = {}
        self.places: dict[str, str] = {}
        self.licences: dict[str, int] = {}
        self.cluster = ""
        self._select, self._max_mem_per_node = "", False
        self._notes, self._modelled = notes, modelled
        self._pairs: dict[str, Pair] = {}
        self._programs: set[str] = set()

    def settle_release(self, release: str | None, said: list[Record | Pair]) -> None:
        """Whose defaults count: those of the release that is known, else of the one that keys ask for."""
        if release is None and (by_keys := release_by_keys(said)) is not None:
            release, pair = by_keys
            if self._is_modelled("version"):
                self.policy["version"], self.places["version"] = release, pair.place
        if release is not None and release >= "23.11":
            self._left = SLURMS_OWN | DEFAULTS_OF_23_11
        self._select = self._left["SelectType"]

    def take(self, pair: Pair) -> None:
        """Take one key in, or note why not."""
        self._max_mem_per_node |= pair.key.lower() == "maxmempernode"
        if pair.key.lower() == "clustername":
            self.cluster = pair.value
        elif pair.key.lower() == "licenses":
            self.licences = self._notes.read(pair, licences, {})
        elif pair.key.lower() in PROGRAMS:
            self._programs.add(pair.key.lower())
            self._notes.ignore(pair, why_ignored("top", pair.key))
        elif pair.key.lower() == "slurmctldparameters":
            self._take_interval(pair)
        elif is_policy_key(pair):
            if pair.key.lower() == "selecttype":
                self._select = pair.value.lower()
            self._take_policy(pair)
        else:
            self._notes.ignore(pair, why_ignored("top", pair.key))
        if pair.key.lower() in CHECKED:
            self._check_words(pair)

    def _check_words(self, pair: Pair) -> None:
        """Note the parameters of a list that Slurm does not have."""
        for word in filter(None, (word.partition("=")[0].strip() for word in pair.value.split(","))):
            if not is_known(pair.key.lower(), word):
                self._notes.ignore(pair, misspelt([pair.key.lower()], word), key=word, value="")

    @property
    def shares(self) -> bool:
        """Whether jobs share nodes."""
        return self._select.startswith("select/cons_")

    def _settle_cray(self) -> None:
        """The plugin for Cray lies upon another one, which chooses the nodes (select_cray_aries.c)."""
        if self._select != "select/cray_aries":
            return
        pair = self._pairs.get("SelectTypeParameters")
        words = "" if pair is None else pair.value.upper()
        upon = {"OTHER_CONS_TRES": "select/cons_tres", "OTHER_CONS_RES": "select/cons_res"}
        self._select = next((name for word, name in upon.items() if word in words), "select/linear")
        if "SelectType" in self.policy:
            self._notes.ignore(self._pairs["SelectType"], f"{self._select} below it chooses the nodes")
            self.policy["SelectType"] = self._select

    @property
    def suspends(self) -> bool:
        """Whether jobs are suspended for others."""
        return bool(self.policy.get("PreemptMode") == SUSPEND)

    @property
    def looks_at_topology(self) -> bool:
        """Whether Slurm chooses nodes by where they lie."""
        return bool(self.policy.get("TopologyPlugin", "topology/none") != "topology/none")

    @property
    def topology_is_optional(self) -> bool:
        """Whether only jobs that ask for switches heed it."""
        return "TOPOOPTIONAL" in str(self.policy.get("TopologyParam", "")).upper()

    @property
    def topology_plugin(self) -> Pair:
        """Where it says so."""
        return self._pairs["TopologyPlugin"]

    def complete(self, records: Iterable[Record]) -> None:
        """Say what Slurm takes for granted.

        Without a database it ignores the weights of age and fair share; without limits that are enforced
        no limit binds, and it charges nothing when a job ends.
        """
        self._settle_cray()
        left = {**self._left}
        if not self.shares:
            del left["SelectTypeParameters"]
        if self.policy.get("PriorityType", left.get("PriorityType")) != "priority/multifactor":
            del left["AccountingStorageType"]
        for name, value in left.items():
            if name not in self.policy and self._is_modelled(name):
                self.policy[name], self.places[name] = value, BY_DEFAULT
        self._one_of("DefMemPerNode", "DefMemPerCPU")
        if self._max_mem_per_node and "MaxMemPerCPU" in self.policy:
            self._leave_out(("MaxMemPerCPU",), "beside MaxMemPerNode, which counts, as in Slurm")
        gang = self._set_gang()
        kind, mode = self.policy.get("PreemptType", "preempt/none"), self.policy.get("PreemptMode")
        by_tier = mode == SUSPEND and kind == "preempt/partition_prio"
        by_tier = by_tier and can_suspend(records, shares=self.shares)
        kept = by_tier or (mode == GANG and kind == "preempt/none" and self.shares)
        if mode in (SUSPEND, GANG) and not kept:
            self._leave_out()
        if SLICE in self.policy:
            short = self.policy[SLICE] < SHORTEST_SLICE_S
            why = PREEMPTION if gang and not kept else TOO_SHORT if kept and short else NO_TURNS
            if short or not (kept and self.shares):
                self._leave_out((SLICE,), why)

    @property
    def shares_memory(self) -> bool:
        """Whether memory is among what jobs share of nodes."""
        words = self._pairs["SelectTypeParameters"].value if "SelectTypeParameters" in self._pairs else ""
        return self.shares and ("MEMORY" in words.upper() or not words)

    @property
    def shares_sockets(self) -> bool:
        """Whether jobs have whole sockets."""
        return "CR_SOCKET" in str(self.policy.get("SelectTypeParameters", "")).upper()

    def _one_of(self, counts: str, other: str) -> None:
        """Of two keys that exclude each other Slurm takes one (read_config.c)."""
        if counts in self.policy and other in self.policy:
            self._leave_out((other,), f"beside {counts}, which counts, as in Slurm")

    def _set_gang(self) -> bool:
        """Whether there is gang scheduling; its words in one order."""
        words = set(self.policy.get("PreemptMode", "OFF").replace(" ", "").split(","))
        if words == {"SUSPEND", "GANG"}:
            self.policy["PreemptMode"] = SUSPEND
        elif "GANG" in words and words <= {"OFF", "GANG"}:
            self.policy["PreemptMode"] = GANG
        return "GANG" in words

    def leave_preemption_out(self, *, cores_are_shared: bool) -> None:
        """Of jobs that meet on a core only suspension is modelled, nor any in other ways: say so."""
        kind, mode = self.policy.get("PreemptType", "preempt/none"), self.policy.get("PreemptMode", "OFF")
        if kind == "preempt/none" or mode == SUSPEND or (mode in MODES and not cores_are_shared):
            return
        self._leave_out()

    def settle_power_saving(self, numbers: Mapping[str, tuple[str, int]], known: Collection[str]) -> None:
        """Keep its keys where Slurm powers nodes down, and it is modelled; nodes by their numbers."""
        named = self.policy.get("SuspendTime", "UNLIMITED") != "UNLIMITED"
        if not named or not self._programs.issuperset(PROGRAMS):
            self._leave_out(OF_POWER_SAVING, NO_POWER_SAVING)
        elif "GANG" in self.policy.get("PreemptMode", "OFF"):
            self._leave_out(OF_POWER_SAVING, NODES_ARE_ON)
        elif "SuspendExcNodes" in self.policy:
            pair = self._pairs["SuspendExcNodes"]
            self.policy["SuspendExcNodes"] = kept_on(pair, numbers, known, self._notes)

    def _leave_out(self, names: Collection[str] = OF_PREEMPTION, why: str = PREEMPTION) -> None:
        for name in names:
            if name in self.policy:
                value = "" if self.policy[name] is True else str(self.policy[name])
                self._notes.ignore(self._pairs[name], why, key=name, value=value)
                del self.policy[name], self.places[name]

    def _take_interval(self, pair: Pair) -> None:
        """Of the parameters of the daemon one counts."""
        self._notes.ignore(pair, why_ignored("top", pair.key))
        words = dict(word.strip().partition("=")[::2] for word in pair.value.lower().split(","))
        if is_digits(words.get(INTERVAL, "")) and int(words[INTERVAL]) > 0 and self._is_modelled(INTERVAL):
            self.policy[INTERVAL], self.places[INTERVAL] = int(words[INTERVAL]), pair.place
            self._pairs[INTERVAL] = pair

    def _is_modelled(self, name: str) -> bool:
        return self._modelled is None or name in self._modelled

    def _take_policy(self, pair: Pair) -> None:
        for name, value in read_policy_key(pair, self._notes).items():
            if self._is_modelled(name):
                self.policy[name], self.places[name], self._pairs[name] = value, pair.place, pair
            elif name.lower() == pair.key.lower():
                self._notes.ignore(pair, NOT_MODELLED)
            else:
                shown = "" if value is True else str(value)
                self._notes.ignore(pair, why_ignored("parameter", name), key=name, value=shown)


def _note_unused(unused: Collection[str], records: list[Record], notes: Notes) -> None:
    if unused:
        why = f"{len(unused)} nodes in no partition, which no job can reach; left out of the system"
        notes.ignore(named_line(sorted(unused, key=natural_key), records), why)
