"""Conservative backfill that never moves a reserved start back (rule 6, ``replan: keep``)."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import only_with
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.profile import build_profiles, earliest, occupy
from scheduler_sim.engine.core.queue import refresh
from scheduler_sim.engine.core.record import fits
from scheduler_sim.engine.core.releases import overran
from scheduler_sim.engine.core.scheme import pass_of
from scheduler_sim.engine.core.state import FIRST_AVAILABLE, INF
from scheduler_sim.engine.core.waiting import reserve_start, withdraw
from scheduler_sim.engine.rules.coscheduling.members import is_member
from scheduler_sim.engine.rules.coscheduling.reservations import occupy_reservations
from scheduler_sim.engine.rules.coscheduling.units import keep_reservations, occupy_unit, unit_slot
from scheduler_sim.engine.rules.power_saving.switching import switch_nodes, switches_off
from scheduler_sim.engine.rules.shared_nodes.plan import name_nodes
from scheduler_sim.engine.schemes.reservation_backfill import PlanCore, ranks_before, start_reserved


@pass_of("conservative_keep")
@part
def keep_pass(core: PlanCore) -> None:
    """Lift old reservations if something came free early, reserve for newcomers, start what is due."""
    keep_reservations(core)
    refresh(core)
    head, tail = core.queue.at.head, core.queue.at.tail
    if core.clock.lost or overran(core):
        build_profiles(core, True)
        occupy_reservations(core)
        for i in range(head, tail):
            withdraw(core, core.queue.waiting[i])
    elif core.clock.early or not core.clock.profiled:
        _lay_out(core)
        _lift_all(core)
    elif switches_off(core):  # what is off can be up a boot from now, which is later than before
        _lay_out(core)
    if core.queue.at.new or core.clock.lost or core.clock.early or overran(core):
        for i in range(head, tail):
            row = core.queue.waiting[i]
            if core.jobs[row].reserved_placement < 0:
                _reserve_best(core, row, INF)
    core.clock.due = start_reserved(core)
    switch_nodes(core)


@part
def _lay_out(core: PlanCore) -> None:
    """Profiles of what runs and of all that is reserved."""
    build_profiles(core, True)
    occupy_reservations(core)
    for i in range(core.queue.at.head, core.queue.at.tail):
        _hold(core, core.queue.waiting[i], 1)


@part
def _lift_all(core: PlanCore) -> None:
    """One sweep in queue order: each reservation in turn goes to its earliest slot, never later."""
    for i in range(core.queue.at.head, core.queue.at.tail):
        row = core.queue.waiting[i]
        if core.jobs[row].reserved_placement >= 0:
            _hold(core, row, -1)
            _reserve_best(core, row, core.jobs[row].reserved_start)


@part
def _hold(core: PlanCore, row: int, sign: int) -> None:
    """Take the reservation of ``row`` out of the profiles, or put it back."""
    begin, placement = core.jobs[row].reserved_start, core.jobs[row].reserved_placement
    if is_member(core, row):
        _hold_unit(core, row, sign)
    elif begin < INF:
        occupy(core, placement, begin, begin + core.placements[placement].limit, sign)


@part
def _reserve_best(core: PlanCore, row: int, latest: int) -> None:
    """Reserve the best slot that does not begin after ``latest``."""
    if is_member(core, row):
        _reserve_unit(core, row, latest)
        return
    best, best_time = -1, INF
    for placement in range(core.jobs[row].first, core.jobs[row].last):
        if (
            core.rules.strategy == FIRST_AVAILABLE
            and placement != core.jobs[row].first
            and not fits(core, placement)
        ):
            continue
        time = earliest(core, placement, core.clock.now)
        if (
            core.rules.strategy == FIRST_AVAILABLE
            and placement != core.jobs[row].first
            and time > core.clock.now
        ):
            continue
        if time <= latest and (best < 0 or ranks_before(core, placement, time, best, best_time)):
            best, best_time = placement, time
    reserve_start(core, row, best, best_time)
    if best_time < INF:
        name_nodes(core, best, best_time)
    _hold(core, row, 1)


@only_with("coscheduling")
def _hold_unit(core: PlanCore, leader: int, sign: int) -> None:
    """Take the reservation of a unit out of the profiles, or put it back."""
    if core.jobs[leader].reserved_start < INF:
        occupy_unit(core, leader, core.jobs[leader].reserved_start, sign)


@only_with("coscheduling")
def _reserve_unit(core: PlanCore, leader: int, latest: int) -> None:
    """Reserve the earliest slot for a unit, or the latest it may have."""
    reserve_start(core, leader, core.jobs[leader].first, min(unit_slot(core, leader, core.clock.now), latest))
    _hold_unit(core, leader, 1)
