"""The nodes of a slurm.conf: ``NodeName``, ``DownNodes`` and ``NodeSet`` lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scheduler_sim.config.value import is_feature
from scheduler_sim.errors import InputError
from scheduler_sim.system.gres import PIECES_OF_GPUS
from scheduler_sim.system.slurm_conf.hostlist import expand, natural_key, split
from scheduler_sim.system.slurm_conf.ignored import NEVER_USED_UP, PIECES, POWER, why_ignored
from scheduler_sim.system.slurm_conf.lines import Pair, Record
from scheduler_sim.system.slurm_conf.notes import Notes, with_defaults
from scheduler_sim.system.slurm_conf.values import count, size_mb, with_suffix

MOST_NODES = 1_000_000
NOT_THERE = ("DOWN", "DRAIN", "FAIL", "FAILING", "FUTURE")
"""States in which a node takes no jobs until somebody changes them."""

_PROCESSORS = ("cpus", "procs", "boards", "sockets", "socketsperboard", "corespersocket", "threadspercore")
NO_CONSUME = "no_consume"

_READ = {*_PROCESSORS, "realmemory", "feature", "weight", "state", "gres"}


@dataclass(frozen=True)
class Node:
    """A node as it is configured.

    Attributes
    ----------
    name : as partitions call it.
    cpus : what Slurm gives out, hardware threads where it counts them.
    memory_mb : as configured.
    by_default : of these two, those that no line states.
    gres : generic resources as they are written, each once: name and number, of a type as ``gpu:a100``.
    features, weight : as in the file; in their order, and 1 by default.
    sockets, threads : sockets of the node, and CPUs of each core; 1 where CPUs are not its threads.
    """

    name: str
    cpus: int = 1
    memory_mb: int = 1
    gres: tuple[tuple[str, int], ...] = ()
    features: tuple[str, ...] = ()
    weight: int = 1
    sockets: int = 1
    threads: int = 1
    by_default: tuple[str, ...] = field(default=(), compare=False)

    @property
    def gpus(self) -> int:
        """Number of GPUs, of all types."""
        return sum(number for name, number in self.gres if name.partition(":")[0] == "gpu")


def read_nodes(records: Iterable[Record], notes: Notes) -> dict[str, Node]:
    """Return the nodes that take jobs, by name, in the order in which Slurm numbers them: by name."""
    defaults: dict[str, Pair] = {}
    nodes: dict[str, Node] = {}
    out: set[str] = set()
    for record in records:
        if record.kind == "downnodes":
            out.update(_left_out(record, record.name, "DownNodes", notes))
        elif record.kind == "nodename" and record.name.upper() == "DEFAULT":
            defaults.update(record.pairs)
        elif record.kind == "nodename":
            _add(nodes, with_defaults(record, defaults), notes)
            state = record.pairs.get("state", defaults.get("state"))
            if state is not None and re.split(r"[*~#!%$@^+-]", state.value.upper())[0] in NOT_THERE:
                out.update(_left_out(record, record.name, f"State={state.value}", notes))
            elif state is not None and state.value.upper() == "CLOUD":
                notes.ignore(state, POWER)
        elif record.kind == "frontendname":
            notes.ignore(Pair("FrontendName", record.name, record.place), "front ends run no jobs here")
    there = (name for name in nodes if name not in out)
    return {name: nodes[name] for name in sorted(there, key=natural_key)}


def as_given_out(nodes: dict[str, Node], *, cpus: bool, memory: bool, sockets: bool) -> dict[str, Node]:
    """The nodes, with no CPUs or memory at all (0) where no line of the file states these.

    ``cpus``, ``memory``: jobs share them, so that Slurm's default counts all the same. ``sockets``: jobs have
    whole ones; else many of one core each, which is what Slurm makes of ``CPUs`` alone, are as one.
    """
    if not sockets:
        nodes = {
            name: replace(one, sockets=1) if one.sockets * one.threads == one.cpus else one
            for name, one in nodes.items()
        }
    cleared: dict[str, Any] = {
        name: 0
        for name, counts, key in (("cpus", cpus, "CPUs"), ("memory_mb", memory, "RealMemory"))
        if not counts and all(key in one.by_default for one in nodes.values())
    }
    return {name: replace(one, **cleared) for name, one in nodes.items()} if cleared else nodes


def names_in(text: str, nodes: Mapping[str, Node], sets: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the nodes that ``Nodes=`` means: names, node sets, ``ALL``; each once.

    Raises InputError for a name that no NodeName or NodeSet line has.
    """
    found: dict[str, None] = {}
    for part in split(",".join(text.split())):  # blanks separate names, too
        for name in [part] if part in sets else expand(part):
            if name.upper() == "ALL":
                found.update(dict.fromkeys(nodes))
            else:
                found.update(dict.fromkeys(sets.get(name, (name,))))
    return list(found)


def read_sets(
    records: Iterable[Record], nodes: Mapping[str, Node], known: set[str], notes: Notes
) -> dict[str, tuple[str, ...]]:
    """Return the nodes of each ``NodeSet``: those it names and those with its feature."""
    sets: dict[str, tuple[str, ...]] = {}
    for record in records:
        if record.kind != "nodeset":
            continue
        nothing: list[str] = []
        named = notes.read(record.pairs.get("nodes"), lambda text: names_in(text, nodes, {}), nothing)
        if unknown := [name for name in named if name not in known]:
            notes.wrong(record.place, "NodeSet", f"found {unknown[0]!r}; allowed: names of NodeName lines")
        feature = (record.text("feature") or "").lower()
        having = [n.name for n in nodes.values() if feature and feature in map(str.lower, n.features)]
        sets[record.name] = tuple(dict.fromkeys([*(n for n in named if n in nodes), *having]))
    return sets


def known_names(records: Iterable[Record]) -> set[str]:
    """Every name of a NodeName line that can be read, also of nodes that are left out."""
    lines = (r for r in records if r.kind == "nodename" and r.name.upper() != "DEFAULT")
    return {name for record in lines for name in _expanded(record, Notes())}


def named_line(names: Sequence[str], records: Iterable[Record]) -> Pair:
    """Nodes as of the line that has the first of them; at most five are written out."""
    lines = (r for r in records if r.kind == "nodename" and r.name.upper() != "DEFAULT")
    line = next(r for r in lines if names[0] in _expanded(r, Notes()))
    more = f" and {len(names) - 5:,} more" if names[5:] else ""
    return Pair("NodeName", ", ".join(names[:5]) + more, line.place)


def _add(nodes: dict[str, Node], record: Record, notes: Notes) -> None:
    """Add the nodes of one line; each name may come once."""
    cpus, sockets, threads = _processors(record, notes)
    stated = {"CPUs": bool(record.pairs.keys() & {*_PROCESSORS}), "RealMemory": "realmemory" in record.pairs}
    like = Node(
        "",
        cpus=cpus,
        sockets=sockets,
        threads=threads,
        memory_mb=notes.read(record.pairs.get("realmemory"), size_mb, 1),
        gres=notes.read(record.pairs.get("gres"), _gres, ()),
        features=notes.read(record.pairs.get("feature"), _features, ()),
        weight=notes.read(record.pairs.get("weight"), count, 1),
        by_default=tuple(name for name, said in stated.items() if not said),
    )
    for key, pair in record.pairs.items():
        if key not in _READ:
            notes.ignore(pair, why_ignored("node", key))
    _note_gres(record.pairs.get("gres"), like, notes)
    for name in _expanded(record, notes):
        if name in nodes:
            notes.wrong(record.place, "NodeName", f"found {name!r} again; allowed: each node once")
        elif len(nodes) >= MOST_NODES:
            notes.wrong(record.place, "NodeName", f"found over {MOST_NODES:,} nodes; allowed: fewer")
            return
        nodes[name] = replace(like, name=name)


def _note_gres(pair: Pair | None, node: Node, notes: Notes) -> None:
    """Note what is said of generic resources beyond their number."""
    if pair is None:
        return
    if NO_CONSUME in pair.value.lower():
        notes.ignore(pair, NEVER_USED_UP)
    for name in (name for name, _ in node.gres if name.partition(":")[0] in PIECES_OF_GPUS):
        notes.ignore(pair, PIECES, value=name)


def _expanded(record: Record, notes: Notes) -> list[str]:
    return notes.read(Pair("NodeName", record.name, record.place), expand, [])


def _left_out(record: Record, names: str, why: str, notes: Notes) -> list[str]:
    pair = Pair("NodeName" if record.kind == "nodename" else "DownNodes", names, record.place)
    notes.ignore(pair, f"{why}: these nodes take no jobs, and are left out of the system")
    return notes.read(pair, expand, [])


def _processors(record: Record, notes: Notes) -> tuple[int, int, int]:
    """CPUs, sockets, and CPUs of each core, by the rules of _parse_nodename in read_config.c.

    SocketsPerBoard beats Sockets; sockets that are not given follow from CPUs. CPUs that are neither
    sockets nor cores nor threads are replaced by the threads. Where each core, or socket, counts as one CPU,
    it is a core here.
    """
    given = {
        key: max(notes.read(pair, count, 1), 1) for key, pair in record.pairs.items() if key in _PROCESSORS
    }
    cores, threads = given.get("corespersocket", 1), given.get("threadspercore", 1)
    cpus = given.get("cpus", given.get("procs", 0))
    if "socketsperboard" in given:
        sockets = given.get("boards", 1) * given["socketsperboard"]
    elif "sockets" in given:
        sockets = given["sockets"]
    elif cpus and cpus % (cores * threads) == 0:
        sockets = cpus // (cores * threads)
    else:
        sockets = given.get("boards", 1)
    every = sockets * cores * threads
    if cpus not in (sockets, sockets * cores, every):
        if cpus:
            pair = record.pairs["cpus" if "cpus" in given else "procs"]
            notes.ignore(pair, f"neither sockets, cores nor threads: Slurm resets it to {every}")
        cpus = every
    return cpus, sockets, threads if cpus == every else 1


def _features(text: str) -> tuple[str, ...]:
    features = tuple(part.strip() for part in text.split(",") if part.strip())
    for feature in features:
        if not is_feature(feature):
            raise InputError(f"found {feature[:70]!r}; allowed: keywords without | & * ( ) [ ] ;")
    return tuple(dict.fromkeys(features))


def _gres(text: str) -> tuple[tuple[str, int], ...]:
    """Generic resources in ``gpu:2``, ``gpu:a100:4(S:0-1),nvme:1``, ``shard:40K``; a name alone is one."""
    found: dict[str, int] = {}
    for item in re.split(r",(?![^(]*\))", text):
        words = re.sub(r"\(.*?\)", "", item).strip().lower().split(":")
        counted = len(words) > 1 and re.fullmatch(r"[0-9]{1,15}[kmgtp]?", words[-1])
        names = [word for word in (words[:-1] if counted else words) if word != NO_CONSUME]
        if names == [""] and not counted:
            continue
        if not 1 <= len(names) <= 2 or not all(re.match("[a-z0-9]", word) for word in names):
            raise InputError(f"found {item.strip()[:60]!r}; allowed: name, name:count, name:type:count")
        name = ":".join(names)
        found[name] = found.get(name, 0) + (with_suffix(words[-1]) if counted else 1)
    for name in found:
        if any(other.startswith(f"{name}:") for other in found):
            raise InputError(f"found {name!r} with a type and without; allowed: types for all of it, or none")
    return tuple(found.items())
