"""Jobs that are given nodes which are off: they are CONFIGURING until all have booted.

Such a job has its nodes, and counts as running: plans expect its end by its limit from when it got them.
When the last of its nodes is up, its start is set to that instant, and its limit counts from there
(job_mgr.c, ``job_config_fini``).
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE
from scheduler_sim.engine.core.events import drop_end, push_end
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import count_busy
from scheduler_sim.engine.core.limits import forget_end, plan_end
from scheduler_sim.engine.core.moments import begins_late, started, stopped, stops
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.core.waiting import count_waiting
from scheduler_sim.engine.rules.slurm.change import expect_change, note_change
from scheduler_sim.engine.rules.slurm.power_saving.nodes import count_nodes
from scheduler_sim.engine.rules.slurm.power_saving.state import SlurmPowerCore
from scheduler_sim.engine.rules.slurm.power_saving.timing import note_node_change


@on(started, "slurm_power_saving")
def wait_for_boots(core: SlurmPowerCore, row: int) -> None:
    """A job that has been given nodes that are off waits; nobody knows when it will end."""
    power = core.slurm_power_saving
    note_node_change(core)
    _forget_idle(core, row)
    if not _has_any_off(core, row):
        return
    power.rows[power.looks.configuring] = row
    power.looks.configuring += 1
    power.waits[row] = 1
    drop_end(core, row)
    core.jobs[row].end = INF
    push_end(core, INF, row)
    count_busy(core, core.jobs[row].placed, -1)
    count_waiting(core, core.jobs[row].placed, 1)
    count_nodes(core)


@part
def _forget_idle(core: SlurmPowerCore, row: int) -> None:
    piece, known = core.slurm.job[row].piece, core.slurm_power_saving.sets.known
    while piece >= 0:
        it = core.slurm.nodes.piece[piece]
        known[it.word] &= ~it.bits
        piece = it.next


@part
def _has_any_off(core: SlurmPowerCore, row: int) -> bool:
    """Whether any node of a job is off, or boots."""
    piece, sets = core.slurm.job[row].piece, core.slurm_power_saving.sets
    while piece >= 0:
        it = core.slurm.nodes.piece[piece]
        if it.bits & (sets.off[it.word] | sets.booting[it.word]) != NONE:
            return True
        piece = it.next
    return False


@part
def begin_those_ready(core: SlurmPowerCore) -> None:
    """Jobs whose nodes are all up begin."""
    power, i = core.slurm_power_saving, 0
    while i < power.looks.configuring:
        row = power.rows[i]
        if _has_any_off(core, row):
            i += 1
            continue
        count_busy(core, core.jobs[row].placed, 1)
        forget_end(core, row)
        _wait_no_longer(core, row)
        core.slurm.job[row].launch = 0  # it begins with the second
        begins_late(core, row)
        plan_end(core, row)
        expect_change(core)
        note_change(core, core.clock.now)


@part
def _wait_no_longer(core: SlurmPowerCore, row: int) -> None:
    """Its start is now; the time up to it was a wait for nodes."""
    power, kept = core.slurm_power_saving, 0
    power.waits[row] = 0
    count_waiting(core, core.jobs[row].placed, -1)
    core.jobs[row].wait_resources += core.clock.now - core.jobs[row].start
    core.jobs[row].start = core.clock.now
    for i in range(power.looks.configuring):
        if power.rows[i] != row:
            power.rows[kept] = power.rows[i]
            kept += 1
    power.looks.configuring = kept


@on(stops, "slurm_power_saving")
def count_as_busy(core: SlurmPowerCore, row: int) -> None:
    """One that still waits is about to be ended: as it has not begun, it has run for no time."""
    if core.slurm_power_saving.waits[row]:
        count_busy(core, core.jobs[row].placed, 1)


@on(stopped, "slurm_power_saving")
def give_up_waiting(core: SlurmPowerCore, row: int) -> None:
    """It is over."""
    if core.slurm_power_saving.waits[row]:
        _wait_no_longer(core, row)
