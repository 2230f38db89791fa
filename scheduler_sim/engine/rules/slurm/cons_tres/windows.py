"""The nodes that no reservation holds while a job would run, for one start after another.

As starts move on, records of the plan leave the window at its front and join at its end. What records have in
common up to a record in the middle is kept from each of those before it on, and behind it so far.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import copy, keep_common, put_common
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore
from scheduler_sim.engine.rules.slurm.node_space import last_second, record_at
from scheduler_sim.engine.rules.slurm.state import Partition

NO_RECORD = -1


@part
def open_windows(core: ConsTresCore) -> None:
    """Another job is tried: the plan may have changed."""
    core.cons_tres.window.middle = NO_RECORD


@part
def put_unreserved_from(core: ConsTresCore, placement: int, record: int, start: int) -> None:
    """UNRESERVED: the nodes a job may use that no reservation holds from ``start`` to its limit.

    ``start`` lies in ``record``, and not before that of the last time.
    """
    way, unreserved = core.slurm.way[placement], core.slurm.sets.unreserved
    it = core.slurm.partition[way.partition]
    put_common(unreserved, core.slurm.sets.up, core.slurm.nodes.masks[way.mask], it.low, it.high)
    if core.slurm.plan.record[record + 1].begin <= start:
        return  # behind the plan
    window = core.cons_tres.window
    _reach(core, it, record, _last_record(core, placement, start))
    keep_common(unreserved, core.cons_tres.from_record[record], it.low, it.high)
    if window.last > window.middle:
        keep_common(unreserved, core.cons_tres.behind_middle, it.low, it.high)


@part
def _last_record(core: ConsTresCore, placement: int, start: int) -> int:
    """The record in which a job would end: not before that of the last time."""
    end = last_second(core, start, core.placements[placement].limit)
    if core.cons_tres.window.middle == NO_RECORD:
        return record_at(core, end)
    plan, record = core.slurm.plan.record, core.cons_tres.window.last
    while record + 1 < core.slurm.memory.records and plan[record + 1].begin <= end:
        record += 1
    return record


@part
def _reach(core: ConsTresCore, it: Partition, record: int, last: int) -> None:
    """Have what the records from one to another have in common, in two parts."""
    plan, part, window = core.slurm.plan, core.cons_tres, core.cons_tres.window
    if record > window.middle:
        window.middle = window.last = last
        copy(part.from_record[last], plan.space[plan.record[last].row], it.low, it.high)
        for i in range(last - 1, record - 1, -1):
            here, behind = plan.space[plan.record[i].row], part.from_record[i + 1]
            put_common(part.from_record[i], here, behind, it.low, it.high)
    while window.last < last:
        if window.last == window.middle:
            copy(part.behind_middle, plan.space[plan.record[last].row], it.low, it.high)
        window.last += 1
        keep_common(part.behind_middle, plan.space[plan.record[window.last].row], it.low, it.high)
