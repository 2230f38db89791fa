"""Column maps: which columns of a table of others are which of ours, in which unit, by which formula."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, model_validator

from scheduler_sim.config.keys import Keys, check_keys
from scheduler_sim.config.problem import Problem, one_of
from scheduler_sim.config.value import Check, Text, Title, choice
from scheduler_sim.config.yaml_file import YamlFile, read_yaml
from scheduler_sim.errors import InputError
from scheduler_sim.loaders.formats import FORMATS
from scheduler_sim.loaders.formula import Formula, read_formula
from scheduler_sim.loaders.values import OF_LISTS, UNITS, zone_named
from scheduler_sim.workload.fields import FIELDS

MOMENTS = ("submit_time", "begin_time", "start_time", "end_time")
"""Columns of ours that are moments; the last two are read for run times and waits alone."""

NEEDED = ("submit_time", "nodes", "run_time", "start_time", "end_time")
"""Columns of ours without which nothing can be done."""

OTHERWISE = "*"
"""Among ``values``: what any other word is."""

_RUN = frozenset({"start_time", "end_time"})
_NO_SEPARATORS = "\"'"
_READ_OFF = ("skipped",)
_UTC = ZoneInfo("UTC")


def _formula(written: Any) -> Formula:
    if isinstance(written, int | float) and not isinstance(written, bool):
        written = repr(written)
    if not isinstance(written, str):
        raise TypeError
    try:
        return read_formula(written)
    except InputError as error:
        raise ValueError(str(error)) from None


def _zone(written: Any) -> ZoneInfo:
    zone = zone_named(written) if isinstance(written, str) else None
    if zone is None:
        raise ValueError
    return zone


def _constant(written: Any) -> str | int | float:
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        raise TypeError
    return written


def _separator(written: Any) -> str:
    is_sign = isinstance(written, str) and len(written) == 1 and written.isascii() and not written.isalnum()
    if not is_sign or written in _NO_SEPARATORS or not (written == "\t" or written.isprintable()):
        raise ValueError
    return str(written)


FormulaKey = Annotated[
    Formula | None, BeforeValidator(Check("names of columns, numbers, + - * / and parentheses", _formula))
]
Zone = Annotated[ZoneInfo | None, BeforeValidator(Check("a time zone such as Europe/Rome, or UTC", _zone))]
Unit = Annotated[str | None, choice(*UNITS)]
Separator = Annotated[
    str | None, BeforeValidator(Check("one character, such as ; | or a tab; no letter or digit", _separator))
]
OfList = Annotated[str | None, choice(*OF_LISTS)]
Constant = Annotated[str | int | float, BeforeValidator(Check("text or a number", _constant))]


class ColumnKeys(Keys):
    """One column of ours. A name or a formula alone may stand instead of the mapping."""

    formula: FormulaKey = None
    value: Constant | None = None
    unit: Unit = None
    time_zone: Zone = None
    time_format: Text | None = None
    values: dict[str, Constant] | None = None
    of_list: OfList = None

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: Any) -> Any:
        return (
            {"formula": data} if isinstance(data, str | int | float) and not isinstance(data, bool) else data
        )


class SourceKeys(Keys):
    """Where public data of this layout come from."""

    title: Title
    url: Title
    licence: Title
    cite: Title
    tried: Title
    note: Text | None = None


class MapKeys(Keys):
    """A column map."""

    format: Annotated[str | None, choice(*FORMATS)] = None
    separator: Separator = None
    time_zone: Zone = None
    columns: dict[str, ColumnKeys] | None = None
    leave_out: list[Text] | None = None
    source: SourceKeys | None = None


@dataclass(frozen=True)
class Entry:
    """What one column of ours is made of.

    Attributes
    ----------
    formula : over their columns, None for a constant
    constant : the value of every row, None with a formula
    scale : how many of our units its unit is
    zone, time_format : of moments in it; without a zone it is that of the map
    values : ours by words of theirs in small letters, None if they are not translated
    of_list : what is taken of the numbers in a list, one of OF_LISTS; None: columns hold no lists
    """

    formula: Formula | None
    constant: str | int | float | None = None
    scale: float = 1.0
    zone: ZoneInfo | None = None
    time_format: str | None = None
    values: Mapping[str, str | int | float] | None = None
    of_list: str | None = None

    @property
    def names(self) -> list[str]:
        """The columns of theirs that it needs, each once."""
        return list(self.formula.names) if self.formula else []

    def __str__(self) -> str:
        """Say it as a person would write it."""
        said = str(self.constant if self.formula is None else self.formula.text)
        return f"{said} by its words" if self.values is not None else said


@dataclass(frozen=True)
class ColumnMap:
    """A column map that was checked.

    Attributes
    ----------
    columns : entries by names of ours (those of the workload, ``start_time`` and ``end_time``)
    format, separator : of the file, None = as its name and header tell
    zone : of moments without one of their own; None is UTC
    leave_out : columns of theirs that are not carried on to the results
    file, lines : where it was read from, and in which line each column of ours stands; None and nothing if it
        was guessed or made in Python
    about : what a named source says of itself
    may_lack : columns of ours that can be done without, where the data have not what they are made of
    """

    columns: Mapping[str, Entry]
    format: str | None = None
    separator: str | None = None
    zone: ZoneInfo | None = None
    leave_out: tuple[str, ...] = ()
    file: Path | None = None
    lines: Mapping[str, int] = field(default_factory=dict)
    about: SourceKeys | None = None
    may_lack: frozenset[str] = frozenset()

    @classmethod
    def from_yaml(cls, path: str | Path, base: ColumnMap | None = None) -> ColumnMap:
        """Read a map, laid over another if there is one.

        Raises ConfigError with every problem, each with its line.
        """
        file = read_yaml(path)
        keys, problems = check_keys(MapKeys, file.data)
        problems += list(_problems(file))
        if keys is None:
            told = file.data.get("columns")
            names = {*(told if isinstance(told, dict) else ()), *(base.columns if base else ())}
            raise file.error([*problems, *_lacking(names)])
        columns = {name: _entry(one) for name, one in (keys.columns or {}).items()}
        found = cls(
            columns,
            keys.format,
            keys.separator,
            keys.time_zone,
            tuple(keys.leave_out or ()),
            file.path,
            {name: file.lines["columns", name] for name in columns},
            keys.source,
            frozenset(columns) - frozenset(NEEDED) if keys.source else frozenset(),
        )
        found = found if base is None else found.over(base)
        problems += list(_lacking(found.columns))
        if problems:
            raise file.error(problems)
        return found

    def over(self, base: ColumnMap) -> ColumnMap:
        """Return another map with the columns of this one in the place of its own, and beside them.

        Who says when jobs ended, and not how long they ran, means that they ran until then; where it is said
        how long, starts and ends can be done without.
        """
        columns = {**base.columns, **self.columns}
        if "end_time" in self.columns and "run_time" not in self.columns:
            columns.pop("run_time", None)
        return replace(
            base,
            columns=columns,
            format=self.format or base.format,
            separator=self.separator or base.separator,
            zone=self.zone or base.zone,
            leave_out=(*base.leave_out, *self.leave_out),
            file=self.file,
            lines=self.lines,
            may_lack=(base.may_lack | (_RUN if "run_time" in columns else frozenset()))
            - frozenset(self.columns),
        )

    @property
    def names(self) -> dict[str, None]:
        """The columns of theirs that it needs, each once."""
        return dict.fromkeys(name for one in self.columns.values() for name in one.names)

    def zone_of(self, entry: Entry) -> ZoneInfo:
        """Return on the clock of which zone its moments are."""
        return entry.zone or self.zone or _UTC

    def said(self) -> Iterator[str]:
        """Yield what each column of ours is made of, as a person would write it in a map."""
        for name, entry in self.columns.items():
            yield f"{name} = {entry}"


def _entry(keys: ColumnKeys) -> Entry:
    scale = 1.0 if keys.unit is None else UNITS[keys.unit]
    values = None
    if keys.values is not None:
        values = {word.lower(): ours for word, ours in keys.values.items()}
    return Entry(keys.formula, keys.value, scale, keys.time_zone, keys.time_format, values, keys.of_list)


def _problems(file: YamlFile) -> Iterator[Problem]:
    """What does not go together, of unchecked data."""
    columns = file.data.get("columns")
    if not isinstance(columns, dict):
        return
    known = [*(name for name in FIELDS if name not in _READ_OFF), "start_time", "end_time"]
    for name, one in columns.items():
        if name not in known:
            yield Problem(("columns", name), f"unknown column of ours; {one_of(known, name)}")
        if isinstance(one, dict) and (one.get("formula") is None) == (one.get("value") is None):
            yield Problem(("columns", name), "found neither or both; allowed: one of formula and value")
        formula = one.get("formula") if isinstance(one, dict) else one
        if name in FIELDS and FIELDS[name].is_text and isinstance(formula, str):
            try:
                is_name = read_formula(formula).column is not None
            except InputError:
                continue  # which was said already
            if not is_name:
                yield Problem(("columns", name), f"found {formula!r:.60}; allowed: one column, as it is text")


def _lacking(columns: Collection[str]) -> Iterator[Problem]:
    """What a map has to have, and has not."""
    for name in ("submit_time", "nodes"):
        if name not in columns:
            yield Problem(("columns", name), "missing; allowed: a column, or a formula")
    if "run_time" not in columns and not {"start_time", "end_time"} <= set(columns):
        yield Problem(
            ("columns", "run_time"), "missing; allowed: a column, a formula, or start_time and end_time"
        )
