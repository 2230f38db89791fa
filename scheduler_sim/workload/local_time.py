"""The clock on the wall where a trace was recorded: hours of day and days of week of its submissions."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from scheduler_sim.units import DAY
from scheduler_sim.workload.source import TraceSource

_FIRST_MONDAY = 4 * DAY  # 5 January 1970, in Unix time
_QUARTER = 900  # clocks are looked up once a quarter of an hour, when zones change them, or a minute later
_LAST_YEAR = 253_370_764_800  # 1 January 9999 in Unix time: datetime ends with that year


def local_clock(source: TraceSource, submit: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return submissions as seconds since a midnight, and whether the calendar is known.

    With UnixStartTime in the header, that midnight began a Monday in the time zone of the header:
    TimeZoneString if it names a zone (summer time included), else TimeZone, seconds east of
    UTC, else UTC. Without it (or with 0, as some traces write) it is second 0 of the trace.

    Parameters
    ----------
    source : where the trace came from; submit : int64[n], s on the trace's own clock

    Returns
    -------
    clock : int64[n], s, so that ``clock // 3600 % 24`` is the hour of day, and
        ``clock // 86400 % 7`` the day: 0 = Monday, or the trace's first day; calendar : bool
    """
    start = source.header_number("UnixStartTime")
    if not start or (len(submit) and start + int(submit.max()) >= _LAST_YEAR):
        return submit, False
    unix = submit + start
    return unix + _seconds_east(source, unix) - _FIRST_MONDAY, True


def _seconds_east(source: TraceSource, unix: np.ndarray) -> np.ndarray | int:
    zone = _zone(_stated(source, "TimeZoneString", r"\S+"))
    if zone is not None:
        quarters, place = np.unique(unix // _QUARTER, return_inverse=True)
        moments = (datetime.fromtimestamp(quarter * _QUARTER, zone) for quarter in quarters.tolist())
        offsets = [(moment.utcoffset() or timedelta()) // timedelta(seconds=1) for moment in moments]
        return np.array(offsets, dtype=np.int64)[place]
    stated = int(_stated(source, "TimeZone", r"[+-]?\d{1,6}\b") or 0)
    return stated if abs(stated) < DAY else 0


def _zone(name: str | None) -> ZoneInfo | None:
    """Return a zone by its name in the tz database, None for any other text."""
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, ValueError, OSError):  # not there; no name of a zone; a folder of zones
        return None


def _stated(source: TraceSource, key: str, value: str) -> str | None:
    """Return what the first header line ``; key: value`` gives that has such a value, or None."""
    pattern = re.compile(rf"\s*;\s*{key}\s*:\s*({value})", re.IGNORECASE)
    found = (pattern.match(line) for line in source.header)
    return next((match.group(1) for match in found if match), None)
