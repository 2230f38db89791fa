"""Runs that ended in a requeue, as rules that preempt write them down: a job knows of its last run alone."""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Table
from scheduler_sim.engine.core.run_time import time_at_work
from scheduler_sim.engine.core.state import Core


class LostRun:
    """A run that ended in a requeue."""

    row: int
    placed: int
    start: int
    end: int
    worked: int  # s of its run time that it has done


class Log:
    """How many runs stand in the table of those that were lost; whoever reads them sets it to 0."""

    lost: int


@part
def write_down(core: Core, row: int, log: Log, lost: Table[LostRun]) -> None:
    """The run that a job loses."""
    run = lost[log.lost]
    run.row, run.placed = row, core.jobs[row].placed
    run.start, run.end = core.jobs[row].start, core.clock.now
    run.worked = time_at_work(core, row, core.clock.now)
    log.lost += 1
