"""Column maps: which columns of a table of others are which of ours, in which unit, by which formula."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, model_validator

from scheduler_sim.config.keys import Keys, check_keys
from scheduler_sim.config.problem import Problem, one_of
from scheduler_sim.config.value import Check, Text, Title, choice
from scheduler_sim.config.yaml_file import YamlFile, read_yaml
from scheduler_sim.errors import InputError
from scheduler_sim.loaders.formats import TABLES
from scheduler_sim.loaders.formula import Formula, read_formula
from scheduler_sim.loaders.values import OF_LISTS, UNITS, zone_named
from scheduler_sim.workload.fields import FIELDS

MOMENTS = ("submit_time", "begin_time", "start_time", "end_time")
"""Columns of ours that are moments; the last two are read for run times and waits alone."""

OTHERWISE = "*"
"""Among ``values``: what any other word is."""

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


FormulaKey = Annotated[
    Formula | None, BeforeValidator(Check("names of columns, numbers, + - * / and parentheses", _formula))
]
Zone = Annotated[ZoneInfo | None, BeforeValidator(Check("a time zone such as Europe/Rome, or UTC", _zone))]
Unit = Annotated[str | None, choice(*UNITS)]
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

    format: Annotated[str | None, choice(*dict.fromkeys(TABLES.values()))] = None
    separator: Text | None = None
    time_zone: Zone = None
    columns: dict[str, ColumnKeys]
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
    zone, time_format : of moments in it
    values : ours by words of theirs in small letters, None if they are not translated
    of_list : what is taken of the numbers in a list, one of OF_LISTS; None: columns hold no lists
    """

    formula: Formula | None
    constant: str | int | float | None = None
    scale: float = 1.0
    zone: ZoneInfo = _UTC
    time_format: str | None = None
    values: Mapping[str, str | int | float] | None = None
    of_list: str | None = None


@dataclass(frozen=True)
class ColumnMap:
    """A column map that was checked.

    Attributes
    ----------
    columns : entries by names of ours (those of the workload, ``start_time`` and ``end_time``)
    format, separator : of the file, None = as its name and header tell
    leave_out : columns of theirs that are not carried on to the results
    file : where it was read from, None if it was guessed or made in Python
    about : what a named source says of itself
    """

    columns: Mapping[str, Entry]
    format: str | None = None
    separator: str | None = None
    leave_out: tuple[str, ...] = ()
    file: Path | None = None
    about: SourceKeys | None = None

    @classmethod
    def from_yaml(cls, path: str | Path) -> ColumnMap:
        """Read a map. Raises ConfigError with every problem, each with its line."""
        return cls.of(read_yaml(path))

    @classmethod
    def of(cls, file: YamlFile) -> ColumnMap:
        """Return the map that a file holds. Raises ConfigError with every problem, each with its line."""
        keys, problems = check_keys(MapKeys, file.data)
        problems += list(_problems(file.data))
        if keys is None or problems:
            raise file.error(problems)
        zone = keys.time_zone or _UTC
        columns = {name: _entry(one, zone) for name, one in keys.columns.items()}
        left = tuple(keys.leave_out or ())
        return cls(columns, keys.format, keys.separator, left, file.path, keys.source)

    @property
    def names(self) -> dict[str, None]:
        """The columns of theirs that it needs, each once."""
        return dict.fromkeys(
            name for one in self.columns.values() if one.formula for name in one.formula.names
        )


def _entry(keys: ColumnKeys, zone: ZoneInfo) -> Entry:
    scale = 1.0 if keys.unit is None else UNITS[keys.unit]
    values = None
    if keys.values is not None:
        values = {word.lower(): ours for word, ours in keys.values.items()}
    zone = keys.time_zone or zone
    return Entry(keys.formula, keys.value, scale, zone, keys.time_format, values, keys.of_list)


def _problems(data: Any) -> Iterator[Problem]:
    """What does not go together, of unchecked data."""
    columns = data.get("columns")
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
    for name in ("submit_time", "nodes"):
        if name not in columns:
            yield Problem(("columns", name), "missing; allowed: a column, or a formula")
    if "run_time" not in columns and not {"start_time", "end_time"} <= set(columns):
        yield Problem(
            ("columns", "run_time"), "missing; allowed: a column, a formula, or start_time and end_time"
        )
