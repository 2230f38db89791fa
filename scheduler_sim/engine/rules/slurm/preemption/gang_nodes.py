"""Nodes that several jobs hold: one of them works there, the others are suspended.

A node is idle when no job holds it, and leaves (COMPLETING) as long as a job that has ended does.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, clear, count_common, ones_in
from scheduler_sim.engine.core.events import KIND
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import free_nodes, give_back, take_nodes
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.slurm.backfill_pass import any_unallocated
from scheduler_sim.engine.rules.slurm.lifecycle import NODES_BACK
from scheduler_sim.engine.rules.slurm.nodes import (
    allocate,
    deallocate,
    nodes_given_back,
    set_leaving,
    take_picked,
)
from scheduler_sim.engine.rules.slurm.planned_ends import everywhere, running
from scheduler_sim.engine.rules.slurm.preemption.gang_state import GangCore
from scheduler_sim.engine.rules.slurm.state import Partition, SlurmCore


@part
def running_row(core: SlurmCore, i: int) -> int:
    """The ``i``-th of the jobs that run or are suspended."""
    every = everywhere(core)
    return core.releases[every, core.pools[every].release_head + i].row


@part
def add_held(core: SlurmCore, row: int, target: Words) -> None:
    """Add the nodes that a job holds to a set."""
    piece = core.slurm.job[row].piece
    while piece >= 0:
        target[core.slurm.nodes.piece[piece].word] |= core.slurm.nodes.piece[piece].bits
        piece = core.slurm.nodes.piece[piece].next


@part
def _add_leaving(core: GangCore, row: int, target: Words) -> None:
    """Add the nodes of all that have ended but ``row``, and have yet to come back."""
    for i in range(core.clock.events):
        other = core.heap[i].row - NODES_BACK
        if 0 <= other < KIND and other != row:
            add_held(core, other, target)


# -- taken and given back


@on(allocate, "gang", unless="time_slices")
def take_of_others(core: GangCore, row: int, placement: int) -> None:
    """It takes the nodes PICKED, of which others may hold some; it has not been suspended yet."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    core.gang.at.taken = count_common(core.slurm.sets.picked, core.slurm.sets.idle, it.low, it.high)
    core.gang.pause[row].seconds = 0
    take_picked(core, row, placement)


@on(take_nodes, "gang", unless="time_slices")
def take_idle(core: GangCore, placement: int) -> None:
    """Those that it has taken were idle, or not."""
    core.pools[core.placements[placement].module].free -= core.gang.at.taken


@on(free_nodes, "gang", unless="time_slices")
def free_later(core: GangCore, placement: int) -> None:
    """They are idle only where no other holds them."""
    core.gang.at.module = core.placements[placement].module


@on(deallocate, "gang", unless="time_slices")
def leave_to_others(core: GangCore, row: int) -> None:
    """The nodes of ``row`` that no other holds are idle again."""
    others, idle, back = core.gang.sets.others, core.slurm.sets.idle, 0
    clear(others, 0, len(others))
    _add_leaving(core, row, others)
    for i in range(running(core)):
        if running_row(core, i) != row:
            add_held(core, running_row(core, i), others)
    piece = core.slurm.job[row].piece
    while piece >= 0:
        following, word = core.slurm.nodes.piece[piece].next, core.slurm.nodes.piece[piece].word
        bits = core.slurm.nodes.piece[piece].bits & ~others[word]
        idle[word] |= bits
        back += ones_in(bits)
        core.slurm.nodes.piece[piece].next = core.slurm.memory.spare
        core.slurm.memory.spare = piece
        piece = following
    core.slurm.job[row].piece = -1
    give_back(core, core.gang.at.module, back)
    nodes_given_back(core)


@on(set_leaving, "gang", unless="time_slices")
def set_leaving_of_all(core: GangCore, row: int, leaving: bool) -> None:
    """The nodes of ``row`` are COMPLETING; or only those that others have ended on as well."""
    if leaving:
        add_held(core, row, core.slurm.sets.leaving)
    else:
        clear(core.slurm.sets.leaving, 0, len(core.slurm.sets.leaving))
        _add_leaving(core, row, core.slurm.sets.leaving)


@on(any_unallocated, "gang", unless="time_slices")
def any_held_by_none(core: GangCore, it: Partition) -> bool:
    """Whether any of the nodes PICKED has no job, at work or suspended."""
    held = core.gang.sets.others
    clear(held, it.low, it.high)
    for i in range(running(core)):
        add_held(core, running_row(core, i), held)
    for word in range(it.low, it.high):
        if core.slurm.sets.picked[word] & ~held[word] != NONE:
            return True
    return False
