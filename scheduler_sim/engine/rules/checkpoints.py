"""Checkpoints: a job that has to run once more goes on from the last that it wrote.

It writes one each time it has worked for an interval since the one before, but not at its very end. A run
that goes on from one first takes some time to read it.
"""

from __future__ import annotations

from typing import NamedTuple

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.limits import set_run_time
from scheduler_sim.engine.core.moments import runs_once_more
from scheduler_sim.engine.core.records import Table, table
from scheduler_sim.engine.core.run_time import time_at_work
from scheduler_sim.engine.core.state import Core


class Habit:
    """How a job writes checkpoints in a placement."""

    work: int  # s it works there in all, its run time without checkpoints
    interval: int  # s it works from one to the next, 0 = it writes none
    cost: int  # s it takes to write one
    restart: int  # s it takes to read one


class Saved:
    """The last checkpoint of a job."""

    left: int  # s of work that are left after it ...
    work: int  # ... of so many, where it was written; 0 = there is none


class Checkpoints(NamedTuple):
    """How jobs write checkpoints, and their last ones."""

    habit: Table[Habit]  # [p]
    saved: Table[Saved]  # [n]


class CheckpointsCore(Core):
    """A core with jobs that write checkpoints."""

    checkpoints: Checkpoints


class CheckpointSizes(NamedTuple):
    """How much room there is to be."""

    jobs: int
    placements: int


def blank_checkpoints(sizes: CheckpointSizes) -> Checkpoints:
    """Return the part; nobody writes any."""
    return Checkpoints(table(Habit, sizes.placements), table(Saved, sizes.jobs))


@on(runs_once_more, "checkpoints")
def go_on_from_the_last(core: CheckpointsCore, row: int) -> None:
    """What its run has saved stays done; what ran to its end is done all over again."""
    it = core.jobs[row]
    if it.start < 0 or core.checkpoints.habit[it.placed].interval == 0:
        return
    habit, saved = core.checkpoints.habit[it.placed], core.checkpoints.saved[row]
    worked, left = time_at_work(core, row, it.end), work_left(core, row, it.placed)
    if worked >= whole_run(core, row, it.placed):
        saved.left = saved.work = 0
    else:
        since = worked - (habit.restart if saved.work > 0 else 0)
        written = since // (habit.interval + habit.cost)
        if written > 0:
            saved.left, saved.work = left - written * habit.interval, habit.work
    for placement in range(it.first, it.last):
        if core.checkpoints.habit[placement].interval > 0:
            set_run_time(core, placement, whole_run(core, row, placement))


@part
def work_left(core: CheckpointsCore, row: int, placement: int) -> int:
    """How long a job has to work yet in a placement (s): as a share of all its work, rounded up."""
    saved, work = core.checkpoints.saved[row], core.checkpoints.habit[placement].work
    if saved.work == 0:
        return work
    return -(-saved.left * work // saved.work)


@part
def whole_run(core: CheckpointsCore, row: int, placement: int) -> int:
    """How long its next run takes there (s): to read the last checkpoint, to work, and to write others."""
    habit, left = core.checkpoints.habit[placement], work_left(core, row, placement)
    restart = habit.restart if core.checkpoints.saved[row].work > 0 else 0
    return restart + left + max((left - 1) // habit.interval, 0) * habit.cost
