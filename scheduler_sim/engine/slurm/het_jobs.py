"""Heterogeneous jobs as Slurm runs them: planned component by component, started by backfill alone.

In a pass each component has its own turn, and is planned no earlier than those of its job that had theirs
before. After the last turn, a job whose components could all start now does; until then each that could
holds its nodes in the plan. All end when the script on the first component ends, or as in the DEEP-EST
simulator with the longest; a component may reach its own limit before.
"""

from __future__ import annotations

from scheduler_sim.engine.crew import is_member
from scheduler_sim.engine.events import drop_end
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import finish
from scheduler_sim.engine.limits import forget_end, plan_end
from scheduler_sim.engine.slurm.advance import has_reservation, picked_reserved
from scheduler_sim.engine.slurm.bits import copy, take_out
from scheduler_sim.engine.slurm.nodes import picked_from
from scheduler_sim.engine.slurm.slots import (
    BF_MAX_JOB_START,
    FREE,
    IDLE,
    LAUNCH,
    LONGEST,
    OVER_TIME,
    PICKED,
    STARTED,
)
from scheduler_sim.engine.slurm.start import may_run, start_on_picked
from scheduler_sim.engine.slurm.workflows import book_workflow
from scheduler_sim.engine.state import (
    BY_LIMIT,
    HEAD,
    INF,
    MODULES,
    NOW,
    QUEUE,
    RUNNING,
    TAIL,
    UNITS,
    WAITING,
    Core,
)


@part
def not_before(core: Core, row: int) -> int:
    """The latest planned start of the others of its job, of those without a delay; now at the earliest.

    INF for one with a delay while one of those has no planned start.
    """
    time = core.clock[NOW]
    if not is_member(core, row):
        return time
    unit = core.unit[core.member[row].unit]
    follows = core.member[row].offset > 0 and unit.delayed
    for i in range(unit.first, unit.last):
        other = core.crew[i]
        if core.member[other].offset > 0:
            continue
        if core.comp[other].promised >= 0:
            time = max(time, core.comp[other].promise)
        elif follows:
            return INF
    return time


@part
def delay_of(core: Core, row: int) -> int:
    """Seconds from the start of its job to its own."""
    return core.member[row].offset if is_member(core, row) else 0


@part
def note_found(core: Core, row: int, time: int) -> bool:
    """Note a planned start of this pass, -1 = none; False for one that is not in a heterogeneous job."""
    if not is_member(core, row):
        return False
    core.member[row].found = time
    return True


@part
def would_block(core: Core, row: int) -> bool:
    """Slurm's deadlock test: whether a job planned before it in this partition comes after it in another."""
    unit, here = core.unit[core.member[row].unit], _partition_of(core, row)
    for i in range(unit.first, unit.last):
        there, own = _partition_of(core, core.crew[i]), core.member[core.crew[i]].found
        if there == here or own < 0:
            continue
        for j in range(core.clock[HEAD], core.clock[TAIL]):
            other = core.lists[QUEUE, j]
            if not is_member(core, other) or core.member[other].unit == core.member[row].unit:
                continue
            planned_here = core.member[other].found >= 0 and _partition_of(core, other) == here
            if planned_here and _found_in(core, core.member[other].unit, there) > own:
                return True
    return False


@part
def _partition_of(core: Core, row: int) -> int:
    return core.way[core.comp[row].first].partition


@part
def _found_in(core: Core, number: int, partition: int) -> int:
    """The latest planned start of a job's components in a partition, -1 without one."""
    unit, latest = core.unit[number], -1
    for i in range(unit.first, unit.last):
        if _partition_of(core, core.crew[i]) == partition:
            latest = max(latest, core.member[core.crew[i]].found)
    return latest


@part
def start_jobs(core: Core) -> None:
    """Start the jobs of which every component is planned for now."""
    if core.rules[UNITS]:
        for i in range(core.clock[HEAD], core.clock[TAIL]):
            row = core.lists[QUEUE, i]
            if not is_member(core, row) or core.unit[core.member[row].unit].leader != row:
                continue
            if not _is_planned(core, row):
                continue
            if core.unit[core.member[row].unit].delayed:
                book_workflow(core, row)
            elif _may_start(core, row) and _finds_nodes(core, row):
                _start_job(core, row)


@part
def _is_planned(core: Core, leader: int) -> bool:
    """Whether all components of a job wait, and those that start at once are planned for now."""
    unit = core.unit[core.member[leader].unit]
    for i in range(unit.first, unit.last):
        row = core.crew[i]
        if core.comp[row].state != WAITING:
            return False
        at_once = core.member[row].offset == 0 or not unit.delayed
        if at_once and core.comp[row].promise > core.clock[NOW]:
            return False
    return True


@part
def _may_start(core: Core, leader: int) -> bool:
    """Whether the pass may start one more, and licences and job arrays let all components run."""
    unit, most = core.unit[core.member[leader].unit], core.slurm[BF_MAX_JOB_START]
    if most > 0 and core.slurm[STARTED] >= most:
        return False
    for i in range(core.demand.shape[1]):
        wanted = 0
        for j in range(unit.first, unit.last):
            wanted += core.demand[core.comp[core.crew[j]].promised, i]
        if wanted > core.pool[core.clock[MODULES] + i].free:
            return False
    for i in range(unit.first, unit.last):
        if not may_run(core, core.crew[i]):
            return False
    return True


@part
def _finds_nodes(core: Core, leader: int) -> bool:
    """Whether all components of a job find idle nodes beside one another."""
    unit = core.unit[core.member[leader].unit]
    copy(core.sets[FREE], core.sets[IDLE], 0, core.sets.shape[1])
    for i in range(unit.first, unit.last):
        row = core.crew[i]
        if not _picked(core, row, FREE):
            return False
        it = core.partition[core.way[core.comp[row].promised].partition]
        take_out(core.sets[FREE], core.sets[PICKED], it.low, it.high)
    return True


@part
def _picked(core: Core, row: int, source: int) -> bool:
    """Choose its nodes among those of a set, or those reserved for it, if they suffice."""
    if has_reservation(core, row):
        return picked_reserved(core, row)
    return picked_from(core, core.comp[row].promised, source)


@part
def _start_job(core: Core, leader: int) -> None:
    unit = core.unit[core.member[leader].unit]
    unit.start = core.clock[NOW]
    for i in range(unit.first, unit.last):
        row = core.crew[i]
        placement = core.comp[row].promised
        _picked(core, row, IDLE)
        _end_with_others(core, leader, row, placement)
        start_on_picked(core, row, placement, core.slurm[LAUNCH])
    core.slurm[STARTED] += 1


@part
def _end_with_others(core: Core, leader: int, row: int, placement: int) -> None:
    """How long a component takes: as long as the script on the first, or as the longest."""
    if core.slurm[LONGEST]:
        core.way[placement].run = _longest_run(core, leader)
    elif row != leader:
        of_leader = core.place[core.comp[leader].placed]
        core.way[placement].run = of_leader.duration - core.slurm[LAUNCH]
        core.comp[row].fails = core.comp[leader].fails if of_leader.killed != BY_LIMIT else 0


@part
def end_together(core: Core, row: int) -> None:
    """The limit of one that runs has changed: so may the end of those who started with it."""
    if not core.rules[UNITS] or core.member[row].unit < 0:
        return
    unit = core.unit[core.member[row].unit]
    for i in range(unit.first, unit.last):
        other = core.crew[i]
        if core.comp[other].state == RUNNING:
            forget_end(core, other)
            _end_with_others(core, unit.leader, other, core.comp[other].placed)
            plan_end(core, other)


@part
def _longest_run(core: Core, leader: int) -> int:
    """How long the longest component of a job takes (s), none longer than it may."""
    unit, longest = core.unit[core.member[leader].unit], 0
    for i in range(unit.first, unit.last):
        row = core.crew[i]
        allowed = core.place[core.comp[row].first].limit + core.slurm[OVER_TIME]
        longest = max(longest, min(core.member[row].run, allowed))
    return longest


@part
def end_with_leader(core: Core, row: int, state: int) -> None:
    """The first component of a job was ended: so are the others that run."""
    if not core.rules[UNITS] or core.member[row].unit < 0:
        return
    unit = core.unit[core.member[row].unit]
    if unit.leader != row:
        return
    for i in range(unit.first, unit.last):
        if core.comp[core.crew[i]].state == RUNNING:
            drop_end(core, core.crew[i])
            finish(core, core.crew[i], state)
