"""The lines of a slurm.conf or gres.conf and of what it includes, as keys and values with their places."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from scheduler_sim.config.text_file import read_text
from scheduler_sim.errors import ConfigError

MOST_INCLUDED = 100
RECORDS = ("nodename", "partitionname", "nodeset", "downnodes", "frontendname")
"""Keys that begin what is said of one thing; the keys behind it on the line belong to it."""

_PAIR = re.compile(r"\s*([A-Za-z0-9_.]+)\s*=\s*(?:\"([^\"]*)\"|(\S+))(?=\s|$)")


@dataclass(frozen=True)
class Pair:
    """One ``Key=Value``, as it was written, with its ``file:line``."""

    key: str
    value: str
    place: str


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
    path: Path, problems: list[str], *, what: str = "a slurm.conf", records: Collection[str] = RECORDS
) -> Iterator[Record | Pair]:
    """Yield what a file says, in order, included files at their place.

    ``records`` are the keys that begin a record. What is not ``Key=Value`` is added to ``problems``, with
    file and line; the rest of its line is passed over. Raises ConfigError for files that cannot be read.
    """
    for pairs in _read(path, what, [], problems):
        yield from _said(pairs, problems, records)


def _read(path: Path, what: str, outer: list[Path], problems: list[str]) -> Iterator[list[Pair]]:
    """The pairs of each line; names of included files count from the folder of the first, as in Slurm."""
    if path in outer or len(outer) >= MOST_INCLUDED:
        raise ConfigError(f"{path}: includes itself; allowed: each file once within another")
    for number, text in _joined(read_text(path, what)):
        place = f"{path}:{number}"
        include = re.fullmatch(r"\s*include\s+(\S+)\s*", text, re.IGNORECASE)
        if include:
            inner = [*outer, path][0].parent / include[1]
            if not inner.is_file():
                raise ConfigError(f"{place}: Include: found {include[1]!r}, no such file: {inner}")
            yield from _read(inner, what, [*outer, path], problems)
        elif text.strip():
            yield _pairs(text, place, problems)


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


def _pairs(text: str, place: str, problems: list[str]) -> list[Pair]:
    pairs, at = [], 0
    while text[at:].strip():
        match = _PAIR.match(text, at)
        if match is None:
            rest = text[at:].strip()
            problems.append(f"{place}: found {rest[:60]!r}; allowed: Key=Value, Include FILE, # a comment")
            break
        pairs.append(Pair(match[1], match[3] if match[2] is None else match[2], place))
        at = match.end()
    return pairs


def _said(pairs: list[Pair], problems: list[str], records: Collection[str]) -> Iterator[Record | Pair]:
    """The pairs by themselves, up to one that begins a record, which has the rest of the line."""
    at = next((i for i, pair in enumerate(pairs) if pair.key.lower() in records), len(pairs))
    yield from pairs[:at]
    if at == len(pairs):
        return
    first, by_key = pairs[at], dict[str, Pair]()
    for pair in pairs[at + 1 :]:
        if pair.key.lower() in by_key:
            problems.append(f"{pair.place}: {pair.key}: given twice on this line; allowed: once")
        by_key[pair.key.lower()] = pair
    yield Record(first.key.lower(), first.value, by_key, first.place)
