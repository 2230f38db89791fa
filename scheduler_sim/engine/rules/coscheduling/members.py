"""Units as one entry of the queue: the leader stands in it, once all members wait.

With Slurm's schedulers each member has an entry of its own: there ``slurm/het`` answers instead.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on, only_with
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import plan_anew
from scheduler_sim.engine.core.loop import give_up_start, leave
from scheduler_sim.engine.core.moments import set_aside_again, withdrawn
from scheduler_sim.engine.core.operations import is_expected
from scheduler_sim.engine.core.queue import entry_of
from scheduler_sim.engine.core.record import account_wait, fits_somewhere
from scheduler_sim.engine.core.state import INF, RUNNING, WAITING
from scheduler_sim.engine.core.waiting import (
    add_newcomer,
    count_waiting,
    join_queue,
    stop_counting,
    stop_waiting,
)
from scheduler_sim.engine.rules.coscheduling.reservations import forget_reservation
from scheduler_sim.engine.rules.coscheduling.state import UnitsCore


@only_with("coscheduling", otherwise=False)
def is_member(core: UnitsCore, row: int) -> bool:
    """Whether ``row`` is a member of a unit that has yet to start."""
    number = core.coscheduling.member[row].unit
    return number >= 0 and core.coscheduling.unit[number].start < 0


@on(entry_of, "coscheduling", unless="slurm")
def leader_of(core: UnitsCore, row: int) -> int:
    """The job that stands in the queue for ``row``: the leader of its unit; -1 while that is not complete."""
    if not is_member(core, row):
        return row
    if not is_complete(core, row):
        return -1
    return core.coscheduling.unit[core.coscheduling.member[row].unit].leader


@part
def is_complete(core: UnitsCore, row: int) -> bool:
    """Whether all members of the unit of ``row`` wait."""
    unit = core.coscheduling.unit[core.coscheduling.member[row].unit]
    for i in range(unit.first, unit.last):
        if core.jobs[core.coscheduling.member_rows[i]].state != WAITING:
            return False
    return True


@only_with("coscheduling", otherwise=True)
def whole_job_waits(core: UnitsCore, row: int) -> bool:
    """Whether all components of its job wait."""
    return not is_member(core, row) or is_complete(core, row)


@on(join_queue, "coscheduling", unless="slurm")
def join_with_unit(core: UnitsCore, row: int) -> None:
    """A unit joins once all its members wait: that is when they are eligible; what starts at once counts."""
    leader = leader_of(core, row)
    if leader < 0:
        core.jobs[row].eligible = -1
        return
    if is_member(core, row):
        set_eligible(core, row, core.clock.now)
        count_unit(core, row, 1)
    else:
        count_waiting(core, core.jobs[row].first, 1)
    add_newcomer(core, leader)


@on(stop_waiting, "coscheduling", unless="slurm")
def stop_waiting_with_unit(core: UnitsCore, row: int) -> None:
    """Its unit is no longer counted in the queue, nor has it a reservation."""
    leader = leader_of(core, row)
    if leader < 0:
        return
    if is_member(core, row):
        count_unit(core, row, -1)
    else:
        stop_counting(core, row)
    core.jobs[leader].reserved_start, core.jobs[leader].reserved_placement = INF, -1


@part
def count_unit(core: UnitsCore, row: int, sign: int) -> None:
    """Its unit waits, or no longer: members that start at once count in their modules."""
    unit = core.coscheduling.unit[core.coscheduling.member[row].unit]
    for i in range(unit.first, unit.last):
        one = core.coscheduling.member_rows[i]
        if core.coscheduling.member[one].offset == 0:
            count_waiting(core, core.jobs[one].first, sign)


@part
def set_eligible(core: UnitsCore, row: int, time: int) -> None:
    """Since when its unit may start, -1 = not yet; those that start later get times of their own then."""
    unit = core.coscheduling.unit[core.coscheduling.member[row].unit]
    for i in range(unit.first, unit.last):
        one = core.coscheduling.member_rows[i]
        core.jobs[one].eligible = time if core.coscheduling.member[one].offset == 0 else -1


@on(set_aside_again, "coscheduling", unless="slurm")
def set_unit_aside(core: UnitsCore, row: int) -> None:
    """One of its members is held again: none is eligible, and none has waited for nodes since it was."""
    if is_member(core, row):
        set_eligible(core, row, -1)
        unit = core.coscheduling.unit[core.coscheduling.member[row].unit]
        for i in range(unit.first, unit.last):
            core.jobs[core.coscheduling.member_rows[i]].wait_resources = 0


@on(account_wait, "coscheduling", unless="slurm")
def account_unit(core: UnitsCore, row: int, seconds: int) -> None:
    """All members of a unit wait for nodes while one that starts at once has too few."""
    if not is_member(core, row):
        if not fits_somewhere(core, row):
            core.jobs[row].wait_resources += seconds
        return
    unit = core.coscheduling.unit[core.coscheduling.member[row].unit]
    if unit_fits(core, row):
        return
    for i in range(unit.first, unit.last):
        core.jobs[core.coscheduling.member_rows[i]].wait_resources += seconds


@part
def unit_fits(core: UnitsCore, leader: int) -> bool:
    """Whether the free nodes and resources are enough for all members that start at once."""
    unit = core.coscheduling.unit[core.coscheduling.member[leader].unit]
    for i in range(unit.at_once, unit.at_once_last):
        one = core.coscheduling.rect[i]
        if one.offset == 0 and one.nodes > core.pools[one.pool].free:
            return False
    return True


@on(withdrawn, "coscheduling", unless="slurm")
def forget_own_reservation(core: UnitsCore, row: int) -> None:
    """A job that is cancelled needs no reservation."""
    if core.coscheduling.member[row].reserved_from >= 0:
        forget_reservation(core, row)
        plan_anew(core)


@on(is_expected, "coscheduling")
def has_own_reservation(core: UnitsCore, row: int) -> bool:
    """Whether ``row`` has a reservation of its own, or is late for it."""
    for i in range(core.coscheduling.at.expected):
        if core.coscheduling.expected[i] == row:
            return True
    return False


@on(give_up_start, "coscheduling")
def give_up_unit(core: UnitsCore, row: int, state: int) -> None:
    """If one member of a unit never starts, none does."""
    if not is_member(core, row):
        leave(core, row, state)
        return
    unit = core.coscheduling.unit[core.coscheduling.member[row].unit]
    for i in range(unit.first, unit.last):
        if core.jobs[core.coscheduling.member_rows[i]].state < RUNNING:
            leave(core, core.coscheduling.member_rows[i], state)


@only_with("coscheduling", otherwise=False)
def reservation_is_ahead(core: UnitsCore) -> bool:
    """Whether a reservation is still to begin, or its component is late for it."""
    return core.coscheduling.at.expected > 0


@only_with("coscheduling", otherwise=False)
def has_units(core: UnitsCore) -> bool:
    """Whether some jobs start by one plan, or call."""
    return True
