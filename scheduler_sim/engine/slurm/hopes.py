"""Which turns of a backfill pass may still start something: the pass needs no turns behind the last of them.

Reservations only ever take nodes away. So who finds too few idle nodes that stay free as long as
its limit finds too few in the rest of the pass, too, and a reservation matters only to those
who come after it and may start now. Nor does it matter to those whom the pass does not get to, as it
ends with bf_max_job_test tests.
"""

from __future__ import annotations

from scheduler_sim.engine.crew import is_member
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.bits import count
from scheduler_sim.engine.slurm.node_space import record_at
from scheduler_sim.engine.slurm.seats import ended_by
from scheduler_sim.engine.slurm.slots import (
    BF_MAX_JOB_PART,
    BF_MAX_JOB_TEST,
    BF_MAX_JOB_USER,
    BF_MAX_JOB_USER_PART,
    BF_RESOLUTION,
    ENDS,
    IDLE,
    TESTED,
    TURNS,
    VALID,
)
from scheduler_sim.engine.slurm.tries import left_free
from scheduler_sim.engine.slurm.turns import turn
from scheduler_sim.engine.state import APPOINTMENTS, NOW, WAITING, Core

LOOK_AHEAD_S = 600  # for so long a plan may stand that leaves out turns out of reach


@part
def last_in_reach(core: Core, first: int, last: int) -> int:
    """The last turn from ``first`` to ``last`` that may come before the pass has made its tests.

    If others are out of reach, the plan stands no longer than LOOK_AHEAD_S. Turns are those of components
    with one placement that ask for no shared resources (not COMPLEX).
    """
    slurm = core.slurm
    tests = slurm[BF_MAX_JOB_TEST] - slurm[TESTED]
    if slurm[TURNS] < slurm[BF_MAX_JOB_TEST] or core.clock[APPOINTMENTS] > 0:
        return last
    if slurm[BF_MAX_JOB_PART] or slurm[BF_MAX_JOB_USER] or slurm[BF_MAX_JOB_USER_PART]:
        return last
    for i in range(first, last + 1):
        if tests <= 0:
            if i > first:
                slurm[VALID] = min(slurm[VALID], core.clock[NOW] + LOOK_AHEAD_S)
            return i - 1
        if _is_tested(core, i):
            tests -= 1
    return last


@part
def _is_tested(core: Core, i: int) -> bool:
    """Whether it is known that a turn is a test, in a pass from now to LOOK_AHEAD_S later.

    It is one if enough nodes are free of reservations at some start that is tried. Nobody can reserve those
    on which others run until these are planned to end: if that is after the limit, they are free at the
    first. Nothing is known of who may have no turn after all, and of those who may use part of a module.
    """
    row, placement = turn(core, i)
    it, array = core.place[placement], core.term[row].array
    if core.comp[row].state != WAITING or is_member(core, row):
        return False
    if core.way[placement].mask != it.module or (array >= 0 and core.array[array].limit >= 0):
        return False
    by = core.clock[NOW] + it.limit + core.slurm[BF_RESOLUTION] + LOOK_AHEAD_S
    back = core.back[it.module]
    return back[core.slurm[ENDS]] - back[ended_by(core, by)] >= it.nodes


@part
def last_hope(core: Core, first: int, last: int) -> int:
    """The last turn from ``first`` to ``last`` that may start something, ``first - 1`` if none may."""
    now, valid = core.clock[NOW], core.slurm[VALID]
    record = record_at(core, now)
    while last >= first:
        row, placement = turn(core, last)
        if is_member(core, row) and core.unit[core.member[row].unit].delayed:
            break  # its job may get its advance reservations now, also if it starts later itself
        it = core.partition[core.way[placement].partition]
        behind_idle = (it.low << 6) + count(core.sets[IDLE], it.low, it.high)
        if left_free(core, placement, record, now, behind_idle)[0] >= core.place[placement].nodes:
            break
        last -= 1
    core.slurm[VALID] = valid  # to look does not bring the next pass nearer
    return last
