"""Who leaves next of those that run on some nodes, by planned ends.

Of so many jobs in the order of their ends it is kept together on which nodes they run: thousands may run
elsewhere before one ends there.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, clear, words
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.slurm.cons_tres.room import place_of
from scheduler_sim.engine.rules.slurm.cons_tres.state import LEAVE_AT_MOST, ConsTresCore
from scheduler_sim.engine.rules.slurm.planned_ends import everywhere, running
from scheduler_sim.engine.rules.slurm.state import Partition

FEW, MANY = 3, 6  # binary digits of how many jobs are kept together


@part
def placed_of(core: ConsTresCore, i: int) -> int:
    """The placement in which the ``i``-th job to end runs."""
    every = everywhere(core)
    return int(core.jobs[core.releases[every, core.pools[every].release_head + i].row].placed)


@part
def runs_among(core: ConsTresCore, it: Partition, placement: int, nodes: Words) -> bool:
    """Whether a job runs on any of these nodes."""
    if core.placements[placement].module != it.module:
        return False
    slot = core.shared_nodes.request[placement].slot
    for i in range(slot, slot + core.placements[placement].nodes):
        word, bit = place_of(core, it, core.shared_nodes.slots[i])
        if nodes[word] & bit:
            return True
    return False


@part
def next_among(core: ConsTresCore, it: Partition, nodes: Words, i: int) -> int:
    """The first job from the ``i``-th to end on that runs on any of these nodes, or how many run."""
    _list_nodes(core)
    size, few, many = running(core), core.cons_tres.leave_few, core.cons_tres.leave_many
    listed = min(size, LEAVE_AT_MOST)
    while i < size:
        if i & ((1 << MANY) - 1) == 0 and i < listed and not _meet(many[i >> MANY], nodes, it):
            i += 1 << MANY
        elif i & ((1 << FEW) - 1) == 0 and i < listed and not _meet(few[i >> FEW], nodes, it):
            i += 1 << FEW
        elif runs_among(core, it, placed_of(core, i), nodes):
            return i
        else:
            i += 1
    return size


@part
def _meet(one: Words, other: Words, it: Partition) -> bool:
    """Whether two sets have a node of a module in common."""
    for word in words(it.low, it.high):
        if one[word] & other[word] != NONE:
            return True
    return False


@part
def _list_nodes(core: ConsTresCore) -> None:
    """List the nodes of those that run, if anything has changed."""
    known, changes = core.cons_tres.known, core.shared_nodes.rules.changes
    if known.listed == changes:
        return
    known.listed = changes
    size, width = min(running(core), LEAVE_AT_MOST), core.cons_tres.leave_few.shape[1]
    for row in range((size + (1 << FEW) - 1) >> FEW):
        clear(core.cons_tres.leave_few[row], 0, width)
    for row in range((size + (1 << MANY) - 1) >> MANY):
        clear(core.cons_tres.leave_many[row], 0, width)
    for i in range(size):
        placement = placed_of(core, i)
        it = core.slurm.partition[core.slurm.way[placement].partition]
        slot = core.shared_nodes.request[placement].slot
        for at in range(slot, slot + core.placements[placement].nodes):
            word, bit = place_of(core, it, core.shared_nodes.slots[at])
            core.cons_tres.leave_few[i >> FEW, word] |= bit
            core.cons_tres.leave_many[i >> MANY, word] |= bit
