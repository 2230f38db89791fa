"""The plan of a backfill pass: which nodes no reservation holds, from one time to the next.

A chain of records in order of time, each with a set of nodes, as in Slurm's backfill
scheduler. Running components are not in it: they enter through their predicted ends.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.bits import NONE, copy, count_common, take_out
from scheduler_sim.engine.slurm.slots import (
    AVAILABLE,
    BF_RESOLUTION,
    BF_WINDOW,
    EPOCH,
    INCLUSIVE,
    PICKED,
    RECORDS,
    UP,
    VALID,
    WINDOW_END,
)
from scheduler_sim.engine.state import INF, NOW, Core, Table


@part
def rounded_down(core: Core, time: int) -> int:
    """To whole multiples of bf_resolution on the clock of the epoch."""
    return time - (time + core.slurm[EPOCH]) % core.slurm[BF_RESOLUTION]


@part
def open_plan(core: Core) -> None:
    """Nothing is reserved from now to the end of the window."""
    now = core.clock[NOW]
    core.slurm[WINDOW_END] = rounded_down(core, now + core.slurm[BF_WINDOW])
    core.record[0].begin, core.record[0].next = rounded_down(core, now), -1
    core.record[0].end = core.slurm[WINDOW_END]
    core.slurm[RECORDS] = 1
    copy(core.space[0], core.sets[UP], 0, core.space.shape[1])
    for i in range(len(core.partition)):
        it = core.partition[i]
        core.room[0, i] = count_common(core.space[0], core.masks[it.members], it.low, it.high)


@part
def first_chance(core: Core, partition: int, start: int, length: int, nodes: int) -> int:
    """The earliest start, not before ``start``, all of whose records have enough nodes; INF if none.

    What is passed over here Slurm tries one by one, to find too few nodes each time.
    """
    record, begin = 0, start
    while record >= 0:
        it = core.record[record]
        if it.end > begin:
            if _beyond(core, it.begin, begin, length):
                break
            if core.room[record, partition] < nodes:
                if it.next < 0:
                    return INF
                begin = it.end
        record = it.next
    return begin


@part
def gather(core: Core, it: Table, start: int, length: int) -> int:
    """Keep in AVAILABLE what is free in all records that ``start`` and ``length`` touch.

    Returns when to try next: the first boundary behind which there are other nodes, INF if none.
    """
    available, members = core.sets[AVAILABLE], core.masks[it.members]
    record, later = 0, INF
    while record >= 0:
        step = core.record[record]
        if step.end > start:
            if later == INF and step.next >= 0:
                for word in range(it.low, it.high):
                    known = available[word] & core.space[record, word]
                    if core.space[step.next, word] & members[word] & ~known != NONE:
                        later = step.end
                        break
            if _beyond(core, step.begin, start, length):
                break
            for word in range(it.low, it.high):
                available[word] &= core.space[record, word]
        record = step.next
    return later


@part
def is_free(core: Core, it: Table, begin: int, end: int) -> bool:
    """Whether no reservation holds a node of PICKED from ``begin`` to ``end``."""
    picked = core.sets[PICKED]
    record = 0
    while record >= 0:
        step = core.record[record]
        if step.end > begin and step.begin < end:
            for word in range(it.low, it.high):
                if picked[word] & ~core.space[record, word] != NONE:
                    return False
        record = step.next
    return True


@part
def reserve(core: Core, it: Table, begin: int, end: int) -> None:
    """Take the nodes PICKED out of the plan from ``begin`` to ``end``."""
    begin = max(begin, core.record[0].begin)
    _cut(core, begin)
    _cut(core, end)
    record = 0
    while record >= 0:
        step = core.record[record]
        if step.begin >= end:
            break
        if step.begin >= begin and step.end <= end:
            take_out(core.space[record], core.sets[PICKED], it.low, it.high)
            for i in range(len(core.partition)):
                other = core.partition[i]
                if other.module == it.module:
                    core.room[record, i] = count_common(
                        core.space[record], core.masks[other.members], it.low, it.high
                    )
        record = step.next
    if not _joined(core, begin):
        _joined(core, end)


@part
def next_change(core: Core) -> int:
    """The first boundary of the plan that lies ahead, INF if none: when the clock passes it, tests differ."""
    record = 0
    while core.record[record].next >= 0:
        if core.record[record].end > core.clock[NOW]:
            return core.record[record].end
        record = core.record[record].next
    return INF


@part
def _cut(core: Core, time: int) -> None:
    """Split the record in which ``time`` lies; at a boundary, or behind the plan, do nothing."""
    record = 0
    while record >= 0:
        it = core.record[record]
        if it.begin < time < it.end:
            new = core.slurm[RECORDS]
            core.slurm[RECORDS] = new + 1
            core.record[new].begin, core.record[new].end = time, it.end
            core.record[new].next = it.next
            copy(core.space[new], core.space[record], 0, core.space.shape[1])
            for i in range(len(core.partition)):
                core.room[new, i] = core.room[record, i]
            it.end, it.next = time, new
            return
        record = it.next


@part
def _joined(core: Core, time: int) -> bool:
    """Make one record of two that meet at ``time`` if they are alike: Slurm does it once a reservation."""
    record = 0
    while core.record[record].next >= 0:
        it = core.record[record]
        if it.end == time:
            for word in range(core.space.shape[1]):
                if core.space[record, word] != core.space[it.next, word]:
                    return False
            it.end, it.next = core.record[it.next].end, core.record[it.next].next
            return True
        record = it.next
    return False


@part
def _beyond(core: Core, begin: int, start: int, length: int) -> bool:
    """Whether a record begins too late to matter to a job that starts at ``start``."""
    last = start + length - (0 if core.slurm[INCLUSIVE] else 1)
    if begin <= last:
        return False
    if start == core.clock[NOW]:  # as the clock moves on, it will begin to matter
        core.slurm[VALID] = min(core.slurm[VALID], start + begin - last)
    return True
