"""Heterogeneous jobs that are given nodes which are off: all components wait until the nodes of all are up.

Then the script starts on the first, and every limit counts from there (job_scheduler.c, ``_het_job_ready``;
job_mgr.c, ``_het_job_time_limit_incr``). The time before is a wait, also on nodes that were up.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import RUNNING
from scheduler_sim.engine.rules.coscheduling.state import UnitsCore
from scheduler_sim.engine.rules.slurm.het.het_jobs import end_with_others
from scheduler_sim.engine.rules.slurm.power_saving.jobs import (
    are_up,
    begin,
    begin_ready,
    has_any_off,
    wait_for_nodes,
    wait_for_others,
)
from scheduler_sim.engine.rules.slurm.power_saving.state import SlurmPowerCore


class HetPowerCore(SlurmPowerCore, UnitsCore):
    """A core with both."""


@on(wait_for_others, "slurm_power_saving", "coscheduling")
def wait_together(core: HetPowerCore, row: int) -> None:
    """Where one component waits that was given its nodes with this one, all of these do."""
    number = core.coscheduling.member[row].unit
    if number < 0:
        return
    unit, any_waits = core.coscheduling.unit[number], False
    for i in range(unit.first, unit.last):
        other = core.coscheduling.member_rows[i]
        any_waits = any_waits or (_goes_with(core, row, other) and _waits(core, other))
    for i in range(unit.first, unit.last):
        other = core.coscheduling.member_rows[i]
        if any_waits and _goes_with(core, row, other) and not _waits(core, other):
            wait_for_nodes(core, other)


@on(are_up, "slurm_power_saving", "coscheduling")
def all_are_up(core: HetPowerCore, row: int) -> bool:
    """Whether the nodes of all components are up that wait together."""
    number = core.coscheduling.member[row].unit
    if number < 0:
        return not has_any_off(core, row)
    unit = core.coscheduling.unit[number]
    for i in range(unit.first, unit.last):
        other = core.coscheduling.member_rows[i]
        if _goes_with(core, row, other) and has_any_off(core, other):
            return False
    return True


@on(begin_ready, "slurm_power_saving", "coscheduling")
def begin_together(core: HetPowerCore, row: int) -> None:
    """They begin, the first one first: the others end with it."""
    number = core.coscheduling.member[row].unit
    if number < 0:
        begin(core, row)
        return
    unit, given = core.coscheduling.unit[number], core.jobs[row].start
    for i in range(unit.first, unit.last):
        other = core.coscheduling.member_rows[i]
        if _waits(core, other) and core.jobs[other].start == given:
            end_with_others(core, unit.leader, other, core.jobs[other].placed)
            begin(core, other)


@part
def _waits(core: HetPowerCore, row: int) -> bool:
    return bool(core.slurm_power_saving.waits[row] == 1)


@part
def _goes_with(core: HetPowerCore, row: int, other: int) -> bool:
    """Whether another component runs that was given its nodes at the same time."""
    return bool(core.jobs[other].state == RUNNING and core.jobs[other].start == core.jobs[row].start)
