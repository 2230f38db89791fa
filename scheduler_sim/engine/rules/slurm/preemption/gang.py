"""PreemptMode=SUSPEND,GANG: jobs are suspended while others of higher tiers work on nodes of theirs.

Slurm's gang.c on whole nodes, with OverSubscribe=FORCE:1: in a partition no two jobs have a node in common,
so that the turns of SchedulerTimeSlice change nothing. Where jobs share nodes they take them: see ``slices``.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import clear, ones_in
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import started, stopped
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.planned_ends import running
from scheduler_sim.engine.rules.slurm.preemption.candidates import holds_any
from scheduler_sim.engine.rules.slurm.preemption.gang_nodes import add_held, running_row
from scheduler_sim.engine.rules.slurm.preemption.gang_state import GangCore
from scheduler_sim.engine.rules.slurm.preemption.gang_times import note_how_it_ended
from scheduler_sim.engine.rules.suspensions import NOT_SUSPENDED, end_span, go_on, suspend


@on(started, "gang", unless="time_slices")
def suspend_others(core: GangCore, row: int) -> None:
    """It works at once; those that it has taken nodes of do so no longer."""
    if core.gang.at.taken < core.placements[core.jobs[row].placed].nodes:
        share_out(core)


@on(stopped, "gang", unless="time_slices")
def let_others_go_on(core: GangCore, row: int) -> None:
    """Those whose nodes it worked on go on in the same second."""
    gang = core.gang
    if gang.at.suspended == 0:
        return
    if gang.pause[row].since != NOT_SUSPENDED:
        end_span(core, row, gang.pause, gang.log, gang.spans)
        gang.at.suspended -= 1
    note_how_it_ended(core, row)
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
