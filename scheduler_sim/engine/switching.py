"""Idle nodes switched off after some time, and booted in time for those who are planned to start on them.

What is not up is not idle: nothing starts there. To the planner it is a planned end: booting nodes when they
are up, those that are off a boot from now, those that shut down a boot after that. So the plan alone says
which nodes are to be booted, and when, and which it can do without for a shutdown and a boot.
"""

from __future__ import annotations

from scheduler_sim.engine.idle import append, is_due, take_first
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import give_back
from scheduler_sim.engine.profile import step_at, take
from scheduler_sim.engine.releases import add_release, drop_release
from scheduler_sim.engine.state import (
    BOOTING,
    DEPTH,
    DIRTY,
    DUE,
    EARLY,
    FIRST_FIT,
    IDLE,
    INF,
    MODULES,
    NOW,
    STOPPING,
    SWITCHING,
    Core,
)

# Who gives nodes back in the list of planned ends, beside components and announced returns
OFF_NODES, BOOTING_NODES, STOPPING_NODES = -(1 << 40), -(1 << 40) - 1, -(1 << 40) - 2


@part
def switch_over(core: Core) -> None:
    """Boots and shutdowns that are over by now; who is off is planned to be up a boot from now."""
    now = core.clock[NOW]
    for module in range(core.clock[MODULES]):
        it, pool = core.switch[module], core.pool[module]
        while is_due(core, module, BOOTING, now):
            nodes = _first_is_over(core, module, BOOTING, BOOTING_NODES, 0)
            it.booting -= nodes
            give_back(core, module, nodes)
            core.clock[DIRTY] = 1
        while is_due(core, module, STOPPING, now):
            nodes = _first_is_over(core, module, STOPPING, STOPPING_NODES, it.boot_s)
            leaving = min(nodes, pool.draining)
            pool.draining -= leaving
            pool.down += leaving
            pool.touched = 1
            if leaving > 0:  # others stay that were planned to leave service
                core.clock[EARLY] = core.clock[DIRTY] = 1
            it.stopping -= nodes
            it.off += nodes - leaving
        plan_off(core, module)


@part
def _first_is_over(core: Core, module: int, line: int, row: int, later: int) -> int:
    """Take the first batch out of a line and of the planned ends; returns its nodes."""
    first = core.batch[module, line, core.window[module, line].head]
    nodes = first.nodes
    drop_release(core, module, first.time + later, row)
    take_first(core, module, line, nodes)
    return nodes


@part
def plan_off(core: Core, module: int) -> None:
    """Nodes that are off can be up a boot from now."""
    it = core.switch[module]
    if it.planned > 0:
        drop_release(core, module, it.planned, OFF_NODES)
    it.planned = 0
    if it.off > 0:
        it.planned = core.clock[NOW] + it.boot_s
        add_release(core, module, it.planned, OFF_NODES, it.off)


@part
def switch_nodes(core: Core) -> None:
    """After a pass: switch off what was idle for long, boot what the plan needs, and look again when due."""
    due = core.clock[DUE]
    for module in range(core.clock[MODULES]):
        _stop_idle(core, module)
        due = min(due, _next_timeout(core, module), _boot_in_time(core, module))
        plan_off(core, module)
        for line in (BOOTING, STOPPING):
            window = core.window[module, line]
            if window.head < window.tail:
                due = min(due, core.batch[module, line, window.head].time)
    core.clock[DUE] = due


@part
def _stop_idle(core: Core, module: int) -> None:
    """Shut down who was idle for the timeout, longest first; not who is kept awake or planned with."""
    it, pool, now = core.switch[module], core.pool[module], core.clock[NOW]
    window, most, nodes = core.window[module, IDLE], pool.free - it.awake, 0
    for i in range(window.head, window.tail):
        batch = core.batch[module, IDLE, i]
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
def _not_planned_with(core: Core, module: int, seconds: int) -> int:
    """Nodes that are up and for which the plan has no use in the next ``seconds``."""
    it, now = core.switch[module], core.clock[NOW]
    steps, size, least = core.profile[module], core.pool[module].profile_size, INF
    for i in range(step_at(steps, size, now), size):
        if steps[i].time >= now + seconds:
            break
        asleep = it.off if steps[i].time >= now + it.boot_s else 0
        least = min(least, steps[i].free - asleep)
    return least


@part
def _next_timeout(core: Core, module: int) -> int:
    """When more nodes have been idle for so long; INF if none will be switched off."""
    it, window = core.switch[module], core.window[module, IDLE]
    if core.pool[module].free <= it.awake:
        return INF
    for i in range(window.head, window.tail):
        time = core.batch[module, IDLE, i].time + it.timeout
        if time > core.clock[NOW]:
            return time
    return INF


@part
def _boot_in_time(core: Core, module: int) -> int:
    """Boot who the plan needs a boot from now; returns when it needs more to begin booting, INF if never."""
    it, now = core.switch[module], core.clock[NOW]
    if it.off == 0:
        return INF
    steps, size = core.profile[module], core.pool[module].profile_size
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
        core.pool[module].touched = 1
    return due


# What a pass asks while it plans.


@part
def sleeps(core: Core, module: int) -> bool:
    """Whether some nodes of a module are off or booting."""
    if not core.rules[SWITCHING]:
        return False
    return core.switch[module].off + core.switch[module].booting > 0


@part
def is_called(core: Core, module: int, time: int) -> bool:
    """Whether a start at ``time`` waits for a boot at most: then it holds nodes, whatever the depth."""
    if not sleeps(core, module):
        return False
    return time <= core.clock[NOW] + core.switch[module].boot_s


@part
def not_before(core: Core, placement: int) -> int:
    """When a placement may start: under fcfs not before those ahead of it for whom nodes are booted."""
    time = core.clock[NOW]
    if not _in_turn(core):
        return time
    time = max(time, core.switch[core.place[placement].module].latest)
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > 0:
            time = max(time, core.switch[core.clock[MODULES] + i].latest)
    return time


@part
def unit_not_before(core: Core, leader: int) -> int:
    """Likewise of a unit: no member before those ahead of it."""
    time = core.clock[NOW]
    if not _in_turn(core):
        return time
    unit = core.unit[core.member[leader].unit]
    for i in range(unit.rect, unit.rect_last):
        time = max(time, core.switch[core.rect[i].pool].latest - core.rect[i].offset)
    return time


@part
def let_nobody_pass(core: Core, placement: int, time: int) -> None:
    """Nobody behind who starts at ``time`` starts before, on what this placement asks for."""
    if core.rules[SWITCHING]:
        _hold_back(core, core.place[placement].module, time)
        for i in range(core.demand.shape[1]):
            if core.demand[placement, i] > 0:
                _hold_back(core, core.clock[MODULES] + i, time)


@part
def let_nobody_pass_unit(core: Core, leader: int, time: int) -> None:
    """Likewise for a unit that starts at ``time``."""
    if core.rules[SWITCHING]:
        unit = core.unit[core.member[leader].unit]
        for i in range(unit.rect, unit.rect_last):
            _hold_back(core, core.rect[i].pool, time + core.rect[i].offset)


@part
def forget_who_is_called(core: Core) -> None:
    """A plan is made anew."""
    for pool in range(len(core.switch)):
        core.switch[pool].latest = 0


@part
def _in_turn(core: Core) -> bool:
    return core.rules[SWITCHING] == 1 and core.rules[DEPTH] == 0 and core.rules[FIRST_FIT] == 0


@part
def _hold_back(core: Core, pool: int, time: int) -> None:
    core.switch[pool].latest = max(core.switch[pool].latest, time)
