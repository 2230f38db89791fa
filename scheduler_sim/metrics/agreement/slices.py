"""Waits of parts of the workload: by partition, size, user, hour of the week, day, week."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Ints
from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.metrics.agreement.waits import Waits, by_class
from scheduler_sim.metrics.slices import NOT_KNOWN, size_classes
from scheduler_sim.result.columns import REASONS
from scheduler_sim.units import DAY, HOUR

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

WEEK = 7 * DAY
FIRST_MONDAY = 4 * DAY
"""5 January 1970, in Unix time."""

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOURS_OF_WEEK = WEEK // HOUR


def sliced(result: Result, waits: Waits, by: str) -> pd.DataFrame:
    """Compare the waits of each slice; see :func:`~scheduler_sim.metrics.agreement.waits.by_class`.

    Parameters
    ----------
    by : a key of ``SLICES``.

    Raises
    ------
    InputError : for no way of slicing.
    """
    if by not in SLICES:
        raise InputError(f"slices by {by}; allowed: {', '.join(SLICES)}{did_you_mean(by, list(SLICES))}")
    table = by_class(waits, SLICES[by](result, waits))
    table.index.name = by
    return table


def hours_of_week(submit: Ints, manifest: Mapping[str, Any]) -> Ints:
    """Return the hour of the week of submissions, from 0, Monday first, on the trace's clock.

    Where the trace does not say when its clock began, weeks begin with its second 0.
    """
    monday = calendar_start(manifest)
    hours: Ints = (submit + (monday or 0)) // HOUR % HOURS_OF_WEEK
    return hours


def calendar_start(manifest: Mapping[str, Any]) -> int | None:
    """Return second 0 of the trace, in s since a Monday; None where the trace does not say when that was."""
    unix = (manifest.get("trace") or {}).get("unix_start_time")
    return unix - FIRST_MONDAY if unix else None


def day_names(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what to call the days of the week."""
    return WEEKDAYS if calendar_start(manifest) is not None else tuple(f"day {day}" for day in range(1, 8))


def _partition(result: Result, waits: Waits) -> pd.Categorical:
    """Partitions where the result tells them, as under Slurm; else modules."""
    column = REASONS[0].name if result.further.reasons else "module"
    return _names(result, waits, column)


def _user(result: Result, waits: Waits) -> pd.Categorical:
    return _names(result, waits, "user")


def _names(result: Result, waits: Waits, column: str) -> pd.Categorical:
    names = result.components[column].astype(str).to_numpy(dtype=object)[waits.rows]
    return pd.Categorical(np.where(names == "", NOT_KNOWN, names).astype(object))


def _size(result: Result, waits: Waits) -> pd.Categorical:
    return size_classes(result.components["nodes"].to_numpy()[waits.rows])


def _hour_of_week(result: Result, waits: Waits) -> pd.Categorical:
    days = day_names(result.manifest)
    names = [f"{days[hour // 24]} {hour % 24:02}:00" for hour in range(HOURS_OF_WEEK)]
    return _ordered(hours_of_week(waits.submit, result.manifest), names)


def _day(result: Result, waits: Waits) -> pd.Categorical:
    days = waits.submit // DAY
    first, last = int(days.min()), int(days.max())
    return _ordered(days - first, [str(day) for day in range(first, last + 1)])


def _week(result: Result, waits: Waits) -> pd.Categorical:
    first = int(result.components["submit_time"].min())
    weeks = (waits.submit - first) // WEEK
    return _ordered(weeks, [str(week + 1) for week in range(int(weeks.max()) + 1)])


def _ordered(codes: Ints, names: list[str]) -> pd.Categorical:
    return pd.Categorical(np.array(names, dtype=object)[codes], categories=names, ordered=True)


SLICES: dict[str, Callable[[Result, Waits], pd.Categorical]] = {
    "partition": _partition,
    "size": _size,
    "user": _user,
    "hour_of_week": _hour_of_week,
    "day": _day,
    "week": _week,
}
"""The ways of slicing; ``day`` counts from 0 on the trace's clock, ``week`` from the first submission on."""
