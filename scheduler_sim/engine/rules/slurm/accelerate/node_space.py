"""The plan in the release order, with its intervals, and what is known of its boundaries."""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, ones_in, take_out
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.accelerate.interval_tree import (
    interval_after,
    list_all_intervals,
    list_intervals,
    open_intervals,
)
from scheduler_sim.engine.rules.slurm.accelerate.release_order import (
    move_to_release_of,
    order_by_release,
    ranked,
)
from scheduler_sim.engine.rules.slurm.accelerate.start_lower_bounds import (
    forget_bounds,
    narrow_bounds,
    open_bounds,
    turn_back_bounds,
)
from scheduler_sim.engine.rules.slurm.accelerate.state import INTERVAL_ROWS, NOTES, AcceleratedCore
from scheduler_sim.engine.rules.slurm.backfill_pass import started_beside_plan
from scheduler_sim.engine.rules.slurm.node_space import (
    boundaries_made,
    gains_nodes,
    has_more,
    has_picked,
    last_second,
    plan_opens,
    record_at,
    record_split,
    records_joined,
    take_picked_out,
)
from scheduler_sim.engine.rules.slurm.state import Partition

FEW = 6  # words that are quicker to look at one by one


@on(plan_opens, "accelerate")
def open_in_release_order(core: AcceleratedCore) -> None:
    """The nodes get their ranks; of the first record nothing is known yet."""
    order_by_release(core)
    open_intervals(core)
    open_bounds(core)
    core.accelerate.mark[0].interval = core.accelerate.mark[0].ordering = 0
    core.accelerate.progress.begun = 0
    _know_nothing_of(core, 0)


@part
def _know_nothing_of(core: AcceleratedCore, row: int) -> None:
    """Forget what was known of another record with the same row."""
    for i in range(len(core.slurm.partition)):
        core.accelerate.gain[row, i] = 0
        for j in range(NOTES):
            core.accelerate.note[row, i, j].start = -INF


@on(record_split, "accelerate")
def mark_split(core: AcceleratedCore, record: int) -> None:
    """What the first half gained at its end the second does now."""
    plan = core.slurm.plan.record
    old, new = plan[record].row, plan[record + 1].row
    core.accelerate.mark[new].interval = interval_after(core, plan[record + 1].begin)
    core.accelerate.mark[new].ordering = 0
    _know_nothing_of(core, new)
    for i in range(len(core.slurm.partition)):
        core.accelerate.gain[new, i], core.accelerate.gain[old, i] = core.accelerate.gain[old, i], 0


@on(records_joined, "accelerate")
def take_over_gains(core: AcceleratedCore, row: int, gone: int) -> None:
    """It gains what the next one did."""
    for i in range(len(core.slurm.partition)):
        core.accelerate.gain[row, i] = core.accelerate.gain[gone, i]


@on(has_picked, "accelerate")
def has_ranks_picked(core: AcceleratedCore, it: Partition, row: int) -> bool:
    """Whether a set of the plan has all ranks PICKED."""
    ranks = core.accelerate.ranks
    for i in range(core.accelerate.progress.spots):
        word = ranks.spots[i]
        if ranks.picked[word] & ~core.slurm.plan.space[row, word] != NONE:
            return False
    return True


@on(take_picked_out, "accelerate")
def take_ranks_out(core: AcceleratedCore, it: Partition, first: int, last: int) -> None:
    """Take the ranks PICKED out of records, and of the intervals that have a second of them."""
    plan, listed = core.slurm.plan.record, core.accelerate.listed
    rows = list_intervals(core, plan[first].begin, plan[last + 1].begin)
    for record in range(first, last + 1):
        listed[rows].row = INTERVAL_ROWS + plan[record].row
        rows += 1
    _take_out_of_listed(core, rows)
    _note_gains(core, it, first - 1, -1)
    _note_gains(core, it, last, 1)


@part
def _take_out_of_listed(core: AcceleratedCore, rows: int) -> None:
    """Take the ranks PICKED out of all sets that are listed."""
    ranks, size = core.accelerate.ranks, core.accelerate.progress.spots
    space, listed = core.accelerate.space, core.accelerate.listed
    if size > FEW:
        low = high = ranks.spots[0]
        for i in range(size):
            low, high = min(low, ranks.spots[i]), max(high, ranks.spots[i] + 1)
        for i in range(rows):
            take_out(space[listed[i].row], ranks.picked, low, high)
        return
    for i in range(size):
        word = ranks.spots[i]
        others = ~ranks.picked[word]
        for j in range(rows):
            space[listed[j].row, word] &= others


@part
def _note_gains(core: AcceleratedCore, it: Partition, record: int, sign: int) -> None:
    """The ranks PICKED are a gain of the next record no more, or from now on, where the other has them."""
    if record < 0 or record + 1 == core.slurm.memory.records:
        return
    plan, gain, ranks = core.slurm.plan, core.accelerate.gain, core.accelerate.ranks
    row, other = plan.record[record].row, plan.record[record + (1 if sign > 0 else 0)].row
    for number in range(len(core.slurm.partition)):
        if core.slurm.partition[number].module == it.module:
            members = ranks.masks[ranked(core, it, core.slurm.partition[number].members)]
            common = 0
            for i in range(core.accelerate.progress.spots):
                word = ranks.spots[i]
                here, has = ranks.picked[word] & members[word], plan.space[other, word]
                common += ones_in(here & has) if sign > 0 else ones_in(here & ~has)
            if common > 0 and gain[row, number] == 0:
                turn_back_bounds(core, number, plan.record[record + 1].begin)
            gain[row, number] += sign * common
            if common > 0 and gain[row, number] == 0:
                forget_bounds(core, number, plan.record[record + 1].begin)


@on(gains_nodes, "accelerate", unless="reservations")
def gains_ranks(core: AcceleratedCore, number: int, record: int, mask: int) -> bool:
    """What a whole partition gains is known."""
    it, plan, masks = core.slurm.partition[number], core.slurm.plan, core.accelerate.ranks.masks
    if mask == it.members:
        gain: int = core.accelerate.gain[plan.record[record].row, number]
        return gain > 0
    here, before = plan.space[plan.record[record + 1].row], plan.space[plan.record[record].row]
    members, wanted = masks[ranked(core, it, it.members)], masks[ranked(core, it, mask)]
    return has_more(here, before, members, wanted, it)


@on(boundaries_made, "accelerate")
def narrow_at_boundaries(core: AcceleratedCore, it: Partition, begin: int, end: int) -> None:
    """There may be a boundary at each of the two."""
    _note_reach(core, it, begin)
    _note_reach(core, it, end)


@part
def _note_reach(core: AcceleratedCore, it: Partition, time: int) -> None:
    """A boundary at ``time`` may be new: from the try before to the one behind, only longer jobs look."""
    record, plan, gain = record_at(core, time), core.slurm.plan.record, core.accelerate.gain
    for number in range(len(core.slurm.partition)):
        if core.slurm.partition[number].module == it.module:
            gains = record
            while gains < core.slurm.memory.records and gain[plan[gains].row, number] == 0:
                gains += 1
            first = record
            while first > 0 and gain[plan[first - 1].row, number] == 0:
                first -= 1
            if first < gains < core.slurm.memory.records:
                start = max(plan[first].begin, core.clock.now)
                length = plan[gains - 1].begin - last_second(core, start, 0)
                narrow_bounds(core, number, plan[gains + 1].begin, length)


@on(started_beside_plan, "accelerate")
def move_in_release_order(core: AcceleratedCore, row: int, placement: int) -> None:
    """A job that starts in the pass gives its nodes back with those that end when it does."""
    rows = list_all_intervals(core)
    for record in range(core.slurm.memory.records):
        core.accelerate.listed[rows].row = INTERVAL_ROWS + core.slurm.plan.record[record].row
        rows += 1
    move_to_release_of(core, core.slurm.partition[core.slurm.way[placement].partition], row, rows)
    core.accelerate.progress.begun += core.placements[placement].nodes
