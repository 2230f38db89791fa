"""The daemon's looks at advance reservations: at starts and ends, and at what is over."""

from __future__ import annotations

from scheduler_sim.engine.core.events import KIND, drop_end, push_end
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import finish
from scheduler_sim.engine.core.moments import event_due, instant_opens, struck
from scheduler_sim.engine.core.state import BY_LIMIT, INF, RUNNING, TIMEOUT, UNSEEN, WAITING
from scheduler_sim.engine.rules.slurm.change import expect_change, note_change
from scheduler_sim.engine.rules.slurm.moments import ask
from scheduler_sim.engine.rules.slurm.reservations.state import ReservationsCore

LOOK_S = 5  # from one look at starts and ends to the next

LOOK, CHECK = 8 * KIND, 9 * KIND
"""Events: a look at starts and ends, and at what is over."""


@on(instant_opens, "reservations")
def await_first_look(core: ReservationsCore) -> None:
    """Looks begin with the first instant; what was to be seen before has been."""
    if core.reservations.at.awaits:
        return
    core.reservations.at.awaits = 1
    _see(core)


@part
def _before(core: ReservationsCore, time: int, every_s: int) -> int:
    """The last look at ``time`` or before."""
    return time - (time - core.slurm.rules.starts_at) % every_s


@part
def _from(core: ReservationsCore, time: int, every_s: int) -> int:
    """The first look at ``time`` or later."""
    return time + (core.slurm.rules.starts_at - time) % every_s


@part
def _await(core: ReservationsCore) -> None:
    """The next looks at which there is something to see."""
    now, look, check = core.clock.now, INF, INF
    for i in range(len(core.reservations.table)):
        one = core.reservations.table[i]
        if not one.stands:
            continue
        if not one.begun:
            look = min(look, _from(core, max(now + 1, one.start), LOOK_S))
        elif not one.over:
            look = min(look, _from(core, now + 1, LOOK_S))
        due = one.start if one.purge >= 0 else one.end
        check = min(check, _from(core, max(now + 1, due), core.slurm.rules.limit_check_s))
    if look < INF:
        push_end(core, look, LOOK)
    if check < INF:
        push_end(core, check, CHECK)


@on(event_due, "reservations")
def look(core: ReservationsCore, kind: int, number: int) -> None:
    """Starts and ends, then what is over: those of one second in this order, as their numbers are."""
    if kind != LOOK and kind != CHECK:
        return
    drop_end(core, LOOK if kind == CHECK else CHECK)
    _see(core)


@part
def _see(core: ReservationsCore) -> None:
    """What is to be seen now, and when there is more to see."""
    now = core.clock.now
    if now == _before(core, now, LOOK_S):
        _see_starts_and_ends(core)
    if now == _before(core, now, core.slurm.rules.limit_check_s):
        _end_late_jobs(core)
        for i in range(len(core.reservations.table)):
            if core.reservations.table[i].stands:
                _check(core, i)
    _await(core)


@part
def _see_starts_and_ends(core: ReservationsCore) -> None:
    """Main is asked for if one has begun; that nodes are reserved is a change."""
    now = core.clock.now
    for i in range(len(core.reservations.table)):
        one = core.reservations.table[i]
        if not one.stands:
            continue
        if one.start <= now < one.end:
            note_change(core, now)
        if one.start <= now and not one.begun:
            one.begun = 1
            ask(core, True)
        if one.end <= now:
            one.over = 1
    expect_change(core)


@part
def _end_late_jobs(core: ReservationsCore) -> None:
    """Jobs that run on though their reservation is over."""
    now = core.clock.now
    for row in range(len(core.reservations.of)):
        own = core.reservations.of[row]
        if own < 0 or core.jobs[row].state != RUNNING:
            continue
        one = core.reservations.table[own]
        if one.stands and one.end <= now and not one.flex:
            core.placements[core.jobs[row].placed].killed = BY_LIMIT
            drop_end(core, row)
            finish(core, row, TIMEOUT)
            struck(core, row, TIMEOUT)


@part
def _check(core: ReservationsCore, number: int) -> None:
    """One that has ended goes, and one that is used no more, if it says so."""
    one, now = core.reservations.table[number], core.clock.now
    running = waiting = False
    for row in range(len(core.reservations.of)):
        if core.reservations.of[row] == number:
            running |= core.jobs[row].state == RUNNING
            waiting |= UNSEEN < core.jobs[row].state <= WAITING
    if one.start <= now:
        one.idle_since = -1 if running or waiting else now if one.idle_since < 0 else one.idle_since
    idle = one.idle_since >= 0 and now - one.idle_since >= one.purge
    seen_over = one.end < now and one.begun and one.over
    if (seen_over and (not running or one.flex)) or (one.purge >= 0 and idle and one.end > now):
        _forget(core, number)


@part
def _forget(core: ReservationsCore, number: int) -> None:
    """It is gone: what waits for it is held, which ``may_run`` sees to."""
    core.reservations.table[number].stands = 0
    note_change(core, core.clock.now)
    expect_change(core)
