"""What a scheduler of the user's own may ask for in its pass, and what it may not.

Nothing here lets it break a law: a job starts only if it fits now, and what can never be is refused with a
reason. Its plan holds for one pass: what runs by planned ends, and what it has started and reserved so far.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import only_with
from scheduler_sim.engine.core.jit import entry, part
from scheduler_sim.engine.core.lifecycle import start
from scheduler_sim.engine.core.operations import lift_hold
from scheduler_sim.engine.core.placement import judged_time
from scheduler_sim.engine.core.profile import build_profiles, earliest, not_before, occupy
from scheduler_sim.engine.core.record import fits
from scheduler_sim.engine.core.state import HELD, INF, RUNNING, WAITING
from scheduler_sim.engine.core.waiting import reserve_start, withdraw
from scheduler_sim.engine.rules.coscheduling.members import has_units, is_member, unit_fits
from scheduler_sim.engine.rules.coscheduling.reservations import occupy_reservations
from scheduler_sim.engine.rules.coscheduling.units import (
    delayed_find_nodes,
    occupy_unit,
    start_unit,
    unit_not_before,
    unit_slot,
)
from scheduler_sim.engine.rules.holes import nodes_stay
from scheduler_sim.engine.rules.own_scheduler.state import STARTED, OwnCore, tell
from scheduler_sim.engine.rules.shared_nodes.packing import choose_nodes_now
from scheduler_sim.engine.rules.shared_nodes.plan import NodePlanCore, name_nodes

DONE, NOT_NOW = 1, 0
NOT_PENDING, RUNS, OVER, IS_HELD, NOT_ITS_PLACEMENT, IN_THE_PAST, TOO_MANY, ENDLESS = range(-1, -9, -1)
"""What becomes of what is asked for; what is negative can never be lawful."""

EARLIEST, BEFORE_ALL = -1, -2
"""A time to reserve for: the earliest there is, and one before any."""


class AskingCore(OwnCore, NodePlanCore):
    """A core with all that a plan may have to look at."""


# -- starting


@part
def start_now(core: AskingCore, row: int, placement: int) -> int:
    """Start a job in a placement; NOT_NOW if it does not fit now.

    -1 = in the one in which the plan of this pass has it start now, else in the first that fits.
    """
    answer = may_be_asked_of(core, row, placement)
    if answer < 0:
        return answer
    if placement >= 0:
        return DONE if _starts(core, row, placement) else NOT_NOW
    if core.own_scheduler.at.planned and _starts_by_plan(core, row):
        return DONE
    for one in range(core.jobs[row].first, core.jobs[row].last):
        if _starts(core, row, one):
            return DONE
    return NOT_NOW


@part
def may_be_asked_of(core: AskingCore, row: int, placement: int) -> int:
    """DONE for a job that is pending and has such a placement, else what is against it."""
    it = core.jobs[row]
    if it.state == HELD:
        return IS_HELD
    if it.state == RUNNING:
        return RUNS
    if it.state > RUNNING:
        return OVER
    if it.state != WAITING:
        return NOT_PENDING
    for i in range(core.own_scheduler.at.holding):
        if core.own_scheduler.hold[i] == row:
            return IS_HELD
    if placement >= 0 and not it.first <= placement < it.last:
        return NOT_ITS_PLACEMENT
    return DONE


@part
def fits_now(core: AskingCore, row: int, placement: int) -> bool:
    """Whether a job fits now in a placement, -1 = in any."""
    if is_member(core, row):
        return _unit_fits(core, row)
    if placement >= 0:
        return fits(core, placement) and nodes_stay(core, placement)
    for one in range(core.jobs[row].first, core.jobs[row].last):
        if fits(core, one) and nodes_stay(core, one):
            return True
    return False


@part
def _starts_by_plan(core: AskingCore, row: int) -> bool:
    """Start a job that by the plan of this pass starts now."""
    now, planned = core.clock.now, core.jobs[row].reserved_placement
    if planned >= 0:
        return core.jobs[row].reserved_start == now and _starts(core, row, planned)
    best = _best(core, row)
    return _slot(core, row, best, now) == now and _starts(core, row, best)


@part
def _starts(core: AskingCore, row: int, placement: int) -> bool:
    """Start a job in this placement if it fits now; the plan of this pass, if there is one, knows it then."""
    now = core.clock.now
    if is_member(core, row):
        return _unit_starts(core, row)
    if not fits(core, placement) or not nodes_stay(core, placement):
        return False
    _take_back(core, row)
    if core.own_scheduler.at.planned:
        if earliest(core, placement, now) == now:
            name_nodes(core, placement, now)
        else:
            choose_nodes_now(core, placement)
        occupy(core, placement, now, now + core.placements[placement].limit, 1)
    else:
        choose_nodes_now(core, placement)
    start(core, row, placement)
    tell(core, STARTED, row)
    return True


@only_with("coscheduling", otherwise=False)
def _unit_fits(core: AskingCore, leader: int) -> bool:
    return unit_fits(core, leader)


@only_with("coscheduling", otherwise=False)
def _unit_starts(core: AskingCore, leader: int) -> bool:
    """Start the components that start by one plan, if they all fit now."""
    if not unit_fits(core, leader) or not delayed_find_nodes(core, leader):
        return False
    _take_back(core, leader)
    if core.own_scheduler.at.planned:
        occupy_unit(core, leader, core.clock.now, 1)
    start_unit(core, leader)
    tell(core, STARTED, leader)
    return True


# -- the plan of this pass


@part
def earliest_start(core: AskingCore, row: int, placement: int) -> int:
    """When a job could start at the earliest in a placement, -1 = in any; INF if never."""
    answer = may_be_asked_of(core, row, placement)
    if answer < 0:
        return answer
    _make_plan(core)
    return _slot(core, row, placement if placement >= 0 else _best(core, row), EARLIEST)


@part
def reserve(core: AskingCore, row: int, placement: int, at: int) -> int:
    """Plan a job from ``at`` on, or at the EARLIEST; returns when, INF if it does not fit then."""
    answer = may_be_asked_of(core, row, placement)
    if answer < 0:
        return answer
    if at != EARLIEST and at < core.clock.now:
        return IN_THE_PAST
    _make_plan(core)
    _take_back(core, row)
    chosen = placement if placement >= 0 else _best(core, row)
    time = _slot(core, row, chosen, at)
    if time == INF:
        return INF
    reserve_start(core, row, chosen, time)
    core.own_scheduler.at.reserved += 1
    if is_member(core, row):
        _occupy_unit(core, row, time, 1)
    else:
        name_nodes(core, chosen, time)
        occupy(core, chosen, time, time + judged_time(core, chosen), 1)
    if time > core.clock.now and (at >= 0 or has_units(core)):
        return time if wake_at(core, time) > 0 else TOO_MANY
    return time


@part
def _take_back(core: AskingCore, row: int) -> None:
    """The reservation that a job has had in this pass, if any, is over."""
    placement, time = core.jobs[row].reserved_placement, core.jobs[row].reserved_start
    if placement < 0:
        return
    if is_member(core, row):
        _occupy_unit(core, row, time, -1)
    else:
        occupy(core, placement, time, time + judged_time(core, placement), -1)
    withdraw(core, row)


@part
def _slot(core: AskingCore, row: int, placement: int, at: int) -> int:
    """When a job may start in a placement: at a time, or at the earliest; INF if it does not fit then."""
    if is_member(core, row):
        begin = _unit_slot(core, row, at)
    else:
        begin = earliest(core, placement, max(at, not_before(core, placement)))
    return begin if at < 0 or begin == at else INF


@only_with("coscheduling", otherwise=INF)
def _unit_slot(core: AskingCore, leader: int, after: int) -> int:
    """When the components that start by one plan may start, from a time on."""
    return unit_slot(core, leader, max(after, unit_not_before(core, leader)))


@only_with("coscheduling")
def _occupy_unit(core: AskingCore, leader: int, time: int, sign: int) -> None:
    occupy_unit(core, leader, time, sign)


@part
def _best(core: AskingCore, row: int) -> int:
    """The placement in which a job starts at the earliest, the first in its list of equal ones."""
    best, best_time = core.jobs[row].first, INF
    if best + 1 == core.jobs[row].last:
        return best
    for placement in range(core.jobs[row].first, core.jobs[row].last):
        time = earliest(core, placement, not_before(core, placement))
        if time < best_time:
            best, best_time = placement, time
    return best


@part
def _make_plan(core: AskingCore) -> None:
    """The plan of this pass is made when it is asked for first."""
    if not core.own_scheduler.at.planned:
        build_profiles(core, False)
        occupy_reservations(core)
        core.own_scheduler.at.planned = 1


# -- later passes


@part
def wake_at(core: AskingCore, time: int) -> int:
    """Have a pass made at a time, whatever happens."""
    it = core.own_scheduler
    if time <= core.clock.now:
        return IN_THE_PAST
    place = it.at.wakes
    while place > 0 and it.wakes[place - 1] >= time:
        place -= 1
    if place < it.at.wakes and it.wakes[place] == time:
        return DONE
    if it.at.wakes == len(it.wakes):
        return TOO_MANY
    for i in range(it.at.wakes, place, -1):
        it.wakes[i] = it.wakes[i - 1]
    it.wakes[place] = time
    it.at.wakes += 1
    return DONE


@part
def hold_job(core: AskingCore, row: int) -> int:
    """A pending job is held from the end of this pass on, until it is released."""
    answer = may_be_asked_of(core, row, -1)
    if answer > 0:
        core.own_scheduler.hold[core.own_scheduler.at.holding] = row
        core.own_scheduler.at.holding += 1
    return answer


@part
def release_job(core: AskingCore, row: int) -> int:
    """A job that is held by hand may be eligible again, with a pass at this instant; NOT_NOW if it is not."""
    if _is_kept(core, row):
        return DONE
    if core.jobs[row].state > WAITING or not core.jobs[row].held:
        return NOT_NOW
    lift_hold(core, row)
    return DONE


@part
def _is_kept(core: AskingCore, row: int) -> bool:
    """Forget that a job was to be held from the end of this pass on; False if it was not."""
    it = core.own_scheduler
    for i in range(it.at.holding):
        if it.hold[i] == row:
            it.at.holding -= 1
            it.hold[i] = it.hold[it.at.holding]
            return True
    return False


# -- for Python


@entry
def ask_start(core: AskingCore, row: int, placement: int) -> int:
    """As ``start_now``."""
    return start_now(core, row, placement)


@entry
def ask_fits(core: AskingCore, row: int, placement: int) -> bool:
    """As ``fits_now``."""
    return fits_now(core, row, placement)


@entry
def ask_earliest_start(core: AskingCore, row: int, placement: int) -> int:
    """As ``earliest_start``."""
    return earliest_start(core, row, placement)


@entry
def ask_reserve(core: AskingCore, row: int, placement: int, at: int) -> int:
    """As ``reserve``."""
    return reserve(core, row, placement, at)


@entry
def ask_wake_at(core: AskingCore, time: int) -> int:
    """As ``wake_at``."""
    return wake_at(core, time)


@entry
def ask_hold(core: AskingCore, row: int) -> int:
    """As ``hold_job``."""
    return hold_job(core, row)


@entry
def ask_release(core: AskingCore, row: int) -> int:
    """As ``release_job``."""
    return release_job(core, row)
