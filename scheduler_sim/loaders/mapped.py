"""A table of others as a workload, by a column map.

Moments are rounded down to whole seconds, all other whole numbers up; what lies within a thousandth of one is
that one. Second 0 is the midnight (UTC) before the first submission where times are dates or seconds since
1970, as in dumps of sacct; else times stand as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from scheduler_sim.errors import TraceError, did_you_mean
from scheduler_sim.loaders.column_map import MOMENTS, OTHERWISE, ColumnMap, Entry
from scheduler_sim.loaders.dirt import Dirt, refuse_without_rows
from scheduler_sim.loaders.foreign_table import ForeignTable
from scheduler_sim.loaders.repairs import END_BEFORE_START, NEGATIVE_RUN_TIME, Repairs, repaired
from scheduler_sim.loaders.values import Numbers, numbers_of, numbers_of_lists
from scheduler_sim.texts import TextColumn, is_text_column
from scheduler_sim.units import DAY
from scheduler_sim.workload.carried import CARRIED, carried_values, texts_of
from scheduler_sim.workload.fields import FIELDS
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.table import Workload
from scheduler_sim.workload.validation import rule_of

EPOCH = 10**8
"""Times from here on are taken as seconds since 1970: they are after March 1973."""

LATEST = 10**11
"""Times from here on are no seconds: they would be after the year 5000."""

_NEAR = 1e-3
_TIMES = {"start_time", "end_time"}
_BEYOND = 2.0**62


def mapped(table: ForeignTable, how: ColumnMap, kind: str, on_error: str = "stop") -> Workload:
    """Return the workload that a table holds.

    Parameters
    ----------
    kind : of the source, for messages and notes
    on_error : ``stop`` at the first row that cannot be read, or ``skip`` such rows and count them

    Raises
    ------
    TraceError
        for a column that is not there, a row that cannot be read, and values that no workload may have.
    """
    refuse_without_rows(table, on_error)
    return _Reading(table, how, kind).workload(on_error)


class _Reading:
    """The columns of ours as they are made, and all that is found on the way."""

    def __init__(self, table: ForeignTable, how: ColumnMap, kind: str) -> None:
        self.table, self.kind = table, kind
        self.dirt, self.notes = Dirt(table), list[str]()
        self._numbers: dict[tuple[str, Any, Any, Any], Numbers] = {}
        self.since_1970, self.renumbered = False, set[str]()
        self.how = self._with_what_is_there(how)

    def _with_what_is_there(self, how: ColumnMap) -> ColumnMap:
        """Without columns of ours that can be done without, where the data have not what they are made of."""
        kept = dict(how.columns)
        for ours, entry in how.columns.items():
            missing = [name for name in entry.names if name not in self.table.columns]
            if missing and ours in how.may_lack:
                self.notes.append(f"no column for {ours} = {entry}: it is not known")
                del kept[ours]
            elif missing:
                raise self._no_such_column(how, f"columns.{ours}", missing[0])
        for name in how.leave_out:
            if name not in self.table.columns:
                raise self._no_such_column(how, "leave_out", name)
        return replace(how, columns=kept)

    def _no_such_column(self, how: ColumnMap, key: str, name: str) -> TraceError:
        """Return the error for a name that a map has, and the data have not."""
        known, ours = list(self.table.columns), key.removeprefix("columns.")
        line, allowed = how.lines.get(ours), f"the columns of {self.table.name}: {', '.join(known)[:400]}"
        said = how.file if line or key == "leave_out" else None
        if said is None and how.about is not None:
            key, allowed = (
                f"{key} of {self.kind}",
                f"{allowed}; or --columns MAP.yaml that says what {ours} is",
            )
        what = f"{key}: no such column{did_you_mean(name, known)}"
        return TraceError(what, file=said or self.table.name, line=line, found=name, allowed=allowed)

    def workload(self, on_error: str) -> Workload:
        columns = self._columns()
        kept = ~self.dirt.faulty & ~self._of_faulty_jobs(columns)
        self.notes += self.dirt.notes(on_error, int((~kept & ~self.dirt.faulty).sum()))
        if not kept.any():
            raise TraceError("no row can be read", file=self.table.name, allowed="at least one job")
        columns = {name: values[kept] for name, values in columns.items()}
        repairs = Repairs()
        below_0 = NEGATIVE_RUN_TIME if "run_time" in self.how.columns else END_BEFORE_START
        columns = repaired(repairs, columns, below_0)
        self.notes += repairs.notes()
        header = self._with_origin(columns)
        carried = self._carried()
        lines = None if self.table.lines is None else self.table.lines[kept]
        source = TraceSource(
            format=self.kind,
            name=self.table.name,
            header=header,
            notes=tuple(self.notes),
            line_numbers=lines,
            partial=lines is None and not kept.all(),
        )
        return Workload(
            columns,
            source,
            carried={name: values[kept] for name, values in carried.items()},
            repairs=repairs.table(columns.get("component_id"), lines),
        )

    def _of_faulty_jobs(self, columns: dict[str, Any]) -> np.ndarray:
        """Tell of each row whether it is of a job of several components of which another row is faulty."""
        jobs = columns.get("modular_job_id")
        if jobs is None:
            return np.zeros(self.table.rows, dtype=bool)
        of: np.ndarray = np.isin(jobs, jobs[self.dirt.faulty & (jobs >= 0)])
        return of

    # -- columns of ours

    def _columns(self) -> dict[str, Any]:
        """All that the map says, one column after the other; faults are noted."""
        found: dict[str, Any] = {}
        for name, entry in self.how.columns.items():
            if name in FIELDS and FIELDS[name].is_text:
                found[name] = self._text(entry)
            elif name in ("component_id", "modular_job_id"):
                found[name] = self._ids(name, entry)
            else:
                found[name] = self._rounded(name, self._values(name, entry), entry)
        self._refuse_without(found["submit_time"] < 0, "submit_time", "no submission", "a time")
        if "run_time" not in found:
            found["run_time"] = self._run_time()
        for name in found:
            if name not in _TIMES:
                self._refuse_out_of_range(name, found[name])
        return found

    def _values(self, name: str, entry: Entry) -> np.ndarray:
        """float64[rows] in our unit, NaN where nothing is said."""
        if entry.values is not None:
            return self._translated(name, entry)
        if entry.formula is None:
            return np.full(self.table.rows, self._constant(name, entry))
        theirs = entry.names
        for one in theirs:
            numbers = self._number(one, entry)
            self.since_1970 |= numbers.moments and name in MOMENTS
            kind, allowed = (
                ("not a time", _times(entry)) if name in MOMENTS else ("not a number", "a number, or nothing")
            )
            self.dirt.add(numbers.wrong, name, kind, allowed, [one])
        found = entry.formula(lambda one: self._number(one, entry).values)
        values: np.ndarray = np.broadcast_to(found, (self.table.rows,)) * entry.scale
        if name in MOMENTS:
            allowed = "s since 1970; of ms or us, a column map with unit: ms"
            self.dirt.add(values > LATEST, name, "a time after the year 5000", allowed, theirs)
        elif entry.formula.column is None:
            self._note_divisions(name, entry, values)
        return values

    def _note_divisions(self, name: str, entry: Entry, values: np.ndarray) -> None:
        """Count rows whose formula divides by 0: it says nothing there."""
        assert entry.formula is not None
        known = np.ones(self.table.rows, dtype=bool)
        for one in entry.names:
            known &= np.isfinite(self._number(one, entry).values)
        if count := int((known & ~np.isfinite(values)).sum()):
            rows = f"{count:,} row{'s' * (count > 1)}"
            self.notes.append(
                f"{name}: {entry.formula.text} divides by 0 in {rows}, where the value is unknown"
            )

    def _number(self, name: str, entry: Entry) -> Numbers:
        zone = self.how.zone_of(entry)
        key = (name, zone, entry.time_format, entry.of_list)
        if key not in self._numbers:
            column = self.table.columns[name]
            if entry.of_list is not None:
                numbers = numbers_of_lists(column, entry.of_list)
            else:
                numbers = numbers_of(column, zone, entry.time_format)
            if numbers is None:
                allowed = "lists of numbers" if entry.of_list else "numbers, times or text"
                raise self._of_lists(name, allowed)
            self._numbers[key] = numbers
        return self._numbers[key]

    def _texts(self, name: str) -> TextColumn:
        kind = self.table.columns[name].type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            raise self._of_lists(name, "numbers, times or text")
        return texts_of(self.table.columns[name])

    def _of_lists(self, name: str, allowed: str) -> TraceError:
        return TraceError(
            "a column of lists or mappings",
            file=self.table.name,
            field=name,
            found=str(self.table.columns[name].type)[:200],
            allowed=allowed,
        )

    def _constant(self, name: str, entry: Entry) -> float:
        if isinstance(entry.constant, str):
            raise TraceError(
                f"columns.{name}.value is no number",
                file=self.how.file,
                found=entry.constant,
                allowed="a number",
            )
        return float(entry.constant or 0) * entry.scale

    def _translated(self, name: str, entry: Entry) -> np.ndarray:
        """Words of theirs as numbers of ours; a word that is not listed is a fault, or what ``*`` says."""
        texts, words = self._words(name, entry)
        numbers = np.array(
            [np.nan if value is None else _number_or_nan(value) for value in words], dtype=float
        )
        unknown = np.array(
            [value is None and bool(text) for value, text in zip(words, texts.categories, strict=True)],
            dtype=bool,
        )
        known = [word for word in entry.values or {} if word != OTHERWISE]
        allowed = f"{', '.join(known)[:300]}, or {OTHERWISE} in the map for all others"
        self.dirt.add(unknown[texts.codes], name, "an unknown word", allowed, entry.names)
        translated: np.ndarray = numbers[texts.codes]
        return translated

    def _words(self, name: str, entry: Entry) -> tuple[TextColumn, list[Any]]:
        """A column as text, and for each of its words ours, None for one that is not listed."""
        column = None if entry.formula is None else entry.formula.column
        if column is None or entry.values is None:
            raise TraceError(
                f"columns.{name}.values without one column", file=self.how.file, allowed="formula: its name"
            )
        texts = self._texts(column)
        others = entry.values.get(OTHERWISE)
        return texts, [
            entry.values.get(word.strip().lower(), others if word else None) for word in texts.categories
        ]

    def _text(self, entry: Entry) -> TextColumn:
        if entry.formula is None or entry.formula.column is None:
            word = "" if entry.constant is None else str(entry.constant)
            return TextColumn.constant(word, self.table.rows)
        texts = self._texts(entry.formula.column)
        words = [word.strip() for word in texts.categories]
        if entry.values is not None:
            others = entry.values.get(OTHERWISE)
            words = [
                str(entry.values.get(word.lower(), others if others is not None and word else word))
                for word in words
            ]
        return texts.mapped(dict(zip(texts.categories, words, strict=True)).__getitem__)

    def _ids(self, name: str, entry: Entry) -> np.ndarray:
        """Whole numbers as they are; any other ids are numbered from 1 in the order in which they appear."""
        column = None if entry.formula is None else entry.formula.column
        if column is not None:
            texts = self._texts(column)
            plain = [word.isascii() and word.isdigit() and len(word) < 16 for word in texts.categories]
            if all(plain[code] for code in np.unique(texts.codes).tolist()):
                ids = (
                    int(word) if is_id else -1 for word, is_id in zip(texts.categories, plain, strict=True)
                )
                numbers: np.ndarray = np.array(list(ids), dtype=np.int64)[texts.codes]
                return numbers
            self.renumbered.add(column)
            self.notes.append(f"{column}: no whole numbers; jobs are numbered in its order of appearance")
            return texts.in_order().codes.astype(np.int64) + 1
        return self._rounded(name, self._values(name, entry), entry)

    def _rounded(self, name: str, values: np.ndarray, entry: Entry) -> np.ndarray:
        """Whole numbers by the rule of the column, its default where nothing is said."""
        field = FIELDS.get(name)
        if field is not None and field.dtype == "float64":
            pieces = np.ceil(np.round(values * 1000, 3)) / 1000 if name in ("cores", "gpus") else values
            return np.where(np.isnan(values), float(field.default), pieces)
        missing = np.isnan(values)
        near = np.rint(values)
        toward = np.floor(values) if name in MOMENTS else np.ceil(values)
        is_whole = missing | (np.abs(values - near) < _NEAR)
        whole = np.where(is_whole, near, toward)
        if not is_whole.all():
            way = "down" if name in MOMENTS else "up"
            count = int((~is_whole).sum())
            self.notes.append(f"{name}: {count:,} value{'s' * (count > 1)} rounded {way} to whole numbers")
        beyond = ~missing & (np.abs(whole) > _BEYOND)
        self.dirt.add(beyond, name, "value out of range", "whole numbers within int64", entry.names)
        default = -1 if name in MOMENTS or field is None else int(field.default)
        return np.where(missing | beyond, default, whole).astype(np.int64)

    def _run_time(self) -> np.ndarray:
        """From start to end, then rounded; -1 where either is not known, less if the end is before."""
        start, end = (self._values(name, self.how.columns[name]) for name in ("start_time", "end_time"))
        ran = self._rounded("run_time", end - start, self.how.columns["end_time"])
        return np.where((end < start), np.minimum(ran, -2), ran)

    # -- what is wrong

    def _refuse_without(self, missing: np.ndarray, name: str, kind: str, allowed: str) -> None:
        self.dirt.add(missing, name, kind, allowed, self.how.columns[name].names)

    def _refuse_out_of_range(self, name: str, values: Any) -> None:
        """Values that no workload may have; without run time or size a job is there, but not simulated."""
        rule = rule_of(name)
        if rule is None or is_text_column(values):
            return
        holds, allowed = rule
        wrong = ~holds(values)
        if name == "nodes":
            wrong &= values > 0
        elif name == "run_time":
            wrong &= values >= 0
        elif name == "time_limit":
            wrong &= values != 0
        entry = self.how.columns.get(name)
        self.dirt.add(wrong, name, "value out of range", allowed, entry.names if entry else [])

    # -- what is none of ours

    def _carried(self) -> dict[str, Any]:
        """The columns of theirs that no column of ours is made of, by their names in results."""
        kept: dict[str, Any] = {}
        left: list[str] = []
        used = {*self.how.names, *self.how.leave_out} - self.renumbered
        for name, column in self.table.columns.items():
            if name in used:
                continue
            values = carried_values(column)
            if values is None:
                left.append(name)
            else:
                kept[CARRIED + name.removeprefix(CARRIED)] = values
        if left:
            self.notes.append(f"columns with lists or mappings left out: {', '.join(left)[:300]}")
        return kept

    # -- the clock

    def _with_origin(self, columns: dict[str, Any]) -> tuple[str, ...]:
        """Move moments to second 0 of the trace; return the header that says when that was."""
        submit = columns["submit_time"]
        if not self.since_1970 and submit.min() < EPOCH:
            return ()
        origin = int(submit.min()) // DAY * DAY
        for name in ("submit_time", "begin_time"):
            if name in columns:
                columns[name] = np.where(columns[name] >= 0, columns[name] - origin, -1)
        zone = self.how.zone_of(self.how.columns["submit_time"]).key
        return (f"; UnixStartTime: {origin}", *([f"; TimeZoneString: {zone}"] if zone != "UTC" else []))


def _times(entry: Entry) -> str:
    """Say how moments are written."""
    if entry.time_format is not None:
        return f"a time as {entry.time_format}, or nothing"
    return "s, a date as 2026-03-02 08:00:00, or nothing; dates in other forms by time_format in a column map"


def _number_or_nan(value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        return float("nan")
