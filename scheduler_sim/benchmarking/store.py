"""The store: results of benchmarks of months and years in one SQLite file, that every addition leaves whole.

Two tables: ``runs`` (benchmark, time, environment, source) and ``results`` (a row a value). SQLite comes with
Python, adds without writing the file anew, and takes one writer at a time.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from scheduler_sim.benchmarking.result_table import ResultTable
from scheduler_sim.errors import InputError, SchedulerSimError

APPLICATION_ID = 0x53534252
"""What SQLite's header says of whose file it is."""

VERSION = 1

_TABLES = """
CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    benchmark TEXT NOT NULL,
    time INTEGER NOT NULL,
    environment TEXT NOT NULL,
    source TEXT NOT NULL,
    UNIQUE (benchmark, time)
);
CREATE TABLE results (
    run INTEGER NOT NULL REFERENCES runs,
    parameters TEXT NOT NULL,
    metric TEXT NOT NULL,
    unit TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (run, parameters, metric, repetition)
) WITHOUT ROWID;
"""

_KEY = ["parameters", "metric", "repetition"]
_PATIENCE_S = 30.0


@dataclass(frozen=True)
class Added:
    """What became of runs: how many brought something new, were there already, or were replaced."""

    new: int = 0
    known: int = 0
    replaced: int = 0


class Store:
    """A file of results.

    Parameters
    ----------
    path : of the file; a new one is made when something is added

    Raises
    ------
    InputError : there is none (to read), or something else stands there.
    SchedulerSimError : the disk is full or fails, or another process keeps it locked.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def add(self, tables: Sequence[ResultTable], *, replace: bool = False) -> Added:
        """Add the runs of tables, all or none of them.

        A run is a benchmark at a time. One that is there already with the same values is left as it is;
        points that it does not have yet are added to it.

        Raises InputError for one that is there with other values, unless they are to be replaced.
        """
        became = [0, 0, 0]
        with self._open(new=True) as connection:
            for table in tables:
                for time, rows in _runs(table):
                    became[self._add_run(connection, table, time, rows, replace)] += 1
        return Added(*became)

    def _add_run(
        self, connection: sqlite3.Connection, table: ResultTable, time: int, rows: pd.DataFrame, replace: bool
    ) -> int:
        """Add what a run has that is not there yet; return what became of it: its place in Added."""
        environment = json.dumps(_common(table.environment, rows["row"]), sort_keys=True)
        run = _run_of(connection, table.benchmark, time, environment, table.file.name)
        values = rows[[*_KEY, "unit", "value"]].set_index(_KEY)
        there = _values_of(connection, run).set_index(_KEY)
        both = there.index.intersection(values.index)
        differ = bool((there.loc[both, "value"] != values.loc[both, "value"]).any())
        if differ and not replace:
            raise InputError(_contradiction(table, time, there, values, self.path))
        if not differ:
            values = values.drop(index=both)
        connection.executemany(
            "INSERT OR REPLACE INTO results (run, parameters, metric, repetition, unit, value)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [
                (run, *key, row.unit, row.value)
                for key, row in zip(values.index, values.itertuples(), strict=True)
            ],
        )
        if differ:
            return 2
        return 0 if len(values) else 1

    def results(self) -> pd.DataFrame:
        """Return all results, by benchmark, metric, parameters and time.

        Columns are ``benchmark``, ``time`` (s since 1970), ``parameters`` and ``environment`` (JSON),
        ``metric``, ``unit``, ``repetition`` and ``value``.
        """
        with self._open(new=False) as connection:
            return pd.read_sql_query(
                "SELECT benchmark, time, parameters, environment, metric, unit, repetition, value"
                " FROM results JOIN runs USING (run)"
                " ORDER BY benchmark, metric, parameters, time, repetition",
                connection,
            )

    @contextmanager
    def _open(self, *, new: bool) -> Iterator[sqlite3.Connection]:
        if not new and not os.path.isfile(self.path):
            raise InputError(f"{self.path}: no such store; allowed: a file that 'benchmarks add' wrote")
        fresh = not os.path.exists(self.path) or self.path.stat().st_size == 0
        if not fresh and not _is_sqlite(self.path):
            raise InputError(f"{self.path} is not a store of results and is left alone")
        try:
            connection = sqlite3.connect(self.path, timeout=_PATIENCE_S, isolation_level=None)
        except sqlite3.Error as error:
            raise InputError(f"{self.path}: cannot be opened: {error}") from None
        try:
            connection.execute("BEGIN IMMEDIATE" if new else "BEGIN")
            if fresh:
                self._begin(connection)
            self._check(connection)
            yield connection
            connection.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise SchedulerSimError(f"{self.path}: {error}; nothing was changed") from None
        finally:
            connection.close()  # what was not committed is undone
            if fresh and os.path.exists(self.path) and self.path.stat().st_size == 0:
                self.path.unlink()

    def _begin(self, connection: sqlite3.Connection) -> None:
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")

    def _check(self, connection: sqlite3.Connection) -> None:
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if owner != APPLICATION_ID:
            raise InputError(f"{self.path} is a database of another program and is left alone")
        if version != VERSION:
            raise InputError(f"{self.path}: found a store of version {version}; allowed: {VERSION}")


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def _runs(table: ResultTable) -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield each run's time and its values, with parameters as JSON and repetitions counted."""
    parameters = table.parameters.apply(lambda row: json.dumps(dict(row), sort_keys=True), axis=1)
    values = table.values.assign(parameters=parameters.loc[table.values["row"]].to_numpy())
    values["repetition"] = values.groupby(["time", "parameters", "metric"]).cumcount()
    for time, rows in values.groupby("time"):
        yield int(str(time)), rows


def _common(environment: pd.DataFrame, rows: pd.Series) -> dict[str, str]:
    """Return what the environment of a run was; where its rows differ, each value, with commas."""
    there = environment.loc[rows.unique()]
    return {str(name): ", ".join(dict.fromkeys(there[name])) for name in there}


def _run_of(connection: sqlite3.Connection, benchmark: str, time: int, environment: str, source: str) -> int:
    connection.execute(
        "INSERT INTO runs (benchmark, time, environment, source) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (benchmark, time, environment, source),
    )
    (run,) = connection.execute(
        "SELECT run FROM runs WHERE benchmark = ? AND time = ?", (benchmark, time)
    ).fetchone()
    return int(run)


def _values_of(connection: sqlite3.Connection, run: int) -> pd.DataFrame:
    return pd.read_sql_query(
        "SELECT parameters, metric, repetition, value FROM results WHERE run = ?", connection, params=(run,)
    )


def _contradiction(
    table: ResultTable, time: int, there: pd.DataFrame, values: pd.DataFrame, path: Path
) -> str:
    both = there.index.intersection(values.index)
    at = both[(there.loc[both, "value"] != values.loc[both, "value"]).to_numpy()][0]
    where = ", ".join(f"{name}={value}" for name, value in json.loads(at[0]).items())
    return (
        f"{table.file}: {table.benchmark} at {pd.Timestamp(time, unit='s')}: found {at[1]}"
        f" {values.loc[at, 'value']:g} where {path} has {there.loc[at, 'value']:g} ({where});"
        " nothing was added; allowed: the same values, or --force to replace them"
    )
