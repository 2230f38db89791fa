"""Dates and durations as Slurm's commands print them."""

from __future__ import annotations

import re
from calendar import timegm
from time import gmtime, strftime, strptime

from scheduler_sim.errors import InputError

_NOT_YET = ("", "unknown", "none", "n/a", "(null)")


def moment(text: str) -> int | None:
    """Read a date, s since 1970 on the clock of the site, or these seconds; None where there is none yet."""
    if text.lower() in _NOT_YET:
        return None
    if re.fullmatch(r"[0-9]{1,12}", text):
        return int(text)
    try:
        return timegm(strptime(text[:32], "%Y-%m-%dT%H:%M:%S"))
    except ValueError:
        allowed = "2026-02-28T13:00:00, seconds since 1970, Unknown"
        raise InputError(f"found {text[:60]!r}; allowed: {allowed}") from None


def date(seconds: int | None) -> str | None:
    """Such seconds as a date on the clock of the site."""
    return None if seconds is None else strftime("%Y-%m-%dT%H:%M:%S", gmtime(seconds))
