"""The plan of a backfill pass: which nodes no reservation holds, from one time to the next.

Records in order of time, each with a set of nodes, as in Slurm's backfill scheduler. A record
ends where the next begins; one more than there are says where the plan ends. When a record is put
in between, or taken out, others only change their place: their sets and notes keep their rows.
Running components are not in it: they enter through their predicted ends, which is why all its sets are
in the order of seats.
"""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.accelerate.interval_tree import (
    list_all_spans,
    list_spans,
    open_spans,
    span_after,
)
from scheduler_sim.engine.rules.slurm.accelerate.release_order import ended_by, seated
from scheduler_sim.engine.rules.slurm.accelerate.start_lower_bounds import (
    forget_fronts,
    narrow_fronts,
    open_fronts,
    turn_back_fronts,
)
from scheduler_sim.engine.rules.slurm.bits import NONE, copy, equal, ones_in, take_out, words
from scheduler_sim.engine.rules.slurm.state import NOTES, SPAN_ROWS, Partition, SlurmCore

FEW = 6  # words that are quicker to look at one by one


@part
def rounded_down(core: SlurmCore, time: int) -> int:
    """To whole multiples of bf_resolution on the clock of the epoch."""
    return time - (time + core.slurm.rules.epoch) % core.slurm.rules.bf_resolution


@part
def edge(core: SlurmCore, time: int) -> int:
    """Where a plan begins or ends that should at ``time``: 19.05 does not round that."""
    return rounded_down(core, time) if core.slurm.rules.aligned else time


@part
def open_plan(core: SlurmCore) -> None:
    """Nothing is reserved from now to the end of the window."""
    now, row = core.clock.now, SPAN_ROWS
    open_spans(core)
    open_fronts(core)
    core.slurm.memory.window_end = edge(core, now + core.slurm.rules.bf_window)
    core.slurm.plan.record[0].begin, core.slurm.plan.record[0].row = edge(core, now), row
    core.slurm.plan.record[1].begin = core.slurm.memory.window_end
    core.slurm.plan.mark[row].span = core.slurm.plan.mark[row].seating = 0
    core.slurm.memory.records = core.slurm.memory.records_made = 1
    copy(core.slurm.plan.space[row], core.slurm.sets.up_seats, 0, core.slurm.plan.space.shape[1])
    for i in range(len(core.slurm.partition)):
        core.slurm.plan.gain[row, i] = 0
        for j in range(NOTES):
            core.slurm.accelerate.note[row, i, j].start = -INF


@part
def plan_is_full(core: SlurmCore) -> bool:
    """Whether it has as many records as it may have."""
    return core.slurm.memory.records_made >= core.slurm.rules.bf_records


@part
def prolong_plan(core: SlurmCore) -> None:
    """The plan of an earlier pass still stands; its window has moved on with the clock."""
    core.slurm.memory.window_end = edge(core, core.clock.now + core.slurm.rules.bf_window)
    core.slurm.plan.record[core.slurm.memory.records].begin = core.slurm.memory.window_end


@part
def record_at(core: SlurmCore, time: int) -> int:
    """The record in which ``time`` lies; the last one if it lies behind the plan."""
    record, size = 0, core.slurm.memory.records
    while size > 1:  # without branches, which the processor could not foresee
        half = size // 2
        record += half & core.slurm.plan.record[record + half].begin - time - 1 >> 63
        size -= half
    return record


@part
def ended_at(core: SlurmCore, record: int) -> int:
    """How many are planned to have ended when a record begins."""
    mark = core.slurm.plan.mark[core.slurm.plan.record[record].row]
    if mark.seating != core.slurm.memory.seating:
        mark.seating, mark.ended = (
            core.slurm.memory.seating,
            ended_by(core, core.slurm.plan.record[record].begin),
        )
    return mark.ended


@part
def next_try(core: SlurmCore, placement: int, record: int, start: int) -> int:
    """The record at whose begin to try after ``start``, which lies in ``record``; -1 if there is none.

    19.05 tries at every boundary. Later versions try where nodes are gained that none of the records from
    ``start`` on has, and look for that up to the end of the first record that a job from ``start`` on does
    not touch. Where nothing is gained, each record is part of the one before, so that its neighbour is
    enough to compare with. Nodes outside the mask are never had: they are always a gain.
    """
    number, mask = core.slurm.way[placement].partition, core.slurm.way[placement].mask
    it, length = core.slurm.partition[number], core.placements[placement].limit
    whole = mask == it.members
    for i in range(record, core.slurm.memory.records - 1):
        if not core.slurm.rules.aligned:
            return i + 1
        row = core.slurm.plan.record[i].row
        if (
            core.slurm.plan.gain[row, number] > 0
            if whole
            else _gains(core, it, row, core.slurm.plan.record[i + 1].row, mask)
        ):
            return i + 1
        if beyond(core, core.slurm.plan.record[i].begin, start, length):
            break
    return -1


@part
def _gains(core: SlurmCore, it: Partition, row: int, following: int, mask: int) -> bool:
    """Whether a record has nodes that the one before, within the mask, has not."""
    before, here = core.slurm.plan.space[row], core.slurm.plan.space[following]
    members, wanted = (
        core.slurm.seats.masks[seated(core, it, it.members)],
        core.slurm.seats.masks[seated(core, it, mask)],
    )
    for i in words(it.low, it.high):
        if here[i] & members[i] & ~(wanted[i] & before[i]) != NONE:
            return True
    return False


@part
def is_free(core: SlurmCore, begin: int, end: int) -> bool:
    """Whether no reservation holds one of PICKED_SEATS from ``begin`` to ``end``."""
    if begin >= end:
        return True
    seats = core.slurm.sets.picked_seats
    for record in range(record_at(core, begin), core.slurm.memory.records):
        if core.slurm.plan.record[record].begin >= end:
            break
        if core.slurm.plan.record[record + 1].begin > begin:
            row = core.slurm.plan.record[record].row
            for i in range(core.slurm.memory.spots):
                word = core.slurm.plan.spots[i]
                if seats[word] & ~core.slurm.plan.space[row, word] != NONE:
                    return False
    return True


@part
def reserve(core: SlurmCore, it: Partition, begin: int, end: int) -> None:
    """Take PICKED_SEATS, which are free, out of the plan from ``begin`` to ``end``."""
    if end >= core.slurm.memory.window_end:  # as the window moves on, the plan has more of it
        seen = edge(core, begin if begin >= core.slurm.memory.window_end else end)
        step = core.slurm.rules.bf_resolution if core.slurm.rules.aligned else 1
        core.slurm.memory.valid = min(core.slurm.memory.valid, seen + step - core.slurm.rules.bf_window)
    begin = max(begin, core.slurm.plan.record[0].begin)
    first, last = record_at(core, begin), record_at(core, end - 1)
    if core.slurm.plan.record[first + 1].begin <= begin or end <= begin:
        return  # outside the plan
    made = core.slurm.memory.records_made
    if core.slurm.plan.record[last + 1].begin > end:
        _split(core, last, end)
    if core.slurm.plan.record[first].begin < begin:
        _split(core, first, begin)
        first, last = first + 1, last + 1
    rows, listed, plan = list_spans(core, begin, end), core.slurm.plan.listed, core.slurm.plan.record
    for record in range(first, last + 1):
        listed[rows].row = plan[record].row
        rows += 1
    _take_picked_out(core, rows)
    _note_gains(core, it, first - 1, -1)
    _note_gains(core, it, last, 1)
    if not _joined(core, first - 1):
        _joined(core, last)
    if core.slurm.memory.records_made > made:
        _note_reach(core, it, begin)
        _note_reach(core, it, end)


@part
def _take_picked_out(core: SlurmCore, rows: int) -> None:
    """Take PICKED_SEATS out of all sets that are listed."""
    seats, size, space, listed = (
        core.slurm.sets.picked_seats,
        core.slurm.memory.spots,
        core.slurm.plan.space,
        core.slurm.plan.listed,
    )
    if size > FEW:
        low = high = core.slurm.plan.spots[0]
        for i in range(size):
            low, high = min(low, core.slurm.plan.spots[i]), max(high, core.slurm.plan.spots[i] + 1)
        for i in range(rows):
            take_out(space[listed[i].row], seats, low, high)
        return
    for i in range(size):
        word = core.slurm.plan.spots[i]
        others = ~seats[word]
        for j in range(rows):
            space[listed[j].row, word] &= others


@part
def list_plan(core: SlurmCore) -> int:
    """List the rows of ``space`` that are in use, and return how many there are."""
    rows = list_all_spans(core)
    for record in range(core.slurm.memory.records):
        core.slurm.plan.listed[rows].row = core.slurm.plan.record[record].row
        rows += 1
    return rows


@part
def _note_gains(core: SlurmCore, it: Partition, record: int, sign: int) -> None:
    """PICKED_SEATS are a gain of the next record no more, or from now on, where the other has them."""
    if record < 0 or record + 1 == core.slurm.memory.records:
        return
    row, other = (
        core.slurm.plan.record[record].row,
        core.slurm.plan.record[record + (1 if sign > 0 else 0)].row,
    )
    for number in range(len(core.slurm.partition)):
        if core.slurm.partition[number].module == it.module:
            members, common = (
                core.slurm.seats.masks[seated(core, it, core.slurm.partition[number].members)],
                0,
            )
            for i in range(core.slurm.memory.spots):
                word = core.slurm.plan.spots[i]
                here = core.slurm.sets.picked_seats[word] & members[word]
                has = core.slurm.plan.space[other, word]
                common += ones_in(here & has) if sign > 0 else ones_in(here & ~has)
            if common > 0 and core.slurm.plan.gain[row, number] == 0:
                turn_back_fronts(core, core.slurm.plan.record[record + 1].begin)
            core.slurm.plan.gain[row, number] += sign * common
            if common > 0 and core.slurm.plan.gain[row, number] == 0:
                forget_fronts(core, core.slurm.plan.record[record + 1].begin)


@part
def _note_reach(core: SlurmCore, it: Partition, time: int) -> None:
    """A boundary at ``time`` may be new: from the try before to the one behind, only longer jobs look."""
    record = record_at(core, time)
    for number in range(len(core.slurm.partition)):
        if core.slurm.partition[number].module == it.module:
            gains = record
            while (
                gains < core.slurm.memory.records
                and core.slurm.plan.gain[core.slurm.plan.record[gains].row, number] == 0
            ):
                gains += 1
            first = record
            while first > 0 and core.slurm.plan.gain[core.slurm.plan.record[first - 1].row, number] == 0:
                first -= 1
            if first < gains < core.slurm.memory.records:
                start = max(core.slurm.plan.record[first].begin, core.clock.now)
                length = core.slurm.plan.record[gains - 1].begin - last_second(core, start, 0)
                narrow_fronts(core, number, core.slurm.plan.record[gains + 1].begin, length)


@part
def next_change(core: SlurmCore) -> int:
    """The first boundary of the plan that lies ahead, INF if none: when the clock passes it, tests differ."""
    following = record_at(core, core.clock.now) + 1
    return core.slurm.plan.record[following].begin if following < core.slurm.memory.records else INF


@part
def last_second(core: SlurmCore, start: int, length: int) -> int:
    """Up to when a job that starts at ``start`` must find its nodes free of reservations."""
    return start + length - (0 if core.slurm.rules.inclusive else 1)


@part
def beyond(core: SlurmCore, begin: int, start: int, length: int) -> bool:
    """Whether a record begins too late to matter to a job that starts at ``start``."""
    last = last_second(core, start, length)
    if begin <= last:
        return False
    if start == core.clock.now:  # as the clock moves on, it will begin to matter
        core.slurm.memory.valid = min(core.slurm.memory.valid, start + begin - last)
    return True


@part
def _split(core: SlurmCore, record: int, time: int) -> None:
    """Split a record at a time inside it."""
    plan = core.slurm.plan.record
    old, new = plan[record].row, SPAN_ROWS + core.slurm.memory.records_made
    for i in range(core.slurm.memory.records, record, -1):
        plan[i + 1].begin, plan[i + 1].row = plan[i].begin, plan[i].row
    core.slurm.memory.records += 1
    core.slurm.memory.records_made += 1
    core.slurm.plan.record[record + 1].begin, core.slurm.plan.record[record + 1].row = time, new
    core.slurm.plan.mark[new].span, core.slurm.plan.mark[new].seating = span_after(core, time), 0
    copy(core.slurm.plan.space[new], core.slurm.plan.space[old], 0, core.slurm.plan.space.shape[1])
    for i in range(len(core.slurm.partition)):
        core.slurm.plan.gain[new, i], core.slurm.plan.gain[old, i] = core.slurm.plan.gain[old, i], 0
        for j in range(NOTES):
            core.slurm.accelerate.note[new, i, j].start = -INF


@part
def _joined(core: SlurmCore, record: int) -> bool:
    """Make one record of this and the next if they are alike: Slurm does it once a reservation."""
    if record < 0 or record + 1 == core.slurm.memory.records:
        return False
    row, gone = core.slurm.plan.record[record].row, core.slurm.plan.record[record + 1].row
    if not equal(core.slurm.plan.space[row], core.slurm.plan.space[gone], 0, core.slurm.plan.space.shape[1]):
        return False
    for i in range(len(core.slurm.partition)):
        core.slurm.plan.gain[row, i] = core.slurm.plan.gain[gone, i]
    for i in range(record + 1, core.slurm.memory.records):
        core.slurm.plan.record[i].begin, core.slurm.plan.record[i].row = (
            core.slurm.plan.record[i + 1].begin,
            core.slurm.plan.record[i + 1].row,
        )
    core.slurm.memory.records -= 1
    return True
