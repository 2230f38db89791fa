"""What an operator does to single components: hold, release, requeue, new limits and priorities.

Python calls these at an instant that ``drive.reach`` has brought the core to. Each does
nothing to a component in a state to which it does not apply, as Slurm refuses it.
"""

from __future__ import annotations

from scheduler_sim.engine.appointments import is_expected
from scheduler_sim.engine.crew import leader_of
from scheduler_sim.engine.dependencies import end_hopeless, let_singleton_go, lift
from scheduler_sim.engine.events import BEGIN, drop_end, push_end
from scheduler_sim.engine.jit import entry, part
from scheduler_sim.engine.life import changed_by_hand, revive, set_aside
from scheduler_sim.engine.limits import change_limit, forget_end, plan_end
from scheduler_sim.engine.lines import leave_place
from scheduler_sim.engine.queue import remove
from scheduler_sim.engine.reference import by_reference
from scheduler_sim.engine.slurm.het_jobs import end_together
from scheduler_sim.engine.slurm.ranking import give_priority, weigh_again
from scheduler_sim.engine.slurm.slots import BUILTIN, HOLDING, IN_LIST_ORDER
from scheduler_sim.engine.state import (
    COMPLEX,
    HELD,
    HOLD,
    MODULES,
    NOW,
    READY,
    RUNNING,
    UNSEEN,
    UNTIED,
    WAITING,
    Core,
)
from scheduler_sim.engine.waiting import (
    count_pending,
    count_waiting,
    expect_wait,
    line_up,
    settle_wait,
    withdraw,
)


@entry
def hold(core: Core, row: int) -> None:
    """Nothing that has yet to start starts before it is released."""
    core = by_reference(core)
    if core.comp[row].state <= WAITING and not core.comp[row].held and not is_expected(core, row):
        count_pending(core, row, -1)
        core.comp[row].held = 1
        _hold_back(core, row)


@entry
def release(core: Core, row: int) -> None:
    """Undo a hold; under Slurm's priorities one that is released gets a new one, held or not."""
    core = by_reference(core)
    if core.comp[row].state > WAITING:
        return
    if core.slurm[HOLDING] and core.comp[row].state != UNSEEN:
        waits = _take_out(core, row)
        core.job[row].given = 0
        give_priority(core, row)
        _put_back(core, row, waits)
    _let_go(core, row)


@entry
def run_again(core: Core, row: int) -> None:
    """Requeue what has ended."""
    core = by_reference(core)
    if core.comp[row].state > RUNNING and core.comp[row].end >= 0:
        revive(core, row)


@entry
def set_limit(
    core: Core, row: int, limit: int, run: int, overrun: int, key: float, second_key: float
) -> None:
    """A new time limit (s); what runs is planned to end by it, and killed by it, from now on.

    ``run`` and ``overrun`` in s; the keys are those of the order, which may depend on the limit.
    """
    core = by_reference(core)
    it = core.comp[row]
    if it.state > RUNNING:
        return
    waits = _take_out(core, row)
    if it.state == RUNNING:
        forget_end(core, row)
        if not core.slurm[HOLDING]:  # no longer than it has run already, so that it ends now
            limit = max(limit, core.clock[NOW] - it.start - overrun)
    for placement in range(it.first, it.last):
        change_limit(core, placement, limit, run, overrun)
    it.key, it.second_key = key, second_key
    if it.state == RUNNING:
        plan_end(core, row)
        if core.slurm[HOLDING]:
            end_together(core, row)
    _put_back(core, row, waits)


@entry
def set_priority(core: Core, row: int, priority: float) -> None:
    """Policy slurm: a priority that is not computed any more; what is held is released."""
    core = by_reference(core)
    if core.comp[row].state <= WAITING:
        waits = _take_out(core, row)
        core.job[row].given = 1
        if core.slurm[BUILTIN] != IN_LIST_ORDER:
            core.comp[row].key = -priority
        for placement in range(core.comp[row].first, core.comp[row].last):
            core.way[placement].key = -priority
        _put_back(core, row, waits)
        _let_go(core, row)


@entry
def set_nice(core: Core, row: int, nice: int) -> None:
    """Policy slurm: the priority changes by as much as nice does, to 1 at the least."""
    core = by_reference(core)
    it = core.comp[row]
    if it.state > WAITING:
        return
    waits = _take_out(core, row)
    more = nice - core.job[row].nice
    core.job[row].nice = nice
    for placement in range(it.first, it.last):
        if len(core.factor) > 0:
            core.factor[placement].nice += more
        if it.state != UNSEEN or core.job[row].given:
            core.way[placement].key = min(core.way[placement].key + more, -1.0)
    if core.slurm[BUILTIN] != IN_LIST_ORDER and (it.state != UNSEEN or core.job[row].given):
        it.key = min(it.key + more, -1.0)
    _put_back(core, row, waits)


@entry
def set_begin(core: Core, row: int, time: int) -> None:
    """Not eligible before ``time`` (s)."""
    core = by_reference(core)
    state, now = core.comp[row].state, core.clock[NOW]
    if state > WAITING or is_expected(core, row):
        return
    awaited = core.term[row].begin >= 0 if state == UNSEEN else core.term[row].begin > now
    core.term[row].begin = time
    if state == UNSEEN:
        core.comp[row].missing += 0 if awaited else HOLD
        return
    if awaited:
        drop_end(core, BEGIN + row)
    if time > now:
        if not awaited:
            _hold_back(core, row)
        push_end(core, time, BEGIN + row)
    elif awaited:
        lift(core, row)
    changed_by_hand(core)


@entry
def unplace(core: Core, row: int) -> bool:
    """One that has yet to start is to be placed anew: it counts nowhere until then; True if it waits."""
    core = by_reference(core)
    waits = _take_out(core, row)
    if waits:
        for module in range(core.clock[MODULES]):
            if core.pool[module].front == row:
                core.pool[module].front = -1
        if not core.rules[COMPLEX]:
            settle_wait(core, row)
        count_waiting(core, row, core.comp[row].first, -1)
    return waits


@entry
def place_anew(core: Core, row: int, waits: bool, closed: int) -> None:
    """It has its new placements; ``closed``: 1 = those are all closed to it now, -1 = no longer."""
    core = by_reference(core)
    if core.slurm[HOLDING]:
        weigh_again(core, row)
    if waits:
        if not core.rules[COMPLEX]:
            expect_wait(core, row)
        count_waiting(core, row, core.comp[row].first, 1)
    _put_back(core, row, waits)
    if closed > 0:
        _hold_back(core, row)
    elif closed < 0:
        lift(core, row)


@part
def _hold_back(core: Core, row: int) -> None:
    """One thing more holds a component."""
    if core.comp[row].state == WAITING:
        remove(core, row)
        set_aside(core, row)
    elif core.comp[row].state == HELD and core.comp[row].missing == 0:  # about to be eligible
        last = core.clock[READY] - 1
        for i in range(core.clock[READY]):
            if core.lists[UNTIED, i] == row:
                core.lists[UNTIED, i] = core.lists[UNTIED, last]
                core.clock[READY] = last
                break
    core.comp[row].missing += HOLD
    if len(core.term) > 0:
        leave_place(core, row)


@part
def _let_go(core: Core, row: int) -> None:
    """A hold is over."""
    if core.comp[row].held:
        core.comp[row].held = 0
        count_pending(core, row, 1)
        lift(core, row)
        if len(core.term) > 0 and core.comp[row].state == HELD:  # that was not tested
            let_singleton_go(core, row)
        if core.slurm[HOLDING] and core.comp[row].state == HELD:
            end_hopeless(core, row)


@part
def _take_out(core: Core, row: int) -> bool:
    """Take one that waits out of the queue while its place changes; True if it waits."""
    if core.comp[row].state != WAITING:
        return False
    remove(core, row)
    withdraw(core, row)
    return True


@part
def _put_back(core: Core, row: int, waits: bool) -> None:
    leader = leader_of(core, row)
    if waits and leader >= 0:
        line_up(core, leader)
    changed_by_hand(core)
