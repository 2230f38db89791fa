"""Which turns of a backfill pass may still start something: the pass needs no turns behind the last of them.

Reservations only ever take nodes away. So who finds too few idle nodes that stay free as long as
its limit finds too few in the rest of the pass, too, and a reservation matters only to those
who come after it and may start now. Nor does it matter to those whom the pass does not get to, as it
ends with bf_max_job_test tests.
"""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import WAITING
from scheduler_sim.engine.rules.coscheduling.members import is_member, somebody_is_expected
from scheduler_sim.engine.rules.slurm.accelerate.release_order import ended_by
from scheduler_sim.engine.rules.slurm.bits import count
from scheduler_sim.engine.rules.slurm.het.het_jobs import is_of_delayed_job
from scheduler_sim.engine.rules.slurm.job_partition_queue import turn
from scheduler_sim.engine.rules.slurm.node_space import record_at
from scheduler_sim.engine.rules.slurm.slot_search import left_free
from scheduler_sim.engine.rules.slurm.state import SlurmCore

LOOK_AHEAD_S = 600  # for so long a plan may stand that leaves out turns out of reach


@part
def last_in_reach(core: SlurmCore, first: int, last: int) -> int:
    """The last turn from ``first`` to ``last`` that may come before the pass has made its tests.

    If others are out of reach, the plan stands no longer than LOOK_AHEAD_S. Turns are those of components
    with one placement that ask for no shared resources (not COMPLEX).
    """
    slurm = core.slurm
    tests = slurm.rules.bf_max_job_test - slurm.memory.tested
    if slurm.memory.turns < slurm.rules.bf_max_job_test or somebody_is_expected(core):
        return last
    if slurm.rules.bf_max_job_part or slurm.rules.bf_max_job_user or slurm.rules.bf_max_job_user_part:
        return last
    for i in range(first, last + 1):
        if tests <= 0:
            if i > first:
                slurm.memory.valid = min(slurm.memory.valid, core.clock.now + LOOK_AHEAD_S)
            return i - 1
        if _is_tested(core, i):
            tests -= 1
    return last


@part
def _is_tested(core: SlurmCore, i: int) -> bool:
    """Whether it is known that a turn is a test, in a pass from now to LOOK_AHEAD_S later.

    It is one if enough nodes are free of reservations at some start that is tried. Nobody can reserve those
    on which others run until these are planned to end: if that is after the limit, they are free at the
    first. Nothing is known of who may have no turn after all, and of those who may use part of a module.
    """
    row, placement = turn(core, i)
    it, array = core.placements[placement], core.holds.term[row].array
    if core.jobs[row].state != WAITING or is_member(core, row):
        return False
    if core.slurm.way[placement].mask != it.module or (array >= 0 and core.holds.array[array].limit >= 0):
        return False
    by = core.clock.now + it.limit + core.slurm.rules.bf_resolution + LOOK_AHEAD_S
    back = core.slurm.seats.back[it.module]
    return back[core.slurm.memory.ends] - back[ended_by(core, by)] >= it.nodes


@part
def last_hope(core: SlurmCore, first: int, last: int) -> int:
    """The last turn from ``first`` to ``last`` that may start something, ``first - 1`` if none may."""
    now, valid = core.clock.now, core.slurm.memory.valid
    record = record_at(core, now)
    while last >= first:
        row, placement = turn(core, last)
        if is_of_delayed_job(core, row):
            break  # its job may get its advance reservations now, also if it starts later itself
        it = core.slurm.partition[core.slurm.way[placement].partition]
        behind_idle = (it.low << 6) + count(core.slurm.sets.idle, it.low, it.high)
        if left_free(core, placement, record, now, behind_idle)[0] >= core.placements[placement].nodes:
            break
        last -= 1
    core.slurm.memory.valid = valid  # to look does not bring the next pass nearer
    return last
