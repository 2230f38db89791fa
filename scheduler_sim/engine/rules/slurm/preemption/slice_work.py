"""Jobs that stop and go on where they share nodes: what is at work on a node, and what is only held.

A suspended job keeps all that it has of its nodes. Its cores are not busy; a node is held where all of its
jobs are suspended.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import count_busy
from scheduler_sim.engine.rules.shared_nodes.lifecycle import share_of
from scheduler_sim.engine.rules.shared_nodes.state import CORES
from scheduler_sim.engine.rules.slurm.change import expect_change, note_change
from scheduler_sim.engine.rules.slurm.preemption.slice_state import TimeSlicesCore
from scheduler_sim.engine.rules.suspensions import NOT_SUSPENDED, end_span, go_on, suspend


@part
def is_suspended(core: TimeSlicesCore, row: int) -> bool:
    """Whether a job that runs is."""
    return bool(core.gang.pause[row].since != NOT_SUSPENDED)


@part
def stop_work(core: TimeSlicesCore, row: int) -> None:
    """It is suspended from now on."""
    suspend(core, row, core.gang.pause)
    core.gang.at.suspended += 1
    _count_cores(core, row, -1)
    _tell(core)


@part
def take_up_work(core: TimeSlicesCore, row: int) -> None:
    """It goes on, and ends so much later."""
    gang = core.gang
    go_on(core, row, gang.pause, gang.log, gang.spans, gang.at.late)
    gang.at.suspended -= 1
    _count_cores(core, row, 1)
    _tell(core)


@part
def end_suspended(core: TimeSlicesCore, row: int) -> None:
    """One that has ended while it was suspended is so no longer."""
    end_span(core, row, core.gang.pause, core.gang.log, core.gang.spans)
    core.gang.at.suspended -= 1
    _count_cores(core, row, 1)


@part
def _tell(core: TimeSlicesCore) -> None:
    """The schedulers see that jobs have changed, and that planned ends have."""
    note_change(core, core.clock.now)
    expect_change(core)


@part
def _count_cores(core: TimeSlicesCore, row: int, sign: int) -> None:
    placed = core.jobs[row].placed
    module = core.shared_nodes.module[core.placements[placed].module]
    slot = core.shared_nodes.request[placed].slot
    for at in range(slot, slot + core.placements[placed].nodes):
        module.cores += sign * share_of(core, placed, at, CORES)


@on(count_busy, "time_slices")
def count_working(core: TimeSlicesCore, placement: int, sign: int) -> None:
    """One more job is at work on its nodes, or one less; a node on which none is left is held, not busy."""
    part, shared = core.time_slices, core.shared_nodes
    module, slot = core.placements[placement].module, shared.request[placement].slot
    for at in range(slot, slot + core.placements[placement].nodes):
        node = shared.slots[at]
        part.working[node] += sign
        held = int(shared.node[node].jobs > 0 and part.working[node] == 0)
        core.pools[module].busy -= held - part.held[node]
        core.gang.idle_held[module] += held - part.held[node]
        part.held[node] = held
