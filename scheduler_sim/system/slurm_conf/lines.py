"""The lines of a slurm.conf or gres.conf and of what it includes, as keys and values with their places."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from scheduler_sim.config.problem import listed
from scheduler_sim.config.text_file import read_text
from scheduler_sim.errors import ConfigError

DEEPEST, MOST_INCLUDED = 100, 1000
"""Files within one another, and in all."""

HIDDEN = "not shown: the file is not in the folder of the slurm.conf"
RECORDS = ("nodename", "partitionname", "nodeset", "downnodes", "frontendname")
"""Keys that begin what is said of one thing; the keys behind it on the line belong to it."""

PASSWORDS = ("pass", "password")

_PAIR = re.compile(r"\s*([A-Za-z0-9_.]+)\s*[-+*/]?=\s*(?:\"([^\"]*)\"|(\S+))(?=\s|$)")


@dataclass(frozen=True)
class Pair:
    """One ``Key=Value``, as it was written, with its ``file:line``.

    ``hidden``: the file is not in the folder of the slurm.conf, or it is a password; what it says may be a
    secret, and is not printed.
    """

    key: str
    value: str
    place: str
    hidden: bool = False


@dataclass(frozen=True)
class Record:
    """A line about nodes, a node set or a partition, or about devices.

    Attributes
    ----------
    kind : its first key in small letters, such as ``nodename``.
    name : the value of that key.
    pairs : the others, by key in small letters.
    place : ``file:line`` where it begins.
    """

    kind: str
    name: str
    pairs: dict[str, Pair]
    place: str

    def text(self, key: str) -> str | None:
        """Value of a key given in small letters; None where it is absent."""
        pair = self.pairs.get(key)
        return None if pair is None else pair.value


def read_lines(
    path: Path,
    problems: list[str],
    moved: list[Pair],
    *,
    what: str = "a slurm.conf",
    records: Collection[str] = RECORDS,
) -> Iterator[Record | Pair]:
    """Yield what a file says, in order, included files at their place.

    ``records`` are the keys that begin a record; of a key that comes again on its line the last one counts.
    What is not ``Key=Value`` is added to ``problems``, with file and line; the rest of its line is passed
    over. The lines of files that are not where they say, but beside the slurm.conf, are added to ``moved``.
    Raises ConfigError for files that cannot be read, and with all included ones that are not there.
    """
    reading = _Reading(path, what, problems, moved)
    for pairs in reading.lines(path, []):
        yield from _said(pairs, records)
    if reading.missing:
        raise ConfigError(listed(dict.fromkeys(reading.missing)))


class _Reading:
    """The files that belong to one slurm.conf."""

    def __init__(self, first: Path, what: str, problems: list[str], moved: list[Pair]) -> None:
        self.missing: list[str] = []
        self._moved = moved
        self._folder, self._what, self._problems = first.parent, what, problems
        self._read, self._cluster = 0, ""

    def lines(self, path: Path, outer: list[Path]) -> Iterator[list[Pair]]:
        """The pairs of each line."""
        if path in outer or len(outer) >= DEEPEST:
            raise ConfigError(f"{path}: includes itself; allowed: each file once within another")
        self._read += 1
        if self._read > MOST_INCLUDED:
            raise ConfigError(f"{path}: found over {MOST_INCLUDED:,} files by Include; allowed: fewer")
        hidden = not path.resolve().is_relative_to(self._folder.resolve())
        for number, text in _joined(read_text(path, self._what)):
            place = f"{path}:{number}"
            include = re.fullmatch(r"\s*include\s+(\S+)\s*", text, re.IGNORECASE)
            if include:
                yield from self._included(include[1], path, place, outer)
            elif text.strip():
                pairs = _pairs(text, place, self._problems, hidden=hidden)
                names = (pair.value for pair in pairs if pair.key.lower() == "clustername")
                self._cluster = next(names, self._cluster)
                yield pairs

    def _included(self, name: str, by: Path, place: str, outer: list[Path]) -> Iterator[list[Pair]]:
        """The lines of an included file, where it stands or beside the slurm.conf: ``%c`` is the cluster.

        Slurm 22.05 begins at the folder of the file that includes it, older ones at that of the slurm.conf.
        """
        if "%c" in name and not self._cluster:
            self._problems.append(f"{place}: Include: found {name!r}; allowed: %c behind ClusterName")
            return
        told = Path(name.replace("%c", self._cluster.lower()))
        tried = dict.fromkeys((by.parent / told, self._folder / told, self._folder / told.name))
        inner = next((one for one in tried if os.path.isfile(one)), None)
        if inner is None:
            also = f", nor {told.name} beside the slurm.conf" if len(tried) > 1 else ""
            self.missing.append(f"{place}: Include: found {name!r}, no such file: {by.parent / told}{also}")
        else:
            if inner not in (by.parent / told, self._folder / told):
                self._moved.append(Pair("Include", name, place))
            yield from self.lines(inner, [*outer, by])


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, those that end in a backslash joined to the next; number of the first."""
    begun, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"(?<!\\)((?:\\\\)*)#.*", r"\1", line)
        first = first or number
        goes_on = re.search(r"(?<!\\)(?:\\\\)*\\\s*$", line)
        if goes_on:
            begun += line.rstrip()[:-1]
            continue
        yield first, re.sub(r"\\(.)", r"\1", begun + line)
        begun, first = "", 0
    if begun.strip():
        yield first, re.sub(r"\\(.)", r"\1", begun)


def _pairs(text: str, place: str, problems: list[str], *, hidden: bool) -> list[Pair]:
    pairs, at = [], 0
    while text[at:].strip():
        match = _PAIR.match(text, at)
        if match is None:
            rest = f"what is {HIDDEN}" if hidden else repr(text[at:].strip()[:60])
            problems.append(f"{place}: found {rest}; allowed: Key=Value, Include FILE, # a comment")
            break
        value = match[3] if match[2] is None else match[2]
        secret = hidden or match[1].lower().endswith(PASSWORDS)
        pairs.append(Pair(match[1], value, place, secret))
        at = match.end()
    return pairs


def _said(pairs: list[Pair], records: Collection[str]) -> Iterator[Record | Pair]:
    """The pairs by themselves, up to one that begins a record, which has the rest of the line."""
    at = next((i for i, pair in enumerate(pairs) if pair.key.lower() in records), len(pairs))
    yield from pairs[:at]
    if at == len(pairs):
        return
    first, by_key = pairs[at], {pair.key.lower(): pair for pair in pairs[at + 1 :]}
    yield Record(first.key.lower(), first.value, by_key, first.place)
