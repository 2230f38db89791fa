"""Which running jobs may be preempted for one that waits, and in which order they are tried."""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, ONE
from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.slurm.planned_ends import everywhere, running
from scheduler_sim.engine.rules.slurm.preemption.state import OFF, SUSPEND, Group, PreemptionCore

NODES_AT_MOST = 1 << 32


@part
def list_candidates(core: PreemptionCore, placement: int) -> int:
    """Put them into ``order``, those that are tried first in front; returns how many. None is suspended."""
    every, size = everywhere(core), 0
    head = core.pools[every].release_head
    for i in range(head, head + running(core)):
        row = core.releases[every, i].row
        if is_candidate(core, placement, row) and _group_of(core, row).mode != SUSPEND:
            _insert(core, row, size)
            size += 1
    return size


@part
def _group_of(core: PreemptionCore, row: int) -> Group:
    group: Group = core.preemption.group[core.preemption.of[core.jobs[row].placed]]
    return group


@part
def is_candidate(core: PreemptionCore, placement: int, row: int) -> bool:
    """Whether a running job may be preempted: by its group, its nodes and its age."""
    preemption = core.preemption
    mine, theirs = preemption.of[placement], preemption.of[core.jobs[row].placed]
    if preemption.may[mine * len(preemption.group) + theirs] == 0 or preemption.group[theirs].mode == OFF:
        return False
    if core.clock.now < core.jobs[row].start + preemption.group[theirs].exempt:
        return False
    it = core.slurm.partition[core.slurm.way[placement].partition]
    return holds_any(core, row, core.slurm.nodes.masks[it.members])


@part
def holds_any(core: PreemptionCore, row: int, nodes: Words) -> bool:
    """Whether a job holds any of these nodes."""
    return nodes_held(core, row, nodes) > 0


@part
def nodes_held(core: PreemptionCore, row: int, nodes: Words) -> int:
    """How many of these nodes a job holds."""
    piece, held = core.slurm.job[row].piece, 0
    while piece >= 0:
        bits = core.slurm.nodes.piece[piece].bits & nodes[core.slurm.nodes.piece[piece].word]
        while bits != NONE:
            bits &= bits - ONE
            held += 1
        piece = core.slurm.nodes.piece[piece].next
    return held


@question
def think_away(core: PreemptionCore, row: int) -> None:
    """Its nodes are in ROOM."""
    piece = core.slurm.job[row].piece
    while piece >= 0:
        core.preemption.room[core.slurm.nodes.piece[piece].word] |= core.slurm.nodes.piece[piece].bits
        piece = core.slurm.nodes.piece[piece].next


@part
def _insert(core: PreemptionCore, row: int, size: int) -> None:
    """By rank and number of nodes, or the youngest first; then in order of submission."""
    preemption, at = core.preemption, size
    if preemption.rules.youngest_first:
        key = -core.jobs[row].start
    else:
        key = _group_of(core, row).rank * NODES_AT_MOST + core.placements[core.jobs[row].placed].nodes
    while at > 0 and (
        preemption.key[at - 1] > key or (preemption.key[at - 1] == key and preemption.order[at - 1] > row)
    ):
        preemption.key[at], preemption.order[at] = preemption.key[at - 1], preemption.order[at - 1]
        at -= 1
    preemption.key[at], preemption.order[at] = key, row
