"""Time slices of gang scheduling (Slurm's gang.c): jobs of a partition that have the same cores take turns.

A job that starts is last on the list of its partition. It works at once if its cores are free of all who
work there, else it is suspended. Every SchedulerTimeSlice, counted from the start of the daemon, those who
had their turn in a partition go to the end of its list, if anybody there is out of work.
"""

from __future__ import annotations

from scheduler_sim.engine.core.events import KIND, drop_end, push_end
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import event_due, pass_begins, runs_once_more, started, stopped
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.preemption.gang_times import note_how_it_ended
from scheduler_sim.engine.rules.slurm.preemption.slice_rows import (
    add_active,
    append_turn,
    fits_beside_active,
    settle_all,
    shadows_on,
    strike_turn,
    take_turns,
)
from scheduler_sim.engine.rules.slurm.preemption.slice_state import FILLER, OUT, TimeSlicesCore
from scheduler_sim.engine.rules.slurm.preemption.slice_work import end_suspended, is_suspended, stop_work

SLICE_ENDS = 13 * KIND
"""Event: a slice is over."""


@on(started, "time_slices")
def take_place(core: TimeSlicesCore, row: int) -> None:
    """It works at once if its cores are free; those of lower tiers then do so on them no longer."""
    part, partition = core.time_slices, _partition_of(core, row)
    core.gang.at.late = 0
    append_turn(core, partition, row)
    part.turn[row].state, part.turn[row].casts = OUT, 0
    if fits_beside_active(core, partition, row):
        add_active(core, partition, row)
        part.turn[row].state, part.turn[row].casts = FILLER, 1
        settle_all(core)
    else:
        stop_work(core, row)
    _await_slice(core)


@on(stopped, "time_slices")
def leave_place(core: TimeSlicesCore, row: int) -> None:
    """Those whose cores are free now go on in the same second."""
    if is_suspended(core, row):
        end_suspended(core, row)
    strike_turn(core, _partition_of(core, row), row)
    note_how_it_ended(core, row)
    settle_all(core)
    core.gang.at.look = 0
    _await_slice(core)


@on(runs_once_more, "time_slices")
def forget_suspensions(core: TimeSlicesCore, row: int) -> None:
    """It begins anew."""
    core.gang.pause[row].seconds = 0


@part
def _partition_of(core: TimeSlicesCore, row: int) -> int:
    """The partition in which a job runs, or ran."""
    return core.slurm.way[core.jobs[row].placed].partition


# -- slices


@part
def _await_slice(core: TimeSlicesCore) -> None:
    """The end of the slice comes, if anybody waits for it."""
    rules = core.time_slices.rules
    waits = _any_waits(core)
    if waits and not rules.awaited:
        from_now = core.clock.now + (rules.over == core.clock.now)
        push_end(core, from_now + (core.slurm.rules.starts_at - from_now) % rules.every, SLICE_ENDS)
    elif rules.awaited and not waits:
        drop_end(core, SLICE_ENDS)
    rules.awaited = int(waits)


@part
def _any_waits(core: TimeSlicesCore) -> bool:
    for partition in range(len(core.time_slices.of)):
        if _waits(core, partition):
            return True
    return False


@part
def _waits(core: TimeSlicesCore, partition: int) -> bool:
    """Whether anybody there is out of work; by numbers alone, as those of higher tiers may have changed."""
    it = core.time_slices.of[partition]
    return bool(it.jobs > 0 and it.active < it.jobs + shadows_on(core, partition))


@on(pass_begins, "time_slices")
def pass_over_now(core: TimeSlicesCore) -> None:
    """A slice that ends now has."""
    core.time_slices.rules.over = core.clock.now


@on(event_due, "time_slices")
def end_slice(core: TimeSlicesCore, kind: int, number: int) -> None:
    """In each partition, the highest tier first, where anybody is out of work, the next have their turn."""
    if kind != SLICE_ENDS:
        return
    core.time_slices.rules.awaited = core.gang.at.late = 0
    core.time_slices.rules.over = core.clock.now
    core.gang.at.look = INF  # a look for jobs past their limit has come before, if at all
    for at in range(len(core.rows.by_tier)):
        partition = int(core.rows.by_tier[at])
        if _waits(core, partition):
            take_turns(core, partition)
    core.gang.at.look = 0
    _await_slice(core)
