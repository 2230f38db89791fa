"""Which running jobs may be preempted for one that waits, and in which order they are tried."""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, ONE, copy
from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.slurm.planned_ends import everywhere, running
from scheduler_sim.engine.rules.slurm.preemption.state import OFF, SUSPEND, Group, PreemptionCore
from scheduler_sim.engine.rules.slurm.state import Partition

NODES_AT_MOST = 1 << 32


@part
def list_candidates(core: PreemptionCore, placement: int) -> int:
    """Put them into ``order``, those that are tried first in front; returns how many. None is suspended."""
    every, size = everywhere(core), 0
    head = core.pools[every].release_head
    for i in range(head, head + running(core)):
        row = core.releases[every, i].row
        if is_candidate(core, placement, row) and _group_of(core, row).mode != SUSPEND:
            core.preemption.order[size], core.preemption.key[size] = row, _key(core, row)
            size += 1
    _sort(core, size)
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
def may_preempt_any(core: PreemptionCore, placement: int) -> bool:
    """Whether a job may preempt any other at all."""
    groups = len(core.preemption.group)
    mine = core.preemption.of[placement] * groups
    for theirs in range(groups):
        if core.preemption.may[mine + theirs] and core.preemption.group[theirs].mode != OFF:
            return True
    return False


@part
def is_safe(core: PreemptionCore, placement: int) -> bool:
    """Whether nobody preempts what runs in a placement."""
    return bool(core.preemption.group[core.preemption.of[placement]].mode == OFF)


@part
def holds_any(core: PreemptionCore, row: int, nodes: Words) -> bool:
    """Whether a job holds any of these nodes."""
    return nodes_held(core, row, nodes) > 0


@question
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
def open_room(core: PreemptionCore, placement: int, it: Partition) -> None:
    """ROOM is what is idle now, with nobody thought away."""
    copy(core.preemption.room, core.slurm.sets.idle, it.low, it.high)


@question
def think_away(core: PreemptionCore, row: int) -> None:
    """Its nodes are in ROOM."""
    piece = core.slurm.job[row].piece
    while piece >= 0:
        core.preemption.room[core.slurm.nodes.piece[piece].word] |= core.slurm.nodes.piece[piece].bits
        piece = core.slurm.nodes.piece[piece].next


@part
def _key(core: PreemptionCore, row: int) -> int:
    """The smallest is tried first: by rank and number of nodes, or the youngest."""
    if core.preemption.rules.youngest_first:
        return -core.jobs[row].start
    return int(_group_of(core, row).rank * NODES_AT_MOST + core.placements[core.jobs[row].placed].nodes)


@part
def _sort(core: PreemptionCore, size: int) -> None:
    """By keys; those with the same in order of submission. (Shell's sort: there may be many.)"""
    order, key, gap = core.preemption.order, core.preemption.key, size // 2
    while gap > 0:
        for i in range(gap, size):
            row, its_key, at = order[i], key[i], i
            while at >= gap and (
                key[at - gap] > its_key or (key[at - gap] == its_key and order[at - gap] > row)
            ):
                order[at], key[at] = order[at - gap], key[at - gap]
                at -= gap
            order[at], key[at] = row, its_key
        gap //= 2
