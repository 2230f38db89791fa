"""Heterogeneous jobs as Slurm runs them: planned component by component, started by backfill alone.

In a pass each component is tried by itself, and is planned no earlier than those of its job that were tried
before; where one has no start within bf_window, the others are not tried. After the last attempt, a job whose
components could all start now does; until then each that could holds its nodes in the plan. All end when the
script on the first component ends, or as in the DEEP-EST simulator with the longest; a component may reach
its own limit before.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import take_out
from scheduler_sim.engine.core.events import drop_end
from scheduler_sim.engine.core.hooks import on, only_with, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import finish
from scheduler_sim.engine.core.limits import forget_end, plan_end
from scheduler_sim.engine.core.state import BY_LIMIT, INF, RUNNING, WAITING
from scheduler_sim.engine.rules.coscheduling.members import is_member
from scheduler_sim.engine.rules.coscheduling.state import Unit
from scheduler_sim.engine.rules.slurm.advance_reservations import has_reservation, picked_reserved
from scheduler_sim.engine.rules.slurm.change import holds_until
from scheduler_sim.engine.rules.slurm.het.delays import book_workflow, placement_of
from scheduler_sim.engine.rules.slurm.limit_questions import all_within_limits, nodes_looked_for
from scheduler_sim.engine.rules.slurm.main_pass import open_nodes, picked_among
from scheduler_sim.engine.rules.slurm.start import may_run, start_on_picked
from scheduler_sim.engine.rules.slurm.state import SlurmCore


@only_with("coscheduling")
def forget_plans(core: SlurmCore, row: int) -> None:
    """A pass begins: nothing is known of when a component starts."""
    if is_member(core, row):
        core.slurm.het[row].known = core.slurm.het[row].planned = -1


@only_with("coscheduling")
def come_to(core: SlurmCore, row: int) -> None:
    """The pass comes to a component: until a start is found for it, the others have none to wait for."""
    if is_member(core, row) and core.slurm.het[row].known < 0:
        core.slurm.het[row].known = INF


@question
def not_before(core: SlurmCore, row: int) -> int:
    """When a job may start at the earliest."""
    return core.clock.now


@on(not_before, "coscheduling")
def not_before_others(core: SlurmCore, row: int) -> int:
    """The latest start that is known of the others of its job; now at the earliest.

    INF if one that was tried has none, and for one with a delay that comes before the head of its job.
    """
    time = core.clock.now
    if not is_member(core, row):
        return time
    unit = core.coscheduling.unit[core.coscheduling.member[row].unit]
    for i in range(unit.first, unit.last):
        other = core.coscheduling.member_rows[i]
        if other != row and _binds(core, unit, other):
            time = max(time, core.slurm.het[other].known)
            if core.slurm.het[other].known < 0 and core.coscheduling.member[row].offset > 0 and unit.delayed:
                return INF
    return time


@only_with("coscheduling", otherwise=False)
def waits_for_window(core: SlurmCore, row: int) -> bool:
    """Whether it is not tried, as no start is known of others of its job within bf_window."""
    first = not_before(core, row)
    if first <= core.clock.now + core.slurm.rules.bf_window:
        return False
    if first < INF:
        holds_until(core, first - core.slurm.rules.bf_window)
    return True


@part
def _binds(core: SlurmCore, unit: Unit, row: int) -> bool:
    """Whether the others wait for its start: with delays, only for that of the head of their job."""
    return not unit.delayed or row == core.coscheduling.member_rows[unit.first]


@only_with("coscheduling", otherwise=0)
def delay_of(core: SlurmCore, row: int) -> int:
    """Seconds from the start of its job to its own."""
    return core.coscheduling.member[row].offset if is_member(core, row) else 0


@only_with("coscheduling")
def note_start(core: SlurmCore, row: int, time: int) -> None:
    """An attempt found a start for a component, whatever becomes of it: the earliest start found is known."""
    if is_member(core, row):
        core.slurm.het[row].known = min(core.slurm.het[row].known, time)


@only_with("coscheduling", otherwise=False)
def would_block(core: SlurmCore, row: int, time: int) -> bool:
    """Slurm's deadlock test of a component planned for ``time``.

    Whether another job, planned no earlier than its own in this partition, is planned in another of its
    partitions for before its start in this one.
    """
    core.slurm.het[row].planned = time
    number, here = core.coscheduling.member[row].unit, _partition_of(core, row)
    unit, own = core.coscheduling.unit[number], _planned_in(core, number, here)
    for i in range(unit.first, unit.last):
        there = _partition_of(core, core.coscheduling.member_rows[i])
        if there == here or core.slurm.het[core.coscheduling.member_rows[i]].planned < 0:
            continue
        for j in range(core.queue.at.head, core.queue.at.tail):
            other = core.queue.waiting[j]
            if not is_member(core, other) or core.coscheduling.member[other].unit == number:
                continue
            if _planned_in(core, core.coscheduling.member[other].unit, here) >= own:
                before = _planned_in(core, core.coscheduling.member[other].unit, there)
                if 0 <= before < own:
                    return True
    return False


@part
def _partition_of(core: SlurmCore, row: int) -> int:
    return core.slurm.way[core.jobs[row].first].partition


@part
def _planned_in(core: SlurmCore, number: int, partition: int) -> int:
    """The latest planned start of a job's components in a partition, -1 without one."""
    unit, latest = core.coscheduling.unit[number], -1
    for i in range(unit.first, unit.last):
        if _partition_of(core, core.coscheduling.member_rows[i]) == partition:
            latest = max(latest, core.slurm.het[core.coscheduling.member_rows[i]].planned)
    return latest


@only_with("coscheduling")
def start_jobs(core: SlurmCore) -> None:
    """Start the jobs of which every component is planned for now, in the order of the queue."""
    for i in range(core.queue.at.head, core.queue.at.tail):
        row = core.queue.waiting[i]
        if not is_member(core, row):
            continue
        unit = core.coscheduling.unit[core.coscheduling.member[row].unit]
        if not _is_planned(core, unit):
            continue
        if unit.delayed:
            book_workflow(core, unit.leader)
        elif _may_start(core, unit.leader) and _finds_nodes(core, unit.leader):
            _start_job(core, unit.leader)


@part
def _is_planned(core: SlurmCore, unit: Unit) -> bool:
    """Whether all components of a job wait and were tried, and those that bind it are planned for now."""
    for i in range(unit.first, unit.last):
        row = core.coscheduling.member_rows[i]
        if core.jobs[row].state != WAITING or core.slurm.het[row].known < 0:
            return False
        if _binds(core, unit, row) and core.slurm.het[row].known > core.clock.now:
            return False
    return True


@part
def _may_start(core: SlurmCore, leader: int) -> bool:
    """Whether the pass may start one more, and licences and job arrays let all components run."""
    unit, most = (
        core.coscheduling.unit[core.coscheduling.member[leader].unit],
        core.slurm.rules.bf_max_job_start,
    )
    if most > 0 and core.slurm.memory.started >= most:
        return False
    for i in range(core.demand.shape[1]):
        wanted = 0
        for j in range(unit.first, unit.last):
            wanted += core.demand[placement_of(core, core.coscheduling.member_rows[j]), i]
        if wanted > core.pools[core.clock.modules + i].free:
            return False
    for i in range(unit.first, unit.last):
        if not may_run(core, core.coscheduling.member_rows[i]):
            return False
    return all_within_limits(core, leader)


@part
def _finds_nodes(core: SlurmCore, leader: int) -> bool:
    """Whether all components of a job find nodes beside one another."""
    unit = core.coscheduling.unit[core.coscheduling.member[leader].unit]
    open_nodes(core)
    for i in range(unit.first, unit.last):
        if not _picked_beside_others(core, core.coscheduling.member_rows[i]):
            return False
    return True


@part
def _picked_beside_others(core: SlurmCore, row: int) -> bool:
    """Choose its nodes among those FREE, or those reserved for it; they are not FREE for others of its job.

    Components share no node (``_het_job_start_now`` of backfill.c).
    """
    placement = placement_of(core, row)
    it = core.slurm.partition[core.slurm.way[placement].partition]
    if has_reservation(core, row):
        picked = picked_reserved(core, row)
    else:
        nodes_looked_for(core, placement)
        picked = picked_together(core, row, placement)
    take_out(core.slurm.sets.free, core.slurm.sets.picked, it.low, it.high)
    return picked


@question
def picked_together(core: SlurmCore, row: int, placement: int) -> bool:
    """Choose the nodes of a component among those FREE, if they suffice."""
    return picked_among(core, placement, core.slurm.sets.free)


@part
def _start_job(core: SlurmCore, leader: int) -> None:
    unit = core.coscheduling.unit[core.coscheduling.member[leader].unit]
    unit.start = core.clock.now
    open_nodes(core)
    for i in range(unit.first, unit.last):
        row = core.coscheduling.member_rows[i]
        placement = placement_of(core, row)
        _picked_beside_others(core, row)
        end_with_others(core, leader, row, placement)
        start_on_picked(core, row, placement, core.slurm.rules.launch_s)
    core.slurm.memory.started += unit.last - unit.first


@part
def end_with_others(core: SlurmCore, leader: int, row: int, placement: int) -> None:
    """How long a component takes: as long as the script on the first while that runs, or as the longest."""
    if core.slurm.rules.longest:
        core.slurm.way[placement].run = _longest_run(core, leader)
    elif row != leader and core.jobs[leader].state == RUNNING:
        of_leader = core.placements[core.jobs[leader].placed]
        core.slurm.way[placement].run = of_leader.duration - core.slurm.job[leader].launch
        core.jobs[row].fails = core.jobs[leader].fails if of_leader.killed != BY_LIMIT else 0


@part
def end_together(core: SlurmCore, row: int) -> None:
    """The limit of one that runs has changed: so may the end of those that started with it."""
    if core.coscheduling.member[row].unit < 0:
        return
    unit = core.coscheduling.unit[core.coscheduling.member[row].unit]
    for i in range(unit.first, unit.last):
        other = core.coscheduling.member_rows[i]
        if core.jobs[other].state == RUNNING:
            forget_end(core, other)
            end_with_others(core, unit.leader, other, core.jobs[other].placed)
            plan_end(core, other)


@part
def _longest_run(core: SlurmCore, leader: int) -> int:
    """How long the longest component of a job takes (s), none longer than it may."""
    unit, longest = core.coscheduling.unit[core.coscheduling.member[leader].unit], 0
    for i in range(unit.first, unit.last):
        row = core.coscheduling.member_rows[i]
        allowed = core.placements[core.jobs[row].first].limit + core.slurm.rules.over_time
        longest = max(longest, min(core.coscheduling.member[row].run, allowed))
    return longest


@only_with("coscheduling")
def end_with_leader(core: SlurmCore, row: int, state: int) -> None:
    """The first component of a job was ended: so are the others that run."""
    if core.coscheduling.member[row].unit < 0:
        return
    unit = core.coscheduling.unit[core.coscheduling.member[row].unit]
    if unit.leader != row:
        return
    for i in range(unit.first, unit.last):
        if core.jobs[core.coscheduling.member_rows[i]].state == RUNNING:
            drop_end(core, core.coscheduling.member_rows[i])
            finish(core, core.coscheduling.member_rows[i], state)


@only_with("coscheduling", otherwise=False)
def is_of_delayed_job(core: SlurmCore, row: int) -> bool:
    """Whether it is of a job some of which starts later."""
    return is_member(core, row) and core.coscheduling.unit[core.coscheduling.member[row].unit].delayed == 1
