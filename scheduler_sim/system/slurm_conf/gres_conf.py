"""The gres.conf beside a slurm.conf: what it says of devices, held against ``Gres=`` of the nodes.

As in Slurm, ``Gres=`` decides what nodes have: which resources, of which types, how many. What a gres.conf
has beyond that is discarded, and what it leaves out is there all the same. So it is read for its mistakes,
and for what does not agree.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scheduler_sim.system.gres import PIECES_OF_GPUS
from scheduler_sim.system.slurm_conf import ignored
from scheduler_sim.system.slurm_conf.hostlist import expand
from scheduler_sim.system.slurm_conf.lines import Pair, Record, read_lines
from scheduler_sim.system.slurm_conf.nodes import Node
from scheduler_sim.system.slurm_conf.notes import Notes
from scheduler_sim.system.slurm_conf.values import with_suffix

FILE = "gres.conf"
_FILES = ("file", "files", "multiplefiles")
_UNUSED = {
    "cores": ignored.BOUND,
    "cpus": ignored.BOUND,
    "link": ignored.BOUND,
    "links": ignored.BOUND,
    "autodetect": ignored.DETECTED,
}
_KEYS = ("Name", "Type", "Count", "File", "MultipleFiles", "Cores", "Links", "Flags", "AutoDetect")
_FLAGS = {
    ignored.LAUNCH_OF_DEVICES: r"countonly|env_uuid|no_gpu_env|[a-z]+_gpu_env|opencl_env",
    ignored.PIECES: r"one_sharing|all_sharing",
    ignored.WHOLE_NODES: r"explicit",
}


@dataclass(frozen=True)
class Devices:
    """A line about a resource.

    Attributes
    ----------
    name, type : in small letters; no type is "".
    count : pieces on each of its nodes.
    in_files : whether it names files.
    nodes : None: all of the cluster.
    place : ``file:line``.
    """

    name: str
    type: str
    count: int
    in_files: bool
    nodes: tuple[str, ...] | None
    place: str

    @property
    def kind(self) -> str:
        """As ``Gres=`` names it."""
        return f"{self.name}:{self.type}" if self.type else self.name


def read_gres_conf(
    path: Path, nodes: Mapping[str, Node], known: Collection[str], notes: Notes
) -> list[Record | Pair]:
    """Read a gres.conf, and hold it against the nodes of the slurm.conf; returns what it says, in order.

    ``known`` are all names of nodes, also of those that are left out. Raises ConfigError for files that
    cannot be read.
    """
    said = list(read_lines(path, notes.problems, notes.moved, what=f"a {FILE}", records=("nodename", "name")))
    lines: list[Devices] = []
    for one in said:
        if isinstance(one, Record):
            lines += _devices(one, known, notes)
        elif one.key.lower() == "autodetect":
            _note_detection(one, notes)
        else:
            notes.wrong(one.place, one.key, "found at the beginning; allowed: NodeName, Name, AutoDetect")
    _compare(lines, nodes, notes)
    return said


# -- a line


def _devices(record: Record, known: Collection[str], notes: Notes) -> Iterator[Devices]:
    """The devices of a line; none where it only says how to detect them, or is wrong."""
    pairs = dict(record.pairs)
    nodes = None
    if record.kind == "nodename":
        nodes = _nodes(Pair("NodeName", record.name, record.place), known, notes)
        if "name" not in pairs and "autodetect" in pairs:
            _note_detection(pairs["autodetect"], notes)
            return
        if "name" not in pairs:
            notes.wrong(record.place, "Name", "found none; allowed: the name of a resource, as gpu")
            return
        name = pairs.pop("name").value
    else:
        name = record.name
    before = len(notes.problems)
    _note_unused(pairs, notes)
    count = _count(name.lower(), pairs, notes)
    if len(notes.problems) == before:
        kind = record.text("type") or ""
        in_files = any(key in pairs for key in _FILES)
        yield Devices(name.lower(), kind.lower(), count, in_files, nodes, record.place)


def _nodes(pair: Pair, known: Collection[str], notes: Notes) -> tuple[str, ...]:
    nothing: list[str] = []
    names = notes.read(pair, expand, nothing)
    if unknown := [name for name in names if name not in known]:
        notes.ignore(pair, ignored.NO_SUCH_NODE, value=_several(unknown))
    return tuple(names)


def _count(name: str, pairs: Mapping[str, Pair], notes: Notes) -> int:
    """Pieces on a node: as counted, else one for each file, else one; of several files for one piece, one."""
    given = [pairs[key] for key in _FILES if key in pairs]
    for pair in given[1:]:
        notes.wrong(pair.place, pair.key, f"found beside {given[0].key}; allowed: one of them")
    files = len(notes.read(given[0], expand, [""])) if given else 0
    if given and given[0].key.lower() == "multiplefiles":
        if files < 2:
            notes.wrong(given[0].place, given[0].key, "found one file; allowed: several, or File")
        files = 1
    counted = pairs.get("count")
    count = notes.read(counted, with_suffix, files or 1)
    if counted is not None and files and count != files and name not in PIECES_OF_GPUS:
        allowed = f"{files}, one for each file, or no Count"
        notes.wrong(counted.place, counted.key, f"found {counted.value[:60]!r}; allowed: {allowed}")
    return count


def _note_unused(pairs: Mapping[str, Pair], notes: Notes) -> None:
    """Note what changes nothing here, and what no gres.conf may say."""
    for key, pair in pairs.items():
        if key in _UNUSED:
            _note_detection(pair, notes) if key == "autodetect" else notes.ignore(pair, _UNUSED[key])
        elif key == "flags":
            for word in filter(None, (one.strip() for one in pair.value.split(","))):
                why = (why for why, words in _FLAGS.items() if re.fullmatch(words, word.lower()))
                notes.ignore(pair, next(why, ignored.NOT_MODELLED), value=word)
        elif key not in (*_FILES, "count", "type"):
            notes.wrong(pair.place, pair.key, f"no key of a {FILE}; allowed: {', '.join(_KEYS)}")


def _note_detection(pair: Pair, notes: Notes) -> None:
    if pair.value.lower() != "off":
        notes.ignore(pair, ignored.DETECTED)


# -- against the slurm.conf


def _compare(lines: list[Devices], nodes: Mapping[str, Node], notes: Notes) -> None:
    """Hold what lines say of each node against what the node has; of nodes that are alike in both, once."""
    of_all = [i for i, line in enumerate(lines) if line.nodes is None]
    of_node: dict[str, list[int]] = {}
    for i, line in enumerate(lines):
        for name in line.nodes or ():
            of_node.setdefault(name, []).append(i)
    alike: dict[tuple[tuple[tuple[str, int], ...], tuple[int, ...]], list[str]] = {}
    for name, node in nodes.items():
        mine = tuple(sorted([*of_all, *of_node.get(name, ())]))
        alike.setdefault((node.gres, mine), []).append(name)
    for (gres, mine), names in alike.items():
        said: dict[str, list[Devices]] = {}
        for i in mine:
            said.setdefault(lines[i].name, []).append(lines[i])
        for name, own in said.items():
            there = {kind: count for kind, count in gres if kind.partition(":")[0] == name}
            if _belong_together(own, names, notes):
                _agree(own, there, names, notes)


def _belong_together(lines: list[Devices], names: list[str], notes: Notes) -> bool:
    """Whether lines about one resource of a node may stand beside each other, as Slurm demands."""
    first, where = lines[0], f"on {names[0]}"
    for line in lines[1:]:
        if line.in_files != first.in_files:
            why = (
                f"found {where} with files here and without at {first.place}; allowed: on all lines, or none"
            )
        elif bool(line.type) != bool(first.type):
            why = f"found {where} with Type here or at {first.place}; allowed: on both lines, or on none"
        elif not (line.in_files or line.type):
            why = f"found {where} again, after {first.place}; allowed: once without File and Type"
        else:
            continue
        notes.wrong(line.place, f"Name={line.name}", why)
        return False
    return True


def _agree(lines: list[Devices], there: Mapping[str, int], names: list[str], notes: Notes) -> None:
    """Note what lines about one resource say otherwise than ``Gres=``, which has pieces by type."""
    untyped = lines[0].name in there  # types of these lines are forgotten then, as in Slurm
    left = dict(there)
    last: dict[str, Devices] = {}
    for line in lines:
        kind = line.name if untyped or line.name in PIECES_OF_GPUS else line.kind
        pair = Pair("Name", line.kind, line.place)
        if kind not in there:
            found = f"{line.count} on {_several(names)}"
            notes.ignore(pair, ignored.NOT_IN_GRES, key=line.kind, value=found)
            continue
        if untyped and line.type and line.name not in PIECES_OF_GPUS:
            notes.ignore(pair, ignored.NO_TYPE_IN_GRES, key=line.kind, value=f"on {_several(names)}")
        left[kind] -= line.count
        last[kind] = line
    for kind, line in last.items():
        if left[kind]:
            found = f"{there[kind] - left[kind]} on {_several(names)} with Gres={kind}:{there[kind]}"
            pair = Pair("Name", line.kind, line.place)
            notes.ignore(pair, ignored.OTHER_COUNT, key=line.kind, value=found)


def _several(names: list[str]) -> str:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{names[0][:60]}{more}"
