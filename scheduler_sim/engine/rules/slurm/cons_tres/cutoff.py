"""Where a backfill pass over shared nodes may stop: no job behind may start now, and another pass is certain.

As for whole nodes (``accelerate/pass_cutoff``): what is reserved matters only to jobs that come after and may
start now. A need that goes by able nodes may start as long as enough are; any other is taken to.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import count_common
from scheduler_sim.engine.core.hooks import on, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import WAITING
from scheduler_sim.engine.rules.slurm.backfill_pass import (
    entries_begin,
    idle_taken,
    is_cut_off,
    is_extra,
)
from scheduler_sim.engine.rules.slurm.cons_tres.bounds import forget_bounds, may_make_room
from scheduler_sim.engine.rules.slurm.cons_tres.foreseen import goes_by_able
from scheduler_sim.engine.rules.slurm.cons_tres.levels import refresh
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore
from scheduler_sim.engine.rules.slurm.job_partition_queue import entry
from scheduler_sim.engine.rules.slurm.limit_questions import never_starts_in_pass
from scheduler_sim.engine.rules.slurm.limits import enough_were_tried
from scheduler_sim.engine.rules.slurm.node_space import record_at
from scheduler_sim.engine.rules.slurm.slot_search import put_unreserved

LOOK_EVERY = 8
"""After so many entries more may be reserved for those before, so that fewer of the others may start."""


@on(entries_begin, "cons_tres")
def any_may_start(core: ConsTresCore, size: int) -> None:
    """Any of the entries may start something, as far as is known."""
    forget_bounds(core)
    core.cons_tres.cutoff.last, core.cons_tres.cutoff.taken = size - 1, 1


@on(idle_taken, "cons_tres")
def fewer_may_start(core: ConsTresCore) -> None:
    """Less is free than before."""
    core.cons_tres.cutoff.taken = 1


@on(is_cut_off, "cons_tres")
def none_may_start(core: ConsTresCore, i: int) -> bool:
    """Whether the pass brings the next one, and no entry from ``i`` on may start anything."""
    cutoff = core.cons_tres.cutoff
    if not core.cons_tres.rules.cuts_off or not core.slurm.memory.self_change or core.rules.complex:
        return False
    if cutoff.taken or i >= cutoff.again:
        while cutoff.last >= i and not _may_start(core, cutoff.last):
            cutoff.last -= 1
        cutoff.taken, cutoff.again = 0, i + LOOK_EVERY
    return bool(cutoff.last < i)


@question
def has_nodes_of_its_own(core: ConsTresCore, row: int) -> bool:
    """Whether a job may have nodes that are none to others."""
    return False


@part
def _may_start(core: ConsTresCore, i: int) -> bool:
    """Whether the job of an entry of the queue may start now."""
    row, placement = entry(core, i)
    need = core.cons_tres.need[core.cons_tres.asked[placement].need]
    if core.jobs[row].state != WAITING or never_starts_in_pass(core, placement):
        return False
    if not is_extra(core) and enough_were_tried(core, row, placement):
        return False
    if not goes_by_able(core, placement) or may_make_room(core, placement):
        return True
    refresh(core, need.level)
    it = core.slurm.partition[core.slurm.way[placement].partition]
    able = core.cons_tres.able_by[need.level, 0]
    if count_common(able, core.slurm.sets.up, it.low, it.high) < need.min_nodes:
        return False
    if has_nodes_of_its_own(core, row):
        return True
    put_unreserved(core, placement, record_at(core, core.clock.now), core.clock.now)
    return count_common(able, core.slurm.sets.unreserved, it.low, it.high) >= need.min_nodes
