"""The partitions of a slurm.conf: ``PartitionName`` lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from scheduler_sim.errors import InputError
from scheduler_sim.system.keys import PREEMPT_MODES, STATES
from scheduler_sim.system.over_subscribe import ALLOWED, OverSubscribe
from scheduler_sim.system.slurm_conf.ignored import (
    NETWORK,
    NO_EFFECT_BY_DEFAULT,
    PREEMPTION,
    SAME_NODES,
    SHARING,
    TOO_FEW,
    why_ignored,
)
from scheduler_sim.system.slurm_conf.lines import Pair, Record
from scheduler_sim.system.slurm_conf.nodes import Node, names_in
from scheduler_sim.system.slurm_conf.notes import Notes, note_within, with_defaults
from scheduler_sim.system.slurm_conf.values import (
    WITHIN_OR_PRIORITY,
    count,
    flag,
    job_defaults,
    limit,
    short_count,
    size_mb,
    unlimited_or,
    whole_minutes,
    without_words,
)
from scheduler_sim.system.system import Partition

_READ = {
    *("nodes", "default", "maxtime", "defaulttime", "minnodes", "maxnodes", "state"),
    *("priority", "prioritytier", "priorityjobfactor"),
    *("exclusive", "exclusiveuser", "exclusivetopo"),
}

_OF_SLURM: dict[str, Callable[[str], Any]] = {
    "QOS": lambda text: "" if text.upper() == "N/A" else _name(text),
    "MaxCPUsPerNode": unlimited_or(count),
    "LLN": flag,
    "DefMemPerCPU": unlimited_or(size_mb),
    "DefMemPerNode": unlimited_or(size_mb),
    "MaxMemPerCPU": unlimited_or(size_mb),
    "DefCpuPerGPU": unlimited_or(count),
    "DefMemPerGPU": unlimited_or(size_mb),
    "PreemptMode": lambda text: _mode(text, suspends=False),
    "GraceTime": count,
}
"""Keys that policy slurm heeds."""

BEATEN = {"DefMemPerCPU": "DefMemPerNode", "MaxMemPerCPU": "MaxMemPerNode"}
"""Keys that Slurm ignores beside others (read_config.c)."""

SHUT = "no job may start in this partition, as with State=DOWN"
SUSPEND = "SUSPEND"
_OTHER_MODES = (SUSPEND, "GANG")

_READ_OF_SLURM = {*(name.lower() for name in _OF_SLURM), "jobdefaults"}


@dataclass(frozen=True)
class Covered:
    """A partition that does not know its module yet, and the nodes it covers, in their order."""

    partition: Partition
    nodes: tuple[str, ...]


def read_partitions(
    records: Iterable[Record],
    nodes: Mapping[str, Node],
    sets: Mapping[str, tuple[str, ...]],
    known: set[str],
    notes: Notes,
    *,
    shares: bool,
    suspends: bool,
) -> list[Covered]:
    """Return the partitions that have nodes, in the order of the file.

    ``shares``: jobs share nodes, so that they may share cores as well. ``suspends``: they are suspended
    for others.
    """
    defaults: dict[str, Pair] = {}
    found: dict[str, Covered] = {}
    for record in records:
        if record.kind != "partitionname":
            continue
        if record.name.upper() == "DEFAULT":
            defaults.update(record.pairs)
            continue
        whole = with_defaults(record, defaults)
        partition = _partition(whole, notes, shares=shares, suspends=suspends)
        covered = Covered(partition, _nodes(whole, nodes, sets, known, notes))
        _note_ignored(whole, notes, shares=shares, suspends=suspends)
        if record.name.lower() in found:
            notes.wrong(
                record.place, "PartitionName", f"found {record.name!r} again; allowed: each name once"
            )
        elif covered.nodes:
            found[record.name.lower()] = covered
        else:
            pair = Pair("PartitionName", record.name, record.place)
            notes.ignore(pair, "it has no nodes that take jobs, and is left out of the system")
    return list(_with_last_default(found.values()))


def _with_last_default(partitions: Collection[Covered]) -> Iterator[Covered]:
    """Of several marked as default the last one is, as in Slurm."""
    last = [one.partition.name for one in partitions if one.partition.default][-1:]
    for one in partitions:
        yield replace(one, partition=replace(one.partition, default=one.partition.name in last))


def _nodes(
    record: Record,
    nodes: Mapping[str, Node],
    sets: Mapping[str, tuple[str, ...]],
    known: set[str],
    notes: Notes,
) -> tuple[str, ...]:
    pair = record.pairs.get("nodes")
    if pair is not None and pair.value.lower() in ("", "(null)"):
        return ()
    nothing: list[str] = []
    named = notes.read(pair, lambda text: names_in(text, nodes, sets), nothing)
    if pair is not None and (unknown := [name for name in named if name not in known]):
        notes.wrong(
            pair.place, pair.key, f"found {unknown[0]!r}; allowed: names of NodeName and NodeSet lines"
        )
    wanted = set(named)
    return tuple(name for name in nodes if name in wanted)


def _partition(record: Record, notes: Notes, *, shares: bool, suspends: bool) -> Partition:
    pairs = record.pairs
    name = notes.read(Pair("PartitionName", record.name, record.place), _name, "unnamed")
    both = "priority" if "priority" in pairs else None  # it beats the others, wherever they stand
    shut = [
        pair for key in ("maxnodes", "maxtime") if (pair := pairs.get(key)) and pair.value.strip("0") == ""
    ]
    for pair in shut:  # Slurm takes it, and no job starts
        notes.ignore(pair, SHUT)
        pairs = {key: value for key, value in pairs.items() if value is not pair}
    max_time = notes.read(pairs.get("maxtime"), whole_minutes, None)
    min_nodes = notes.read(pairs.get("minnodes"), count, 1)
    return Partition(
        name,
        name,
        max_time,
        notes.read(pairs.get("maxnodes"), limit, None),
        notes.read(pairs.get(both or "prioritytier"), short_count, 1),
        notes.read(pairs.get("default"), flag, default=False),
        (),
        _default_time(pairs.get("defaulttime"), max_time, notes),
        max(min_nodes, 1),
        "DOWN" if shut else notes.read(pairs.get("state"), _state, "UP"),
        notes.read(pairs.get(both or "priorityjobfactor"), short_count, 1),
        _is_exclusive(record),
        _of_slurm(record, notes, shares=shares, suspends=suspends),
    )


def _of_slurm(record: Record, notes: Notes, *, shares: bool, suspends: bool) -> dict[str, Any]:
    """Keys of ``partitions[].slurm``, those that say something."""
    sharing = notes.read(_sharing(record), _jobs_of_a_core, OverSubscribe())
    of_slurm = _OF_SLURM | ({"PreemptMode": _suspending_mode} if suspends else {})
    said: dict[str, Any] = {
        name: notes.read(record.pairs.get(name.lower()), read, 0) for name, read in of_slurm.items()
    } | notes.read(record.pairs.get("jobdefaults"), job_defaults, dict[str, int]())
    for beaten, by in BEATEN.items():
        if by.lower() in record.pairs and beaten.lower() in record.pairs:
            notes.ignore(record.pairs[beaten.lower()], f"beside {by}, which counts, as in Slurm")
            said.pop(beaten)
    said["OverSubscribe"] = str(sharing) if shares and sharing != OverSubscribe() else ""
    return {name: value for name, value in said.items() if value}


def _sharing(record: Record) -> Pair | None:
    """OverSubscribe, once Shared."""
    return record.pairs.get("oversubscribe", record.pairs.get("shared"))


def _is_exclusive(record: Record) -> bool:
    """Whether a job has whole nodes; Exclusive, the later key, beats OverSubscribe."""
    later, said = record.text("exclusive"), _sharing(record)
    if later is not None and later.upper() != "USER":
        return later.upper() in ("NODE", "TOPO")
    return said is not None and said.value.upper() == "EXCLUSIVE"


def _note_exclusive(record: Record, notes: Notes) -> None:
    """What is exclusive in other ways than by whole nodes: by user, by switch."""
    pair = record.pairs.get("exclusive")
    word = notes.read(pair, _exclusive, "NO")
    if pair is not None and word in ("USER", "TOPO"):
        notes.ignore(pair, SHARING if word == "USER" else NETWORK)
    for key, why in (("exclusiveuser", SHARING), ("exclusivetopo", NETWORK)):
        if (old := record.pairs.get(key)) is not None:
            notes.ignore(old, why if notes.read(old, flag, default=False) else NO_EFFECT_BY_DEFAULT)


def _exclusive(text: str) -> str:
    if text.upper() not in ("NO", "NONE", "NODE", "USER", "TOPO"):
        raise InputError(f"found {text[:60]!r}; allowed: NO, NODE, USER, TOPO")
    return text.upper()


def _jobs_of_a_core(text: str) -> OverSubscribe:
    """Read how many jobs may have a core; as Slurm does, too few of them are as NO."""
    if text.upper() == "EXCLUSIVE" or _is_too_few(text):
        return OverSubscribe()
    try:
        return OverSubscribe.read(text)
    except InputError:
        raise InputError(f"found {text[:60]!r}; allowed: EXCLUSIVE, {ALLOWED}") from None


def _is_too_few(text: str) -> bool:
    return re.fullmatch(r"(YES:0*[01]|FORCE:0+)", text, re.IGNORECASE) is not None


def _default_time(pair: Pair | None, max_time: int | None, notes: Notes) -> int | None:
    """DefaultTime, s; as Slurm does, one above MaxTime is not used (read_config.c)."""
    default = notes.read(pair, whole_minutes, None)
    if pair is not None and default is not None and max_time is not None and default > max_time:
        notes.ignore(pair, "above MaxTime, so Slurm takes MaxTime instead")
        return None
    return default


def _note_ignored(record: Record, notes: Notes, *, shares: bool, suspends: bool) -> None:
    """Keys that are not read; a partition whose jobs share whole nodes: not so here."""
    sharing = _sharing(record)
    _note_exclusive(record, notes)
    read = _READ | _READ_OF_SLURM
    for key, pair in record.pairs.items():
        if key not in read and pair is not sharing:
            notes.ignore(pair, why_ignored("partition", key))
        elif key == "preemptmode":
            if _is_other_mode(pair.value) and not suspends:
                notes.ignore(pair, PREEMPTION)
            note_within(pair, notes)
    if sharing is not None and _is_too_few(sharing.value):
        notes.ignore(sharing, TOO_FEW)
    elif (
        sharing is not None
        and sharing.value.upper() not in ("EXCLUSIVE", "NO")
        and not shares
        and not suspends
    ):
        notes.ignore(sharing, SAME_NODES)


def _name(text: str) -> str:
    if not re.fullmatch(r"[^\s,;|&*()\[\]:]{1,64}", text):
        raise InputError(f"found {text[:70]!r}; allowed: 1 to 64 characters without , ; | & * ( ) [ ] :")
    return text


def _is_other_mode(text: str) -> bool:
    return any(word in text.upper() for word in _OTHER_MODES)


def can_suspend(records: Iterable[Record], *, shares: bool) -> bool:
    """Whether jobs may be suspended in all partitions: on whole nodes, as those of each have theirs alone."""
    defaults: dict[str, Pair] = {}
    for record in records:
        if record.kind == "partitionname" and record.name.upper() == "DEFAULT":
            defaults.update(record.pairs)
        elif record.kind == "partitionname":
            whole = with_defaults(record, defaults)
            said, mode = _sharing(whole), whole.pairs.get("preemptmode")
            others = mode is not None and any(word in mode.value.upper() for word in ("REQUEUE", "CANCEL"))
            alone = said is not None and said.value.upper() == "FORCE:1"
            if others or not (shares or alone):
                return False
    return True


def _suspending_mode(text: str) -> str:
    return _mode(text, suspends=True)


def _mode(text: str, *, suspends: bool) -> str:
    """What becomes of jobs that are preempted; nothing where it is not modelled."""
    word = without_words(text, WITHIN_OR_PRIORITY).upper().replace(",GANG", "").replace("GANG,", "")
    if not word:
        return ""
    if word not in (allowed := (*PREEMPT_MODES, "GANG")):
        raise InputError(f"found {text[:60]!r}; allowed: {', '.join(allowed)}")
    return "" if word in _OTHER_MODES and not (word == SUSPEND and suspends) else word


def _state(text: str) -> str:
    if text.upper() not in STATES:
        raise InputError(f"found {text[:60]!r}; allowed: {', '.join(STATES)}")
    return text.upper()
