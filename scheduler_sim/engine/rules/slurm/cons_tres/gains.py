"""How many nodes of each partition the next record of the plan has, and this one has not.

Tries are made where nodes are gained. What a reservation changes is known by its nodes: records in between
have lost the same.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import ones_in
from scheduler_sim.engine.core.hooks import on, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore
from scheduler_sim.engine.rules.slurm.node_space import (
    gains_nodes,
    has_more,
    plan_opens,
    record_split,
    records_joined,
    take_out_of_records,
    take_picked_out,
)
from scheduler_sim.engine.rules.slurm.state import Partition


@on(plan_opens, "cons_tres")
def open_gains(core: ConsTresCore) -> None:
    """The first record is the only one."""
    for i in range(len(core.slurm.partition)):
        core.cons_tres.gain[0, i] = 0


@on(record_split, "cons_tres")
def split_gains(core: ConsTresCore, record: int) -> None:
    """What the first half gained at its end the second does now."""
    plan, gain = core.slurm.plan.record, core.cons_tres.gain
    for i in range(len(core.slurm.partition)):
        gain[plan[record + 1].row, i], gain[plan[record].row, i] = gain[plan[record].row, i], 0


@on(records_joined, "cons_tres")
def take_over_gains(core: ConsTresCore, row: int, gone: int) -> None:
    """The record gains what the one that it has joined did."""
    for i in range(len(core.slurm.partition)):
        core.cons_tres.gain[row, i] = core.cons_tres.gain[gone, i]


@on(take_picked_out, "cons_tres")
def take_out_and_count(core: ConsTresCore, it: Partition, first: int, last: int) -> None:
    """The nodes PICKED are no gain of the first record any more, and one of the record behind the last."""
    take_out_of_records(core, it, first, last)
    _count(core, it, first - 1, False)
    _count(core, it, last, True)


@part
def _count(core: ConsTresCore, it: Partition, record: int, gained: bool) -> None:
    """Count the nodes PICKED that the record before has not, or that the one behind has."""
    if record < 0 or record + 1 == core.slurm.memory.records:
        return
    plan, picked, masks = core.slurm.plan, core.slurm.sets.picked, core.slurm.nodes.masks
    row, other = plan.record[record].row, plan.record[record + (1 if gained else 0)].row
    for number in range(len(core.slurm.partition)):
        if core.slurm.partition[number].module != it.module:
            continue
        members, count = core.slurm.partition[number].members, 0
        for word in range(it.low, it.high):
            here, has = picked[word] & masks[members, word], plan.space[other, word]
            count += ones_in(here & has) if gained else -ones_in(here & ~has)
        core.cons_tres.gain[row, number] += count


@question
def gains_any(core: ConsTresCore, number: int, record: int, mask: int) -> bool:
    """Whether nodes are gained, found node by node."""
    it, plan, masks = core.slurm.partition[number], core.slurm.plan, core.slurm.nodes.masks
    here, before = plan.space[plan.record[record + 1].row], plan.space[plan.record[record].row]
    return has_more(here, before, masks[it.members], masks[mask], it)


@on(gains_nodes, "cons_tres")
def gains_counted(core: ConsTresCore, number: int, record: int, mask: int) -> bool:
    """What a whole partition gains is known, if the job that is tried may have all of its nodes."""
    if core.cons_tres.bounding.clear and mask == core.slurm.partition[number].members:
        return bool(core.cons_tres.gain[core.slurm.plan.record[record].row, number] > 0)
    return gains_any(core, number, record, mask)
