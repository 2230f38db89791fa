"""Which nodes: held by name, chosen as Slurm chooses them, given back.

A choice is a best fit by consecutive nodes: the smallest run of free nodes that suffices,
else the largest one and so on with what is left (Slurm's documentation of select/linear and
select/cons_tres). Nodes of less weight go first (slurm.conf(5), Weight), and those that a
count in the constraint asks for before all others.
"""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.advance import leave_out_reserved
from scheduler_sim.engine.slurm.bits import (
    NONE,
    ONE,
    Bits,
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
from scheduler_sim.engine.slurm.slots import AVAILABLE, IDLE, LEAVING, PICKED, REST, SPARE, UP
from scheduler_sim.engine.state import INF, NOW, Core, Ints, Table

SIXTY_THREE = np.uint64(63)
LAST = (1 << 32) - 1


@part
def picked_from(core: Core, placement: int, source: int) -> bool:
    """Choose the nodes of a placement among those of a set, if they suffice."""
    way = core.way[placement]
    it, available = core.partition[way.partition], core.sets[AVAILABLE]
    copy(available, core.sets[source], it.low, it.high)
    keep_common(available, core.masks[core.choice[way.choice].mask], it.low, it.high)
    leave_out_reserved(core, available, core.clock[NOW], core.clock[NOW] + core.place[placement].limit)
    if not suffices(core, placement, AVAILABLE):
        return False
    pick(core, placement, AVAILABLE)
    return True


@part
def pick(core: Core, placement: int, source: int) -> None:
    """Choose the nodes of a placement among those of a set that suffices; the choice is PICKED."""
    it, choice = core.partition[core.way[placement].partition], core.choice[core.way[placement].choice]
    picked = core.sets[PICKED]
    clear(picked, it.low, it.high)
    wanted = core.place[placement].nodes
    for i in range(choice.first, choice.last):
        nodes = core.masks[core.need[i].mask]
        there = count_common(picked, nodes, it.low, it.high)
        if there < core.need[i].count:
            wanted -= core.need[i].count - there
            _add_lightest(core, it, source, core.need[i].mask, core.need[i].count - there)
    _add_lightest(core, it, source, choice.mask, wanted)


@part
def suffices(core: Core, placement: int, source: int) -> bool:
    """Whether a set within its mask has enough nodes for a placement, and enough of each kind it needs."""
    it = core.partition[core.way[placement].partition]
    if count(core.sets[source], it.low, it.high) < core.place[placement].nodes:
        return False
    return has_needs(core, placement, source)


@part
def has_needs(core: Core, placement: int, source: int) -> bool:
    """Whether a set has enough nodes of each kind that the choice of a placement counts."""
    it, choice = core.partition[core.way[placement].partition], core.choice[core.way[placement].choice]
    for i in range(choice.first, choice.last):
        nodes = core.masks[core.need[i].mask]
        if count_common(core.sets[source], nodes, it.low, it.high) < core.need[i].count:
            return False
    return True


@part
def _add_lightest(core: Core, it: Table, source: int, mask: int, wanted: int) -> None:
    """Add to PICKED so many nodes of a set that are in a mask, those of the least weight first."""
    rest = core.sets[REST]
    for weight in range(it.lightest, it.heaviest):
        copy(rest, core.sets[source], it.low, it.high)
        keep_common(rest, core.masks[mask], it.low, it.high)
        if it.heaviest - it.lightest > 1:
            keep_common(rest, core.masks[weight], it.low, it.high)
        take_out(rest, core.sets[PICKED], it.low, it.high)
        there = count(rest, it.low, it.high)
        some = min(wanted, there)
        if some == there:
            add(core.sets[PICKED], rest, it.low, it.high)
        else:
            add_best_fit(core.sets[PICKED], rest, core.run, it.low, it.high, some)
        wanted -= some


@part
def add_best_fit(picked: Bits, free: Bits, run: Ints, low: int, high: int, wanted: int) -> None:
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
def _list_runs(bits: Bits, run: Ints, low: int, high: int, wanted: int) -> int:
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
def hold(core: Core, row: int, placement: int) -> None:
    """The nodes PICKED belong to ``row`` from now on."""
    it = core.partition[core.way[placement].partition]
    picked, idle = core.sets[PICKED], core.sets[IDLE]
    last = -1
    for word in range(it.low, it.high):
        if picked[word] == NONE:
            continue
        piece = core.slurm[SPARE]
        core.slurm[SPARE] = core.piece[piece].next
        core.piece[piece].word, core.piece[piece].bits, core.piece[piece].next = word, picked[word], -1
        if last < 0:
            core.job[row].piece = piece
        else:
            core.piece[last].next = piece
        last = piece
        idle[word] &= ~picked[word]


@part
def give_up(core: Core, row: int) -> None:
    """The nodes of ``row`` are idle again."""
    piece = core.job[row].piece
    while piece >= 0:
        following = core.piece[piece].next
        core.sets[IDLE, core.piece[piece].word] |= core.piece[piece].bits
        core.piece[piece].next = core.slurm[SPARE]
        core.slurm[SPARE] = piece
        piece = following
    core.job[row].piece = -1


@part
def set_leaving(core: Core, row: int, leaving: bool) -> None:
    """The nodes of ``row`` are COMPLETING, or no longer so."""
    piece = core.job[row].piece
    while piece >= 0:
        if leaving:
            core.sets[LEAVING, core.piece[piece].word] |= core.piece[piece].bits
        else:
            core.sets[LEAVING, core.piece[piece].word] &= ~core.piece[piece].bits
        piece = core.piece[piece].next


@part
def match_service(core: Core, module: int, low: int, high: int) -> None:
    """Nodes that left service (counted by the pool) go from the end; those that came back, too."""
    idle = core.sets[IDLE]
    surplus = count(idle, low, high) - core.pool[module].free
    if surplus == 0:
        return
    up = core.sets[UP]
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
            if surplus < 0 and core.masks[module, word] & bit != NONE and up[word] & bit == NONE:
                idle[word] |= bit
                up[word] |= bit
                surplus += 1


@part
def _place(node: int) -> tuple[int, np.uint64]:
    """Word and bit of a node."""
    return node >> 6, ONE << np.uint64(node & 63)
