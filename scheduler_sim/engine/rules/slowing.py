"""A power cap that falls slows what runs: jobs go to lower P-states until it is kept, and up again.

A job counts its own time: the seconds that it would take at its own clock. In a state with a factor it does
one of them in so many real ones; so its run time and its limit, as far as they are left, grow together.

Who is in which state is worked out anew whenever it matters, before a pass: from all at their own clock down,
in rounds of one step each, the youngest first, until the cap is kept. So they speed up when there is power.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.events import KIND
from scheduler_sim.engine.core.hooks import on, question
from scheduler_sim.engine.core.instant import log_is_full
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.limits import forget_end, plan_end, time_granted, time_suspended
from scheduler_sim.engine.core.moments import begins_late, pass_begins, runs_once_more, started, stops
from scheduler_sim.engine.core.records import Ints, Record, Table, one, table
from scheduler_sim.engine.core.state import Core

OWN = -1  # the state of a job that is not slowed
MS, MILLIONTHS = 1000, 1_000_000
AT_OWN = MILLIONTHS  # a factor


class Slowed(Record):
    """All jobs."""

    pool: int  # of mW above idle nodes
    slowed: int  # jobs that run slower
    spans: int  # how many stand in the table; whoever reads them sets it to 0
    unable: int  # jobs that were to be slowed, and have no lower state


class Slower:
    """A lower P-state."""

    factor: int  # of the time at the own clock, millionths
    above: int  # mW of a node above idle


class Ladder:
    """The lower states of a placement, rows first .. last - 1 of ``slower``, the next one first."""

    first: int
    last: int
    own: int  # mW that it asks for at its own clock


class Pace:
    """A job that runs."""

    state: int  # OWN, or the place among its lower states
    since: int  # since when it is in it
    done: int  # ms of its own time up to then
    longer: int  # s that it takes longer, by what is known
    granted: int  # s that its limit comes later
    wanted: int  # the state that it is to be in
    unable: int  # 1 = it has been counted as such


class SlowSpan:
    """A span in which a job was slowed."""

    row: int
    start: int  # of its run
    since: int
    until: int
    above: int  # mW above idle nodes


class Slowing(NamedTuple):
    """Who is slowed how far."""

    at: Slowed
    slower: Table[Slower]
    ladder: Table[Ladder]  # [p]
    pace: Table[Pace]  # [n]
    rows: Ints  # [n] jobs that run, the youngest first
    span: Table[SlowSpan]


class SlowingCore(Core):
    """A core with a power cap to which what runs is slowed."""

    slowing: Slowing


class SlowingSizes(NamedTuple):
    """How much room there is."""

    rows: int
    placements: int
    states: int
    pool: int


def blank_slowing(sizes: SlowingSizes) -> Slowing:
    """Return the part; all run at their own clocks."""
    made = Slowing(
        at=one(Slowed),
        slower=table(Slower, sizes.states),
        ladder=table(Ladder, sizes.placements),
        pace=table(Pace, sizes.rows),
        rows=np.zeros(sizes.rows, dtype=np.int64),
        span=table(SlowSpan, 4 * sizes.rows + 64),
    )
    made.at.pool = sizes.pool
    made.pace["state"] = OWN
    return made


# -- a job


@on(started, "slowing")
def begin_at_own(core: SlowingCore, row: int) -> None:
    """It runs at its own clock."""
    it = core.slowing.pace[row]
    it.state, it.since, it.done, it.longer, it.granted = OWN, core.clock.now, 0, 0, 0


@on(begins_late, "slowing")
def begin_late(core: SlowingCore, row: int) -> None:
    """Its nodes have booted."""
    core.slowing.pace[row].since = core.clock.now


@on(time_granted, "slowing")
def limit_of_slowed(core: SlowingCore, row: int, placement: int) -> int:
    """Its limit, in its own time."""
    return int(core.placements[placement].limit + core.slowing.pace[row].granted)


@on(time_suspended, "slowing")
def time_lost(core: SlowingCore, row: int) -> int:
    """How much longer it takes, as if it had stood still for so long."""
    return int(core.slowing.pace[row].longer)


@on(stops, "slowing")
def end_span_of_stopped(core: SlowingCore, row: int) -> None:
    """It is over, slowed or not."""
    if core.slowing.pace[row].state != OWN:
        _end_span(core, row)
        core.slowing.at.slowed -= 1
        core.slowing.pace[row].state = OWN


@on(runs_once_more, "slowing")
def ask_for_own(core: SlowingCore, row: int) -> None:
    """Its next run begins at its own clock."""
    core.slowing.pace[row].longer = core.slowing.pace[row].granted = 0
    for placement in range(core.jobs[row].first, core.jobs[row].last):
        if core.slowing.ladder[placement].own > 0:
            core.demand[placement, core.demand.shape[1] - 1] = core.slowing.ladder[placement].own


@part
def _factor(core: SlowingCore, row: int, state: int) -> int:
    """How many real seconds one of its own takes, millionths."""
    if state == OWN:
        return AT_OWN
    return int(core.slowing.slower[core.slowing.ladder[core.jobs[row].placed].first + state].factor)


@part
def _asks(core: SlowingCore, row: int, state: int) -> int:
    """What it asks for in a state, mW above idle nodes."""
    placed = core.jobs[row].placed
    ladder = core.slowing.ladder[placed]
    if state == OWN:
        return int(ladder.own)
    above = core.slowing.slower[ladder.first + state].above
    return int(max(above * core.placements[placed].nodes, 1))


@part
def _change_pace(core: SlowingCore, row: int) -> None:
    """It goes on in the state that is wanted: it ends, and is planned to end, so much later or sooner."""
    it, placed, now = core.slowing.pace[row], core.jobs[row].placed, core.clock.now
    forget_end(core, row)
    it.done += (now - it.since) * MS * MILLIONTHS // _factor(core, row, it.state)
    if it.state == OWN:
        core.slowing.at.slowed += 1
    else:
        _end_span(core, row)
    core.slowing.at.slowed -= int(it.wanted == OWN)
    more = _asks(core, row, it.wanted) - _asks(core, row, it.state)
    core.pools[core.slowing.at.pool].free -= more
    core.pools[core.slowing.at.pool].busy += more
    core.demand[placed, core.demand.shape[1] - 1] = _asks(core, row, it.wanted)
    it.state, it.since = it.wanted, now
    ran, factor = now - core.jobs[row].start, _factor(core, row, it.state)
    run, limit = own_run(core, row), core.placements[placed].limit
    it.longer = ran + _real(run * MS - it.done, factor) - run
    if limit * MS > it.done:  # else it is past its planned end
        it.granted = ran + _real(limit * MS - it.done, factor) - limit
    plan_end(core, row)
    core.clock.dirty = core.clock.early = 1


@question
def own_run(core: SlowingCore, row: int) -> int:
    """How long (s) it runs at its own clock, by itself or by its limit."""
    return int(core.placements[core.jobs[row].placed].duration)


@question
def is_at_work(core: SlowingCore, row: int) -> bool:
    """Whether one that has its nodes runs on them."""
    return True


@part
def _real(own: int, factor: int) -> int:
    """How long (s) so many ms of own time take, rounded up."""
    return -(-max(own, 0) * factor // (MS * MILLIONTHS))


@part
def _end_span(core: SlowingCore, row: int) -> None:
    """Write down a span that is over, if it took any time."""
    it, at = core.slowing.pace[row], core.slowing.at
    if core.clock.now > it.since:
        span = core.slowing.span[at.spans]
        span.row, span.start, span.since = row, core.jobs[row].start, it.since
        placed = core.jobs[row].placed
        slower = core.slowing.slower[core.slowing.ladder[placed].first + it.state]
        span.until, span.above = core.clock.now, slower.above * core.placements[placed].nodes
        at.spans += 1


@on(log_is_full, "slowing")
def spans_are_full(core: SlowingCore) -> bool:
    """Each job may have a span end in a pass, and one as it stops."""
    return bool(core.slowing.at.spans + 2 * len(core.slowing.pace) > len(core.slowing.span))


# -- all jobs


@on(pass_begins, "slowing")
def keep_cap(core: SlowingCore) -> None:
    """Slow down or speed up what runs, where the cap does not hold, or some are slowed."""
    at, rows = core.slowing.at, core.slowing.rows
    if core.pools[at.pool].free >= 0 and at.slowed == 0:
        return
    size = _list_youngest_first(core)
    short = -core.pools[at.pool].free
    for i in range(size):
        it = core.slowing.pace[rows[i]]
        short += _asks(core, rows[i], OWN) - _asks(core, rows[i], it.state)
        it.wanted = OWN
    moved = True
    while short > 0 and moved:
        moved = False
        for i in range(size):
            row = rows[i]
            it, ladder = core.slowing.pace[row], core.slowing.ladder[core.jobs[row].placed]
            if ladder.first + it.wanted + 1 < ladder.last:
                short += _asks(core, row, it.wanted + 1) - _asks(core, row, it.wanted)
                it.wanted += 1
                moved = True
                if short <= 0:
                    break
            elif ladder.first == ladder.last and it.unable == 0:
                it.unable = 1
                at.unable += 1
    for i in range(size):
        if core.slowing.pace[rows[i]].wanted != core.slowing.pace[rows[i]].state:
            _change_pace(core, rows[i])


@part
def _list_youngest_first(core: SlowingCore) -> int:
    """List the jobs that run by their starts, the last first, of equals the last row; how many there are."""
    rows, size = core.slowing.rows, 0
    for i in range(core.clock.events):
        row = core.heap[i].row
        if 0 <= row < KIND and is_at_work(core, row):
            place = size
            while place > 0 and _is_younger(core, row, rows[place - 1]):
                rows[place] = rows[place - 1]
                place -= 1
            rows[place] = row
            size += 1
    return size


@part
def _is_younger(core: SlowingCore, row: int, other: int) -> bool:
    mine, its = core.jobs[row].start, core.jobs[other].start
    return bool(mine > its or (mine == its and row > other))
