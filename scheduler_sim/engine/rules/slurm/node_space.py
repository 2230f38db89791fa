"""The plan of a backfill pass: which nodes no reservation holds, from one time to the next.

Records in order of time, each with a set of nodes, as in Slurm's backfill scheduler. A record
ends where the next begins; one more than there are says where the plan ends. When a record is put
in between, or taken out, others only change their place: their sets keep their rows.
Jobs that ran before the pass are not in it, but with bf_running_job_reserve: they enter through their
predicted ends.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, copy, equal, keep_common, take_out, words
from scheduler_sim.engine.core.hooks import event, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.change import holds_until
from scheduler_sim.engine.rules.slurm.state import Partition, SlurmCore

# -- how the plan may be kept otherwise (see ``accelerate``)


@event
def plan_opens(core: SlurmCore) -> None:
    """A plan in which nothing is reserved is about to take the place of the last one."""


@event
def plan_opened(core: SlurmCore) -> None:
    """It has taken that place."""


@event
def record_split(core: SlurmCore, record: int) -> None:
    """The second half of a record is the next one from now on."""


@event
def records_joined(core: SlurmCore, row: int, gone: int) -> None:
    """The record in ``row`` reaches as far as the next one did, which was in row ``gone``."""


@event
def boundaries_made(core: SlurmCore, it: Partition, begin: int, end: int) -> None:
    """A reservation in a module has made boundaries where it begins, or where it ends."""


@event
def nodes_picked(core: SlurmCore, it: Partition) -> None:
    """Nodes are PICKED that the plan will be asked for."""


@question
def has_whole_nodes(core: SlurmCore, placement: int) -> bool:
    """Whether a job that starts has its nodes to itself."""
    return True


@question
def put_nodes_up(core: SlurmCore, target: Words) -> None:
    """A set of the plan becomes the nodes in service."""
    copy(target, core.slurm.sets.up, 0, len(target))


@question
def keep_masked(core: SlurmCore, it: Partition, target: Words, mask: int) -> None:
    """Of a set of the plan stays what is in a mask."""
    keep_common(target, core.slurm.nodes.masks[mask], it.low, it.high)


@question
def has_picked(core: SlurmCore, it: Partition, row: int) -> bool:
    """Whether a set of the plan has all nodes PICKED."""
    for i in words(it.low, it.high):
        if core.slurm.sets.picked[i] & ~core.slurm.plan.space[row, i] != NONE:
            return False
    return True


@question
def take_picked_out(core: SlurmCore, it: Partition, first: int, last: int) -> None:
    """Take the nodes PICKED out of the sets of the records from ``first`` to ``last``."""
    take_out_of_records(core, it, first, last)


@part
def take_out_of_records(core: SlurmCore, it: Partition, first: int, last: int) -> None:
    """The same, whatever else is to be done."""
    for i in range(first, last + 1):
        space = core.slurm.plan.space[core.slurm.plan.record[i].row]
        take_out(space, core.slurm.sets.picked, it.low, it.high)


@question
def gains_nodes(core: SlurmCore, number: int, record: int, mask: int) -> bool:
    """Whether the next record has nodes of a partition that this one, within the mask, has not."""
    plan, masks, it = core.slurm.plan, core.slurm.nodes.masks, core.slurm.partition[number]
    here, before = plan.space[plan.record[record + 1].row], plan.space[plan.record[record].row]
    return has_more(here, before, masks[it.members], masks[mask], it)


# -- the plan


@part
def rounded_down(core: SlurmCore, time: int) -> int:
    """To whole multiples of bf_resolution on the clock of the epoch."""
    return time - (time + core.slurm.rules.epoch) % core.slurm.rules.bf_resolution


@part
def span(core: SlurmCore, placement: int, time: int) -> tuple[int, int]:
    """From when to when it reserves: at least one slot."""
    begin = rounded_down(core, time)
    end = slot_end(core, time + core.placements[placement].limit)
    return begin, max(end, begin + core.slurm.rules.bf_resolution)


@part
def slot_end(core: SlurmCore, time: int) -> int:
    """Where a slot ends that should at ``time``: rounded down, since 24.11 up."""
    up = core.slurm.rules.bf_resolution - 1 if core.slurm.rules.ends_rounded_up else 0
    return rounded_down(core, time + up)


@part
def edge(core: SlurmCore, time: int) -> int:
    """Where a plan begins or ends that should at ``time``: 19.05 does not round that."""
    return rounded_down(core, time) if core.slurm.rules.aligned else time


@part
def open_plan(core: SlurmCore) -> None:
    """Nothing is reserved from now to the end of the window."""
    now, plan = core.clock.now, core.slurm.plan
    plan_opens(core)
    core.slurm.memory.window_end = edge(core, now + core.slurm.rules.bf_window)
    plan.record[0].begin, plan.record[0].row = edge(core, now), 0
    plan.record[1].begin = core.slurm.memory.window_end
    core.slurm.memory.records = core.slurm.memory.records_made = 1
    put_nodes_up(core, plan.space[0])
    plan_opened(core)


@part
def plan_is_full(core: SlurmCore) -> bool:
    """Whether it has as many records as it may have."""
    return core.slurm.memory.records_made >= core.slurm.rules.bf_node_space_size


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
def record_of(core: SlurmCore, start: int, following: int) -> int:
    """The record in which the next try lies: the ``following`` one if it starts where that begins."""
    at_boundary = following >= 0 and core.slurm.plan.record[following].begin == start
    return following if at_boundary else record_at(core, start)


@part
def next_attempt(core: SlurmCore, placement: int, record: int, start: int) -> int:
    """The record at whose begin to try after ``start``, which lies in ``record``; -1 if there is none.

    19.05 tries at every boundary. Later versions try where nodes are gained that none of the records from
    ``start`` on has, and look for that up to the end of the first record that a job from ``start`` on does
    not touch. Where nothing is gained, each record is part of the one before, so that its neighbour is
    enough to compare with. Nodes outside the mask are never had: they are always a gain. Since 24.11 a job
    that gains nothing up to there is tried again behind the slot that follows.
    """
    way, length = core.slurm.way[placement], core.placements[placement].limit
    for i in range(record, core.slurm.memory.records - 1):
        if not core.slurm.rules.aligned or gains_nodes(core, way.partition, i, way.mask):
            return i + 1
        if beyond(core, core.slurm.plan.record[i].begin, start, length):
            behind = core.slurm.rules.next_slot_tried and i + 2 < core.slurm.memory.records
            return i + 2 if behind else -1
    return -1


@part
def has_more(here: Words, before: Words, members: Words, mask: Words, it: Partition) -> bool:
    """Whether a set has nodes of a partition that another, within a mask, has not."""
    for i in words(it.low, it.high):
        if here[i] & members[i] & ~(mask[i] & before[i]) != NONE:
            return True
    return False


@part
def is_free(core: SlurmCore, it: Partition, begin: int, end: int) -> bool:
    """Whether no reservation holds one of the nodes PICKED from ``begin`` to ``end``."""
    if begin >= end:
        return True
    plan = core.slurm.plan.record
    for record in range(record_at(core, begin), core.slurm.memory.records):
        if plan[record].begin >= end:
            break
        if plan[record + 1].begin > begin and not has_picked(core, it, plan[record].row):
            return False
    return True


@part
def reserve(core: SlurmCore, it: Partition, begin: int, end: int) -> None:
    """Take the nodes PICKED, which are free, out of the plan from ``begin`` to ``end``."""
    if end >= core.slurm.memory.window_end:  # as the window moves on, the plan has more of it
        seen = edge(core, begin if begin >= core.slurm.memory.window_end else end)
        step = core.slurm.rules.bf_resolution if core.slurm.rules.aligned else 1
        holds_until(core, seen + step - core.slurm.rules.bf_window)
    plan = core.slurm.plan.record
    begin = max(begin, plan[0].begin)
    first, last = record_at(core, begin), record_at(core, end - 1)
    if plan[first + 1].begin <= begin or end <= begin:
        return  # outside the plan
    made = core.slurm.memory.records_made
    if plan[last + 1].begin > end:
        _split(core, last, end)
    if plan[first].begin < begin:
        _split(core, first, begin)
        first, last = first + 1, last + 1
    take_picked_out(core, it, first, last)
    if not _joined(core, first - 1):
        _joined(core, last)
    if core.slurm.memory.records_made > made:
        boundaries_made(core, it, begin, end)


@part
def plan_started(core: SlurmCore, placement: int) -> None:
    """What has started on the nodes PICKED stands in the plan for the rest of the pass."""
    if not core.slurm.rules.plans_started or plan_is_full(core) or not has_whole_nodes(core, placement):
        return
    it = core.slurm.partition[core.slurm.way[placement].partition]
    begin, end = span(core, placement, core.clock.now)
    nodes_picked(core, it)
    reserve(core, it, begin, end)


@part
def next_change(core: SlurmCore) -> int:
    """The first boundary of the plan that lies ahead, INF if none: when the clock passes it, tests differ."""
    following = record_at(core, core.clock.now) + 1
    return core.slurm.plan.record[following].begin if following < core.slurm.memory.records else INF


@part
def last_second(core: SlurmCore, start: int, length: int) -> int:
    """Up to when a job that starts at ``start`` must find its nodes free of reservations."""
    return start + length - (0 if core.slurm.rules.inclusive_end else 1)


@part
def beyond(core: SlurmCore, begin: int, start: int, length: int) -> bool:
    """Whether a record begins too late to matter to a job that starts at ``start``."""
    last = last_second(core, start, length)
    if begin <= last:
        return False
    if start == core.clock.now:  # as the clock moves on, it will begin to matter
        holds_until(core, start + begin - last)
    return True


@part
def _split(core: SlurmCore, record: int, time: int) -> None:
    """Split a record at a time inside it."""
    plan, new = core.slurm.plan, core.slurm.memory.records_made
    for i in range(core.slurm.memory.records, record, -1):
        plan.record[i + 1].begin, plan.record[i + 1].row = plan.record[i].begin, plan.record[i].row
    core.slurm.memory.records += 1
    core.slurm.memory.records_made += 1
    plan.record[record + 1].begin, plan.record[record + 1].row = time, new
    copy(plan.space[new], plan.space[plan.record[record].row], 0, plan.space.shape[1])
    record_split(core, record)


@part
def _joined(core: SlurmCore, record: int) -> bool:
    """Make one record of this and the next if they are alike: Slurm does it once a reservation."""
    plan = core.slurm.plan
    if record < 0 or record + 1 == core.slurm.memory.records:
        return False
    row, gone = plan.record[record].row, plan.record[record + 1].row
    if not equal(plan.space[row], plan.space[gone], 0, plan.space.shape[1]):
        return False
    for i in range(record + 1, core.slurm.memory.records):
        plan.record[i].begin, plan.record[i].row = plan.record[i + 1].begin, plan.record[i + 1].row
    core.slurm.memory.records -= 1
    records_joined(core, row, gone)
    return True
