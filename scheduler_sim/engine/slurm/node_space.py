"""The plan of a backfill pass: which nodes no reservation holds, from one time to the next.

A chain of records in order of time, each with a set of nodes, as in Slurm's backfill
scheduler. Running components are not in it: they enter through their predicted ends.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.bits import NONE, copy, list_words, ones_in
from scheduler_sim.engine.slurm.fronts import forget_fronts, open_fronts
from scheduler_sim.engine.slurm.slots import (
    ALIGNED,
    BF_RECORDS,
    BF_RESOLUTION,
    BF_WINDOW,
    EPOCH,
    HINT,
    INCLUSIVE,
    OTHER_RECORDS,
    PICKED,
    RECORDS,
    SPANS,
    UP,
    VALID,
    WINDOW_END,
)
from scheduler_sim.engine.slurm.spans import (
    open_spans,
    record_at_begin,
    record_is_gone,
    reserve_in_spans,
    span_after,
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
    open_spans(core)
    open_fronts(core)
    core.slurm[WINDOW_END] = rounded_down(core, now + core.slurm[BF_WINDOW])
    core.record[0].begin, core.record[0].next = rounded_down(core, now), -1
    core.record[0].before = -1
    core.record[0].end = core.slurm[WINDOW_END]
    core.slurm[RECORDS], core.slurm[OTHER_RECORDS], core.slurm[HINT] = 1, 0, 0
    copy(core.space[0], core.sets[UP], 0, core.space.shape[1])
    for i in range(len(core.partition)):
        core.note[0, i].gain, core.note[0, i].start = 0, -INF


@part
def plan_is_full(core: Core) -> bool:
    """Whether it has as many records as it may have, beside those of advance reservations."""
    return core.slurm[RECORDS] - core.slurm[OTHER_RECORDS] >= core.slurm[BF_RECORDS]


@part
def prolong_plan(core: Core) -> None:
    """The plan of an earlier pass still stands; its window has moved on with the clock."""
    core.slurm[WINDOW_END] = rounded_down(core, core.clock[NOW] + core.slurm[BF_WINDOW])
    core.record[record_at(core, core.slurm[WINDOW_END])].end = core.slurm[WINDOW_END]


@part
def record_at(core: Core, time: int) -> int:
    """The record in which ``time`` lies; the last one if it lies behind the plan."""
    record = core.slurm[HINT]
    if core.record[record].begin > time:
        record = 0
    if core.slurm[SPANS] > 0 and core.record[record].end <= time:
        span = span_after(core, time + 1) - 1  # the last that begins by then
        if span >= 0 and core.span[span].begin >= core.record[record].end:
            record = record_at_begin(core, span)
    while core.record[record].end <= time and core.record[record].next >= 0:
        record = core.record[record].next
    core.slurm[HINT] = record
    return record


@part
def next_try(core: Core, placement: int, record: int, start: int) -> int:
    """The record at whose begin to try after ``start``, which lies in ``record``; -1 if there is none.

    19.05 tries at every boundary. Later versions try where nodes are gained that none of the records from
    ``start`` on has, and look for that up to the end of the first record that a job from ``start`` on does
    not touch. Where nothing is gained, each record is part of the one before, so that its neighbour is
    enough to compare with. Nodes outside the mask are never had: they are always a gain.
    """
    if not core.slurm[ALIGNED]:
        return core.record[record].next
    number, mask = core.way[placement].partition, core.way[placement].mask
    it, length = core.partition[number], core.place[placement].limit
    whole = mask == it.members
    while core.record[record].next >= 0:
        following = core.record[record].next
        if core.note[record, number].gain > 0 if whole else _gains(core, it, record, following, mask):
            return following
        if beyond(core, core.record[record].begin, start, length):
            break
        record = following
    return -1


@part
def _gains(core: Core, it: Table, record: int, following: int, mask: int) -> bool:
    members = core.masks[it.members]
    for word in range(it.low, it.high):
        had = core.masks[mask, word] & core.space[record, word]
        if core.space[following, word] & members[word] & ~had != NONE:
            return True
    return False


@part
def is_free(core: Core, it: Table, begin: int, end: int) -> bool:
    """Whether no reservation holds a node of PICKED from ``begin`` to ``end``."""
    if begin >= end:
        return True
    size = list_words(core.sets[PICKED], core.spots, it.low, it.high)
    record = record_at(core, begin)
    while record >= 0 and core.record[record].begin < end:
        if core.record[record].end > begin:
            for i in range(size):
                word = core.spots[i]
                if core.sets[PICKED, word] & ~core.space[record, word] != NONE:
                    return False
        record = core.record[record].next
    return True


@part
def reserve(core: Core, it: Table, begin: int, end: int) -> None:
    """Take the nodes PICKED, which are free, out of the plan from ``begin`` to ``end``."""
    begin = max(begin, core.record[0].begin)
    first = record_at(core, begin)
    if core.record[first].end <= begin:
        return  # behind the plan
    if core.record[first].begin < begin:
        first = _split(core, first, begin)
    size = list_words(core.sets[PICKED], core.spots, it.low, it.high)
    record, last = first, first
    while record >= 0 and core.record[record].begin < end:
        if core.record[record].end > end:
            _split(core, record, end)
        for i in range(size):
            core.space[record, core.spots[i]] &= ~core.sets[PICKED, core.spots[i]]
        last, record = record, core.record[record].next
    reserve_in_spans(core, size, begin, end)
    _note_gains(core, it, size, core.record[first].before, first, -1)
    _note_gains(core, it, size, last, core.record[last].next, 1)
    if not _joined(core, core.record[first].before):
        _joined(core, last)


@part
def _note_gains(core: Core, it: Table, size: int, record: int, following: int, sign: int) -> None:
    """The nodes PICKED are a gain no more, or from now on, where the other of two neighbours has them.

    ``size`` of their words are listed.
    """
    if record < 0 or following < 0:
        return
    other = core.space[record if sign < 0 else following]
    for number in range(len(core.partition)):
        if core.partition[number].module == it.module:
            members, common = core.masks[core.partition[number].members], 0
            for i in range(size):
                word = core.spots[i]
                here = core.sets[PICKED, word] & members[word]
                common += ones_in(here & ~other[word]) if sign < 0 else ones_in(here & other[word])
            note = core.note[record, number]
            if common > 0 and (note.gain == 0 or note.gain + sign * common == 0):
                forget_fronts(core, core.record[record].end)
            note.gain += sign * common


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
def last_second(core: Core, start: int, length: int) -> int:
    """Up to when a job that starts at ``start`` must find its nodes free of reservations."""
    return start + length - (0 if core.slurm[INCLUSIVE] else 1)


@part
def beyond(core: Core, begin: int, start: int, length: int) -> bool:
    """Whether a record begins too late to matter to a job that starts at ``start``."""
    last = last_second(core, start, length)
    if begin <= last:
        return False
    if start == core.clock[NOW]:  # as the clock moves on, it will begin to matter
        core.slurm[VALID] = min(core.slurm[VALID], start + begin - last)
    return True


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
        core.note[new, i].gain, core.note[new, i].start = core.note[record, i].gain, -INF
        core.note[record, i].gain = 0
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
    for i in range(len(core.partition)):
        core.note[record, i].gain = core.note[gone, i].gain
    record_is_gone(core, gone, record)
    if core.slurm[HINT] == gone:
        core.slurm[HINT] = record
    return True
