"""The plan of a backfill pass: which nodes no reservation holds, from one time to the next.

Records in order of time, each with a set of nodes, as in Slurm's backfill scheduler. A record
ends where the next begins; one more than there are says where the plan ends. When a record is put
in between, or taken out, others only change their place: their sets and notes keep their rows.
Running components are not in it: they enter through their predicted ends, which is why all its sets are
in the order of seats.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.bits import NONE, copy, equal, ones_in, take_out, words
from scheduler_sim.engine.slurm.fronts import forget_fronts, narrow_fronts, open_fronts, turn_back_fronts
from scheduler_sim.engine.slurm.seats import ended_by, seated
from scheduler_sim.engine.slurm.slots import (
    ALIGNED,
    BF_RECORDS,
    BF_RESOLUTION,
    BF_WINDOW,
    EPOCH,
    INCLUSIVE,
    NOTES,
    PICKED_SEATS,
    RECORDS,
    RECORDS_MADE,
    SEATING,
    SPAN_ROWS,
    SPOTS,
    UP_SEATS,
    VALID,
    WINDOW_END,
)
from scheduler_sim.engine.slurm.spans import list_all_spans, list_spans, open_spans, span_after
from scheduler_sim.engine.state import INF, NOW, Core, Table

FEW = 6  # words that are quicker to look at one by one


@part
def rounded_down(core: Core, time: int) -> int:
    """To whole multiples of bf_resolution on the clock of the epoch."""
    return time - (time + core.slurm[EPOCH]) % core.slurm[BF_RESOLUTION]


@part
def edge(core: Core, time: int) -> int:
    """Where a plan begins or ends that should at ``time``: 19.05 does not round that."""
    return rounded_down(core, time) if core.slurm[ALIGNED] else time


@part
def open_plan(core: Core) -> None:
    """Nothing is reserved from now to the end of the window."""
    now, row = core.clock[NOW], SPAN_ROWS
    open_spans(core)
    open_fronts(core)
    core.slurm[WINDOW_END] = edge(core, now + core.slurm[BF_WINDOW])
    core.record[0].begin, core.record[0].row = edge(core, now), row
    core.record[1].begin = core.slurm[WINDOW_END]
    core.mark[row].span = core.mark[row].seating = 0
    core.slurm[RECORDS] = core.slurm[RECORDS_MADE] = 1
    copy(core.space[row], core.sets[UP_SEATS], 0, core.space.shape[1])
    for i in range(len(core.partition)):
        core.gain[row, i] = 0
        for j in range(NOTES):
            core.note[row, i, j].start = -INF


@part
def plan_is_full(core: Core) -> bool:
    """Whether it has as many records as it may have."""
    return core.slurm[RECORDS_MADE] >= core.slurm[BF_RECORDS]


@part
def prolong_plan(core: Core) -> None:
    """The plan of an earlier pass still stands; its window has moved on with the clock."""
    core.slurm[WINDOW_END] = edge(core, core.clock[NOW] + core.slurm[BF_WINDOW])
    core.record[core.slurm[RECORDS]].begin = core.slurm[WINDOW_END]


@part
def record_at(core: Core, time: int) -> int:
    """The record in which ``time`` lies; the last one if it lies behind the plan."""
    record, size = 0, core.slurm[RECORDS]
    while size > 1:  # without branches, which the processor could not foresee
        half = size // 2
        record += half & core.record[record + half].begin - time - 1 >> 63
        size -= half
    return record


@part
def ended_at(core: Core, record: int) -> int:
    """How many are planned to have ended when a record begins."""
    mark = core.mark[core.record[record].row]
    if mark.seating != core.slurm[SEATING]:
        mark.seating, mark.ended = core.slurm[SEATING], ended_by(core, core.record[record].begin)
    return mark.ended


@part
def next_try(core: Core, placement: int, record: int, start: int) -> int:
    """The record at whose begin to try after ``start``, which lies in ``record``; -1 if there is none.

    19.05 tries at every boundary. Later versions try where nodes are gained that none of the records from
    ``start`` on has, and look for that up to the end of the first record that a job from ``start`` on does
    not touch. Where nothing is gained, each record is part of the one before, so that its neighbour is
    enough to compare with. Nodes outside the mask are never had: they are always a gain.
    """
    number, mask = core.way[placement].partition, core.way[placement].mask
    it, length = core.partition[number], core.place[placement].limit
    whole = mask == it.members
    for i in range(record, core.slurm[RECORDS] - 1):
        if not core.slurm[ALIGNED]:
            return i + 1
        row = core.record[i].row
        if core.gain[row, number] > 0 if whole else _gains(core, it, row, core.record[i + 1].row, mask):
            return i + 1
        if beyond(core, core.record[i].begin, start, length):
            break
    return -1


@part
def _gains(core: Core, it: Table, row: int, following: int, mask: int) -> bool:
    """Whether a record has nodes that the one before, within the mask, has not."""
    before, here = core.space[row], core.space[following]
    members, wanted = core.seats_of[seated(core, it, it.members)], core.seats_of[seated(core, it, mask)]
    for i in words(it.low, it.high):
        if here[i] & members[i] & ~(wanted[i] & before[i]) != NONE:
            return True
    return False


@part
def is_free(core: Core, begin: int, end: int) -> bool:
    """Whether no reservation holds one of PICKED_SEATS from ``begin`` to ``end``."""
    if begin >= end:
        return True
    seats = core.sets[PICKED_SEATS]
    for record in range(record_at(core, begin), core.slurm[RECORDS]):
        if core.record[record].begin >= end:
            break
        if core.record[record + 1].begin > begin:
            row = core.record[record].row
            for i in range(core.slurm[SPOTS]):
                word = core.spots[i]
                if seats[word] & ~core.space[row, word] != NONE:
                    return False
    return True


@part
def reserve(core: Core, it: Table, begin: int, end: int) -> None:
    """Take PICKED_SEATS, which are free, out of the plan from ``begin`` to ``end``."""
    if end >= core.slurm[WINDOW_END]:  # as the window moves on, the plan has more of it
        seen = edge(core, begin if begin >= core.slurm[WINDOW_END] else end)
        step = core.slurm[BF_RESOLUTION] if core.slurm[ALIGNED] else 1
        core.slurm[VALID] = min(core.slurm[VALID], seen + step - core.slurm[BF_WINDOW])
    begin = max(begin, core.record[0].begin)
    first, last = record_at(core, begin), record_at(core, end - 1)
    if core.record[first + 1].begin <= begin or end <= begin:
        return  # outside the plan
    made = core.slurm[RECORDS_MADE]
    if core.record[last + 1].begin > end:
        _split(core, last, end)
    if core.record[first].begin < begin:
        _split(core, first, begin)
        first, last = first + 1, last + 1
    rows, listed, plan = list_spans(core, begin, end), core.listed, core.record
    for record in range(first, last + 1):
        listed[rows].row = plan[record].row
        rows += 1
    _take_picked_out(core, rows)
    _note_gains(core, it, first - 1, -1)
    _note_gains(core, it, last, 1)
    if not _joined(core, first - 1):
        _joined(core, last)
    if core.slurm[RECORDS_MADE] > made:
        _note_reach(core, it, begin)
        _note_reach(core, it, end)


@part
def _take_picked_out(core: Core, rows: int) -> None:
    """Take PICKED_SEATS out of all sets that are listed."""
    seats, size, space, listed = core.sets[PICKED_SEATS], core.slurm[SPOTS], core.space, core.listed
    if size > FEW:
        low = high = core.spots[0]
        for i in range(size):
            low, high = min(low, core.spots[i]), max(high, core.spots[i] + 1)
        for i in range(rows):
            take_out(space[listed[i].row], seats, low, high)
        return
    for i in range(size):
        word = core.spots[i]
        others = ~seats[word]
        for j in range(rows):
            space[listed[j].row, word] &= others


@part
def list_plan(core: Core) -> int:
    """List the rows of ``space`` that are in use, and return how many there are."""
    rows = list_all_spans(core)
    for record in range(core.slurm[RECORDS]):
        core.listed[rows].row = core.record[record].row
        rows += 1
    return rows


@part
def _note_gains(core: Core, it: Table, record: int, sign: int) -> None:
    """PICKED_SEATS are a gain of the next record no more, or from now on, where the other has them."""
    if record < 0 or record + 1 == core.slurm[RECORDS]:
        return
    row, other = core.record[record].row, core.record[record + (1 if sign > 0 else 0)].row
    for number in range(len(core.partition)):
        if core.partition[number].module == it.module:
            members, common = core.seats_of[seated(core, it, core.partition[number].members)], 0
            for i in range(core.slurm[SPOTS]):
                word = core.spots[i]
                here = core.sets[PICKED_SEATS, word] & members[word]
                has = core.space[other, word]
                common += ones_in(here & has) if sign > 0 else ones_in(here & ~has)
            if common > 0 and core.gain[row, number] == 0:
                turn_back_fronts(core, core.record[record + 1].begin)
            core.gain[row, number] += sign * common
            if common > 0 and core.gain[row, number] == 0:
                forget_fronts(core, core.record[record + 1].begin)


@part
def _note_reach(core: Core, it: Table, time: int) -> None:
    """A boundary at ``time`` may be new: from the try before to the one behind, only longer jobs look."""
    record = record_at(core, time)
    for number in range(len(core.partition)):
        if core.partition[number].module == it.module:
            gains = record
            while gains < core.slurm[RECORDS] and core.gain[core.record[gains].row, number] == 0:
                gains += 1
            first = record
            while first > 0 and core.gain[core.record[first - 1].row, number] == 0:
                first -= 1
            if first < gains < core.slurm[RECORDS]:
                start = max(core.record[first].begin, core.clock[NOW])
                length = core.record[gains - 1].begin - last_second(core, start, 0)
                narrow_fronts(core, number, core.record[gains + 1].begin, length)


@part
def next_change(core: Core) -> int:
    """The first boundary of the plan that lies ahead, INF if none: when the clock passes it, tests differ."""
    following = record_at(core, core.clock[NOW]) + 1
    return core.record[following].begin if following < core.slurm[RECORDS] else INF


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
def _split(core: Core, record: int, time: int) -> None:
    """Split a record at a time inside it."""
    plan = core.record
    old, new = plan[record].row, SPAN_ROWS + core.slurm[RECORDS_MADE]
    for i in range(core.slurm[RECORDS], record, -1):
        plan[i + 1].begin, plan[i + 1].row = plan[i].begin, plan[i].row
    core.slurm[RECORDS] += 1
    core.slurm[RECORDS_MADE] += 1
    core.record[record + 1].begin, core.record[record + 1].row = time, new
    core.mark[new].span, core.mark[new].seating = span_after(core, time), 0
    copy(core.space[new], core.space[old], 0, core.space.shape[1])
    for i in range(len(core.partition)):
        core.gain[new, i], core.gain[old, i] = core.gain[old, i], 0
        for j in range(NOTES):
            core.note[new, i, j].start = -INF


@part
def _joined(core: Core, record: int) -> bool:
    """Make one record of this and the next if they are alike: Slurm does it once a reservation."""
    if record < 0 or record + 1 == core.slurm[RECORDS]:
        return False
    row, gone = core.record[record].row, core.record[record + 1].row
    if not equal(core.space[row], core.space[gone], 0, core.space.shape[1]):
        return False
    for i in range(len(core.partition)):
        core.gain[row, i] = core.gain[gone, i]
    for i in range(record + 1, core.slurm[RECORDS]):
        core.record[i].begin, core.record[i].row = core.record[i + 1].begin, core.record[i + 1].row
    core.slurm[RECORDS] -= 1
    return True
