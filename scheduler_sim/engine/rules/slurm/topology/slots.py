"""The starts that the backfill scheduler finds for whole nodes that are chosen by where they lie.

That enough nodes come free is not enough: it is tried which would be taken, now and after each group of jobs
that end (``_will_run_test`` of cons_common/job_test.c).
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import copy, count, count_common, take_out
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.backfill_pass import slot_by_ends, starts_on_picked
from scheduler_sim.engine.rules.slurm.nodes import pick, weighed_anew, would_do
from scheduler_sim.engine.rules.slurm.planned_ends import (
    frees_between,
    planned_end,
    running,
    take_idle_after,
)
from scheduler_sim.engine.rules.slurm.predicted import (
    FIRST_GROUP_S,
    end_as_seen,
    first_barrier,
    fits_now,
    predicted_start,
    wider,
)
from scheduler_sim.engine.rules.slurm.slot_search import put_unreserved, stay_free
from scheduler_sim.engine.rules.slurm.state import Partition
from scheduler_sim.engine.rules.slurm.topology.state import TopologyCore
from scheduler_sim.engine.rules.slurm.topology.waiting import goes_by_topology, note_try


@on(stay_free, "topology")
def all_count(core: TopologyCore, placement: int, record: int, start: int, following: int) -> bool:
    """Whether enough nodes are free of reservations, whoever runs there: STAYING."""
    it, sets = core.slurm.partition[core.slurm.way[placement].partition], core.slurm.sets
    core.slurm.memory.ended = running(core)
    put_unreserved(core, placement, record, start)
    copy(sets.staying, sets.unreserved, it.low, it.high)
    return count(sets.staying, it.low, it.high) >= core.placements[placement].nodes


@on(slot_by_ends, "topology")
def slot_by_topology(core: TopologyCore, placement: int, ahead: bool) -> int:
    """Now, or after the first group of jobs with which nodes STAYING would do; those are in LATER."""
    if not goes_by_topology(core, placement):
        if ahead:
            return predicted_start(core, placement)
        return core.clock.now if fits_now(core, placement) else INF
    it = core.slurm.partition[core.slurm.way[placement].partition]
    note_try(core, placement)
    if _would_do_after(core, placement, it, 0):
        return core.clock.now
    return _when_others_leave(core, placement, it) if ahead else INF


@part
def _would_do_after(core: TopologyCore, placement: int, it: Partition, ended: int) -> bool:
    """Whether nodes STAYING would do once so many jobs have ended: those idle by then are in LATER."""
    take_idle_after(core, it, ended)
    return would_do(core, placement, core.slurm.sets.later)


@part
def _when_others_leave(core: TopologyCore, placement: int, it: Partition) -> int:
    """Groups of jobs leave, each wider than the one before; those that have no nodes STAYING do not count."""
    size, width, barrier, i = running(core), FIRST_GROUP_S, -1, 0
    while i < size:
        last = -1
        while i < size:
            here = i
            i += 1
            if not frees_between(core, it, here, i):
                continue
            if barrier < 0:
                barrier = first_barrier(core, planned_end(core, here))
            last = here
            if i < size and planned_end(core, i) > barrier + width:
                break
        if last < 0:
            return INF
        width = wider(core, width)
        while i < size and planned_end(core, i) > barrier + width:
            width = wider(core, width)
        if _would_do_after(core, placement, it, last + 1):
            return end_as_seen(core, planned_end(core, last))
    return INF


@on(starts_on_picked, "topology", unless=("cons_tres", "preemption"))
def starts_where_it_may(core: TopologyCore, row: int, placement: int) -> bool:
    """Its nodes are chosen anew without those that are completing; if they do not do, they are reserved."""
    it, sets = core.slurm.partition[core.slurm.way[placement].partition], core.slurm.sets
    leaving = count_common(sets.later, sets.leaving, it.low, it.high) > 0
    if not leaving and not weighed_anew(core):
        return True
    copy(sets.available, sets.later, it.low, it.high)
    take_out(sets.available, sets.leaving, it.low, it.high)
    if pick(core, placement, sets.available):
        return True
    pick(core, placement, sets.later)
    return False
