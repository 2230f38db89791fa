"""Grace: a job that is to make way for another may go on for a while; then it does, if it still runs.

The end of its grace is its planned end, and stands among the events. What is planned to end by the time at
which grace that began now would be over comes soon enough: nobody is preempted for those nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.events import KIND, drop_end, push_end
from scheduler_sim.engine.core.hooks import on, only_with
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.limits import forget_end, plan_end, time_granted
from scheduler_sim.engine.core.moments import event_due, stopped
from scheduler_sim.engine.core.records import Ints, one
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.making_room import (
    MakingRoomCore,
    RoomSizes,
    end_now,
    ends_soon,
    make_way,
    nodes_of,
    nodes_to_come,
)

GRACE_ENDS = 11 * KIND


class Length:
    """How long grace is."""

    seconds: int


class Grace(NamedTuple):
    """Whose grace has begun."""

    length: Length
    until: Ints  # [n] when it has to make way; INF = it is not to
    going: Ints  # [m] how many jobs of a module are to make way


class GraceCore(MakingRoomCore):
    """A core in which jobs that make way have grace."""

    grace: Grace


def blank_grace(sizes: RoomSizes) -> Grace:
    """Return the part; nobody is to make way."""
    return Grace(one(Length), np.full(sizes.rows, INF), np.zeros(sizes.modules, dtype=np.int64))


@on(make_way, "grace")
def begin_grace(core: GraceCore, row: int) -> None:
    """From now on it is planned to end when its grace is over."""
    forget_end(core, row)
    core.grace.until[row] = core.clock.now + core.grace.length.seconds
    plan_end(core, row)
    push_end(core, core.grace.until[row], GRACE_ENDS + row)
    core.grace.going[core.placements[core.jobs[row].placed].module] += 1


@on(time_granted, "grace")
def until_grace_ends(core: GraceCore, row: int, placement: int) -> int:
    """Its limit, or less if it is to make way."""
    return min(core.placements[placement].limit, int(core.grace.until[row]) - core.jobs[row].start)


@on(event_due, "grace")
def grace_ends(core: GraceCore, kind: int, number: int) -> None:
    """It still runs: who ends by itself at this instant has done so."""
    if kind == GRACE_ENDS:
        end_now(core, number)


@on(stopped, "grace")
def forget_grace(core: GraceCore, row: int) -> None:
    """It runs no longer, for whatever reason."""
    if core.grace.until[row] < INF:
        drop_end(core, GRACE_ENDS + row)
        core.grace.until[row] = INF
        core.grace.going[core.placements[core.jobs[row].placed].module] -= 1


@on(ends_soon, "grace")
def ends_within_grace(core: GraceCore, row: int) -> bool:
    """Whether it is planned to end before another that is preempted now would have to."""
    planned = core.jobs[row].start + time_granted(core, row, core.jobs[row].placed)
    return core.clock.now < planned <= core.clock.now + core.grace.length.seconds


@on(nodes_to_come, "grace")
def nodes_within_grace(core: GraceCore, module: int) -> int:
    """The nodes of those that end soon."""
    nodes = 0
    for i in range(core.clock.events):
        row = core.heap[i].row
        if 0 <= row < KIND and ends_soon(core, row) and _is_in(core, row, module):
            nodes += nodes_of(core, row)
    return nodes


@part
def _is_in(core: GraceCore, row: int, module: int) -> bool:
    return core.placements[core.jobs[row].placed].module == module


@only_with("grace", otherwise=True)
def may_pass_blocked(core: GraceCore, module: int) -> bool:
    """Whether first fit is itself in a module; it is as fcfs as long as somebody there is to make way."""
    return bool(core.grace.going[module] == 0)
