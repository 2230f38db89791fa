"""What running components give back, in order of their planned ends, laid out for the tries of a pass.

Each try asks which nodes are back by some time. So the pieces of all who run stand one behind
the other, and every few components there is a snapshot of what is back by then.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import everywhere
from scheduler_sim.engine.slurm.bits import copy, ones_in
from scheduler_sim.engine.slurm.slots import (
    AVAILABLE,
    ENDS,
    GIVEN,
    GIVEN_BY,
    IDLE,
    LEAVING,
    SNAPSHOTS,
    STRIDE,
)
from scheduler_sim.engine.state import Core, Table


@part
def lay_out_ends(core: Core) -> None:
    """Anew, as who runs has changed."""
    every, words = everywhere(core), core.sets.shape[1]
    plan, head = core.release[every], core.pool[every].release_head
    size = core.pool[every].release_tail - head
    stride = size // SNAPSHOTS + 1
    core.slurm[ENDS], core.slurm[STRIDE], core.slurm[GIVEN_BY] = size, stride, size
    for word in range(words):
        core.sets[GIVEN, word] = core.sets[IDLE, word] | core.sets[LEAVING, word]
    at = 0
    for i in range(size + 1):
        core.leave[i] = at
        if i % stride == 0:
            copy(core.given[i // stride], core.sets[GIVEN], 0, words)
        if i == size:
            break
        piece = core.job[plan[head + i].row].piece
        while piece >= 0:
            core.away[at].word, core.away[at].bits = core.piece[piece].word, core.piece[piece].bits
            core.sets[GIVEN, core.away[at].word] |= core.away[at].bits
            at, piece = at + 1, core.piece[piece].next


@part
def planned_end(core: Core, i: int) -> int:
    """Of the ``i``-th to end."""
    every = everywhere(core)
    return core.release[every, core.pool[every].release_head + i].time


@part
def ended_by(core: Core, time: int) -> int:
    """How many are planned to have ended by then."""
    every = everywhere(core)
    ended, size, head = 0, core.slurm[ENDS], core.pool[every].release_head - 1
    while size > 0:  # without branches
        half = (size + 1) // 2
        ended += half * (core.release[every, head + ended + half].time <= time)
        size -= half
    return ended


@part
def give_back_by(core: Core, size: int) -> None:
    """Make GIVEN what is idle, or back once the first ``size`` have ended."""
    slurm = core.slurm
    if slurm[GIVEN_BY] == size:
        return
    snapshot = size // slurm[STRIDE]
    if not snapshot * slurm[STRIDE] <= slurm[GIVEN_BY] <= size:
        copy(core.sets[GIVEN], core.given[snapshot], 0, core.sets.shape[1])
        slurm[GIVEN_BY] = snapshot * slurm[STRIDE]
    for at in range(core.leave[slurm[GIVEN_BY]], core.leave[size]):
        core.sets[GIVEN, core.away[at].word] |= core.away[at].bits
    slurm[GIVEN_BY] = size


@part
def in_words(core: Core, i: int, it: Table) -> bool:
    """Whether the ``i``-th to end runs in the module of a partition."""
    return it.low <= core.away[core.leave[i]].word < it.high


@part
def freed_by(core: Core, it: Table, i: int) -> int:
    """How many nodes of AVAILABLE the ``i``-th to end gives back."""
    total = 0
    if in_words(core, i, it):
        available = core.sets[AVAILABLE]
        for at in range(core.leave[i], core.leave[i + 1]):
            total += ones_in(core.away[at].bits & available[core.away[at].word])
    return total
