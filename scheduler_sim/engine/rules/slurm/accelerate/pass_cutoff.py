"""Where a backfill pass may stop: no job behind may start now, and another pass is certain.

Reservations only remove nodes: a job that cannot start now cannot start later in the pass, and a
reservation matters only to jobs that come after it and may start now. Nor does it matter to those that the
pass does not come to, as it ends with bf_max_job_test tests.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import count
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import WAITING
from scheduler_sim.engine.rules.coscheduling.members import is_member, reservation_is_ahead
from scheduler_sim.engine.rules.slurm.accelerate.slot_search import left_free
from scheduler_sim.engine.rules.slurm.accelerate.state import AcceleratedCore
from scheduler_sim.engine.rules.slurm.backfill_pass import entries_begin, entries_end, idle_taken, is_cut_off
from scheduler_sim.engine.rules.slurm.change import holds_until
from scheduler_sim.engine.rules.slurm.het.het_jobs import is_of_delayed_job
from scheduler_sim.engine.rules.slurm.job_partition_queue import entry
from scheduler_sim.engine.rules.slurm.limit_questions import (
    is_surely_tried,
    never_starts_in_pass,
)
from scheduler_sim.engine.rules.slurm.node_space import record_at
from scheduler_sim.engine.rules.slurm.planned_ends import ended_by
from scheduler_sim.engine.rules.slurm.reservations.access import names_reservation

LOOK_AHEAD_S = 600  # for so long a plan may stand that leaves out entries that the pass does not come to


@on(entries_begin, "accelerate")
def need_all(core: AcceleratedCore, size: int) -> None:
    """Any of the entries may start something."""
    progress = core.accelerate.progress
    progress.last, progress.needed, progress.taken = size - 1, size, 1


@on(entries_end, "accelerate")
def note_planned(core: AcceleratedCore) -> None:
    """Those that the pass came to, and that wait yet."""
    progress = core.accelerate.progress
    progress.planned = min(progress.needed, core.queue.at.tail - core.queue.at.head)


@on(idle_taken, "accelerate")
def look_again(core: AcceleratedCore) -> None:
    """Fewer entries may start something now."""
    core.accelerate.progress.taken = 1


@on(is_cut_off, "accelerate")
def none_may_start(core: AcceleratedCore, i: int) -> bool:
    """Whether the pass brings the next one, and no entry from ``i`` on may start anything."""
    progress = core.accelerate.progress
    if not core.slurm.memory.self_change or core.rules.complex:
        return False
    if progress.taken:
        progress.last = _last_that_may_start(core, i, _last_in_reach(core, i, progress.last))
        progress.taken = 0
    if progress.last >= i:
        return False
    progress.needed = i
    return True


@part
def _last_in_reach(core: AcceleratedCore, first: int, last: int) -> int:
    """The last entry from ``first`` to ``last`` that may come before the pass has made its tests.

    If others are out of reach, the plan stands no longer than LOOK_AHEAD_S. Entries are of jobs
    with one placement that ask for no shared resources (not COMPLEX).
    """
    rules = core.slurm.rules
    tests = rules.bf_max_job_test - core.slurm.memory.tested
    if core.slurm.memory.entries < rules.bf_max_job_test or reservation_is_ahead(core):
        return last
    if rules.bf_max_job_part or rules.bf_max_job_user or rules.bf_max_job_user_part:
        return last
    for i in range(first, last + 1):
        if tests <= 0:
            if i > first:
                holds_until(core, core.clock.now + LOOK_AHEAD_S)
            return i - 1
        if _is_tested(core, i):
            tests -= 1
    return last


@part
def _is_tested(core: AcceleratedCore, i: int) -> bool:
    """Whether it is known that an entry is a test, in a pass from now to LOOK_AHEAD_S later.

    It is one if enough nodes are free of reservations at some start that is tried. No job can reserve those
    on which others run until these are planned to end: if that is after the limit, they are free at the
    first; but those of what started in this pass may stand in its plan. Nothing is known of jobs that may not
    be tried after all, or may use a part of a module only.
    """
    row, placement = entry(core, i)
    it, array = core.placements[placement], core.holds.term[row].array
    if core.jobs[row].state != WAITING or is_member(core, row):
        return False
    if core.slurm.way[placement].mask != it.module or (array >= 0 and core.holds.array[array].limit >= 0):
        return False
    by = core.clock.now + it.limit + core.slurm.rules.bf_resolution + LOOK_AHEAD_S
    if not is_surely_tried(core, row, placement, by):
        return False
    idle_end = core.accelerate.ranks.idle_end[it.module]
    behind: int = idle_end[core.accelerate.progress.ends] - idle_end[ended_by(core, by)]
    return behind - core.accelerate.progress.begun >= it.nodes


@part
def _last_that_may_start(core: AcceleratedCore, first: int, last: int) -> int:
    """The last entry from ``first`` to ``last`` whose job may start; ``first - 1`` if none may."""
    now, valid = core.clock.now, core.slurm.memory.valid
    record = record_at(core, now)
    while last >= first:
        row, placement = entry(core, last)
        if is_of_delayed_job(core, row):
            break  # its job may get its advance reservations now, also if it starts later itself
        if names_reservation(core, row):
            break  # it may have nodes that are none to others
        if never_starts_in_pass(core, placement):
            last -= 1
            continue
        it = core.slurm.partition[core.slurm.way[placement].partition]
        behind_idle = (it.low << 6) + count(core.slurm.sets.idle, it.low, it.high)
        if left_free(core, placement, record, now, behind_idle)[0] >= core.placements[placement].nodes:
            break
        last -= 1
    core.slurm.memory.valid = valid  # to look does not bring the next pass nearer
    return last
