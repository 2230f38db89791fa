"""Which nodes: held by name, chosen as Slurm chooses them, given back.

A choice is a best fit by consecutive nodes: the smallest run of free nodes that suffices,
else the largest one and so on with what is left (Slurm's documentation of select/linear and
select/cons_tres). Nodes of less weight go first (slurm.conf(5), Weight), and those that a
count in the constraint asks for before all others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.engine.core.bits import (
    NONE,
    ONE,
    add,
    clear,
    copy,
    count,
    count_common,
    keep_common,
    lowest_in,
    put,
    take_out,
)
from scheduler_sim.engine.core.hooks import answered_by, event, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import give_back
from scheduler_sim.engine.core.records import Ints, Words
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.advance_reservations import leave_out_reserved
from scheduler_sim.engine.rules.slurm.state import Partition, SlurmCore

SIXTY_THREE = np.uint64(63)
LAST = (1 << 32) - 1


@part
def picked_from(core: SlurmCore, placement: int, source: Words) -> bool:
    """Choose the nodes of a placement among those of a set, if they suffice."""
    way = core.slurm.way[placement]
    it, available = core.slurm.partition[way.partition], core.slurm.sets.available
    copy(available, source, it.low, it.high)
    keep_common(available, core.slurm.nodes.masks[core.slurm.nodes.choice[way.choice].mask], it.low, it.high)
    leave_out_reserved(core, available, core.clock.now, core.clock.now + core.placements[placement].limit)
    return suffices(core, placement, available) and pick(core, placement, available)


@question
def pick(core: SlurmCore, placement: int, source: Words) -> bool:
    """Choose the nodes of a placement among those of a set that suffices; the choice is PICKED.

    Whether there is one: any nodes will do, but where it matters which lie together.
    """
    pick_best_fit(core, placement, source)
    return True


@part
def pick_best_fit(core: SlurmCore, placement: int, source: Words) -> None:
    """Choose them by consecutive nodes."""
    it, choice = (
        core.slurm.partition[core.slurm.way[placement].partition],
        core.slurm.nodes.choice[core.slurm.way[placement].choice],
    )
    picked = core.slurm.sets.picked
    clear(picked, it.low, it.high)
    wanted = core.placements[placement].nodes
    for i in range(choice.first, choice.last):
        nodes = core.slurm.nodes.masks[core.slurm.nodes.need[i].mask]
        there = count_common(picked, nodes, it.low, it.high)
        if there < core.slurm.nodes.need[i].count:
            wanted -= core.slurm.nodes.need[i].count - there
            _add_lightest(
                core, it, source, core.slurm.nodes.need[i].mask, core.slurm.nodes.need[i].count - there
            )
    wanted -= added_first(core, it, source, choice.mask, wanted)
    _add_lightest(core, it, source, choice.mask, wanted)


@question
def weighed_anew(core: SlurmCore) -> bool:
    """Whether nodes may weigh something else than when those PICKED were chosen."""
    return False


@question
def added_first(core: SlurmCore, it: Partition, source: Words, mask: int, wanted: int) -> int:
    """Add to PICKED nodes of a set within a mask that go before all others; returns how many."""
    return 0


@part
def suffices(core: SlurmCore, placement: int, source: Words) -> bool:
    """Whether a set within its mask has enough nodes for a placement, and enough of each kind it needs."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    if count(source, it.low, it.high) < core.placements[placement].nodes:
        return False
    return has_needs(core, placement, source)


@question
def least_nodes(core: SlurmCore, placement: int) -> int:
    """How many nodes a placement must have."""
    return int(core.placements[placement].nodes)


@question
def would_do(core: SlurmCore, placement: int, source: Words) -> bool:
    """Whether a placement would have its nodes among those of a set within its mask."""
    return suffices(core, placement, source)


@part
def has_needs(core: SlurmCore, placement: int, source: Words) -> bool:
    """Whether a set has enough nodes of each kind that the choice of a placement counts."""
    it, choice = (
        core.slurm.partition[core.slurm.way[placement].partition],
        core.slurm.nodes.choice[core.slurm.way[placement].choice],
    )
    for i in range(choice.first, choice.last):
        nodes = core.slurm.nodes.masks[core.slurm.nodes.need[i].mask]
        if count_common(source, nodes, it.low, it.high) < core.slurm.nodes.need[i].count:
            return False
    return True


@part
def _add_lightest(core: SlurmCore, it: Partition, source: Words, mask: int, wanted: int) -> None:
    """Add to PICKED so many nodes of a set that are in a mask, those of the least weight first."""
    rest = core.slurm.sets.rest
    for weight in range(it.lightest, behind_heaviest(core, it)):
        if wanted == 0:
            return
        copy(rest, source, it.low, it.high)
        keep_common(rest, core.slurm.nodes.masks[mask], it.low, it.high)
        keep_of_weight(core, it, rest, weight)
        take_out(rest, core.slurm.sets.picked, it.low, it.high)
        there = count(rest, it.low, it.high)
        some = min(wanted, there)
        if some == there:
            add(core.slurm.sets.picked, rest, it.low, it.high)
        else:
            add_best_fit(core.slurm.sets.picked, rest, core.slurm.nodes.run, it.low, it.high, some)
        wanted -= some


@question
def behind_heaviest(core: SlurmCore, it: Partition) -> int:
    """Up to the weight before this one nodes are looked for."""
    return it.heaviest


@question
def keep_of_weight(core: SlurmCore, it: Partition, nodes: Words, weight: int) -> None:
    """Keep those of a set that are of a weight, by its row of ``masks``."""
    if it.heaviest - it.lightest > 1:
        keep_common(nodes, core.slurm.nodes.masks[weight], it.low, it.high)


@part
def add_best_fit(picked: Words, free: Words, run: Ints, low: int, high: int, wanted: int) -> None:
    """Add so many nodes of a set that has them, run by run: the tightest, or else the largest.

    ``run`` has room for all its runs.
    """
    if wanted == 0:
        return
    size = _list_runs(free, run, low, high, wanted)
    largest = _largest_below(run, size, INF)
    while largest >> 32 < wanted:
        begin, length = LAST - (largest & LAST), largest >> 32
        put(picked, begin, begin + length)
        wanted -= length
        largest = _largest_below(run, size, largest)
    begin = _tightest(run, size, wanted << 32, largest) & LAST
    put(picked, begin, begin + wanted)


@part
def _largest_below(run: Ints, size: int, bound: int) -> int:
    """The largest run that comes behind another in order of size, then of place."""
    largest = 0
    for i in range(size):
        if run[i] < bound:
            largest = max(largest, run[i])
    return largest


@part
def _tightest(run: Ints, size: int, wanted: int, largest: int) -> int:
    """The smallest run that suffices, up to the largest; its lower half is where it begins."""
    tightest = INF
    for i in range(size):
        if wanted <= run[i] <= largest:
            tightest = min(tightest, run[i] ^ LAST)
    return tightest


@part
def _list_runs(bits: Words, run: Ints, low: int, high: int, wanted: int) -> int:
    """List the runs of a set, or the first that is as long as wanted; returns how many.

    A run is a number: its length in the upper half, in the lower how far its begin is before LAST.
    """
    size, begin, last = 0, -1, NONE
    for word in range(low, high + 1):
        here = bits[word] if word < high else NONE
        edges = here ^ (here << ONE | last)  # where a run begins, or the node behind one is
        last = here >> SIXTY_THREE
        while edges != NONE:
            node = (word << 6) + lowest_in(edges)
            edges &= edges - ONE
            if begin < 0:
                begin = node
                continue
            run[size] = (node - begin << 32) + LAST - begin
            if node - begin == wanted:
                run[0] = run[size]
                return 1
            size, begin = size + 1, -1
    return size


@part
def take_picked(core: SlurmCore, row: int, placement: int) -> None:
    """The nodes PICKED belong to ``row`` from now on."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    picked, idle = core.slurm.sets.picked, core.slurm.sets.idle
    last = -1
    for word in range(it.low, it.high):
        if picked[word] == NONE:
            continue
        piece = core.slurm.memory.spare
        core.slurm.memory.spare = core.slurm.nodes.piece[piece].next
        (
            core.slurm.nodes.piece[piece].word,
            core.slurm.nodes.piece[piece].bits,
            core.slurm.nodes.piece[piece].next,
        ) = word, picked[word], -1
        if last < 0:
            core.slurm.job[row].piece = piece
        else:
            core.slurm.nodes.piece[last].next = piece
        last = piece
        idle[word] &= ~picked[word]


allocate = answered_by(take_picked)


@question
def deallocate(core: SlurmCore, row: int) -> None:
    """The nodes of ``row`` are idle again."""
    piece = core.slurm.job[row].piece
    while piece >= 0:
        following = core.slurm.nodes.piece[piece].next
        core.slurm.sets.idle[core.slurm.nodes.piece[piece].word] |= core.slurm.nodes.piece[piece].bits
        core.slurm.nodes.piece[piece].next = core.slurm.memory.spare
        core.slurm.memory.spare = piece
        piece = following
    core.slurm.job[row].piece = -1
    nodes_given_back(core)


@question
def give_back_all_but_first(core: SlurmCore, row: int) -> None:
    """All nodes of ``row`` but the first are idle again; that one is COMPLETING."""
    first = core.slurm.nodes.piece[core.slurm.job[row].piece]
    lowest = first.bits & ~(first.bits - ONE)
    _idle_again(core, first.word, first.bits & ~lowest)
    first.bits = lowest
    piece, first.next = first.next, -1
    while piece >= 0:
        following = core.slurm.nodes.piece[piece].next
        _idle_again(core, core.slurm.nodes.piece[piece].word, core.slurm.nodes.piece[piece].bits)
        core.slurm.nodes.piece[piece].next = core.slurm.memory.spare
        core.slurm.memory.spare = piece
        piece = following
    last = core.slurm.job[row].last
    give_back(core, core.placements[last].module, core.placements[last].nodes - 1)
    nodes_given_back(core)


@question
def give_back_first(core: SlurmCore, row: int) -> None:
    """So is that one, as far as it is counted."""
    give_back(core, core.placements[core.slurm.job[row].last].module, 1)


@part
def _idle_again(core: SlurmCore, word: int, bits: Any) -> None:
    core.slurm.sets.leaving[word] &= ~bits
    core.slurm.sets.idle[word] |= bits


@event
def nodes_given_back(core: SlurmCore) -> None:
    """Nodes of a job have become idle."""


@question
def put_nodes_of(core: SlurmCore, row: int, target: Words) -> None:
    """Make a set the nodes that a job has."""
    clear(target, 0, len(target))
    piece = core.slurm.job[row].piece
    while piece >= 0:
        target[core.slurm.nodes.piece[piece].word] |= core.slurm.nodes.piece[piece].bits
        piece = core.slurm.nodes.piece[piece].next


@question
def out_by_name(core: SlurmCore, word: int) -> Any:
    """The nodes of a word that are out of service by name: no others come back in their place."""
    return NONE


@question
def set_leaving(core: SlurmCore, row: int, leaving: bool) -> None:
    """The nodes of ``row`` are COMPLETING, or no longer so."""
    piece = core.slurm.job[row].piece
    while piece >= 0:
        if leaving:
            core.slurm.sets.leaving[core.slurm.nodes.piece[piece].word] |= core.slurm.nodes.piece[piece].bits
        else:
            core.slurm.sets.leaving[core.slurm.nodes.piece[piece].word] &= ~core.slurm.nodes.piece[piece].bits
        piece = core.slurm.nodes.piece[piece].next


@question
def match_service(core: SlurmCore, module: int, low: int, high: int) -> None:
    """Nodes that left service (counted by the pool) go from the end; those that came back, too."""
    idle = core.slurm.sets.idle
    surplus = count(idle, low, high) - core.pools[module].free
    if surplus == 0:
        return
    up = core.slurm.sets.up
    if surplus > 0:
        for node in range((high << 6) - 1, (low << 6) - 1, -1):
            word, bit = _place(node)
            if surplus > 0 and idle[word] & bit != NONE:
                idle[word] &= ~bit
                up[word] &= ~bit
                surplus -= 1
    else:
        for node in range(low << 6, high << 6):
            word, bit = _place(node)
            there = core.slurm.nodes.masks[module, word] & ~out_by_name(core, word) & bit
            if surplus < 0 and there != NONE and up[word] & bit == NONE:
                idle[word] |= bit
                up[word] |= bit
                surplus += 1


@part
def is_first_of_its_module(core: SlurmCore, number: int) -> bool:
    """Whether no partition before this one has its nodes in the same module."""
    for other in range(number):
        if core.slurm.partition[other].module == core.slurm.partition[number].module:
            return False
    return True


@part
def _place(node: int) -> tuple[int, np.uint64]:
    """Word and bit of a node."""
    return node >> 6, ONE << np.uint64(node & 63)
