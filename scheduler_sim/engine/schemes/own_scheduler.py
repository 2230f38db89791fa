"""The pass of a scheduler of the user's own, which is called by its address."""

from __future__ import annotations

from scheduler_sim.engine.core.calling import call_at
from scheduler_sim.engine.core.instant import close_step, open_step, take_events
from scheduler_sim.engine.core.jit import entry, part
from scheduler_sim.engine.core.moments import pass_begins
from scheduler_sim.engine.core.operations import hold_now
from scheduler_sim.engine.core.queue import close_gaps, refresh
from scheduler_sim.engine.core.scheme import pass_of
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.core.waiting import withdraw
from scheduler_sim.engine.rules.coscheduling.units import keep_reservations
from scheduler_sim.engine.rules.own_scheduler.asking import AskingCore
from scheduler_sim.engine.rules.own_scheduler.state import MORE_WAKES


@pass_of("own_scheduler")
@part
def own_pass(core: AskingCore) -> None:
    """Let it say who starts."""
    _begin_pass(core)
    call_at(core.own_scheduler.at.address, core)
    _end_pass(core)


@part
def _begin_pass(core: AskingCore) -> None:
    """The queue is in order, and nothing is planned."""
    keep_reservations(core)
    refresh(core)
    _take_reservations_back(core)
    _forget_wakes(core)
    at = core.own_scheduler.at
    at.planned = at.holding = 0
    if at.told > 0 or at.last_pass != core.clock.now:
        at.vain_passes = 0
    at.last_pass = core.clock.now
    at.endless = at.vain_passes > core.clock.jobs + MORE_WAKES  # each job may be released once, and some more


@part
def _end_pass(core: AskingCore) -> None:
    """What it wants held is held from now on, and it is woken when it asked to be."""
    it = core.own_scheduler
    for i in range(it.at.holding):
        hold_now(core, it.hold[i])
    it.at.held += it.at.holding
    it.at.vain_passes = 0 if it.at.told > 0 else it.at.vain_passes + 1
    close_gaps(core, core.queue.at.tail)
    it.at.told = 0
    core.clock.due = it.wakes[0] if it.at.wakes > 0 else INF


@part
def _take_reservations_back(core: AskingCore) -> None:
    """Reservations hold for one pass."""
    if core.own_scheduler.at.reserved == 0:
        return
    core.own_scheduler.at.reserved = 0
    for i in range(core.queue.at.head, core.queue.at.tail):
        if core.jobs[core.queue.waiting[i]].reserved_placement >= 0:
            withdraw(core, core.queue.waiting[i])


@part
def _forget_wakes(core: AskingCore) -> None:
    """Times that have come are no longer waited for."""
    it, past = core.own_scheduler, 0
    while past < it.at.wakes and it.wakes[past] <= core.clock.now:
        past += 1
    it.at.wakes -= past
    for i in range(it.at.wakes):
        it.wakes[i] = it.wakes[i + past]


# From pass to pass, for one who decides outside of the loop.


@entry
def go_to_pass(core: AskingCore, until: int, budget: int) -> bool:
    """Go on to the next pass in which jobs wait, and stand in it; False if there is none, as the loop."""
    while open_step(core, until, budget):
        take_events(core)
        pass_begins(core)
        _begin_pass(core)
        if core.queue.at.tail > core.queue.at.head:
            core.clock.pass_requested = 1  # something is to be done at this instant
            return True
        _end_pass(core)
        close_step(core)
    return False


@entry
def leave_pass(core: AskingCore) -> None:
    """All that was to be asked for in this pass has been."""
    _end_pass(core)
    close_step(core)
    core.clock.pass_requested = 0
