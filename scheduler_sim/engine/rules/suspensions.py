"""Jobs that are suspended for others: they keep what they have done, and end so much later.

A rule that suspends keeps a ``Pause`` of each job, and writes down each span that is over.
"""

from __future__ import annotations

from scheduler_sim.engine.core.events import drop_end
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import count_busy
from scheduler_sim.engine.core.limits import forget_end, plan_end
from scheduler_sim.engine.core.records import Table
from scheduler_sim.engine.core.state import Core

NOT_SUSPENDED = -1


class Pause:
    """Of a job that runs."""

    since: int  # since when it is suspended; NOT_SUSPENDED = it works
    seconds: int  # for which it was, since its start, up to the last time it went on


class Suspension:
    """A span in which a job was suspended."""

    row: int
    start: int  # of its run
    since: int
    until: int


class SpanLog:
    """How many spans stand in the table; whoever reads them sets it to 0."""

    spans: int


@part
def suspend(core: Core, row: int, pause: Table[Pause]) -> None:
    """From now on it does nothing: its end will not come, and its planned end stays where it is."""
    drop_end(core, row)
    pause[row].since = core.clock.now
    _count(core, row, -1)


@part
def go_on(
    core: Core, row: int, pause: Table[Pause], log: SpanLog, spans: Table[Suspension], late: int
) -> None:
    """It works again, in truth since ``late`` s ago, and ends so much later."""
    late = min(late, core.jobs[row].end - pause[row].since)  # not before now
    forget_end(core, row)
    end_span(core, row, pause, log, spans)
    pause[row].seconds -= late
    plan_end(core, row)


@part
def end_span(core: Core, row: int, pause: Table[Pause], log: SpanLog, spans: Table[Suspension]) -> None:
    """It is suspended no longer; written down, if it was so for any time."""
    it, since = pause[row], pause[row].since
    if core.clock.now > since:
        span = spans[log.spans]
        span.row, span.start = row, core.jobs[row].start
        span.since, span.until = since, core.clock.now
        log.spans += 1
    it.seconds += core.clock.now - since
    it.since = NOT_SUSPENDED
    _count(core, row, 1)


@part
def _count(core: Core, row: int, sign: int) -> None:
    """Its nodes are busy, or no longer."""
    placed = core.jobs[row].placed
    count_busy(core, placed, sign)
    core.pools[core.placements[placed].module].touched = 1
