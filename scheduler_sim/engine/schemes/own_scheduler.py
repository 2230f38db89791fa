"""The pass of a scheduler of the user's own, which is called by its address."""

from __future__ import annotations

from scheduler_sim.engine.core.calling import call_at
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.operations import hold_now
from scheduler_sim.engine.core.queue import close_gaps, refresh
from scheduler_sim.engine.core.scheme import pass_of
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.core.waiting import withdraw
from scheduler_sim.engine.rules.coscheduling.units import keep_reservations
from scheduler_sim.engine.rules.own_scheduler.asking import AskingCore


@pass_of("own_scheduler")
@part
def own_pass(core: AskingCore) -> None:
    """Let it say who starts; its plan is forgotten, what it wants held is held from now on."""
    it = core.own_scheduler
    keep_reservations(core)
    refresh(core)
    _take_reservations_back(core)
    _forget_wakes(core)
    it.at.planned = it.at.holding = 0
    call_at(it.at.address, core)
    for i in range(it.at.holding):
        hold_now(core, it.hold[i])
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
