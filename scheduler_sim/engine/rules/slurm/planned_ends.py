"""Running jobs in order of their planned ends, and which nodes are idle once so many of them have ended.

Sets named STAYING and LATER are those of the slot search: see ``slot_search``.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, copy, count_common, keep_common
from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.slurm.state import Partition, SlurmCore


@part
def everywhere(core: SlurmCore) -> int:
    """The list of planned ends in all modules together, which predictions read."""
    return len(core.pools) - 1


@part
def running(core: SlurmCore) -> int:
    """How many jobs run."""
    every = core.pools[everywhere(core)]
    return every.release_tail - every.release_head


@part
def planned_end(core: SlurmCore, i: int) -> int:
    """Of the ``i``-th job to end."""
    every = everywhere(core)
    return core.releases[every, core.pools[every].release_head + i].time


@part
def ended_by(core: SlurmCore, time: int) -> int:
    """How many jobs are planned to have ended by then."""
    every = everywhere(core)
    ended, size, head = 0, running(core), core.pools[every].release_head - 1
    while size > 0:  # without branches
        half = (size + 1) // 2
        ended += half & core.releases[every, head + ended + half].time - time - 1 >> 63
        size -= half
    return ended


@part
def put_idle_once(core: SlurmCore, it: Partition, ended: int, target: Words) -> None:
    """``target`` becomes the nodes of a module that are idle once so many jobs have ended."""
    every, sets = everywhere(core), core.slurm.sets
    for word in range(it.low, it.high):
        target[word] = sets.idle[word] | sets.leaving[word]
    head = core.pools[every].release_head
    for i in range(head, head + ended):
        piece = core.slurm.job[core.releases[every, i].row].piece
        while piece >= 0:
            target[core.slurm.nodes.piece[piece].word] |= core.slurm.nodes.piece[piece].bits
            piece = core.slurm.nodes.piece[piece].next


@question
def idle_after(core: SlurmCore, it: Partition, ended: int) -> int:
    """How many of the nodes STAYING are idle once so many jobs have ended."""
    put_idle_once(core, it, ended, core.slurm.sets.available)
    return count_common(core.slurm.sets.staying, core.slurm.sets.available, it.low, it.high)


@question
def take_idle_after(core: SlurmCore, it: Partition, ended: int) -> None:
    """Make LATER those of the nodes STAYING that are idle once so many jobs have ended."""
    put_idle_once(core, it, ended, core.slurm.sets.available)
    copy(core.slurm.sets.later, core.slurm.sets.staying, it.low, it.high)
    keep_common(core.slurm.sets.later, core.slurm.sets.available, it.low, it.high)


@question
def ends_that_free(core: SlurmCore, it: Partition, nodes: int) -> int:
    """How many jobs must have ended for so many of the nodes STAYING to be idle; more than are idle now."""
    ended = 1
    while idle_after(core, it, ended) < nodes:
        ended += 1
    return ended


@question
def frees_between(core: SlurmCore, it: Partition, first: int, last: int) -> bool:
    """Whether any job from the ``first``-th to end up to the one before the ``last`` holds nodes STAYING."""
    every, staying = everywhere(core), core.slurm.sets.staying
    head = core.pools[every].release_head
    for i in range(head + first, head + last):
        piece = core.slurm.job[core.releases[every, i].row].piece
        while piece >= 0:
            word = core.slurm.nodes.piece[piece].word
            if it.low <= word < it.high and core.slurm.nodes.piece[piece].bits & staying[word] != NONE:
                return True
            piece = core.slurm.nodes.piece[piece].next
    return False


@question
def next_that_frees(core: SlurmCore, it: Partition, i: int) -> int:
    """The first job from the ``i``-th on that holds nodes STAYING, or how many are known."""
    known = core.slurm.memory.ended
    while i < known and not frees_between(core, it, i, i + 1):
        i += 1
    return min(i, known)


@question
def last_that_frees(core: SlurmCore, it: Partition) -> int:
    """The last job that does; there is one."""
    i = core.slurm.memory.ended - 1
    while not frees_between(core, it, i, i + 1):
        i -= 1
    return i
