"""Idle nodes switched off after some time, and booted in time for the jobs that are planned to start on them.

What is not up is not idle: nothing starts there. To the planner it is a planned end: booting nodes when they
are up, those that are off a boot from now, those that shut down a boot after that. So the plan alone says
which nodes are to be booted, and when, and which it can do without for a shutdown and a boot.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on, only_with
from scheduler_sim.engine.core.instant import is_over, no_job_is_left
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.laws import NODES_BOOTING, NODES_OFF, NODES_STOPPING, keep_count
from scheduler_sim.engine.core.lifecycle import give_back
from scheduler_sim.engine.core.loop import take_those_off
from scheduler_sim.engine.core.moments import (
    instant_opens,
    nodes_idle,
    nodes_removed,
    nodes_taken,
    write_more,
)
from scheduler_sim.engine.core.profile import not_before, step_at, take
from scheduler_sim.engine.core.record import has_more_to_write
from scheduler_sim.engine.core.releases import add_release, drop_release
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.coscheduling.members import reservation_is_ahead
from scheduler_sim.engine.rules.coscheduling.state import UnitsCore
from scheduler_sim.engine.rules.coscheduling.units import unit_not_before
from scheduler_sim.engine.rules.power_saving.idle import append, is_due, take_first, take_last
from scheduler_sim.engine.rules.power_saving.state import BOOTING, IDLE, STOPPING, PowerSavingCore

# What gives nodes back in the list of planned ends, beside components and announced returns
OFF_NODES, BOOTING_NODES, STOPPING_NODES = -(1 << 40), -(1 << 40) - 1, -(1 << 40) - 2


class SwitchedUnitsCore(PowerSavingCore, UnitsCore):
    """A core with both."""


@on(instant_opens, "power_saving")
def switch_over(core: PowerSavingCore) -> None:
    """Boots and shutdowns that are over by now; what is off is planned to be up a boot from now."""
    now = core.clock.now
    for module in range(core.clock.modules):
        it, pool = core.power_saving.module[module], core.pools[module]
        while is_due(core, module, BOOTING, now):
            nodes = _first_is_over(core, module, BOOTING, BOOTING_NODES, 0)
            it.booting -= nodes
            give_back(core, module, nodes)
            core.clock.dirty = 1
        while is_due(core, module, STOPPING, now):
            nodes = _first_is_over(core, module, STOPPING, STOPPING_NODES, it.boot_s)
            leaving = min(nodes, pool.draining)
            pool.draining -= leaving
            pool.down += leaving
            pool.touched = 1
            if leaving > 0:  # others stay that were planned to leave service
                core.clock.early = core.clock.dirty = 1
            it.stopping -= nodes
            it.off += nodes - leaving
        plan_off(core, module)


@part
def _first_is_over(core: PowerSavingCore, module: int, line: int, row: int, later: int) -> int:
    """Take the first batch out of a line and of the planned ends; returns its nodes."""
    first = core.power_saving.batch[module, line, core.power_saving.window[module, line].head]
    nodes: int = first.nodes
    drop_release(core, module, first.time + later, row)
    take_first(core, module, line, nodes)
    return nodes


@part
def plan_off(core: PowerSavingCore, module: int) -> None:
    """Nodes that are off can be up a boot from now."""
    it = core.power_saving.module[module]
    keep_count(core, NODES_OFF, module, it.off)
    keep_count(core, NODES_BOOTING, module, it.booting)
    keep_count(core, NODES_STOPPING, module, it.stopping)
    if it.planned > 0:
        drop_release(core, module, it.planned, OFF_NODES)
    it.planned = 0
    if it.off > 0:
        it.planned = core.clock.now + it.boot_s
        add_release(core, module, it.planned, OFF_NODES, it.off)


@only_with("power_saving")
def switch_nodes(core: PowerSavingCore) -> None:
    """After a pass: switch off what was idle for long, boot what the plan needs, and look again when due."""
    due = core.clock.due
    for module in range(core.clock.modules):
        _stop_idle(core, module)
        due = min(due, _next_timeout(core, module), _boot_in_time(core, module))
        plan_off(core, module)
        for line in (BOOTING, STOPPING):
            window = core.power_saving.window[module, line]
            if window.head < window.tail:
                due = min(due, core.power_saving.batch[module, line, window.head].time)
    core.clock.due = due


@part
def _stop_idle(core: PowerSavingCore, module: int) -> None:
    """Shut down nodes idle for the timeout, longest first; not those kept awake or planned with."""
    it, pool, now = core.power_saving.module[module], core.pools[module], core.clock.now
    window, most, nodes = core.power_saving.window[module, IDLE], pool.free - it.awake, 0
    for i in range(window.head, window.tail):
        batch = core.power_saving.batch[module, IDLE, i]
        if nodes >= most or batch.time + it.timeout > now:
            break
        nodes += batch.nodes
    nodes = min(nodes, most)
    if nodes > 0:
        nodes = min(nodes, _not_planned_with(core, module, it.stop_s + it.boot_s))
    if nodes <= 0:
        return
    take_first(core, module, IDLE, nodes)
    pool.free -= nodes
    pool.touched = 1
    back = now + it.stop_s + it.boot_s
    take(core, module, now, back, nodes)
    if it.stop_s > 0:
        it.stopping += nodes
        append(core, module, STOPPING, now + it.stop_s, nodes)
        add_release(core, module, back, STOPPING_NODES, nodes)
    else:
        it.off += nodes


@part
def _not_planned_with(core: PowerSavingCore, module: int, seconds: int) -> int:
    """Nodes that are up and for which the plan has no use in the next ``seconds``."""
    it, now = core.power_saving.module[module], core.clock.now
    steps, size, least = core.profile[module], core.pools[module].profile_size, INF
    for i in range(step_at(steps, size, now), size):
        if steps[i].time >= now + seconds:
            break
        asleep = it.off if steps[i].time >= now + it.boot_s else 0
        least = min(least, steps[i].free - asleep)
    return least


@part
def _next_timeout(core: PowerSavingCore, module: int) -> int:
    """When more nodes have been idle for so long; INF if none will be switched off."""
    it, window = core.power_saving.module[module], core.power_saving.window[module, IDLE]
    if core.pools[module].free <= it.awake:
        return INF
    for i in range(window.head, window.tail):
        time: int = core.power_saving.batch[module, IDLE, i].time + it.timeout
        if time > core.clock.now:
            return time
    return INF


@part
def _boot_in_time(core: PowerSavingCore, module: int) -> int:
    """Boot what the plan needs a boot from now; returns when it needs more to begin booting, INF if never."""
    it, now = core.power_saving.module[module], core.clock.now
    if it.off == 0:
        return INF
    steps, size = core.profile[module], core.pools[module].profile_size
    step = step_at(steps, size, now + it.boot_s)
    nodes, due = min(max(it.off - steps[step].free, 0), it.off), INF
    for i in range(step + 1, size):
        if it.off - steps[i].free > nodes:
            due = steps[i].time - it.boot_s
            break
    if nodes > 0:
        it.off -= nodes
        it.booting += nodes
        append(core, module, BOOTING, now + it.boot_s, nodes)
        add_release(core, module, now + it.boot_s, BOOTING_NODES, nodes)
        core.pools[module].touched = 1
    return due


# What happens to nodes beside.


@on(nodes_taken, "power_saving")
def take_idle_last(core: PowerSavingCore, module: int, nodes: int) -> None:
    """A job takes the nodes that have been idle for the shortest time."""
    take_last(core, module, IDLE, nodes)


@on(nodes_removed, "power_saving")
def take_idle_first(core: PowerSavingCore, module: int, nodes: int) -> None:
    """Those that leave service are the ones that have been idle for the longest time."""
    take_first(core, module, IDLE, nodes)


@on(nodes_idle, "power_saving")
def note_idle(core: PowerSavingCore, module: int, nodes: int) -> None:
    """Nodes are idle from now on."""
    append(core, module, IDLE, core.clock.now, nodes)


@on(take_those_off, "power_saving")
def take_down_off(core: PowerSavingCore, module: int, nodes: int) -> int:
    """Take at most so many nodes out of service that are off; returns how many there were."""
    asleep = min(nodes, core.power_saving.module[module].off)
    core.power_saving.module[module].off -= asleep
    core.pools[module].down += asleep
    plan_off(core, module)
    return asleep


@on(is_over, "power_saving")
def only_nodes_left(core: SwitchedUnitsCore) -> bool:
    """Whether no job runs, waits or is to come: all that may happen is that nodes are switched off."""
    return no_job_is_left(core) and not reservation_is_ahead(core)


@on(has_more_to_write, "power_saving")
def has_switched(core: PowerSavingCore, module: int) -> bool:
    """Whether nodes are off, booting or shutting down that were not when the last row was written."""
    it = core.power_saving.module[module]
    if it.written_off != it.off or it.written_booting != it.booting:
        return True
    return it.written_stopping != it.stopping


@on(write_more, "power_saving")
def write_switched(core: PowerSavingCore, module: int, row: int) -> None:
    """Write how many nodes are off, booting and shutting down; none is held for a job."""
    it, written = core.power_saving.module[module], core.idle_rows[row]
    it.written_off, it.written_booting, it.written_stopping = it.off, it.booting, it.stopping
    core.pools[module].written_held = written.held = 0
    written.off, written.booting, written.stopping = it.off, it.booting, it.stopping


# What a pass asks while it plans.


@only_with("power_saving", otherwise=False)
def sleeps(core: PowerSavingCore, module: int) -> bool:
    """Whether some nodes of a module are off or booting."""
    return core.power_saving.module[module].off + core.power_saving.module[module].booting > 0


@only_with("power_saving", otherwise=False)
def is_called(core: PowerSavingCore, module: int, time: int) -> bool:
    """Whether a start at ``time`` waits for a boot at most: then it holds nodes, whatever the depth."""
    if not sleeps(core, module):
        return False
    return time <= core.clock.now + core.power_saving.module[module].boot_s


@on(not_before, "power_saving")
def behind_called(core: PowerSavingCore, placement: int) -> int:
    """Under fcfs not before jobs ahead of it for which nodes are booted."""
    time = core.clock.now
    if not _in_turn(core):
        return time
    time = max(time, core.power_saving.module[core.placements[placement].module].latest)
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > 0:
            time = max(time, core.power_saving.module[core.clock.modules + i].latest)
    return time


@on(unit_not_before, "power_saving")
def unit_behind_called(core: SwitchedUnitsCore, leader: int) -> int:
    """Likewise of a unit: no member before those ahead of it."""
    time = core.clock.now
    if not _in_turn(core):
        return time
    unit = core.coscheduling.unit[core.coscheduling.member[leader].unit]
    for i in range(unit.rect, unit.rect_last):
        one = core.coscheduling.rect[i]
        time = max(time, core.power_saving.module[one.pool].latest - one.offset)
    return time


@only_with("power_saving")
def let_none_pass(core: PowerSavingCore, placement: int, time: int) -> None:
    """No job behind one that starts at ``time`` starts before, on what this placement asks for."""
    _hold_back(core, core.placements[placement].module, time)
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > 0:
            _hold_back(core, core.clock.modules + i, time)


@only_with("power_saving")
def let_none_pass_unit(core: SwitchedUnitsCore, leader: int, time: int) -> None:
    """Likewise for a unit that starts at ``time``."""
    unit = core.coscheduling.unit[core.coscheduling.member[leader].unit]
    for i in range(unit.rect, unit.rect_last):
        one = core.coscheduling.rect[i]
        _hold_back(core, one.pool, time + one.offset)


@only_with("power_saving")
def forget_who_is_called(core: PowerSavingCore) -> None:
    """A plan is made anew."""
    for pool in range(len(core.power_saving.module)):
        core.power_saving.module[pool].latest = 0


@part
def _in_turn(core: PowerSavingCore) -> bool:
    return core.rules.depth == 0 and not core.rules.first_fit


@part
def _hold_back(core: PowerSavingCore, pool: int, time: int) -> None:
    core.power_saving.module[pool].latest = max(core.power_saving.module[pool].latest, time)


@only_with("power_saving", otherwise=False)
def switches_off(core: PowerSavingCore) -> bool:
    """Whether idle nodes are switched off."""
    return True
