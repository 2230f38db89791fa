"""Runs that ended in a requeue, as rules that preempt write them down: a job knows of its last run alone."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Table
from scheduler_sim.engine.core.run_time import time_at_work
from scheduler_sim.engine.core.state import Core

WHOLE = 1_000_000
"""Millionths of a node."""


class LostRun:
    """A run that ended in a requeue."""

    row: int
    placed: int
    start: int
    end: int
    worked: int  # s of its run time that it has done
    nodes: int
    parts: int  # of nodes, in millionths
    cores: int  # thousandths, of all nodes; -1 = not known


class Log:
    """How many runs stand in the table of those that were lost; whoever reads them sets it to 0."""

    lost: int
    unbegun: int  # jobs that were requeued before they began, of which none stands there


@question
def share_held(core: Core, placement: int) -> tuple[int, int]:
    """What a job has of its nodes: parts of nodes in millionths, cores in thousandths (-1: not known)."""
    return core.placements[placement].nodes * WHOLE, -1


@part
def write_down(core: Core, row: int, log: Log, lost: Table[LostRun]) -> None:
    """The run that a job loses."""
    run, placed = lost[log.lost], core.jobs[row].placed
    run.row, run.placed = row, placed
    run.start, run.end = core.jobs[row].start, core.clock.now
    run.worked, run.nodes = time_at_work(core, row, core.clock.now), core.placements[placed].nodes
    run.parts, run.cores = share_held(core, placed)
    log.lost += 1
