"""The Workload: a validated table of components, one row each, in the order of the trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.errors import TraceError
from scheduler_sim.texts import TextColumn, data_frame, is_text_column
from scheduler_sim.workload.columns import as_column, once
from scheduler_sim.workload.dependencies import Dependencies, Edges, Pairs, parse_dependencies
from scheduler_sim.workload.fields import FIELDS, SKIP_REASONS
from scheduler_sim.workload.mwf_text import parse_api_calls
from scheduler_sim.workload.parts import below_the_fullest
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.validation import check_columns

_ASKING = (
    "components_total",
    "submit_time",
    "begin_time",
    "hold",
    "nice",
    "oversubscribe",
    "switches",
    "array_limit",
    "delay",
    "preceding_job",
    "gpus",
)

HONOURED_BY_ALL = (
    *("heterogeneous", "delay", "api_call", "dynamic"),
    *("begin_time", "hold", "array_limit", "singleton"),
)
"""What traces ask for that has a meaning under every policy: keys of ``not_honoured``."""

HONOURED_BY_SLURM = (*HONOURED_BY_ALL, "nice", "oversubscribe", "switches")
"""... and under policy slurm."""

HONOURED_WHERE_SHARED = ("cores", "gpus", "gres")
"""... and on modules whose nodes jobs share."""

REPAIRS = ("component_id", "line", "kind", "field", "found", "made")
"""Columns of ``repairs``: int64, but for the texts ``kind`` and ``field``; ``line`` may be -1: not known."""

__all__ = [
    "HONOURED_BY_ALL",
    "HONOURED_BY_SLURM",
    "HONOURED_WHERE_SHARED",
    "REPAIRS",
    "SKIP_REASONS",
    "TraceSource",
    "Workload",
]


class Workload:
    """A job trace as a table: one row per component, in file order, validated once.

    ``columns`` has every column of the field table (see the reference page on workload
    fields): int64 seconds and nodes, text as :class:`TextColumn`, missing text empty. Columns the
    trace says nothing about hold one shared value and cost no memory. ``table`` is the same as a
    DataFrame, made when it is first asked for, text as categoricals. Treat both as read-only:
    build a changed workload with :meth:`replace` or :meth:`select`, which validate again.

    ``source`` describes where the table came from (:class:`TraceSource`). ``carried_columns``, as a DataFrame
    ``carried``, has the other columns of its file, row by row, under names that begin with ``trace_``;
    ``repairs`` has the changes of a loader, one row per change (see ``REPAIRS``).
    """

    def __init__(
        self,
        columns: Mapping[str, Any],
        source: TraceSource | None = None,
        *,
        carried: Mapping[str, Any] | None = None,
        repairs: pd.DataFrame | None = None,
    ) -> None:
        self.source = source or TraceSource()
        self.columns = _complete(columns)
        other = {} if carried is None else carried
        self.carried_columns = {str(name): _as_carried(values) for name, values in other.items()}
        self._repairs = repairs
        counts = self.source.field_count
        for rows, what in (
            *((len(values), "rows carried") for values in self.carried_columns.values()),
            *(() if isinstance(counts, int) else ((len(counts), "field counts"),)),
        ):
            if rows != len(self):
                raise TraceError(f"{rows} {what} for {len(self)} records", file=self.source.name)
        check_columns(self.columns, self.source)

    @classmethod
    def from_columns(cls, **columns: Any) -> Workload:
        """Build a workload in Python from sequences of equal length, or single values.

        ``nodes``, ``submit_time`` and ``run_time`` are required; components are numbered from 1 and are
        separate jobs unless ids are given (components with the same modular_job_id are a heterogeneous job);
        every other column has its default.

        Examples
        --------
        >>> jobs = Workload.from_columns(nodes=[4, 2], submit_time=[0, 10], run_time=[60, 30])
        >>> jobs["time_limit"].tolist()
        [-1, -1]
        """
        missing = [name for name in ("nodes", "submit_time", "run_time") if name not in columns]
        if missing:
            raise TraceError(f"a workload needs the column{'s' * (len(missing) > 1)} {', '.join(missing)}")
        if "components_total" not in columns and np.ndim(columns.get("modular_job_id", 0)) > 0:
            _, job, count = np.unique(columns["modular_job_id"], return_inverse=True, return_counts=True)
            columns["components_total"] = count[job]
        return cls(columns)

    def repeated(self, rows: int, columns: Mapping[str, Any]) -> Workload:
        """Return the first row so many times, with other columns, which the caller has checked."""
        made = object.__new__(type(self))
        made.source, made._repairs = self.source, self._repairs
        first = np.zeros(rows, dtype=np.int64)
        made.columns = {name: values[first] for name, values in self.columns.items()}
        made.columns |= {name: as_column(FIELDS[name], values, rows) for name, values in columns.items()}
        made.carried_columns = {name: values[first] for name, values in self.carried_columns.items()}
        return made

    @cached_property
    def table(self) -> pd.DataFrame:
        """The columns as a DataFrame, text as categoricals."""
        return data_frame(self.columns)

    @cached_property
    def carried(self) -> pd.DataFrame:
        """The other columns of the file as a DataFrame."""
        return data_frame(self.carried_columns).reindex(pd.RangeIndex(len(self)))

    @property
    def is_repaired(self) -> bool:
        """Whether a loader changed anything."""
        return self._repairs is not None and len(self._repairs) > 0

    @cached_property
    def repairs(self) -> pd.DataFrame:
        """What a loader changed, one row per change."""
        return pd.DataFrame(columns=list(REPAIRS)) if self._repairs is None else self._repairs

    def __len__(self) -> int:
        return len(self.columns["nodes"])

    def __getitem__(self, column: str) -> np.ndarray:
        """Return a column as an array of its own (text as an array of str)."""
        return np.array(self.columns[column])

    def __repr__(self) -> str:
        origin = self.source.name or self.source.format
        return f"<Workload of {len(self)} components from {origin}>"

    def select(self, rows: Any) -> Workload:
        """Return the workload of some rows (boolean mask or row numbers), in that order.

        Header lines stay; comments between records are dropped.
        """
        counts = self.source.field_count
        counts = counts if isinstance(counts, int) else counts[rows]
        source = replace(self.source, comments=(), field_count=counts, partial=True)
        of = np.flatnonzero(rows) if np.asarray(rows).dtype == bool else rows
        made, carried = (
            {name: values[of] for name, values in some.items()}
            for some in (self.columns, self.carried_columns)
        )
        return Workload(made, source, carried=carried, repairs=self._repairs)

    def replace(self, **columns: Any) -> Workload:
        """Return a workload with some columns replaced, everything else unchanged."""
        made = {**self.columns, **columns}
        return Workload(made, self.source, carried=self.carried_columns, repairs=self._repairs)

    def honouring_status(self) -> Workload:
        """Return the workload with exit code 1 where the trace's status is known and not success."""
        status, exit_code = self["status"], self["exit_code"]
        failed = (status != 0) & (status != -1) & (exit_code == 0)
        return self.replace(exit_code=np.where(failed, 1, exit_code))

    @cached_property
    def _dependencies(self) -> Dependencies:
        return parse_dependencies(self.columns, self.source)

    def check_dependencies(self) -> None:
        """Raise TraceError as :meth:`dependencies`, which is slower."""
        _ = self._dependencies

    @property
    def edges(self) -> Edges:
        """What :meth:`dependencies` returns, column by column."""
        return self._dependencies.edges

    @property
    def tied(self) -> Pairs:
        """What :meth:`ties` returns, column by column."""
        return self._dependencies.ties

    def dependencies(self) -> pd.DataFrame:
        """Return the dependencies between rows that are simulated.

        All of a row are needed, or any one where its ``dependency_any`` is 1.

        Returns
        -------
        DataFrame with ``row`` and ``after_row`` (int64, row numbers of ``table``: *row* waits
        for *after_row*), ``kind`` (AFTER, AFTERANY, AFTEROK or AFTERNOTOK; AFTERCORR has become
        AFTEROK between corresponding tasks) and ``minutes`` (int64, after the start; 0 but for AFTER).

        Raises
        ------
        TraceError
            for an unknown id or kind, lists that do not pair up, and cycles.
        """
        return pd.DataFrame(self.edges._asdict())

    def ties(self) -> pd.DataFrame:
        """Return DYNAMIC dependencies: ``row`` starts its delay after the start of ``after_row`` (int64)."""
        return pd.DataFrame(self.tied._asdict())

    def singletons(self) -> np.ndarray:
        """Return the rows (int64, ascending) that wait for all others of the same user and name."""
        return self._dependencies.singletons

    def not_honoured(self) -> dict[str, int]:
        """Return how many simulated rows ask for something that not every policy honours.

        Keys, present where the count is above 0: ``heterogeneous``, ``delay``, ``api_call``, ``dynamic``,
        ``begin_time``, ``hold``, ``array_limit`` and ``singleton`` (honoured by all), ``nice``,
        ``oversubscribe`` and, with a topology, ``switches`` (by slurm); by none, as nodes are not shared,
        ``cores`` (fewer on a node than the fullest of the partition), ``gpus`` and ``gres``; nor
        ``preceding_job`` and ``skipped_predecessor`` (a dependency on a record that is not simulated);
        ``reservation`` where the system has none.
        """
        return dict(self._not_honoured)

    @cached_property
    def _not_honoured(self) -> dict[str, int]:
        column = {name: once(self.columns[name]) for name in _ASKING}
        live = self.columns["skipped"] == 0
        asking = {
            "cores": below_the_fullest(self.columns, live),
            "gpus": column["gpus"] > 0,
            "gres": _rows_where(bool, self.columns["gres"]),
            "reservation": _rows_where(bool, self.columns["reservation"]),
            "heterogeneous": column["components_total"] > 1,
            "begin_time": column["begin_time"] > column["submit_time"],
            "hold": column["hold"] != 0,
            "nice": column["nice"] != 0,
            "switches": column["switches"] > 0,
            "oversubscribe": column["oversubscribe"] != 0,
            "array_limit": column["array_limit"] > 0,
            "delay": column["delay"] > 0,
            "api_call": _rows_where(_calls_api, self.columns["api_calls"]),
            "preceding_job": column["preceding_job"] > 0,
        }
        counts: dict[str, Any] = {
            name: np.count_nonzero(live & rows) for name, rows in asking.items() if rows.any()
        }
        counts |= self._dependencies.counts
        return {name: int(count) for name, count in counts.items() if count > 0}


def _complete(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Every column of the field table, of its type; what is not given has its default."""
    unknown = [name for name in columns if name not in FIELDS]
    if unknown:
        raise TraceError(f"no such column in a workload: {', '.join(unknown)}", allowed=", ".join(FIELDS))
    lengths = {np.size(values) for values in columns.values() if np.ndim(values) > 0}
    if len(lengths) > 1:
        raise TraceError(f"the columns of a workload differ in length: {sorted(lengths)}")
    rows = lengths.pop() if lengths else 1
    given = dict(columns)
    given.setdefault("component_id", np.arange(1, rows + 1))
    given.setdefault("modular_job_id", given["component_id"])
    complete = {
        name: as_column(field, given.get(name, field.default), rows) for name, field in FIELDS.items()
    }
    jobs = complete["modular_job_id"]
    for name in ("component_id", "listed_component_id"):  # the same in most traces, and held once then
        if np.array_equal(complete[name], jobs):
            complete[name] = jobs
    return complete


def _as_carried(values: Any) -> Any:
    """A column of others: an array of numbers, or text with the words that rows have."""
    column = getattr(values, "array", values)  # of a series
    return TextColumn.of(column).in_order() if is_text_column(column) else np.asarray(column)


def _calls_api(text: str) -> bool:
    return bool(parse_api_calls(text))


def _rows_where(holds: Callable[[str], bool], texts: Any) -> np.ndarray:
    held = np.array([holds(text) for text in texts.categories], dtype=bool)
    rows: np.ndarray = held[once(texts.codes)]
    return rows
