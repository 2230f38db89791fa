"""Heterogeneous jobs as Slurm runs them: planned component by component, started by backfill alone.

In a pass each component has its own turn, and is planned no earlier than those of its job that had theirs
before; one that has no start within bf_window takes the others' turns away. After the last turn, a job whose
components could all start now does; until then each that could holds its nodes in the plan. All end when the
script on the first component ends, or as in the DEEP-EST simulator with the longest; a component may reach
its own limit before.
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
    BF_WINDOW,
    FREE,
    IDLE,
    LAUNCH,
    LONGEST,
    OVER_TIME,
    PICKED,
    STARTED,
    VALID,
)
from scheduler_sim.engine.slurm.start import may_run, start_on_picked
from scheduler_sim.engine.slurm.workflows import book_workflow, placement_of
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
    Table,
)


@part
def forget_plans(core: Core, row: int) -> None:
    """A pass begins: nothing is known of when a component starts."""
    if is_member(core, row):
        core.member[row].known = core.member[row].planned = -1


@part
def have_turn(core: Core, row: int) -> None:
    """A component has its turn: until a start is found for it, the others have none to wait for."""
    if is_member(core, row) and core.member[row].known < 0:
        core.member[row].known = INF


@part
def not_before(core: Core, row: int) -> int:
    """The latest start that is known of the others of its job; now at the earliest.

    INF if one that had its turn has none, and for one with a delay that comes before the head of its job.
    """
    time = core.clock[NOW]
    if not is_member(core, row):
        return time
    unit = core.unit[core.member[row].unit]
    for i in range(unit.first, unit.last):
        other = core.crew[i]
        if other != row and _binds(core, unit, other):
            time = max(time, core.member[other].known)
            if core.member[other].known < 0 and core.member[row].offset > 0 and unit.delayed:
                return INF
    return time


@part
def waits_for_window(core: Core, row: int) -> bool:
    """Whether it has no turn, as no start is known of others of its job within bf_window."""
    first = not_before(core, row)
    if first <= core.clock[NOW] + core.slurm[BF_WINDOW]:
        return False
    core.slurm[VALID] = min(core.slurm[VALID], first - core.slurm[BF_WINDOW])
    return True


@part
def _binds(core: Core, unit: Table, row: int) -> bool:
    """Whether the others wait for its start: with delays, only for that of the head of their job."""
    return not unit.delayed or row == core.crew[unit.first]


@part
def delay_of(core: Core, row: int) -> int:
    """Seconds from the start of its job to its own."""
    return core.member[row].offset if is_member(core, row) else 0


@part
def note_start(core: Core, row: int, time: int) -> None:
    """A try of a component found a start, whatever becomes of it: the earliest of its tries is known."""
    if is_member(core, row):
        core.member[row].known = min(core.member[row].known, time)


@part
def would_block(core: Core, row: int, time: int) -> bool:
    """Slurm's deadlock test of a component planned for ``time``.

    Whether another job, planned no earlier than its own in this partition, is planned in another of its
    partitions for before its start in this one.
    """
    core.member[row].planned = time
    number, here = core.member[row].unit, _partition_of(core, row)
    unit, own = core.unit[number], _planned_in(core, number, here)
    for i in range(unit.first, unit.last):
        there = _partition_of(core, core.crew[i])
        if there == here or core.member[core.crew[i]].planned < 0:
            continue
        for j in range(core.clock[HEAD], core.clock[TAIL]):
            other = core.lists[QUEUE, j]
            if not is_member(core, other) or core.member[other].unit == number:
                continue
            if _planned_in(core, core.member[other].unit, here) >= own:
                before = _planned_in(core, core.member[other].unit, there)
                if 0 <= before < own:
                    return True
    return False


@part
def _partition_of(core: Core, row: int) -> int:
    return core.way[core.comp[row].first].partition


@part
def _planned_in(core: Core, number: int, partition: int) -> int:
    """The latest planned start of a job's components in a partition, -1 without one."""
    unit, latest = core.unit[number], -1
    for i in range(unit.first, unit.last):
        if _partition_of(core, core.crew[i]) == partition:
            latest = max(latest, core.member[core.crew[i]].planned)
    return latest


@part
def start_jobs(core: Core) -> None:
    """Start the jobs of which every component is planned for now, in the order of their first turns."""
    if core.rules[UNITS]:
        for i in range(core.clock[HEAD], core.clock[TAIL]):
            row = core.lists[QUEUE, i]
            if not is_member(core, row) or not _is_planned(core, core.unit[core.member[row].unit]):
                continue
            leader = core.unit[core.member[row].unit].leader
            if core.unit[core.member[row].unit].delayed:
                book_workflow(core, leader)
            elif _may_start(core, leader) and _finds_nodes(core, leader):
                _start_job(core, leader)


@part
def _is_planned(core: Core, unit: Table) -> bool:
    """Whether all components of a job wait and had turns, and those that bind it are planned for now."""
    for i in range(unit.first, unit.last):
        row = core.crew[i]
        if core.comp[row].state != WAITING or core.member[row].known < 0:
            return False
        if _binds(core, unit, row) and core.member[row].known > core.clock[NOW]:
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
            wanted += core.demand[placement_of(core, core.crew[j]), i]
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
        it = core.partition[core.way[placement_of(core, row)].partition]
        take_out(core.sets[FREE], core.sets[PICKED], it.low, it.high)
    return True


@part
def _picked(core: Core, row: int, source: int) -> bool:
    """Choose its nodes among those of a set, or those reserved for it, if they suffice."""
    if has_reservation(core, row):
        return picked_reserved(core, row)
    return picked_from(core, placement_of(core, row), source)


@part
def _start_job(core: Core, leader: int) -> None:
    unit = core.unit[core.member[leader].unit]
    unit.start = core.clock[NOW]
    for i in range(unit.first, unit.last):
        row = core.crew[i]
        placement = placement_of(core, row)
        _picked(core, row, IDLE)
        _end_with_others(core, leader, row, placement)
        start_on_picked(core, row, placement, core.slurm[LAUNCH])
    core.slurm[STARTED] += unit.last - unit.first


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
