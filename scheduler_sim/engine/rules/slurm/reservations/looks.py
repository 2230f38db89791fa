"""The daemon's looks at advance reservations: at starts and ends, and at what is over."""

from __future__ import annotations

from scheduler_sim.engine.core.events import KIND, drop_end, push_end
from scheduler_sim.engine.core.hooks import on, question
from scheduler_sim.engine.core.jit import entry, part
from scheduler_sim.engine.core.lifecycle import finish
from scheduler_sim.engine.core.moments import event_due, instant_opens
from scheduler_sim.engine.core.operations import put_back, take_out
from scheduler_sim.engine.core.state import BY_LIMIT, INF, RUNNING, TIMEOUT, UNSEEN, WAITING
from scheduler_sim.engine.rules.slurm.advance_reservations import FIRST_OF_ALL
from scheduler_sim.engine.rules.slurm.change import expect_change, note_change
from scheduler_sim.engine.rules.slurm.moments import ask
from scheduler_sim.engine.rules.slurm.reservations.exchange import exchange, may_matter
from scheduler_sim.engine.rules.slurm.reservations.state import (
    BUSY,
    DELETED,
    NEVER,
    NONE_NAMED,
    NOTHING,
    ReservationsCore,
)
from scheduler_sim.engine.rules.slurm.reservations.turns import are_in_vain, move_on, to_next_turn

LOOK_S = 5  # from one look at starts and ends to the next

LOOK, CHECK, TURN = 8 * KIND, 9 * KIND, 10 * KIND
"""Events: a look at starts and ends, at what is over, and a start or an end itself."""


@on(instant_opens, "reservations")
def await_first_look(core: ReservationsCore) -> None:
    """Looks begin with the first instant; what was to be seen before has been.

    A pass of that second that came before may have found that nothing was to come.
    """
    if core.reservations.at.awaits or not _any_stands(core) or are_in_vain(core):
        return
    move_on(core)
    _see(core)
    expect_change(core)


@part
def _any_stands(core: ReservationsCore) -> bool:
    for i in range(len(core.reservations.table)):
        if core.reservations.table[i].stands:
            return True
    return False


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
    if are_in_vain(core):
        core.reservations.at.awaits = 0
        return
    now, look, check, turn = core.clock.now, INF, INF, INF
    first = now + 1 if core.reservations.at.seen == now else now
    for i in range(len(core.reservations.table)):
        one = core.reservations.table[i]
        if not one.stands:
            continue
        if not one.begun:
            look = min(look, _from(core, max(first, one.start), LOOK_S))
        elif not one.over:
            look = min(look, _from(core, first, LOOK_S))
        turn = min(turn, one.start if one.start > now else one.end if one.end > now else INF)
        due = one.start if one.purge >= 0 else one.end
        due = now if one.exchanges != NOTHING and may_matter(core) else due
        check = min(check, _from(core, max(first, due), core.slurm.rules.limit_check_s))
    if look < INF:
        push_end(core, look, LOOK)
    if check < INF:
        push_end(core, check, CHECK)
    if turn < INF:
        push_end(core, turn, TURN)
    core.reservations.at.awaits = int(look < INF or check < INF)


@on(event_due, "reservations")
def look(core: ReservationsCore, kind: int, number: int) -> None:
    """Starts and ends, then what is over; whoever looks at that second finds other nodes free."""
    if kind != LOOK and kind != CHECK and kind != TURN:
        return
    drop_looks(core)
    if kind == TURN:
        expect_change(core)
    _see(core)


@part
def drop_looks(core: ReservationsCore) -> None:
    """None is awaited any more."""
    drop_end(core, LOOK)
    drop_end(core, CHECK)
    drop_end(core, TURN)


@part
def _see(core: ReservationsCore) -> None:
    """What is to be seen now, and when there is more to see."""
    now = core.reservations.at.seen = core.clock.now
    if now == _before(core, now, LOOK_S):
        _see_starts_and_ends(core)
    if now == _before(core, now, core.slurm.rules.limit_check_s):
        move_on(core)
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
            expect_change(core)
        if one.end <= now and not one.over:
            one.over = 1
            expect_change(core)


@part
def _end_late_jobs(core: ReservationsCore) -> None:
    """Jobs that run on though their reservation is over."""
    now = core.clock.now
    for row in range(core.clock.jobs):
        own = core.reservations.claim[row].of
        if own < 0 or core.jobs[row].state != RUNNING:
            continue
        one = core.reservations.table[own]
        if one.stands and one.end <= now and not one.flex and ends_with_its_reservation(core, row):
            core.placements[core.jobs[row].placed].killed = BY_LIMIT
            drop_end(core, row)
            finish(core, row, TIMEOUT)


@question
def ends_with_its_reservation(core: ReservationsCore, row: int) -> bool:
    """Whether a job that runs on ends by the look at its reservation."""
    return True


@part
def _check(core: ReservationsCore, number: int) -> None:
    """One that has ended goes, and one that is used no more, if it says so."""
    one, now = core.reservations.table[number], core.clock.now
    running = waiting = False
    for row in range(core.clock.jobs):
        if core.reservations.claim[row].of == number:
            running |= core.jobs[row].state == RUNNING
            waiting |= UNSEEN < core.jobs[row].state <= WAITING
    if one.start <= now:
        if running or waiting:
            one.idle_since = BUSY
        elif one.idle_since == BUSY:
            one.idle_since = now
    idle = one.idle_since != BUSY and now - one.idle_since >= one.purge
    if one.purge >= 0 and idle and one.end > now:
        if one.repeats == NEVER:
            forget(core, number)
        elif one.start <= now:
            to_next_turn(core, number)
        note_change(core, now)
        expect_change(core)
    elif one.exchanges != NOTHING and one.end >= now:
        exchange(core, number)
    elif one.end < now and one.begun and one.over and (not running or one.flex):
        forget(core, number)
        note_change(core, now)
        expect_change(core)


@part
def forget(core: ReservationsCore, number: int) -> None:
    """It is gone: what waits for it is held, which ``may_run`` sees to, or has it no longer.

    That jobs have another place in the queue then asks for no pass.
    """
    one, early = core.reservations.table[number], core.clock.early
    one.stands = 0
    core.reservations.at.repeated -= int(one.repeats != NEVER)
    for row in range(core.clock.jobs):
        it = core.jobs[row]
        if core.reservations.claim[row].of != number or not UNSEEN < it.state <= WAITING:
            continue
        if one.no_hold:
            waits = take_out(core, row)
            set_claim(core, row, NONE_NAMED)
            put_back(core, row, waits)
        else:
            core.reservations.claim[row].refused = DELETED
    core.clock.early = early


@part
def set_claim(core: ReservationsCore, row: int, number: int) -> None:
    """It has that reservation from now on, and with it its place before all that have none."""
    claim = core.reservations.claim[row]
    more = FIRST_OF_ALL * (int(number != NONE_NAMED) - int(claim.of != NONE_NAMED))
    claim.of = number
    core.ranks[row].tier += more
    for placement in range(core.jobs[row].first, core.jobs[row].last):
        core.slurm.way[placement].tier += more


# -- what operators do


@entry
def delete(core: ReservationsCore, number: int) -> None:
    """A reservation is gone."""
    forget(core, number)


@entry
def hear(core: ReservationsCore) -> None:
    """An operator has done something: the main scheduler is asked for, and looks are awaited anew."""
    now = core.clock.now
    ask(core, True)
    note_change(core, now)
    expect_change(core)
    drop_looks(core)
    _await(core)
