"""When advance reservations stand that come again, and how many nodes each has then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from scheduler_sim.simulation.standing import Flags, Standing, Times
from scheduler_sim.units import DAY, HOUR

STEPS = {"HOURLY": HOUR, "DAILY": DAY, "WEEKLY": 7 * DAY}
BY_DAY = ("WEEKDAY", "WEEKEND")
FIRST_WEEKDAY = 3  # 1 January 1970 was a Thursday, Mondays being 0
FRIDAY, SATURDAY, SUNDAY = 4, 5, 6


class Turn(NamedTuple):
    """A time in which one stands, s."""

    start: int
    end: int
    one: Standing


def repeats(one: Standing) -> bool:
    """Whether it comes again."""
    return bool(one.flags & {*STEPS, *BY_DAY})


def next_turn(one: Standing, times: Times, unix_start: int) -> Times:
    """Return when it stands again, behind one of its turns; days are told on the clock of the trace."""
    step = next((STEPS[flag] for flag in STEPS if flag in one.flags), 0)
    if not step:
        day = ((times.start + unix_start) // DAY + FIRST_WEEKDAY) % 7
        if "WEEKDAY" in one.flags:
            step = DAY * (3 if day == FRIDAY else 2 if day == SATURDAY else 1)
        else:
            step = DAY * (1 if day == SATURDAY else 6 if day == SUNDAY else SATURDAY - day)
    return Times(times.start + step, times.end + step, times.duration)


def turns_until(one: Standing, times: Times, until: int, unix_start: int) -> Iterator[Turn]:
    """Yield its turns from one of them on, those that begin before ``until``."""
    while times.start < until:
        yield Turn(times.start, times.end, one)
        if not repeats(one):
            return
        times = next_turn(one, times, unix_start)


def longest_stay(one: Standing, times: Times, unix_start: int) -> int | None:
    """Return for how long (s) it stands in one piece; None: for ever, as turns follow without a gap."""
    if repeats(one) and next_turn(one, times, unix_start).start <= times.end:
        return None
    return times.end - times.start


def shares(standing: Sequence[Standing]) -> dict[int, Flags]:
    """Return, by number, which nodes each of those that stand at one time has; the first come first.

    Only MAINT takes nodes that others have, and of several of these the one that was made first.
    """
    first = [one for one in standing if "MAINT" in one.flags]
    taken = np.zeros(0, dtype=bool)
    found: dict[int, Flags] = {}
    for one in [*first, *(other for other in standing if other not in first)]:
        taken = taken if len(taken) else np.zeros_like(one.nodes)
        found[one.number] = one.nodes & ~taken
        taken = taken | one.nodes
    return found
