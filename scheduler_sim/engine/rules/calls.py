"""Calls: what a running job tells the scheduler, so many seconds after its start.

WF_API satisfies what depends on the job, and moves those that come next in its unit; EXTEND_JOB asks for
its time limit once more.
"""

from __future__ import annotations

from scheduler_sim.engine.core.events import KIND, drop_end, push_end
from scheduler_sim.engine.core.hooks import on, only_with, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import plan_anew
from scheduler_sim.engine.core.limits import change_limit, forget_end, plan_end
from scheduler_sim.engine.core.moments import begins_late, event_due, limit_changed, started, stops
from scheduler_sim.engine.core.records import Table, table
from scheduler_sim.engine.core.state import RUNNING
from scheduler_sim.engine.rules.coscheduling.reservations import move_next_reservations, stays_free
from scheduler_sim.engine.rules.coscheduling.state import UnitsCore
from scheduler_sim.engine.rules.dependencies import DependenciesCore, satisfy_by_call

WF_API, EXTEND_JOB = 0, 1
"""Kinds of calls."""

CALLS = 3 * KIND
"""Event: a job calls; the rest is the row of the call."""


class Call:
    """A call of a job, so many s after its start."""

    row: int
    kind: int
    after: int


class CallsCore(UnitsCore, DependenciesCore):
    """A core with calls; ``coscheduling`` says which calls a job has."""

    calls: Table[Call]


def blank_calls(rows: int) -> Table[Call]:
    """Return a part with room for so many calls."""
    return table(Call, rows)


@on(started, "calls")
def expect_calls(core: CallsCore, row: int) -> None:
    """Note the calls ``row`` will make while it runs."""
    _expect_behind(core, row, -1)


@part
def _expect_behind(core: CallsCore, row: int, known: int) -> None:
    """Note the calls that come after the first ``known`` s."""
    member, end = core.coscheduling.member[row], core.placements[core.jobs[row].placed].duration
    for i in range(member.call, member.call_last):
        if known < core.calls[i].after < end:
            push_end(core, core.jobs[row].start + core.calls[i].after, CALLS + i)


@on(begins_late, "calls")
def expect_calls_from_now(core: CallsCore, row: int) -> None:
    """``row`` has waited for its nodes: it calls so many s after now."""
    _drop_calls(core, row)
    _expect_behind(core, row, -1)


@on(stops, "calls")
def forget_calls(core: CallsCore, row: int) -> None:
    """``row`` ends before its time: calls to come are not made."""
    if core.clock.now < core.jobs[row].end:
        _drop_calls(core, row)


@part
def _drop_calls(core: CallsCore, row: int) -> None:
    for i in range(core.coscheduling.member[row].call, core.coscheduling.member[row].call_last):
        drop_end(core, CALLS + i)


@question
def has_begun(core: CallsCore, row: int) -> bool:
    """Whether a job that has its nodes works on them."""
    return True


@on(event_due, "calls")
def hear_call(core: CallsCore, kind: int, number: int) -> None:
    """A job calls, if it still runs: an operator may have given it less time."""
    if kind != CALLS or core.jobs[core.calls[number].row].state != RUNNING:
        return
    row = core.calls[number].row
    if not has_begun(core, row):
        return
    if core.calls[number].kind == WF_API:
        satisfy_called(core, row)
        if core.coscheduling.member[row].whole >= 0:
            move_next(core, row)
    elif core.coscheduling.at.extend:
        _extend(core, row)


@question
def satisfy_called(core: CallsCore, row: int) -> None:
    """What waits for ``row`` need not wait for its end."""
    satisfy_if_awaited(core, row)


@only_with("dependencies")
def satisfy_if_awaited(core: CallsCore, row: int) -> None:
    """Satisfy what depends on ``row``, where there are dependencies."""
    satisfy_by_call(core, row)


@question
def move_next(core: CallsCore, row: int) -> None:
    """The members that come next in its unit are expected as early as can be."""
    move_next_reservations(core, row)


@part
def _extend(core: CallsCore, row: int) -> None:
    """Give ``row`` its limit once more, if its nodes stay free for so long beside the reservations."""
    placement, more = core.jobs[row].placed, asked_for(core, core.coscheduling.member[row].limit)
    limit = core.placements[placement].limit
    planned = core.jobs[row].start + limit
    if may_stay(core, row, planned, planned + more):
        forget_end(core, row)
        known = core.placements[placement].duration - 1
        change_limit(core, placement, limit + more, core.coscheduling.member[row].run, core.rules.overrun)
        plan_end(core, row)
        limit_changed(core, row)
        _expect_behind(core, row, known)
        plan_anew(core)


@question
def asked_for(core: CallsCore, seconds: int) -> int:
    """So many s more, in the units in which limits are counted."""
    return seconds


@question
def may_stay(core: CallsCore, row: int, begin: int, end: int) -> bool:
    """Whether it can have its nodes for so much longer, beside jobs that have a reservation for them."""
    return stays_free(core, core.jobs[row].placed, begin, end, -1)
