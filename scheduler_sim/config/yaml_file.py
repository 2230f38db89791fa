"""A YAML file whose every key remembers its line.

Only plain data is read: mappings, lists, text, numbers, ``true``, ``false`` and ``null``,
by the core schema of YAML 1.2 (so ``no`` is a word and ``12:00:00`` is not a number).
Tags that build objects are refused, a key given twice is an error, and size, depth and
number of values are limited, so that a hostile file ends in a message and not in a crash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from scheduler_sim.config.problem import Location, Problem, listed
from scheduler_sim.config.text_file import read_text
from scheduler_sim.errors import ConfigError

MAX_DEPTH = 40
MAX_VALUES = 100_000

_CORE_TAGS = {
    f"tag:yaml.org,2002:{kind}": kind for kind in ("null", "bool", "int", "float", "str", "seq", "map")
}


@dataclass(frozen=True)
class YamlFile:
    """What a file holds, and where each value stands in it.

    Attributes
    ----------
    path : the file as it was named.
    data : its top-level mapping, plain Python data; keys are text.
    lines : 1-based line number of every key and list item, by location.
    """

    path: Path
    data: dict[str, Any]
    lines: dict[Location, int] = field(repr=False)

    def place(self, where: Location) -> str:
        """``file:line`` of a location, or of the nearest enclosing one that is in the file."""
        while where and where not in self.lines:
            where = where[:-1]
        return f"{self.path}:{self.lines.get(where, 1)}"

    def part(self, where: Location) -> YamlFile:
        """Return a mapping inside this file as if it stood alone; its lines are those of this file."""
        data: Any = self.data
        for step in where:
            data = data[step]
        depth = len(where)
        lines = {place[depth:]: line for place, line in self.lines.items() if place[:depth] == where}
        return YamlFile(self.path, data, lines)

    def error(self, problems: Iterable[Problem]) -> ConfigError:
        """All the problems as one error, in the order of the file."""
        in_order = sorted(problems, key=lambda problem: self._line(problem.where))
        return ConfigError(listed(f"{self.place(p.where)}: {p}" for p in in_order))

    def _line(self, where: Location) -> int:
        return int(self.place(where).rpartition(":")[2])


def read_yaml(path: str | Path) -> YamlFile:
    """Read a YAML file that holds one mapping.

    Raises
    ------
    ConfigError : the file cannot be read, is not text, is not YAML, or is no mapping.
    """
    path = Path(path)
    text = read_text(path, "a YAML file")
    try:
        root = _LimitedLoader.root_of(text)
    except yaml.MarkedYAMLError as error:
        raise ConfigError(f"{path}:{_line_of(error)}: not valid YAML: {_reason(error)}") from None
    except (yaml.YAMLError, _TooMuch) as error:
        raise ConfigError(f"{path}: not valid YAML: {_one_line(str(error))}") from None
    if root is None:
        raise ConfigError(f"{path}: the file is empty; allowed: a mapping of keys to values")
    plain = _PlainData()
    try:
        data = plain.of(root, ())
    except _TooMuch as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from None
    file = YamlFile(path, data if isinstance(data, dict) else {}, plain.lines)
    if plain.problems:
        raise file.error(plain.problems)
    if not isinstance(data, dict):
        kind = "a list" if isinstance(data, list) else f"the single value {data!r:.60}"
        raise ConfigError(f"{file.place(())}: found {kind}; allowed: a mapping of keys to values")
    return file


def read_scalar(text: str) -> Any:
    """Read one value as a YAML file would: ``2``, ``true``, ``null``, ``sjf``, ``2-00:00:00``."""
    if len(text) > 1000:
        raise ConfigError(f"found a text of {len(text)} characters; allowed: at most 1000")
    kind = next((kind for kind, spelling in _SPELLINGS.items() if spelling.fullmatch(text)), "str")
    return _scalar(kind, text.strip())


class _TooMuch(Exception):
    """A limit of this reader is passed."""


class _LimitedLoader(yaml.SafeLoader):
    """The safe loader with the core schema of YAML 1.2, to a limited depth."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as in the base class
    depth = 0

    @classmethod
    def root_of(cls, text: str) -> yaml.Node | None:
        loader = cls(text)
        try:
            return loader.get_single_node()
        finally:
            loader.dispose()

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _TooMuch(f"nested more than {MAX_DEPTH} levels deep")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


_SPELLINGS = {
    "null": re.compile(r"(?:~|null|Null|NULL|)"),
    "bool": re.compile(r"(?:true|True|TRUE|false|False|FALSE)"),
    "int": re.compile(r"[-+]?[0-9]+"),
    "float": re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan"),
}
for _kind, _starts in {"null": ["~", "n", "N", ""], "bool": list("tTfF")}.items():
    _LimitedLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_kind}", re.compile(f"^(?:{_SPELLINGS[_kind].pattern})$"), _starts
    )
for _kind in ("int", "float"):  # int first: every int is spelt like a float too
    _LimitedLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_kind}", re.compile(f"^(?:{_SPELLINGS[_kind].pattern})$"), list("-+.0123456789")
    )


class _PlainData:
    """Turns a tree of YAML nodes into plain data, noting lines and problems on the way."""

    def __init__(self) -> None:
        self.lines: dict[Location, int] = {}
        self.problems: list[Problem] = []
        self._open: set[int] = set()

    def of(self, node: yaml.Node, where: Location) -> Any:
        self.lines.setdefault(where, node.start_mark.line + 1)
        if len(self.lines) > MAX_VALUES:
            raise _TooMuch(f"more than {MAX_VALUES:,} values (aliases counted each time)")
        kind = _CORE_TAGS.get(node.tag, "")
        if id(node) in self._open:
            raise _TooMuch("an alias refers to the value it stands in")
        if isinstance(node, yaml.ScalarNode) and kind not in ("", "seq", "map"):
            return self._scalar_of(node, kind, where)
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode) and kind == "seq":
                return [self.of(item, (*where, i)) for i, item in enumerate(node.value)]
            if isinstance(node, yaml.MappingNode) and kind == "map":
                return dict(self._pairs_of(node, where))
        finally:
            self._open.discard(id(node))
        self.problems.append(
            Problem(where, f"found the tag {node.tag!r:.80}; allowed: plain values without tags")
        )
        return None

    def _pairs_of(self, node: yaml.MappingNode, where: Location) -> Iterator[tuple[str, Any]]:
        first_line: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                self.problems.append(
                    Problem(where, f"found a list or mapping as a key on line {line}; allowed: text")
                )
                continue
            key = key_node.value
            here = (*where, key)
            if key in first_line:
                again = f"given twice, first on line {first_line[key]}; allowed: once"
                self.lines[here] = line
                self.problems.append(Problem(here, again))
                continue
            first_line[key] = self.lines[here] = line
            yield key, self.of(value_node, here)

    def _scalar_of(self, node: yaml.ScalarNode, kind: str, where: Location) -> Any:
        try:
            return _scalar(kind, node.value)
        except ValueError:
            self.problems.append(Problem(where, f"found {node.value!r:.80}; allowed: a value of type {kind}"))
            return None


def _scalar(kind: str, text: str) -> Any:
    if kind == "null":
        return None
    if kind == "bool":
        if text.lower() not in ("true", "false"):
            raise ValueError(text)
        return text.lower() == "true"
    if kind == "int":
        return int(text) if len(text) <= 40 else float(text)  # a longer one is out of any range
    if kind == "float":
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text


def _line_of(error: yaml.MarkedYAMLError) -> int:
    mark = error.problem_mark or error.context_mark
    return mark.line + 1 if mark else 1


def _reason(error: yaml.MarkedYAMLError) -> str:
    return _one_line(", ".join(part for part in (error.problem, error.context) if part) or str(error))


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
