"""PreemptMode=SUSPEND,GANG: jobs are suspended while others of higher tiers work on nodes of theirs.

Slurm's gang.c, with OverSubscribe=FORCE:1: in a partition no two jobs have a node in common, so that the
turns of SchedulerTimeSlice change nothing.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import clear, ones_in
from scheduler_sim.engine.core.events import drop_end
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.instant import log_is_full
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.limits import time_granted, time_suspended
from scheduler_sim.engine.core.loop import held_idle
from scheduler_sim.engine.core.moments import limit_changed, started, stopped, write_more
from scheduler_sim.engine.core.record import has_more_to_write
from scheduler_sim.engine.core.state import BY_LIMIT, COMPLETED, FAILED, INF, TIMEOUT
from scheduler_sim.engine.rules.slurm.lifecycle import is_ended_early
from scheduler_sim.engine.rules.slurm.planned_ends import running
from scheduler_sim.engine.rules.slurm.preemption.candidates import holds_any
from scheduler_sim.engine.rules.slurm.preemption.gang_nodes import add_held, running_row
from scheduler_sim.engine.rules.slurm.preemption.gang_state import GangCore
from scheduler_sim.engine.rules.slurm.start import found_from
from scheduler_sim.engine.rules.suspensions import NOT_SUSPENDED, end_span, go_on, suspend


@on(started, "gang")
def suspend_others(core: GangCore, row: int) -> None:
    """It works at once; those that it has taken nodes of do so no longer."""
    if core.gang.at.taken < core.placements[core.jobs[row].placed].nodes:
        share_out(core)


@on(stopped, "gang")
def let_others_go_on(core: GangCore, row: int) -> None:
    """Those whose nodes it worked on go on in the same second."""
    gang, it = core.gang, core.jobs[row]
    if gang.at.suspended == 0:
        return
    if gang.pause[row].since != NOT_SUSPENDED:
        end_span(core, row, gang.pause, gang.log, gang.spans)
        gang.at.suspended -= 1
    by_look = it.state == TIMEOUT and core.placements[it.placed].killed == BY_LIMIT
    by_itself = not by_look and it.state in (COMPLETED, FAILED, TIMEOUT)
    gang.at.look = row if by_look else 0
    gang.at.late = core.slurm.job[row].launch if by_itself else 0
    share_out(core)
    gang.at.look = 0


@part
def share_out(core: GangCore) -> None:
    """From the highest tier down: on nodes of those that work nobody else does."""
    gang, tier = core.gang, INF
    clear(gang.sets.working, 0, len(gang.sets.working))
    while True:
        tier = next_tier(core, tier)
        if tier < 0:
            break
        for i in range(running(core)):
            row = running_row(core, i)
            if tier_of(core, row) == tier:
                gang.covered[row] = holds_any(core, row, gang.sets.working)
        for i in range(running(core)):
            row = running_row(core, i)
            if tier_of(core, row) == tier and not gang.covered[row]:
                add_held(core, row, gang.sets.working)
    _act(core)
    _count_idle_held(core)


@part
def tier_of(core: GangCore, row: int) -> int:
    """The tier of the partition in which a job runs."""
    return core.slurm.way[core.jobs[row].placed].tier


@part
def next_tier(core: GangCore, below: int) -> int:
    """The highest tier of those that run, below another; -1 = there is none."""
    highest = -1
    for i in range(running(core)):
        tier = tier_of(core, running_row(core, i))
        if highest < tier < below:
            highest = tier
    return highest


@part
def _act(core: GangCore) -> None:
    """Suspend those COVERED, and let the others go on: that moves their planned ends, behind those before."""
    gang, i = core.gang, 0
    while i < running(core):
        row = running_row(core, i)
        if gang.covered[row] and gang.pause[row].since == NOT_SUSPENDED:
            suspend(core, row, gang.pause)
            gang.at.suspended += 1
        if gang.covered[row] or gang.pause[row].since == NOT_SUSPENDED:
            i += 1
            continue
        go_on(core, row, gang.pause, gang.log, gang.spans, gang.at.late)
        gang.at.suspended -= 1
        i = 0


@part
def _count_idle_held(core: GangCore) -> None:
    """Nodes that suspended jobs hold, and on which nobody works."""
    gang = core.gang
    gang.idle_held[:] = 0
    clear(gang.sets.others, 0, len(gang.sets.others))
    for i in range(running(core)):
        row = running_row(core, i)
        if gang.covered[row]:
            add_held(core, row, gang.sets.others)
    for number in range(len(core.slurm.partition)):
        it = core.slurm.partition[number]
        held = 0
        for word in range(it.low, it.high):
            bits = gang.sets.others[word] & ~gang.sets.working[word] & ~core.slurm.sets.leaving[word]
            held += ones_in(bits)
        gang.idle_held[it.module] = held


# -- times


@on(time_suspended, "gang")
def suspended_so_far(core: GangCore, row: int) -> int:
    """All spans that are over."""
    return core.gang.pause[row].seconds


@on(time_granted, "gang")
def limit_and_suspended(core: GangCore, row: int, placement: int) -> int:
    """Its limit, and as long as it was suspended; nobody is told to end."""
    return core.placements[placement].limit + core.gang.pause[row].seconds


@on(is_ended_early, "gang")
def while_it_had_more_to_do(core: GangCore, row: int) -> bool:
    """One that is suspended does not end by itself, and what was goes on for longer."""
    pause, it = core.gang.pause[row], core.jobs[row]
    own_end = it.start + pause.seconds + core.placements[it.placed].duration
    return bool(pause.since != NOT_SUSPENDED or core.clock.now < own_end)


@on(found_from, "gang")
def found_by_the_next(core: GangCore, row: int) -> int:
    """The look that ended the job on whose nodes it goes on has passed it by, if it came before that."""
    return core.clock.now + (row < core.gang.at.look)


@on(limit_changed, "gang")
def stay_suspended(core: GangCore, row: int) -> None:
    """One that is suspended has another planned end, and goes on waiting for its nodes."""
    if core.gang.pause[row].since != NOT_SUSPENDED:
        drop_end(core, row)


@on(log_is_full, "gang")
def spans_are_many(core: GangCore) -> bool:
    """Whether the spans that end in one more instant might have no room: one of each job."""
    return core.gang.log.spans + len(core.gang.pause) > len(core.gang.spans)


# -- the timeline


@on(held_idle, "gang")
def held_by_suspended(core: GangCore, module: int) -> int:
    """Nodes that suspended jobs hold, and on which nobody works."""
    held: int = core.gang.idle_held[module]
    return held


@on(has_more_to_write, "gang")
def others_held(core: GangCore, module: int) -> bool:
    """Whether they are as many as when the last row was written."""
    return core.pools[module].written_held != held_by_suspended(core, module)


@on(write_more, "gang")
def write_held(core: GangCore, module: int, row: int) -> None:
    """Write how many they are."""
    core.pools[module].written_held = core.idle_rows[row].held = core.gang.idle_held[module]
