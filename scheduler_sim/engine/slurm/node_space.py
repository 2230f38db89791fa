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
    HINT,
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
    core.record[0].before = -1
    core.record[0].end = core.slurm[WINDOW_END]
    core.slurm[RECORDS], core.slurm[HINT] = 1, 0
    copy(core.space[0], core.sets[UP], 0, core.space.shape[1])
    for i in range(len(core.partition)):
        it = core.partition[i]
        core.room[0, i] = count_common(core.space[0], core.masks[it.members], it.low, it.high)


@part
def prolong_plan(core: Core) -> None:
    """The plan of an earlier pass still stands; its window has moved on with the clock."""
    core.slurm[WINDOW_END] = rounded_down(core, core.clock[NOW] + core.slurm[BF_WINDOW])
    record = _record_at(core, core.slurm[WINDOW_END])
    while core.record[record].next >= 0:
        record = core.record[record].next
    core.record[record].end = core.slurm[WINDOW_END]


@part
def first_chance(core: Core, partition: int, start: int, length: int, nodes: int) -> int:
    """The earliest start, not before ``start``, all of whose records have enough nodes; INF if none.

    What is passed over here Slurm tries one by one, to find too few nodes each time.
    """
    record, begin = _record_at(core, start), start
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
def last_hopeless(core: Core, mask: int, it: Table, start: int, soonest: int) -> int:
    """From ``start`` on, the last boundary with new nodes that lies before ``soonest``; else ``start``.

    Tries at those before it are in vain: each is followed by another before anything can start.
    New is what the record before does not have: where nothing is, a record is part of the one
    before. So only for those who may use every node of their partition.
    """
    if mask != it.members:
        return start
    members = core.masks[mask]
    record = _record_at(core, start)
    while core.record[record].next >= 0 and core.record[record].end < soonest:
        following = core.record[record].next
        for word in range(it.low, it.high):
            if core.space[following, word] & ~core.space[record, word] & members[word] != NONE:
                start = core.record[record].end
                break
        record = following
    return start


@part
def gather(core: Core, it: Table, start: int, length: int) -> int:
    """Keep in AVAILABLE what is free in all records that ``start`` and ``length`` touch.

    Returns when to try next: the first boundary behind which there are other nodes, INF if none.
    """
    available, members = core.sets[AVAILABLE], core.masks[it.members]
    record, later = _record_at(core, start), INF
    core.slurm[HINT] = record
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
    record = _record_at(core, begin)
    while record >= 0 and core.record[record].begin < end:
        if core.record[record].end > begin:
            for word in range(it.low, it.high):
                if picked[word] & ~core.space[record, word] != NONE:
                    return False
        record = core.record[record].next
    return True


@part
def reserve(core: Core, it: Table, begin: int, end: int) -> None:
    """Take the nodes PICKED out of the plan from ``begin`` to ``end``."""
    begin = max(begin, core.record[0].begin)
    first = _record_at(core, begin)
    if core.record[first].end <= begin:
        return  # behind the plan
    if core.record[first].begin < begin:
        first = _split(core, first, begin)
    record, last = first, first
    while record >= 0 and core.record[record].begin < end:
        if core.record[record].end > end:
            _split(core, record, end)
        take_out(core.space[record], core.sets[PICKED], it.low, it.high)
        for i in range(len(core.partition)):
            other = core.partition[i]
            if other.module == it.module:
                core.room[record, i] = count_common(
                    core.space[record], core.masks[other.members], it.low, it.high
                )
        last, record = record, core.record[record].next
    if not _joined(core, core.record[first].before):
        _joined(core, last)


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
def _record_at(core: Core, time: int) -> int:
    """The record in which ``time`` lies."""
    record = core.slurm[HINT]
    if core.record[record].begin > time:
        record = 0
    while core.record[record].end <= time and core.record[record].next >= 0:
        record = core.record[record].next
    return record


@part
def _split(core: Core, record: int, time: int) -> int:
    """Split a record at a time inside it; returns the later half."""
    it, new = core.record[record], core.slurm[RECORDS]
    core.slurm[RECORDS] = new + 1
    core.record[new].begin, core.record[new].end = time, it.end
    core.record[new].next, core.record[new].before = it.next, record
    if it.next >= 0:
        core.record[it.next].before = new
    copy(core.space[new], core.space[record], 0, core.space.shape[1])
    for i in range(len(core.partition)):
        core.room[new, i] = core.room[record, i]
    it.end, it.next = time, new
    return new


@part
def _joined(core: Core, record: int) -> bool:
    """Make one record of this and the next if they are alike: Slurm does it once a reservation."""
    if record < 0 or core.record[record].next < 0:
        return False
    it = core.record[record]
    for word in range(core.space.shape[1]):
        if core.space[record, word] != core.space[it.next, word]:
            return False
    gone = it.next
    it.end, it.next = core.record[gone].end, core.record[gone].next
    if it.next >= 0:
        core.record[it.next].before = record
    if core.slurm[HINT] == gone:
        core.slurm[HINT] = record
    return True


@part
def _beyond(core: Core, begin: int, start: int, length: int) -> bool:
    """Whether a record begins too late to matter to a job that starts at ``start``."""
    last = start + length - (0 if core.slurm[INCLUSIVE] else 1)
    if begin <= last:
        return False
    if start == core.clock[NOW]:  # as the clock moves on, it will begin to matter
        core.slurm[VALID] = min(core.slurm[VALID], start + begin - last)
    return True
