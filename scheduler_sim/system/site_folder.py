"""A site as a folder: its slurm.conf, its workload, and what its Slurm printed of accounts, events and more.

Every file goes by one name, also packed (``.gz``). What a file says that nothing uses yet is kept, and noted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scheduler_sim.config.problem import listed
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.system.node_events import NodeEvent, written
from scheduler_sim.system.releases import counts_as, printed_release
from scheduler_sim.system.reservations import FLAGS, REPLACING, ReservationKeys
from scheduler_sim.system.slurm_conf import gres_conf, topology_conf
from scheduler_sim.system.slurm_conf.ignored import LIMITS, NO_TOPOLOGY_PLUGIN
from scheduler_sim.system.slurm_conf.lines import Pair
from scheduler_sim.system.slurm_conf.notes import Notes
from scheduler_sim.system.slurm_conf.site import Site, found_as, read_slurm_conf
from scheduler_sim.system.slurm_dumps.accounts import accounts_form
from scheduler_sim.system.slurm_dumps.associations import read_associations
from scheduler_sim.system.slurm_dumps.events import read_events
from scheduler_sim.system.slurm_dumps.modelled import Left, Modelled
from scheduler_sim.system.slurm_dumps.qos import read_qos
from scheduler_sim.system.slurm_dumps.relative import made_absolute
from scheduler_sim.system.slurm_dumps.reservations import read_reservations
from scheduler_sim.system.slurm_dumps.script import Database, read_script
from scheduler_sim.system.slurm_dumps.usage import Usage, read_usage

SLURM_CONF = "slurm.conf"
SACCT = "sacct.txt"
ASSOC = "sacctmgr_assoc.txt"
QOS = "sacctmgr_qos.txt"
SCRIPT = "sacctmgr.script"
EVENT = "sacctmgr_event.txt"
RESERVATIONS = "reservations.txt"
SQUEUE = "squeue.txt"
SSHARE = "sshare.txt"
RELEASE = "version.txt"
EVENTS = ".events"
PACKED = (".gz", ".zst")

NOT_DATED = "node events have dates, but the clock of this workload has no date: nodes stay in service"
NO_SUCH_NODE = "not a node of the system: its events are left out"
NOT_RESERVED = "reservations are not used where jobs are suspended for others: no nodes are set aside"
UNDATED = "reservations have dates, but the clock of this workload has no date: no nodes are reserved"
NO_PLACE = "not a node of the system: left out of reservations"
NOT_FLAG = "this flag of reservations is not modelled"
NOT_FLEX = "not modelled with a topology: its jobs run within its time, and on its nodes alone"
AS_PRINTED = "reservations that were printed keep the nodes that they had then"
NOT_OF_RESERVATIONS = "this part of reservations is not modelled: it has no effect"
NO_RELEASE = "names no release of Slurm as `sinfo -V` does: that of the policy counts"
NOBODY = "root"  # whose a reservation is where nothing tells: jobs keep off it
UNLIMITED = "is enforced, but not in the folder: counts as unlimited"
ALL_EQUAL = "no accounts in the folder: all users are equal in fair share"

_IMPLYING = frozenset(("limits", "qos", "safe", "wckeys"))
_ENFORCING = ("limits", "qos", "safe", "all")


@dataclass(frozen=True)
class Understood:
    """A file of the folder, and what it gave."""

    file: str
    gave: str


@dataclass(frozen=True)
class SiteFolder:
    """What a folder says.

    Attributes
    ----------
    conf, workload : the files of these.
    site : the slurm.conf, with accounts and QOS among the keys of its policy, and all that is left out.
    understood : the files that were read, with what they gave.
    unread : files of other names, which nobody looked into.
    warnings : what is missing.
    events : when nodes are out of service, with dates.
    reservations : nodes set aside, with dates.
    queue : what squeue printed, for predictions.
    usage : what users had used then, None where sshare did not print it.
    """

    conf: Path
    workload: Path
    site: Site
    understood: tuple[Understood, ...]
    unread: tuple[str, ...]
    warnings: tuple[str, ...]
    events: tuple[NodeEvent, ...] = ()
    reservations: tuple[ReservationKeys, ...] = ()
    queue: Path | None = None
    usage: Usage | None = None


def read_site_folder(folder: Path, modelled: Modelled | None = None) -> SiteFolder:
    """Read all that a folder has of a site; its workload is found, and read by whoever simulates it.

    Without ``modelled`` all that accounts and QOS say is kept. Raises ConfigError with every mistake of every
    file, InputError where there is no slurm.conf, or not one workload.
    """
    conf = found_as(folder / SLURM_CONF)
    if conf is None:
        raise InputError(
            f"{folder}: found no {SLURM_CONF}; allowed: a folder with {SLURM_CONF} and a workload"
        )
    workload = _workload(folder)
    named = found_as(folder / RELEASE)
    release = None if named is None else printed_release(named)
    known = None if release is None else counts_as(release[0])
    site = read_slurm_conf(conf, None if modelled is None else modelled.policy, known)
    reading = _Reading(folder, site, modelled, workload)
    reading.take(conf, _of_conf(site))
    if named is not None:
        reading.release(named, release)
    if (devices := found_as(folder / gres_conf.FILE)) is not None:
        reading.take(devices, "devices, held against Gres= of the nodes")
    reading.take(workload, "the workload")
    reading.file(topology_conf.FILE, reading.topology)
    reading.accounting()
    events = reading.file(EVENT, reading.events) or []
    reservations = reading.file(RESERVATIONS, reading.reservations) or []
    queue = reading.file(SQUEUE, lambda path: (path, "the queue, for predictions"))
    usage = reading.file(SSHARE, reading.usage)
    if reading.notes.problems:
        raise ConfigError(listed(dict.fromkeys(reading.notes.problems)))
    limited = "accounts" in reading.policy and "qos" in reading.policy
    of_conf = (one for one in site.ignored if not (limited and one.why == LIMITS))
    ignored = (*of_conf, *dict.fromkeys(reading.notes.ignored))
    return SiteFolder(
        conf=conf,
        workload=workload,
        site=replace(site, policy=reading.policy, places=reading.places, ignored=ignored),
        understood=tuple(reading.understood),
        unread=tuple(sorted(reading.unread())),
        warnings=tuple(reading.warnings()),
        events=tuple(events),
        reservations=tuple(reservations),
        queue=queue,
        usage=usage,
    )


def _workload(folder: Path) -> Path:
    """The one dump of sacct or file of events."""
    found = [
        one for one in sorted(folder.iterdir()) if os.path.isfile(one) and _is_workload(one.name.lower())
    ]
    if len(found) != 1:
        names = ", ".join(one.name for one in found) or "none"
        raise InputError(
            f"{folder}: found the workloads {names}; allowed: one, {SACCT} or NAME{EVENTS}, also .gz"
            if found
            else f"{folder}: found no workload; allowed: {SACCT} or NAME{EVENTS}, also .gz"
        )
    return found[0]


def _is_workload(name: str) -> bool:
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    return name == SACCT or name.endswith(EVENTS)


def _of_conf(site: Site) -> str:
    system = site.system
    counts = (
        _count(system.nodes, "node"),
        _count(len(system.modules), "module"),
        _count(len(system.partitions), "partition"),
        _count(len(site.policy), "key"),
    )
    return "{} in {}, {}, {} of policy slurm".format(*counts)


def _count(number: int, noun: str) -> str:
    plural = noun if noun == "QOS" else noun.removesuffix("h") + ("hes" if noun.endswith("h") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


class _Reading:
    """The files of a folder as they are read, one after another."""

    def __init__(self, folder: Path, site: Site, modelled: Modelled | None, workload: Path) -> None:
        self._modelled = modelled
        self.folder, self.site, self.notes = folder, site, Notes()
        self.understood: list[Understood] = []
        self.policy, self.places = dict(site.policy), dict(site.places)
        self._taken: set[str] = set()
        self._accounts: Collection[str] = ()
        self._dated = workload.name.lower().startswith(SACCT)

    def take(self, path: Path, gave: str) -> None:
        """Note that a file was read, and what it gave."""
        self.understood.append(Understood(path.name, gave))
        self._taken.add(path.name)

    def file(self, name: str, read: Callable[[Path], tuple[Any, str]]) -> Any:
        """Read a file if it is there, packed or not."""
        path = found_as(self.folder / name)
        if path is None:
            return None
        try:
            found, gave = read(path)
        except ConfigError as error:
            self.notes.problems += error.problems
            return None
        self.take(path, gave)
        return found

    def release(self, path: Path, release: tuple[str, int] | None) -> None:
        """The release of Slurm whose rules are the policy's."""
        if release is None:
            self._unused(path, "no release", NO_RELEASE)
            self.take(path, "no release")
            return
        known = counts_as(release[0])
        self._give("version", known, f"{path}:{release[1]}")
        self.take(path, f"Slurm {release[0]}" + ("" if release[0] == known else f", by the rules of {known}"))

    def topology(self, path: Path) -> tuple[None, str]:
        """Say what the topology.conf gave, which was read with the slurm.conf if that looks at it."""
        topology = self.site.system.topology
        if topology is None:  # its mistakes are told all the same
            topology_conf.read_topology(path, self.site.node_names, self.notes)
        gave = "nothing" if topology is None else _count(len(topology.switches), "switch")
        if topology is not None and topology.blocks:
            gave = _count(len(topology.blocks), "block")
        looks = self.policy.get("TopologyPlugin", "topology/none") != "topology/none"
        self._unused(path, gave, NO_TOPOLOGY_PLUGIN, unless=looks)
        return None, gave

    def accounting(self) -> None:
        """Read accounts and QOS: what sacctmgr printed, else what its commands make."""
        script = self.file(SCRIPT, self._script)
        tree = self.file(ASSOC, self._associations)
        qos = self.file(QOS, self._qos)
        place = str(self.folder / ASSOC) + ":1"
        if tree is None and script is not None:
            tree, place = script.tree, str(self.folder / SCRIPT) + ":1"
        if tree is not None:
            self._accounts = tree.accounts.keys()
            form = accounts_form(tree, self.notes)
            left = Left(Pair("accounts", "", place), self.notes)
            self._give(
                "accounts", form if self._modelled is None else left.accounts(form, self._modelled), place
            )
            self._enforce_associations()
        if qos is not None:
            place = str(self.folder / QOS) + ":1"
        elif script is not None:
            qos, place = script.qos_form(self.notes), str(self.folder / SCRIPT) + ":1"
        if qos is not None:
            qos = made_absolute(qos, self.site.system, place, self.notes)
            left = Left(Pair("qos", "", place), self.notes)
            self._give("qos", qos if self._modelled is None else left.qos(qos, self._modelled), place)

    def events(self, path: Path) -> tuple[list[NodeEvent], str]:
        """Read when nodes were out of service."""
        read = read_events(path, self.site.cluster, self.notes)
        found = [event for one in read if one["start"] for event in self._of_modules(one)]
        nodes = {node for event in found for node in ((event.module, one) for one in event.nodes)}
        gave = f"{_count(len(read), 'node event')} on {_count(len(nodes), 'node')}"
        strangers = {name for one in read for name in one["nodes"]} - self.site.numbers.keys()
        for name in sorted(strangers):
            count = sum(name in one["nodes"] for one in read)
            self.notes.ignore(Pair(name, _count(count, "node event"), f"{path}:1"), NO_SUCH_NODE)
        if found and not self._dated:
            self._unused(path, gave, NOT_DATED)
            return [], gave
        return found, gave

    def _of_modules(self, one: Mapping[str, Any]) -> Iterator[NodeEvent]:
        """An event of nodes by name, as one of each of their modules."""
        places = [self.site.numbers[name] for name in one["nodes"] if name in self.site.numbers]
        for module in dict.fromkeys(module for module, _ in places):
            numbers = sorted({number for name, number in places if name == module})
            yield NodeEvent(
                one["start"], one["state"], module, tuple(numbers), end=one["end"], reason=one["reason"]
            )

    def reservations(self, path: Path) -> tuple[list[ReservationKeys], str]:
        """Read reservations."""
        read = read_reservations(path, self.site.cluster, self.notes)
        gave = _count(len(read), "reservation")
        if read and (self._suspends or not self._dated):
            self._unused(path, gave, NOT_RESERVED if self._dated else UNDATED)
            return [], gave
        return [self._reservation(one, f"{path}:1") for one in read], gave

    @property
    def _suspends(self) -> bool:
        """Whether jobs are suspended for others."""
        preempts = self.policy.get("PreemptType", "preempt/none") != "preempt/none"
        return preempts and "SUSPEND" in str(self.policy.get("PreemptMode", "OFF"))

    def _reservation(self, one: Mapping[str, Any], place: str) -> ReservationKeys:
        """A reservation of nodes by name, as one of numbers in their modules."""
        name, numbers = str(one["name"]), self.site.numbers
        if strangers := sorted(set(one.get("nodes", ())) - numbers.keys()):
            self.notes.ignore(Pair("Nodes", f"{name}: {', '.join(strangers)[:60]}", place), NO_PLACE)
        places = [numbers[node] for node in one.get("nodes", ()) if node in numbers]
        words = [
            f"{module}[{written(tuple(sorted(number for home, number in places if home == module)))}]"
            for module in dict.fromkeys(home for home, _ in places)
        ]
        flags = []
        for flag in one.get("flags", ()):
            if why := self._why_not(flag.upper()):
                self.notes.ignore(Pair("Flags", flag, place), why)
            else:
                flags.append(flag)
        for key in ("features", "max_start_delay"):
            if key in one:
                self.notes.ignore(Pair(key, f"{name}: {one[key]}", place), NOT_OF_RESERVATIONS)
        users, groups, accounts = (list(one.get(key, ())) for key in ("users", "groups", "accounts"))
        return ReservationKeys(
            name=name,
            start=one["start"],
            end=one["end"],
            nodes=words,
            users=users if users or groups or accounts else [NOBODY],
            groups=groups,
            accounts=accounts,
            flags=flags if words else [*flags, "ANY_NODES"],
            purge_comp_s=one.get("purge_comp_s") or ReservationKeys.model_fields["purge_comp_s"].default,
        )

    def _why_not(self, flag: str) -> str:
        """Why a flag is left out of a reservation; empty if it is not."""
        if flag in REPLACING:
            return AS_PRINTED
        if flag == "FLEX" and self.site.system.topology is not None:
            return NOT_FLEX
        return "" if flag in FLAGS else NOT_FLAG

    def usage(self, path: Path) -> tuple[Usage, str]:
        """Read what users had used when the queue was printed."""
        used = read_usage(path, self.site.cluster, self._accounts, self.notes)
        return used, f"usage of {_count(len(used), 'user')}, for predictions"

    def unread(self) -> Collection[str]:
        """Names of files that nobody looked into; those that the slurm.conf includes were read with it."""
        named = {one.name for one in self.folder.iterdir() if os.path.isfile(one)}
        included = {Path(place.rpartition(":")[0]).name for place in self.places.values()}
        return named - self._taken - included

    def warnings(self) -> list[str]:
        """What is missing that a schedule depends on."""
        enforced = str(self.policy.get("AccountingStorageEnforce", "")).split(",")
        found = []
        if (words := [word for word in enforced if word in _ENFORCING]) and (
            missing := [name for name in ("accounts", "qos") if name not in self.policy]
        ):
            files = {"accounts": ASSOC, "qos": QOS}
            named = " and ".join(f"{files[name]}" for name in missing)
            found.append(f"AccountingStorageEnforce={','.join(words)}: what {named} would say {UNLIMITED}")
        if self.policy.get("PriorityWeightFairshare") and "accounts" not in self.policy:
            found.append(f"PriorityWeightFairshare={self.policy['PriorityWeightFairshare']}: {ALL_EQUAL}")
        return found

    def _script(self, path: Path) -> tuple[Database, str]:
        database = read_script(path, self.site.cluster, self.notes)
        accounts, users = len(database.tree.accounts) - 1, len(database.tree.users)
        said = _count(accounts, "account"), _count(users, "user"), _count(len(database.qos), "QOS")
        return database, ", ".join(said)

    def _enforce_associations(self) -> None:
        """What is enforced of jobs implies that their users have associations, all of which are known now.

        As Slurm reads it (slurm.conf(5), AccountingStorageEnforce).
        """
        words = str(self.policy.get("AccountingStorageEnforce", "none")).split(",")
        if "associations" not in words and not _IMPLYING.isdisjoint(words):
            self.policy["AccountingStorageEnforce"] = ",".join(("associations", *words))

    def _associations(self, path: Path) -> tuple[Any, str]:
        tree = read_associations(path, self.site.cluster, self.notes)
        users = {user for _, user in tree.users if user != "root"}
        return tree, f"{_count(len(tree.accounts) - 1, 'account')}, {_count(len(users), 'user')}"

    def _qos(self, path: Path) -> tuple[Any, str]:
        form = read_qos(path, self.notes)
        return form, _count(len(form), "QOS")

    def _give(self, key: str, value: Any, place: str) -> None:
        self.policy[key], self.places[key] = value, place

    def _unused(self, path: Path, what: str, why: str, *, unless: bool = False) -> None:
        if not unless:
            self.notes.ignore(Pair(path.name, what, f"{path}:1"), why)
