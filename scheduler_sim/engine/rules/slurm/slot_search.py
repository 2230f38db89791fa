"""One try of the backfill scheduler: a job that starts at ``start`` needs nodes that no reservation holds.

Slurm tries now, and at each boundary of the plan from which on there are other nodes, until the
predicted start comes before the next such boundary. The nodes that stay free of reservations from the start
to the limit, and are idle by the next try, are STAYING; those of them on which the job could start are LATER.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, copy, count, keep_common
from scheduler_sim.engine.core.hooks import event, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.coscheduling.members import reservation_is_ahead
from scheduler_sim.engine.rules.slurm.advance_reservations import leave_out_reserved, next_begin
from scheduler_sim.engine.rules.slurm.change import holds_until
from scheduler_sim.engine.rules.slurm.node_space import last_second, next_attempt, record_at
from scheduler_sim.engine.rules.slurm.planned_ends import ended_by, put_idle_once, running
from scheduler_sim.engine.rules.slurm.state import Partition, SlurmCore


@question
def stay_free(core: SlurmCore, placement: int, record: int, start: int, following: int) -> bool:
    """Whether enough nodes that are idle by the next try are free of reservations from ``start`` on.

    ``start`` lies in ``record``, the next try where ``following`` begins; without one, all that run count.
    The nodes are STAYING, and ENDED is how many jobs have ended by then.
    """
    it, sets = core.slurm.partition[core.slurm.way[placement].partition], core.slurm.sets
    core.slurm.memory.ended = running(core)
    if following >= 0:
        core.slurm.memory.ended = ended_by(core, core.slurm.plan.record[following].begin)
    put_unreserved(core, placement, record, start)
    put_idle_once(core, it, core.slurm.memory.ended, sets.staying)
    keep_common(sets.staying, sets.unreserved, it.low, it.high)
    return count(sets.staying, it.low, it.high) >= core.placements[placement].nodes


@question
def are_unreserved(core: SlurmCore, placement: int, record: int, start: int) -> bool:
    """Whether enough nodes are free of reservations from ``start`` on, whatever runs on them: STAYING."""
    it, sets = core.slurm.partition[core.slurm.way[placement].partition], core.slurm.sets
    put_unreserved(core, placement, record, start)
    copy(sets.staying, sets.unreserved, it.low, it.high)
    return count(sets.staying, it.low, it.high) >= core.placements[placement].nodes


@question
def put_offered(core: SlurmCore, placement: int, target: Words) -> None:
    """``target`` becomes what is free of reservations for a job that may start now, whatever runs there."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    copy(target, core.slurm.sets.unreserved, it.low, it.high)


@part
def put_unreserved(core: SlurmCore, placement: int, record: int, start: int) -> None:
    """UNRESERVED: the nodes a job may use that no reservation holds from ``start`` to its limit."""
    way, plan = core.slurm.way[placement], core.slurm.plan
    it, unreserved = core.slurm.partition[way.partition], core.slurm.sets.unreserved
    last = last_second(core, start, core.placements[placement].limit)
    copy(unreserved, core.slurm.sets.up, it.low, it.high)
    keep_common(unreserved, core.slurm.nodes.masks[way.mask], it.low, it.high)
    for i in range(record, core.slurm.memory.records):
        if plan.record[i].begin > last:
            break
        if plan.record[i + 1].begin > start:
            keep_common(unreserved, plan.space[plan.record[i].row], it.low, it.high)


@event
def keep_open(core: SlurmCore, it: Partition) -> None:
    """Of the nodes UNRESERVED stay those that reservations of operators leave to the entry."""


@part
def clear_of_reserved(core: SlurmCore, placement: int, start: int) -> bool:
    """Whether the nodes STAYING still suffice beside advance reservations."""
    if not reservation_is_ahead(core):
        return True
    limit = core.placements[placement].limit
    if start == core.clock.now:  # as the clock moves on, the next will be in the way
        holds_until(core, next_begin(core, start + limit) - limit + 1)
    return left_beside_reserved(core, placement, start) >= core.placements[placement].nodes


@question
def left_beside_reserved(core: SlurmCore, placement: int, start: int) -> int:
    """Take the nodes out of STAYING that advance reservations hold; returns how many are left."""
    it, staying = core.slurm.partition[core.slurm.way[placement].partition], core.slurm.sets.staying
    leave_out_reserved(core, staying, start, start + core.placements[placement].limit)
    return count(staying, it.low, it.high)


@question
def would_suffice(core: SlurmCore, placement: int, ahead: bool) -> bool:
    """Whether enough nodes are free of reservations, whatever runs on them, at some start that is tried."""
    start = core.clock.now
    record = record_at(core, start)
    while not are_unreserved(core, placement, record, start) or not clear_of_reserved(core, placement, start):
        record = next_attempt(core, placement, record, start) if ahead else -1
        if record < 0:
            return False
        start = core.slurm.plan.record[record].begin
    return True


@question
def others_leave(core: SlurmCore, placement: int) -> bool:
    """Whether jobs that have not ended by the end of a try hold nodes that stay free for it."""
    way, sets = core.slurm.way[placement], core.slurm.sets
    it, mask = core.slurm.partition[way.partition], core.slurm.nodes.choice[way.choice].mask
    put_idle_once(core, it, core.slurm.memory.ended, sets.available)
    for word in range(it.low, it.high):
        if sets.unreserved[word] & core.slurm.nodes.masks[mask, word] & ~sets.available[word] != NONE:
            return True
    return False
