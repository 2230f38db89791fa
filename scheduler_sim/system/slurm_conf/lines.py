"""The lines of a slurm.conf and of what it includes, as keys and values with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scheduler_sim.config.text_file import read_text
from scheduler_sim.errors import ConfigError

MOST_INCLUDED = 100
RECORDS = ("nodename", "partitionname", "nodeset", "downnodes", "frontendname")
"""Keys that begin a line about one thing; the other keys of the line belong to it."""

_PAIR = re.compile(r"\s*([A-Za-z0-9_.]+)\s*=\s*(?:\"([^\"]*)\"|(\S+))(?=\s|$)")


@dataclass(frozen=True)
class Pair:
    """One ``Key=Value``, as it was written, with its ``file:line``."""

    key: str
    value: str
    place: str


@dataclass(frozen=True)
class Record:
    """A line about nodes, a node set or a partition.

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


def read_lines(path: Path, problems: list[str]) -> Iterator[Record | Pair]:
    """Yield what a slurm.conf says, in order, included files at their place.

    What is not ``Key=Value`` is added to ``problems``, with file and line; the rest of its line is
    passed over. Raises ConfigError for files that cannot be read.
    """
    yield from _read(path, path.parent, [], problems)


def _read(path: Path, folder: Path, outer: list[Path], problems: list[str]) -> Iterator[Record | Pair]:
    if path in outer or len(outer) >= MOST_INCLUDED:
        raise ConfigError(f"{path}: includes itself; allowed: each file once within another")
    for number, text in _joined(read_text(path, "a slurm.conf")):
        place = f"{path}:{number}"
        include = re.fullmatch(r"\s*include\s+(\S+)\s*", text, re.IGNORECASE)
        if include:
            yield from _included(include[1], place, folder, [*outer, path], problems)
        elif text.strip():
            yield from _said(_pairs(text, place, problems), problems)


def _included(
    name: str, place: str, folder: Path, outer: list[Path], problems: list[str]
) -> Iterator[Record | Pair]:
    """What another file says; its name counts from the folder of the slurm.conf, as Slurm does."""
    inner = folder / name
    if not inner.is_file():
        raise ConfigError(f"{place}: Include: found {name!r}, no such file: {inner}")
    yield from _read(inner, folder, outer, problems)


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


def _said(pairs: list[Pair], problems: list[str]) -> Iterator[Record | Pair]:
    """One record for a line about one thing, else the pairs by themselves."""
    if not pairs or pairs[0].key.lower() not in RECORDS:
        yield from pairs
        return
    first, rest = pairs[0], pairs[1:]
    by_key: dict[str, Pair] = {}
    for pair in rest:
        if pair.key.lower() in by_key:
            problems.append(f"{pair.place}: {pair.key}: given twice on this line; allowed: once")
        by_key[pair.key.lower()] = pair
    yield Record(first.key.lower(), first.value, by_key, first.place)
