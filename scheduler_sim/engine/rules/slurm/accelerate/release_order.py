"""The release order: nodes in the order in which they come free, for the sets of a backfill pass.

In each module idle nodes have the first ranks, then those about to be idle, then those of each
job that runs, by planned end, and last those that are not given back. So the nodes that are back by some
time come first, and the first of a set to be back is its first bit. A set of nodes is in node order,
unless its name says ranks; the plan, and all that a try reads of it, is of ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.engine.core.bits import (
    FULL,
    NONE,
    ONE,
    clear,
    copy,
    count_between,
    equal,
    first_between,
    keep_common,
    last_before,
    lowest_in,
    nth,
    rotate,
)
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.slurm.accelerate.state import AcceleratedCore
from scheduler_sim.engine.rules.slurm.node_space import keep_masked, nodes_picked, put_nodes_up
from scheduler_sim.engine.rules.slurm.planned_ends import (
    ends_that_free,
    everywhere,
    frees_between,
    idle_after,
    last_that_frees,
    next_that_frees,
    running,
    take_idle_after,
)
from scheduler_sim.engine.rules.slurm.state import VECTOR, Partition

MOST_AT_ONCE = 63  # ranks that move


# -- the order is made


@part
def order_by_release(core: AcceleratedCore) -> None:
    """Every node gets its rank anew, by the jobs that run now."""
    every, ranked, idle_end = everywhere(core), core.slurm.sets.rest, core.accelerate.ranks.idle_end
    plan, head = core.releases[every], core.pools[every].release_head
    core.accelerate.progress.ends = running(core)
    core.accelerate.progress.ordering += 1
    clear(ranked, 0, len(ranked))
    for number in range(len(core.slurm.partition)):
        it = core.slurm.partition[number]
        if _is_first_of_its_module(core, number):
            rank = it.low << 6
            for word in range(it.low, it.high):
                rank = _rank_word(core, ranked, word, core.slurm.sets.idle[word], rank)
            for word in range(it.low, it.high):
                rank = _rank_word(core, ranked, word, core.slurm.sets.leaving[word], rank)
            idle_end[it.module, 0] = rank
    for i in range(core.accelerate.progress.ends):
        for module in range(core.clock.modules):
            idle_end[module, i + 1] = idle_end[module, i]
        row, module = plan[head + i].row, 0
        if core.clock.modules > 1:
            module = core.placements[core.jobs[row].placed].module
        piece = core.slurm.job[row].piece
        while piece >= 0:
            word, bits = core.slurm.nodes.piece[piece].word, core.slurm.nodes.piece[piece].bits
            idle_end[module, i + 1] = _rank_word(core, ranked, word, bits, idle_end[module, i + 1])
            piece = core.slurm.nodes.piece[piece].next
    for number in range(len(core.slurm.partition)):
        it = core.slurm.partition[number]
        if _is_first_of_its_module(core, number):
            rank = idle_end[it.module, core.accelerate.progress.ends]
            for word in range(it.low, it.high):  # those that are no nodes have the highest numbers
                rank = _rank_word(core, ranked, word, FULL, rank)
            _rank_those_up(core, it)


@part
def _is_first_of_its_module(core: AcceleratedCore, number: int) -> bool:
    """Whether no partition before this one has its nodes in the same module."""
    for other in range(number):
        if core.slurm.partition[other].module == core.slurm.partition[number].module:
            return False
    return True


@part
def _rank_word(core: AcceleratedCore, ranked: Words, word: int, bits: Any, rank: int) -> int:
    """Give those of a word that have none the ranks from ``rank`` on; returns the next that is free."""
    bits &= ~ranked[word]
    ranked[word] |= bits
    while bits != NONE:
        node = (word << 6) + lowest_in(bits)
        bits &= bits - ONE
        core.accelerate.ranks.node_at[rank], core.accelerate.ranks.rank_of[node] = node, rank
        rank += 1
    return rank


@part
def _rank_those_up(core: AcceleratedCore, it: Partition) -> None:
    """The nodes in service; if that is the whole module, they have its first ranks."""
    if equal(core.slurm.sets.up, core.slurm.nodes.masks[it.module], it.low, it.high):
        copy(core.accelerate.ranks.up, core.slurm.sets.up, it.low, it.high)
    else:
        put_ranks(core, core.accelerate.ranks.up, core.slurm.sets.up, it.low, it.high)


# -- from nodes to ranks and back


@part
def put_ranks(core: AcceleratedCore, target: Words, nodes: Words, low: int, high: int) -> None:
    """``target`` becomes the ranks of a set of nodes."""
    clear(target, low, high)
    for word in range(low, high):
        bits = nodes[word]
        while bits != NONE:
            rank = core.accelerate.ranks.rank_of[(word << 6) + lowest_in(bits)]
            bits &= bits - ONE
            target[rank >> 6] |= ONE << np.uint64(rank & 63)


@on(nodes_picked, "accelerate")
def rank_picked(core: AcceleratedCore, it: Partition) -> None:
    """Make the ranks PICKED those of the nodes PICKED, and list the words they have."""
    ranks, picked, size = core.accelerate.ranks.picked, core.slurm.sets.picked, 0
    spots = core.accelerate.ranks.spots
    for i in range(core.accelerate.progress.spots):
        ranks[spots[i]] = NONE
    for word in range(it.low, it.high):
        bits = picked[word]
        while bits != NONE:
            rank = core.accelerate.ranks.rank_of[(word << 6) + lowest_in(bits)]
            bits &= bits - ONE
            if ranks[rank >> 6] == NONE:
                spots[size] = rank >> 6
                size += 1
            ranks[rank >> 6] |= ONE << np.uint64(rank & 63)
    core.accelerate.progress.spots = size


@part
def put_nodes(core: AcceleratedCore, target: Words, ranks: Words, it: Partition, stop: int) -> None:
    """``target`` becomes the nodes with the ranks of a set before ``stop``."""
    clear(target, it.low, it.high)
    for word in range(it.low, (stop + 63) >> 6):
        bits = ranks[word]
        if word == stop >> 6:
            bits &= (ONE << np.uint64(stop & 63)) - ONE
        while bits != NONE:
            node = core.accelerate.ranks.node_at[(word << 6) + lowest_in(bits)]
            bits &= bits - ONE
            target[node >> 6] |= ONE << np.uint64(node & 63)


@part
def keep_nodes(
    core: AcceleratedCore, target: Words, ranks: Words, it: Partition, stop: int, size: int
) -> None:
    """Of the nodes with ranks before ``stop``, which ``target`` is, stay those with ``ranks``: so many.

    Often that is nearly all of them, and it is quicker to look for the others.
    """
    if 2 * size < stop - (it.low << 6):
        put_nodes(core, target, ranks, it, stop)
        return
    for word in range(it.low, (stop + 63) >> 6):
        bits = ~ranks[word]
        if word == stop >> 6:
            bits &= (ONE << np.uint64(stop & 63)) - ONE
        while bits != NONE:
            node = core.accelerate.ranks.node_at[(word << 6) + lowest_in(bits)]
            bits &= bits - ONE
            target[node >> 6] &= ~(ONE << np.uint64(node & 63))


@on(put_nodes_up, "accelerate")
def put_ranks_up(core: AcceleratedCore, target: Words) -> None:
    """A set of the plan becomes the ranks of the nodes in service."""
    copy(target, core.accelerate.ranks.up, 0, len(target))


@on(keep_masked, "accelerate", unless="reservations")
def keep_ranks_masked(core: AcceleratedCore, it: Partition, target: Words, mask: int) -> None:
    """Of a set of ranks stays what is in a mask."""
    keep_common(target, core.accelerate.ranks.masks[ranked(core, it, mask)], it.low, it.high)


@part
def ranked(core: AcceleratedCore, it: Partition, mask: int) -> int:
    """The row of a mask as ranks, made once for each release order; a whole module has its first ranks."""
    ranks = core.accelerate.ranks
    if ranks.ordered_in[mask] != core.accelerate.progress.ordering:
        ranks.ordered_in[mask] = core.accelerate.progress.ordering
        if mask < core.clock.modules:
            copy(ranks.masks[mask], core.slurm.nodes.masks[mask], it.low, it.high)
        else:
            put_ranks(core, ranks.masks[mask], core.slurm.nodes.masks[mask], it.low, it.high)
    return mask


@part
def words_before(it: Partition, stop: int) -> int:
    """The word behind those with ranks before ``stop``, in whole vectors if it can be."""
    used = ((stop + 63) >> 6) - it.low
    return min(it.low + (used + VECTOR - 1) // VECTOR * VECTOR, it.high)


# -- which nodes STAYING come free when


@part
def _job_with(core: AcceleratedCore, module: int, rank: int) -> int:
    """The job that gives back a rank, as a number in the order of planned ends."""
    found, size = 0, core.accelerate.progress.ends
    while size > 0:  # without branches
        half = (size + 1) // 2
        found += half & core.accelerate.ranks.idle_end[module, found + half] - rank - 1 >> 63
        size -= half
    return found


@on(idle_after, "accelerate")
def ranks_before(core: AcceleratedCore, it: Partition, ended: int) -> int:
    """How many ranks STAYING are idle once so many jobs have ended."""
    stop = core.accelerate.ranks.idle_end[it.module, ended]
    return count_between(core.slurm.sets.staying, it.low << 6, stop)


@on(take_idle_after, "accelerate")
def take_ranks_before(core: AcceleratedCore, it: Partition, ended: int) -> None:
    """Make LATER the nodes with ranks STAYING that are idle once so many jobs have ended."""
    stop, sets = core.accelerate.ranks.idle_end[it.module, ended], core.slurm.sets
    if ended > 0:
        put_nodes(core, sets.later, sets.staying, it, stop)
        return
    for word in range(it.low, it.high):
        sets.later[word] = sets.idle[word] | sets.leaving[word]
    keep_nodes(core, sets.later, sets.staying, it, stop, ranks_before(core, it, 0))


@on(ends_that_free, "accelerate")
def job_with_rank(core: AcceleratedCore, it: Partition, nodes: int) -> int:
    """The job that gives back the last of so many ranks STAYING, and all that end before it."""
    return _job_with(core, it.module, nth(core.slurm.sets.staying, it.low, nodes)) + 1


@on(frees_between, "accelerate")
def has_ranks_between(core: AcceleratedCore, it: Partition, first: int, last: int) -> bool:
    """Whether jobs from the ``first``-th to end up to the one before the ``last`` give back ranks STAYING."""
    idle_end = core.accelerate.ranks.idle_end[it.module]
    return count_between(core.slurm.sets.staying, idle_end[first], idle_end[last]) > 0


@on(next_that_frees, "accelerate")
def job_with_next_rank(core: AcceleratedCore, it: Partition, i: int) -> int:
    """The first job from the ``i``-th on that gives back ranks STAYING, or how many are known."""
    known, idle_end = core.slurm.memory.ended, core.accelerate.ranks.idle_end[it.module]
    rank = first_between(core.slurm.sets.staying, idle_end[i], idle_end[known])
    return known if rank >= idle_end[known] else _job_with(core, it.module, rank)


@on(last_that_frees, "accelerate")
def job_with_last_rank(core: AcceleratedCore, it: Partition) -> int:
    """The last job that does; there is one."""
    stop = core.accelerate.ranks.idle_end[it.module, core.slurm.memory.ended]
    return _job_with(core, it.module, last_before(core.slurm.sets.staying, stop))


# -- a job starts in the pass


@part
def move_to_release_of(core: AcceleratedCore, it: Partition, row: int, listed: int) -> None:
    """The nodes PICKED, idle until now, move to the ranks of ``row``, which runs from now on.

    So many sets of the plan are listed: they move along.
    """
    every, idle_end = everywhere(core), core.accelerate.ranks.idle_end
    head, i = core.pools[every].release_head, 0
    while core.releases[every, head + i].row != row:
        i += 1
    core.accelerate.progress.ends += 1
    core.accelerate.progress.ordering += 1
    for other in range(core.clock.modules):
        for j in range(core.accelerate.progress.ends, i, -1):
            idle_end[other, j] = idle_end[other, j - 1]
    for j in range(i + 1):
        idle_end[it.module, j] -= core.placements[core.jobs[row].placed].nodes
    stop, moved = idle_end[it.module, i + 1], 0
    rank_picked(core, it)
    for word in range(it.low, it.high):
        bits = core.accelerate.ranks.picked[word]
        while bits != NONE:
            first = lowest_in(bits)
            length = min(lowest_in(~(bits >> np.uint64(first))), MOST_AT_ONCE)
            bits &= ~(((ONE << np.uint64(length)) - ONE) << np.uint64(first))
            _move(core, listed, (word << 6) + first - moved, length, stop)
            moved += length


@part
def _move(core: AcceleratedCore, listed: int, first: int, length: int, stop: int) -> None:
    """Move so many ranks from ``first`` on to before ``stop``; those in between move up to the front."""
    ranks = core.accelerate.ranks
    rotate(ranks.up, first, length, stop)
    for i in range(listed):
        rotate(core.accelerate.space[core.accelerate.listed[i].row], first, length, stop)
    for i in range(length):
        ranks.moved[i] = ranks.node_at[first + i]
    for rank in range(first, stop - length):
        ranks.node_at[rank] = ranks.node_at[rank + length]
    for i in range(length):
        ranks.node_at[stop - length + i] = ranks.moved[i]
    for rank in range(first, stop):
        ranks.rank_of[ranks.node_at[rank]] = rank
