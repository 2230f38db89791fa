"""When enough of some nodes are able, by planned ends.

For some times, the marks, the set of nodes that are able by then is kept; each has those of the one before.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, ONE, clear, count_common, lowest_in
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.records import Ints, Words
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.cons_tres.room import place_of
from scheduler_sim.engine.rules.slurm.cons_tres.state import MARKS, ConsTresCore
from scheduler_sim.engine.rules.slurm.planned_ends import planned_end, running
from scheduler_sim.engine.rules.slurm.state import Partition

# -- what is kept


@part
def put_able_at(core: ConsTresCore, level: int, node: int, time: int) -> None:
    """A node is able by another planned end than before: 0 is now, INF never."""
    part = core.cons_tres
    before = part.able_at[level, node]
    if time == before:
        return
    part.able_at[level, node] = time
    it = core.slurm.partition[part.need[part.level[level].need].partition]
    word, bit = place_of(core, it, node)
    for i in range(_first_mark(core, level, min(time, before)), MARKS):
        if part.mark[level, i] >= time:
            part.able_by[level, i, word] |= bit
        else:
            part.able_by[level, i, word] &= ~bit


@part
def mark_anew(core: ConsTresCore, level: int) -> None:
    """Between two marks as many jobs are planned to end; what is between them is to be looked at singly."""
    part, jobs = core.cons_tres, running(core)
    it = core.slurm.partition[part.need[part.level[level].need].partition]
    mark = part.mark[level]
    mark[MARKS - 1] = INF - 1
    for i in range(1, MARKS - 1):
        mark[i] = planned_end(core, i * jobs // (MARKS - 1)) if jobs else 0
    for i in range(MARKS):
        clear(part.able_by[level, i], it.low, it.high)
    nodes = core.shared_nodes.module[it.module]
    for node in range(nodes.begin, nodes.end):
        time = part.able_at[level, node]
        if time < INF:
            word, bit = place_of(core, it, node)
            part.able_by[level, _first_mark(core, level, time), word] |= bit
    for i in range(1, MARKS):
        for word in range(it.low, it.high):
            part.able_by[level, i, word] |= part.able_by[level, i - 1, word]


@part
def _first_mark(core: ConsTresCore, level: int, time: int) -> int:
    """The first mark that is not before a time, the last for any that is behind."""
    mark, found, size = core.cons_tres.mark[level], 0, MARKS
    while size > 1:
        half = size // 2
        found += half if mark[found + half - 1] < time else 0
        size -= half
    return found


# -- what is asked


@part
def count_about_able_by(core: ConsTresCore, level: int, it: Partition, nodes: Words, time: int) -> int:
    """How many of these nodes are able by the next mark from a time on: no fewer than by then."""
    able = core.cons_tres.able_by[level, _first_mark(core, level, time)]
    return count_common(able, nodes, it.low, it.high)


@part
def enough_able_by(
    core: ConsTresCore, level: int, it: Partition, nodes: Words, wanted: int, later: int
) -> int:
    """The planned end with which so many of these nodes are able; INF if there is none by ``later``."""
    able_by = core.cons_tres.able_by[level]
    first, last = 0, _first_mark(core, level, later)
    if count_common(able_by[last], nodes, it.low, it.high) < wanted:
        return INF
    while first < last:
        middle = (first + last) // 2
        if count_common(able_by[middle], nodes, it.low, it.high) < wanted:
            first = middle + 1
        else:
            last = middle
    if last == 0:
        return 0
    before = count_common(able_by[last - 1], nodes, it.low, it.high)
    time = _time_of(core, level, it, nodes, last, wanted - before)
    return time if time <= later else INF


@part
def keep_able_by(core: ConsTresCore, level: int, it: Partition, nodes: Words, time: int) -> None:
    """Of a set of nodes stay those that are able by a time."""
    part, mark = core.cons_tres, _first_mark(core, level, time)
    begin, exact = core.shared_nodes.module[it.module].begin, part.mark[level, mark] == time
    for word in range(it.low, it.high):
        nodes[word] &= part.able_by[level, mark, word]
        bits = NONE if exact or mark == 0 else nodes[word] & ~part.able_by[level, mark - 1, word]
        while bits != NONE:
            bit = bits & ~(bits - ONE)
            bits &= bits - ONE
            if part.able_at[level, begin + ((word - it.low) << 6) + lowest_in(bit)] > time:
                nodes[word] &= ~bit


@part
def _time_of(core: ConsTresCore, level: int, it: Partition, nodes: Words, mark: int, wanted: int) -> int:
    """With which so many of those are able that are able by a mark and not by the one before."""
    part, heap, size = core.cons_tres, core.cons_tres.list, 0
    able_at, begin = part.able_at[level], core.shared_nodes.module[it.module].begin
    able, before = part.able_by[level, mark], part.able_by[level, mark - 1]
    for word in range(it.low, it.high):
        bits = nodes[word] & able[word] & ~before[word]
        while bits != NONE:
            time = able_at[begin + ((word - it.low) << 6) + lowest_in(bits)]
            bits &= bits - ONE
            if size < wanted:
                size = _put_in(heap, size, time)
            elif time < heap[0]:
                _put_on_top(heap, size, time)
    return int(heap[0])


@inlined
def _put_in(heap: Ints, size: int, time: int) -> int:
    """Put a time into a heap with the latest on top; returns its size."""
    at = size
    while at > 0 and heap[(at - 1) >> 1] < time:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = time
    return size + 1


@inlined
def _put_on_top(heap: Ints, size: int, time: int) -> None:
    """The latest time makes room for an earlier one."""
    at, child = 0, 1
    while child < size:
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= time:
            break
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    heap[at] = time
