"""Begin times, singletons and limits of arrays: what holds a job besides dependencies and hands.

Jobs of one user and name stand in line where there are singletons among them. A singleton is
eligible when none in its line runs and none that waits was submitted before it. So it is always the
first in line that may be let go, if it is a singleton. Of one that is held by hand nothing is
tested before its release.

Where an array has a limit, a task takes one of its places once nothing else holds it, and has it until it
ends or is held again. Slurm's schedulers have rules of their own for that.
"""

from __future__ import annotations

from typing import NamedTuple

from scheduler_sim.engine.core.events import KIND, drop_end, push_end
from scheduler_sim.engine.core.holding import lift, meet, note_released
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import entry, part
from scheduler_sim.engine.core.lifecycle import plan_anew
from scheduler_sim.engine.core.moments import (
    arrives_held,
    cancelled,
    dependencies_updated,
    event_due,
    held_back,
    held_by_less,
    let_go,
    revived,
    started,
    stopped,
)
from scheduler_sim.engine.core.operations import hold_back, is_expected
from scheduler_sim.engine.core.records import Table, table
from scheduler_sim.engine.core.state import HELD, HOLD, RUNNING, UNSEEN, WAITING, Core

BEGIN = -2 * KIND
"""Event: the begin time of a job has come; the rest is its row."""

LACKS_PLACE, HAS_PLACE = 1, 2


class Term:
    """What holds a job."""

    begin: int  # not before this time, -1 = any; Slurm: since when its age counts, once it waits
    group: int  # number of its user and name, if there are singletons among them; else -1
    following: int  # the next of them, -1 = none
    singleton: int  # 1 = it waits for those before it
    array: int  # number of its job array, -1 = none
    next_task: int  # the next of the array, -1 = none
    place: int  # whether it has a place among the tasks that may run at once; 0 = it needs none


class Group:
    """Jobs of one user and name."""

    head: int
    first: int
    running: int


class Array:
    """A job array."""

    limit: int  # tasks that may run at once, -1 = any number
    running: int  # tasks that do, or, but for Slurm, may
    head: int  # its first task, and the first that may have yet to run
    first: int
    asked: int  # 1 = it has a place to give with the next updates of dependencies
    made_in: int  # Slurm: the pass that last counted its reservations
    reserved: int


class Holds(NamedTuple):
    """What holds jobs, and the lines they stand in."""

    term: Table[Term]  # [n]
    group: Table[Group]
    array: Table[Array]


def blank_holds(rows: int) -> Holds:
    """Return a part in which nothing holds any of so many jobs; there are no groups and no arrays yet."""
    made = Holds(table(Term, rows), table(Group, 0), table(Array, 0))
    for name in ("begin", "group", "following", "array", "next_task"):
        made.term[name] = -1
    return made


class HoldsCore(Core):
    """A core with begin times, singletons or limits of arrays."""

    holds: Holds


# -- begin times


@on(arrives_held, "holds")
def look_at_terms(core: HoldsCore, row: int) -> None:
    """A begin time that has come, and a singleton that may go, hold nothing."""
    await_begin(core, row)
    let_singleton_go(core, row)


@part
def await_begin(core: HoldsCore, row: int) -> None:
    """One that asks for a begin time waits for it as for a dependency."""
    if core.holds.term[row].begin > core.clock.now:
        push_end(core, core.holds.term[row].begin, BEGIN + row)
    elif core.holds.term[row].begin >= 0:
        lift(core, row)


@on(event_due, "holds")
def begin_now(core: HoldsCore, kind: int, row: int) -> None:
    """A begin time has come."""
    if kind == BEGIN:
        lift(core, row)


@entry
def set_begin(core: HoldsCore, row: int, time: int) -> None:
    """Not eligible before ``time`` (s)."""
    state, now = core.jobs[row].state, core.clock.now
    if state > WAITING or is_expected(core, row):
        return
    term = core.holds.term[row]
    awaited = term.begin >= 0 if state == UNSEEN else term.begin > now
    term.begin = time
    if state == UNSEEN:
        core.jobs[row].missing += 0 if awaited else HOLD
        return
    if awaited:
        drop_end(core, BEGIN + row)
    if time > now:
        if not awaited:
            hold_back(core, row)
        push_end(core, time, BEGIN + row)
    elif awaited:
        lift(core, row)
    plan_anew(core)


# -- singletons


@part
def let_singleton_go(core: HoldsCore, row: int) -> None:
    """The next singleton of the same user and name need not wait any more."""
    first = _next_in_line(core, row)
    if first >= 0:
        meet(core, first)


@part
def _next_in_line(core: HoldsCore, row: int) -> int:
    """The singleton in the line of ``row`` that may go now, -1 if there is none; it is let go once."""
    if core.holds.term[row].group < 0:
        return -1
    group = core.holds.group[core.holds.term[row].group]
    while group.first >= 0 and core.jobs[group.first].state >= RUNNING:
        group.first = core.holds.term[group.first].following
    first = group.first
    if group.running > 0 or first < 0 or not core.holds.term[first].singleton or core.jobs[first].held:
        return -1
    if core.jobs[first].state == UNSEEN and first != row:
        return -1
    core.holds.term[first].singleton = 0
    return first


@on(started, "holds")
def run_in_line(core: HoldsCore, row: int) -> None:
    """One in line runs."""
    if core.holds.term[row].group >= 0:
        core.holds.group[core.holds.term[row].group].running += 1


@on(stopped, "holds")
def leave_lines(core: HoldsCore, row: int) -> None:
    """It runs no longer: the next of its user and name may go, and of its array, if it has ended."""
    if core.jobs[row].state > RUNNING:
        leave_place(core, row)
    if core.holds.term[row].group >= 0:
        core.holds.group[core.holds.term[row].group].running -= 1
        if core.jobs[row].state <= WAITING:
            return_to_line(core, row)
        let_singleton_go(core, row)


@on(revived, "holds")
def return_to_line(core: HoldsCore, row: int) -> None:
    """One that was out waits again: it is first in line, unless another was before it."""
    if core.holds.term[row].group >= 0:
        group = core.holds.group[core.holds.term[row].group]
        group.first = group.head
    if core.holds.term[row].array >= 0:
        array = core.holds.array[core.holds.term[row].array]
        array.first = array.head


@on(cancelled, "holds")
def make_way(core: HoldsCore, row: int) -> None:
    """A job that will not run gives up its places."""
    leave_place(core, row)
    let_singleton_go(core, row)


@on(let_go, "holds")
def test_released(core: HoldsCore, row: int) -> None:
    """One that was held by hand has not been tested."""
    if core.jobs[row].state == HELD:
        let_singleton_go(core, row)


# -- arrays


@on(held_by_less, "holds")
def seek_place(core: HoldsCore, row: int) -> None:
    """A task of an array with a limit needs a place there, once nothing else holds it."""
    if core.jobs[row].missing == HOLD and _lacks_place(core, row):
        _ask_for_place(core, row)


@part
def _lacks_place(core: HoldsCore, row: int) -> bool:
    """Whether ``row`` is a task that is to have a place in its array, and has none."""
    return core.holds.term[row].place == LACKS_PLACE


@part
def _ask_for_place(core: HoldsCore, row: int) -> None:
    """The array of ``row`` may have a place to give: see to it with the next updates of dependencies."""
    number = core.holds.term[row].array
    if not core.holds.array[number].asked:
        core.holds.array[number].asked = 1
        note_released(core, -1 - number)


@on(dependencies_updated, "holds")
def give_places(core: HoldsCore) -> None:
    """Tasks that get a place in their array, the first in trace order, are released now."""
    i = 0
    while i < core.queue.at.released:
        released = core.queue.released[i]
        if released >= 0:
            i += 1
            continue
        core.queue.at.released -= 1
        core.queue.released[i] = core.queue.released[core.queue.at.released]
        _give_places_in(core, -1 - released)


@part
def _give_places_in(core: HoldsCore, number: int) -> None:
    array = core.holds.array[number]
    array.asked = 0
    while array.limit < 0 or array.running < array.limit:
        row = _next_task(core, number)
        if row < 0:
            return
        array.running += 1
        core.holds.term[row].place = HAS_PLACE
        core.jobs[row].missing -= HOLD
        note_released(core, row)


@part
def _next_task(core: HoldsCore, number: int) -> int:
    """The first task of an array that nothing but the lack of a place holds; -1 if there is none."""
    array = core.holds.array[number]
    while array.first >= 0 and core.jobs[array.first].state > RUNNING:
        array.first = core.holds.term[array.first].next_task
    row = array.first
    while row >= 0 and core.jobs[row].state != UNSEEN:
        if core.jobs[row].state == HELD and core.jobs[row].missing == HOLD and _lacks_place(core, row):
            return row
        row = core.holds.term[row].next_task
    return -1


@on(held_back, "holds")
def leave_place(core: HoldsCore, row: int) -> None:
    """A task has no place in its array any more, if it had one; should it run again, it needs one."""
    if core.holds.term[row].place == HAS_PLACE:
        core.holds.term[row].place = LACKS_PLACE
        core.jobs[row].missing += HOLD
        core.holds.array[core.holds.term[row].array].running -= 1
        _ask_for_place(core, row)
