"""What an operator does to single jobs: hold, release, requeue, new limits and priorities.

Python calls these at an instant that ``drive.reach`` has brought the core to. Each does
nothing to a component in a state to which it does not apply, as Slurm refuses it.
"""

from __future__ import annotations

from scheduler_sim.engine.core.holding import lift
from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import entry, part
from scheduler_sim.engine.core.lifecycle import plan_anew, revive, set_aside
from scheduler_sim.engine.core.limits import change_limit, forget_end, least_limit, plan_end
from scheduler_sim.engine.core.moments import held_back, let_go, limit_changed, placed_anew, released_by_hand
from scheduler_sim.engine.core.queue import entry_of, remove
from scheduler_sim.engine.core.state import HELD, HOLD, RUNNING, WAITING, Core
from scheduler_sim.engine.core.waiting import (
    add_newcomer,
    count_pending,
    count_waiting,
    settle_wait,
    withdraw,
)


@question
def is_expected(core: Core, row: int) -> bool:
    """Whether nodes are held for ``row`` from a time on: then it takes no orders but to be cancelled."""
    return False


@entry
def hold(core: Core, row: int) -> None:
    """Nothing that has yet to start starts before it is released."""
    hold_now(core, row)


@part
def hold_now(core: Core, row: int) -> None:
    """Hold a job, if it has yet to start and nothing is planned for it alone."""
    if core.jobs[row].state <= WAITING and not core.jobs[row].held and not is_expected(core, row):
        count_pending(core, row, -1)
        core.jobs[row].held = 1
        hold_back(core, row)


@entry
def release(core: Core, row: int) -> None:
    """Undo a hold."""
    if core.jobs[row].state > WAITING:
        return
    released_by_hand(core, row)
    lift_hold(core, row)


@entry
def run_again(core: Core, row: int) -> None:
    """Requeue what has ended."""
    if core.jobs[row].state > RUNNING and core.jobs[row].end >= 0:
        revive(core, row)


@entry
def set_limit(
    core: Core, row: int, limit: int, run: int, overrun: int, key: float, second_key: float
) -> None:
    """A new time limit (s); what runs is planned to end by it, and killed by it, from now on.

    ``run`` and ``overrun`` in s; the keys are those of the order, which may depend on the limit.
    """
    it = core.jobs[row]
    if it.state > RUNNING:
        return
    waits = take_out(core, row)
    if it.state == RUNNING:
        forget_end(core, row)
        limit = max(limit, least_limit(core, row, overrun))
    for placement in range(it.first, it.last):
        change_limit(core, placement, limit, run, overrun)
    core.ranks[row].key, core.ranks[row].second_key = key, second_key
    if it.state == RUNNING:
        plan_end(core, row)
        limit_changed(core, row)
    put_back(core, row, waits)


@entry
def unplace(core: Core, row: int) -> bool:
    """One that has yet to start is to be placed anew: it counts nowhere until then; True if it waits."""
    waits = take_out(core, row)
    if waits:
        for module in range(core.clock.modules):
            if core.pools[module].front == row:
                core.pools[module].front = -1
        settle_wait(core, row)
        count_waiting(core, core.jobs[row].first, -1)
    return waits


@entry
def place_anew(core: Core, row: int, waits: bool, closed: int) -> None:
    """It has its new placements; ``closed``: 1 = those are all closed to it now, -1 = no longer."""
    placed_anew(core, row)
    if waits:
        count_waiting(core, core.jobs[row].first, 1)
    put_back(core, row, waits)
    if closed > 0:
        hold_back(core, row)
    elif closed < 0:
        lift(core, row)


@part
def hold_back(core: Core, row: int) -> None:
    """One thing more holds a component."""
    if core.jobs[row].state == WAITING:
        remove(core, row)
        set_aside(core, row)
    elif core.jobs[row].state == HELD and core.jobs[row].missing == 0:  # about to be eligible
        last = core.queue.at.released - 1
        for i in range(core.queue.at.released):
            if core.queue.released[i] == row:
                core.queue.released[i] = core.queue.released[last]
                core.queue.at.released = last
                break
    core.jobs[row].missing += HOLD
    held_back(core, row)


@part
def lift_hold(core: Core, row: int) -> None:
    """A hold is over."""
    if core.jobs[row].held:
        core.jobs[row].held = 0
        count_pending(core, row, 1)
        lift(core, row)
        let_go(core, row)


@part
def take_out(core: Core, row: int) -> bool:
    """Take one that waits out of the queue while its place changes; True if it waits."""
    if core.jobs[row].state != WAITING:
        return False
    remove(core, row)
    withdraw(core, row)
    return True


@part
def put_back(core: Core, row: int, waits: bool) -> None:
    """Put it back in its new place."""
    entry_in_queue = entry_of(core, row)
    if waits and entry_in_queue >= 0:
        add_newcomer(core, entry_in_queue)
    plan_anew(core)
