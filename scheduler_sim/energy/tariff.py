"""Prices, carbon intensities and temperatures over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.energy.csv_texts import csv_texts
from scheduler_sim.errors import InputError, TraceError
from scheduler_sim.numerals import finite, integer

JOULES_PER_KWH = 3_600_000.0
MOST_SECONDS = 2**53


@dataclass(frozen=True, eq=False)
class Series:
    """A value that changes at given times and holds in between.

    Attributes
    ----------
    name : what messages call it.
    time : (n + 1,) int64, s of the trace's own clock: value i holds from time i to time i + 1.
    value : (n,), such as EUR/kWh, gCO2/kWh, or W.
    """

    name: str
    time: Ints
    value: Floats

    @classmethod
    def constant(cls, value: float, name: str = "constant") -> Series:
        """Return a series that never changes and never ends."""
        return cls(name, np.array([-(2**62), 2**62]), np.array([float(value)]))

    @classmethod
    def from_csv(cls, path: str | Path, column: str = "value", unix_start: int | None = None) -> Series:
        """Read ``time`` and a column of values from a CSV file.

        A time is in seconds of the trace's own clock, or a date such as 2024-03-31T14:00+02:00 (UTC where it
        names no zone), for which ``unix_start``, the trace's UnixStartTime, must be known. The last value
        holds as long as the one before it; a single one holds for ever, both ways.

        Raises TraceError with line and field for anything that is not that.
        """
        return cls.of(**rows_of_csv(path, column), path=path, column=column, unix_start=unix_start)

    @classmethod
    def of(
        cls,
        time: Sequence[Any],
        value: Sequence[Any],
        *,
        name: str = "series",
        path: str | Path | None = None,
        column: str = "value",
        unix_start: int | None = None,
    ) -> Series:
        """Return a series of times and values as a CSV file has them. Raises TraceError likewise."""
        where = path or name
        if not time or len(time) != len(value):
            found = f"{len(time)} times and {len(value)} values"
            raise TraceError("not a series", file=where, found=found, allowed="a value for each time")
        moments = [_moment(str(text), where, i + 2, unix_start) for i, text in enumerate(time)]
        values = [_value(str(text), where, i + 2, column) for i, text in enumerate(value)]
        return cls(str(where), _edges(np.array(moments, np.int64), where), np.array(values))

    def integral(self, start: Ints | int, end: Ints | int) -> Floats:
        """Return ∫ value dt from ``start`` to ``end`` (s), for each pair; value · s.

        Raises InputError where the series begins later or ends earlier.
        """
        start, end = np.asarray(start, np.int64), np.asarray(end, np.int64)
        self.covers(int(start.min(initial=self.time[-1])), int(end.max(initial=self.time[0])))
        return self._until(end) - self._until(start)

    def at(self, time: Ints | int) -> Floats:
        """Return the value at some instants. Raises InputError where the series has none."""
        time = np.asarray(time, np.int64)
        self.covers(int(time.min(initial=self.time[-1])), int(time.max(initial=self.time[0])))
        place = np.searchsorted(self.time, time, side="right") - 1
        return self.value[np.minimum(place, len(self.value) - 1)]

    def covers(self, start: int, end: int) -> None:
        """Raise InputError unless the series has a value from ``start`` to ``end``, s."""
        if start < self.time[0]:
            raise InputError(f"{self.name}: begins too late, at {self.time[0]} s; allowed: by {start} s")
        if end > self.time[-1]:
            raise InputError(f"{self.name}: ends too early, at {self.time[-1]} s; allowed: {end} s or later")

    def _until(self, moment: Ints) -> Floats:
        """Return the integral from the origin that keeps it small: the first edge."""
        if len(self.value) == 1:
            cost: Floats = self.value[0] * moment.astype(np.float64)
            return cost
        whole = np.append(0.0, np.cumsum(self.value * np.diff(self.time)))
        place = np.clip(np.searchsorted(self.time, moment, side="right") - 1, 0, len(self.value) - 1)
        return whole[place] + self.value[place] * (moment - self.time[place])


def rows_of_csv(path: str | Path, column: str = "value") -> dict[str, Any]:
    """Return ``name``, ``time`` and ``value`` of a CSV file, as they are spelt. Raises TraceError."""
    table = csv_texts(path)
    table.columns = pd.Index([str(name).strip() for name in table.columns])
    for name in ("time", column):
        if name not in table:
            allowed = f"columns time, {column}"
            raise TraceError("a column is missing", file=path, line=1, field=name, allowed=allowed)
    if not len(table):
        raise TraceError("no rows", file=path, allowed="at least one time and value")
    return {"name": Path(path).name, "time": table["time"].tolist(), "value": table[column].tolist()}


def component_cost(start: Ints, end: Ints, power_w: Floats, series: Series, pue: float = 1.0) -> Floats:
    """Return what each component costs by a series: its mean power (W) at the prices while it ran, (n,)."""
    return power_w * series.integral(start, end) * pue / JOULES_PER_KWH


def _edges(time: Ints, path: str | Path) -> Ints:
    if len(time) == 1:
        return np.array([-(2**62), 2**62])
    steps = np.diff(time)
    if (steps <= 0).any():
        line = int(np.flatnonzero(steps <= 0)[0]) + 3
        raise TraceError("not later than the row before", file=path, line=line, field="time")
    return np.append(time, time[-1] + steps[-1])


def _moment(text: str, path: str | Path, line: int, unix_start: int | None) -> int:
    allowed = "whole seconds of the trace's clock, or a date such as 2024-03-31T14:00+02:00"
    try:
        seconds = integer(text)
    except ValueError:
        pass
    else:
        if abs(seconds) < MOST_SECONDS:
            return seconds
        raise TraceError("not a time", file=path, line=line, field="time", found=text, allowed=allowed)
    try:
        date = datetime.fromisoformat(text.strip())
    except ValueError:
        raise TraceError(
            "not a time", file=path, line=line, field="time", found=text, allowed=allowed
        ) from None
    if unix_start is None:
        raise TraceError(
            "a date, and the trace does not say when its clock began",
            file=path, line=line, field="time", found=text, allowed="seconds, or UnixStartTime in the trace",
        )  # fmt: skip
    aware = date if date.tzinfo else date.replace(tzinfo=UTC)
    return round(aware.timestamp()) - unix_start


def _value(text: str, path: str | Path, line: int, column: str) -> float:
    try:
        value = finite(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise TraceError(
            "not a number", file=path, line=line, field=column, found=text, allowed="a finite number"
        )
    return value
