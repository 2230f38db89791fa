"""A table of results: what was run with which parameters, when, and what came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from scheduler_sim.config.problem import listed
from scheduler_sim.errors import ConfigError, did_you_mean

START = "jube_benchmark_start"
"""Column in which JUBE says when a benchmark began."""

BOOKKEEPING = "jube_"
"""How the names of JUBE's own columns begin: numbers of runs and steps, folders, states."""

TIMES = "YYYY-MM-DDThh:mm:ss, or seconds since 1970"

MISSING = ("", "nan", "none", "null", "n/a")
"""What stands where a run gave no result."""


@dataclass(frozen=True)
class RawTable:
    """A table as its file has it.

    Attributes
    ----------
    benchmark : its name
    file : where it stands
    cells : text, a row a result; the index says on which line (or in which column, if transposed) it stands
    units : by column, empty where none is stated
    results : columns that JUBE's configuration knows to be results; None where there is no configuration
    start : when it was run, where the file or JUBE's time stamp says so, seconds since 1970
    place : what the index counts: line or column
    """

    benchmark: str
    file: Path
    cells: pd.DataFrame
    units: dict[str, str]
    results: frozenset[str] | None = None
    start: int | None = None
    place: str = "line"


@dataclass(frozen=True)
class ResultTable:
    """A table whose columns are told apart.

    Attributes
    ----------
    values : a row a result: ``row`` (of the file's rows), ``time`` (seconds since 1970, on the clock of the
        file), ``metric``, ``unit``, ``value`` (float64)
    parameters, environment : text, by ``row``
    notes : what was left out
    """

    benchmark: str
    file: Path
    values: pd.DataFrame
    parameters: pd.DataFrame
    environment: pd.DataFrame
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Roles:
    """What the user says of columns.

    Attributes
    ----------
    results : columns that were measured; none: as JUBE's configuration says, else those that have a unit
    environment : columns that say what the system was like, such as versions of modules: a change in one
        does not begin another series
    time : column that says when a row was run
    at : when all rows were run, seconds since 1970, where no column says so
    """

    results: Sequence[str] = ()
    environment: Sequence[str] = ()
    time: str = START
    at: int | None = None


def told_apart(raw: RawTable, roles: Roles) -> ResultTable:
    """Tell parameters, results and environment of a table apart.

    Raises ConfigError with every problem: file, line, column, what was found and what is allowed.
    """
    columns = list(raw.cells.columns)
    problems = [
        f"{raw.file}: found no column {name!r:.60}; {_allowed(raw, name)}"
        for name in (*roles.results, *roles.environment)
        if name not in columns
    ]
    results = _results(raw, roles, problems)
    if problems:
        raise ConfigError(listed(problems))
    own = [name for name in columns if name.startswith(BOOKKEEPING) and name not in (roles.time, *results)]
    others = [name for name in columns if name not in (*results, *own, roles.time)]
    parameters = [name for name in others if name not in roles.environment]
    times = _times(raw, roles, problems)
    values = pd.concat([_values(raw, name, times, problems) for name in results], ignore_index=True)
    if problems:
        raise ConfigError(listed(problems))
    notes = [f"left out, as JUBE's bookkeeping: {', '.join(own)}"] if own else []
    for name in results:
        if empty := int(
            (values["metric"] == name).sum() - values.loc[values["metric"] == name, "value"].count()
        ):
            notes.append(f"{empty} of {len(raw.cells)} rows have no {name}")
    values = values.dropna(subset="value").reset_index(drop=True)
    cells = raw.cells.reset_index(drop=True)
    return ResultTable(
        raw.benchmark, raw.file, values, cells[parameters], cells[list(roles.environment)], tuple(notes)
    )


def _allowed(raw: RawTable, name: str) -> str:
    columns = [str(column) for column in raw.cells.columns]
    return f"allowed: {', '.join(columns)[:300]}{did_you_mean(name, columns)}"


def _results(raw: RawTable, roles: Roles, problems: list[str]) -> list[str]:
    """Return the columns that were measured."""
    if roles.results:
        return list(roles.results)
    known = raw.results if raw.results is not None else {name for name, unit in raw.units.items() if unit}
    found = [
        name for name in raw.cells.columns if name in known and name not in (roles.time, *roles.environment)
    ]
    if not found:
        problems.append(
            f"{raw.file}: no column has a unit, so the results are not known; name them with --results;"
            f" columns: {', '.join(map(str, raw.cells.columns))[:300]}"
        )
    return found


def _times(raw: RawTable, roles: Roles, problems: list[str]) -> np.ndarray:
    """Return when each row was run, seconds since 1970."""
    if roles.time in raw.cells:
        texts = raw.cells[roles.time]
        found = [seconds_of(text) for text in texts]
        problems += [
            f"{raw.file}: {raw.place} {at}: {roles.time}: found {text!r:.40}; allowed: {TIMES}"
            for at, text, seconds in zip(raw.cells.index, texts, found, strict=True)
            if seconds is None
        ]
        return np.array([seconds or 0 for seconds in found], dtype=np.int64)
    if roles.time != START:
        problems.append(
            f"{raw.file}: found no column {roles.time!r:.60} of times; {_allowed(raw, roles.time)}"
        )
    at = roles.at if roles.at is not None else raw.start
    if at is None:
        problems.append(
            f"{raw.file}: does not say when it was run; allowed: a column {START} (or --time COLUMN), JUBE's"
            " time stamps beside it, or --at TIME"
        )
    return np.full(len(raw.cells), at or 0, dtype=np.int64)


def _values(raw: RawTable, name: str, times: np.ndarray, problems: list[str]) -> pd.DataFrame:
    texts = raw.cells[name]
    empty = texts.str.lower().isin(MISSING)
    numbers = pd.to_numeric(texts.where(~empty), errors="coerce").astype(np.float64)
    wrong = ~empty & ~np.isfinite(numbers)
    problems += [
        f"{raw.file}: {raw.place} {at}: {name}: found {text!r:.40}; allowed: a number, or nothing"
        for at, text in texts[wrong].items()
    ]
    return pd.DataFrame(
        {
            "row": np.arange(len(texts)),
            "time": times,
            "metric": name,
            "unit": raw.units.get(name, ""),
            "value": numbers.to_numpy(),
        }
    )


def seconds_of(text: str) -> int | None:
    """Read a time: an ISO date as it stands, or whole seconds since 1970; None for neither."""
    if text.isascii() and text.isdigit() and 9 <= len(text) <= 11:
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
