"""Jobs that are given nodes which are off: they are CONFIGURING until all have booted.

Such a job has its nodes, and counts as running: plans expect its end by its limit from when it got them.
When the last of its nodes is up, its start is set to that instant, and its limit counts from there
(job_mgr.c, ``job_config_fini``).
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, take_out
from scheduler_sim.engine.core.events import KIND, drop_end, next_end, push_end
from scheduler_sim.engine.core.hooks import on, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import count_busy, happen
from scheduler_sim.engine.core.limits import forget_end, plan_end
from scheduler_sim.engine.core.moments import begins_late, end_planned, started, stopped, stops
from scheduler_sim.engine.core.state import BY_LIMIT, INF
from scheduler_sim.engine.core.waiting import count_waiting
from scheduler_sim.engine.rules.calls import has_begun
from scheduler_sim.engine.rules.slurm.change import expect_change, note_change
from scheduler_sim.engine.rules.slurm.nodes import match_service, put_nodes_of
from scheduler_sim.engine.rules.slurm.power_saving.nodes import count_nodes
from scheduler_sim.engine.rules.slurm.power_saving.state import SlurmPowerCore
from scheduler_sim.engine.rules.slurm.power_saving.timing import note_node_change


@on(started, "slurm_power_saving")
def wait_for_boots(core: SlurmPowerCore, row: int) -> None:
    """A job that has been given nodes that are off waits; nobody knows when it will end."""
    note_node_change(core)
    _forget_idle(core, row)
    if has_any_off(core, row):
        wait_for_nodes(core, row)
    wait_for_others(core, row)


@question
def wait_for_others(core: SlurmPowerCore, row: int) -> None:
    """A job that has its nodes waits while one waits with which it starts, and so does that one."""


@part
def wait_for_nodes(core: SlurmPowerCore, row: int) -> None:
    """It has not begun, and nobody knows when it will end."""
    power = core.slurm_power_saving
    power.rows[power.looks.configuring] = row
    power.looks.configuring += 1
    power.waits[row] = 1
    drop_end(core, row)
    core.jobs[row].end = INF
    push_end(core, INF, row)
    count_at_work(core, row, -1)
    count_waiting(core, core.jobs[row].placed, 1)
    count_nodes(core)


@part
def _forget_idle(core: SlurmPowerCore, row: int) -> None:
    sets = core.slurm_power_saving.sets
    put_nodes_of(core, row, sets.mine)
    take_out(sets.known, sets.mine, 0, len(sets.known))


@part
def has_any_off(core: SlurmPowerCore, row: int) -> bool:
    """Whether any node of a job is off, or boots."""
    sets = core.slurm_power_saving.sets
    put_nodes_of(core, row, sets.mine)
    for word in range(len(sets.mine)):
        if sets.mine[word] & (sets.off[word] | sets.booting[word]) != NONE:
            return True
    return False


@question
def count_at_work(core: SlurmPowerCore, row: int, sign: int) -> None:
    """A job that has its nodes has begun (1), or waits for some of them (-1)."""
    count_busy(core, core.jobs[row].placed, sign)


@on(end_planned, "slurm_power_saving")
def ends_nobody_knows_when(core: SlurmPowerCore, row: int) -> None:
    """Also by another limit one that waits does not end."""
    if core.slurm_power_saving.waits[row]:
        core.placements[core.jobs[row].placed].duration = INF - core.jobs[row].start


@on(has_begun, "slurm_power_saving")
def has_all_nodes(core: SlurmPowerCore, row: int) -> bool:
    """One that waits for its nodes has not."""
    return not core.slurm_power_saving.waits[row]


@part
def begin_those_ready(core: SlurmPowerCore) -> None:
    """Jobs whose nodes are all up begin."""
    power, i = core.slurm_power_saving, 0
    while i < power.looks.configuring:
        if are_up(core, power.rows[i]):
            begin_ready(core, power.rows[i])
        else:
            i += 1


@question
def are_up(core: SlurmPowerCore, row: int) -> bool:
    """Whether all nodes are up for which a job waits."""
    return not has_any_off(core, row)


@question
def begin_ready(core: SlurmPowerCore, row: int) -> None:
    """A job begins, the nodes of which are up."""
    begin(core, row)


@part
def begin(core: SlurmPowerCore, row: int) -> None:
    """It has waited: its start is now."""
    count_at_work(core, row, 1)
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


@part
def end_late_ones(core: SlurmPowerCore) -> None:
    """Jobs that ended in the second before, behind its looks, end before the look of this one.

    Their nodes are idle since then.
    """
    if core.slurm.rules.backfill_first or next_end(core) != core.clock.now:
        return
    looks, place = core.slurm_power_saving.looks, 0
    looks.late = 1
    while place < core.clock.events:
        event = core.heap[place]
        if event.time == core.clock.now and _ended_late(core, event.row):
            row = event.row
            drop_end(core, row)
            happen(core, row)
            place = 0
        else:
            place += 1
    looks.late = 0
    for number in range(len(core.slurm.partition)):
        it = core.slurm.partition[number]
        match_service(core, it.module, it.low, it.high)


@part
def _ended_late(core: SlurmPowerCore, event: int) -> bool:
    """Whether it is the end of a job that began behind a look, and was not ended by one."""
    if not 0 <= event < KIND or core.slurm.job[event].launch == 0:
        return False
    return bool(core.placements[core.jobs[event].placed].killed != BY_LIMIT)


@on(stops, "slurm_power_saving")
def count_as_busy(core: SlurmPowerCore, row: int) -> None:
    """One that still waits is about to be ended: as it has not begun, it has run for no time."""
    if core.slurm_power_saving.waits[row]:
        count_at_work(core, row, 1)


@on(stopped, "slurm_power_saving")
def give_up_waiting(core: SlurmPowerCore, row: int) -> None:
    """It is over."""
    if core.slurm_power_saving.waits[row]:
        _wait_no_longer(core, row)
