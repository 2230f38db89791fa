"""Reservations that repeat: at its end one moves to its next turn."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import started, stopped, submitted
from scheduler_sim.engine.rules.slurm.reservations.state import (
    BUSY,
    DAILY,
    HOURLY,
    NEVER,
    WEEKDAY,
    WEEKEND,
    ReservationsCore,
)

HOUR_S, DAY_S = 3600, 86_400
FIRST_WEEKDAY = 3  # 1 January 1970 was a Thursday, Mondays being 0
FRIDAY, SATURDAY, SUNDAY = 4, 5, 6

TURNS_IN_VAIN = 3
"""If every reservation has come so often and no job was submitted, started or ended, none will be."""


@part
def move_on(core: ReservationsCore) -> None:
    """Whatever looks at reservations moves those on that have ended, and repeat."""
    if core.reservations.at.repeated == 0:
        return
    for i in range(len(core.reservations.table)):
        one = core.reservations.table[i]
        while one.stands and one.repeats != NEVER and one.end <= core.clock.now:
            to_next_turn(core, i)


@part
def to_next_turn(core: ReservationsCore, number: int) -> None:
    """It stands again an hour, a day, ... later."""
    one = core.reservations.table[number]
    step = _step(core, one.repeats)
    one.start += step
    one.end += step
    one.begun = one.over = 0
    one.idle_since = BUSY
    core.reservations.at.idle_turns += 1


@part
def _step(core: ReservationsCore, repeats: int) -> int:
    if repeats == HOURLY:
        return HOUR_S
    day = ((core.clock.now + core.reservations.at.epoch) // DAY_S + FIRST_WEEKDAY) % 7
    if repeats == DAILY:
        return DAY_S
    if repeats == WEEKDAY:
        return DAY_S * (3 if day == FRIDAY else 2 if day == SATURDAY else 1)
    if repeats == WEEKEND:
        return DAY_S * (1 if day == SATURDAY else 6 if day == SUNDAY else SATURDAY - day)
    return 7 * DAY_S


@part
def are_in_vain(core: ReservationsCore) -> bool:
    """Whether what repeats will change nothing any more: nobody is to come, to start or to end."""
    at = core.reservations.at
    idle = at.repeated > 0 and at.idle_turns > TURNS_IN_VAIN * at.repeated
    return bool(idle and core.queue.at.seen >= core.clock.jobs and core.clock.events == 0)


@on(submitted, "reservations")
def one_comes(core: ReservationsCore, row: int) -> None:
    """Turns count anew."""
    core.reservations.at.idle_turns = 0


@on(started, "reservations")
def one_starts(core: ReservationsCore, row: int) -> None:
    """Turns count anew."""
    core.reservations.at.idle_turns = 0


@on(stopped, "reservations")
def one_stops(core: ReservationsCore, row: int) -> None:
    """Turns count anew."""
    core.reservations.at.idle_turns = 0
