"""Who waits: counted in a module, with a reservation or without."""

from __future__ import annotations

from scheduler_sim.engine.crew import leader_of, starts_with_others
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.record import short_so_far
from scheduler_sim.engine.slurm.slots import PENDING
from scheduler_sim.engine.state import INF, NEW, NEWCOMERS, UNSEEN, WAITING, Core


@part
def line_up(core: Core, row: int) -> None:
    """``row`` is a newcomer: it takes its place in the queue before this step's pass."""
    core.lists[NEWCOMERS, core.clock[NEW]] = row
    core.clock[NEW] += 1


@part
def count_waiting(core: Core, row: int, placement: int, sign: int) -> None:
    """One more or less waits in the module of a placement."""
    module = core.place[placement].module
    core.pool[module].queued += sign
    core.pool[module].queued_nodes += sign * core.place[placement].nodes
    core.pool[module].touched = 1


@part
def count_unit(core: Core, row: int, sign: int) -> None:
    """Its unit waits, or no longer: members that start at once count in their modules."""
    unit = core.unit[core.member[row].unit]
    for i in range(unit.first, unit.last):
        one = core.crew[i]
        if core.member[one].offset == 0:
            count_waiting(core, one, core.comp[one].first, sign)


@part
def set_eligible(core: Core, row: int, time: int) -> None:
    """Since when its unit may start, -1 = not yet."""
    unit = core.unit[core.member[row].unit]
    for i in range(unit.first, unit.last):
        core.comp[core.crew[i]].eligible = time


@part
def count_pending(core: Core, row: int, sign: int) -> None:
    """One more or less that is submitted, not held by hand, and has yet to start."""
    if core.comp[row].state != UNSEEN and not core.comp[row].held:
        core.slurm[PENDING] += sign


@part
def promise(core: Core, row: int, placement: int, time: int) -> None:
    """Hold a reservation for ``row``; it counts in the queue of that module."""
    held = core.comp[row].promised
    now_in = core.comp[row].first if held < 0 else held
    if now_in != placement and core.comp[row].eligible >= 0:
        count_waiting(core, row, now_in, -1)
        count_waiting(core, row, placement, 1)
    core.comp[row].promise, core.comp[row].promised = time, placement


@part
def withdraw(core: Core, row: int) -> None:
    """Take the reservation of ``row`` back."""
    held = core.comp[row].promised
    if held >= 0 and held != core.comp[row].first and core.comp[row].eligible >= 0:
        count_waiting(core, row, held, -1)
        count_waiting(core, row, core.comp[row].first, 1)
    core.comp[row].promise, core.comp[row].promised = INF, -1


@part
def expect_wait(core: Core, row: int) -> None:
    """From now on its wait for nodes is read off the pool, until it starts or ``settle_wait``."""
    it = core.place[core.comp[row].first]
    core.comp[row].wait_resources -= short_so_far(core, it.module, it.nodes)


@part
def settle_wait(core: Core, row: int) -> None:
    """Write down how long ``row`` has waited for nodes; from now on that is not read off the pool."""
    it = core.place[core.comp[row].first]
    core.comp[row].wait_resources += short_so_far(core, it.module, it.nodes)


@part
def be_late(core: Core, row: int) -> None:
    """Its appointment has come, and its nodes are not free: it waits from now on."""
    core.comp[row].state = WAITING
    count_waiting(core, row, core.comp[row].first, 1)


@part
def stop_waiting(core: Core, row: int) -> None:
    """It is no longer counted in the queue, nor has it a reservation; nor have those who start with it."""
    leader = leader_of(core, row)
    if leader < 0:
        return
    if starts_with_others(core, row):
        count_unit(core, row, -1)
    elif core.comp[row].eligible >= 0:  # else its delay has yet to begin
        held = core.comp[row].promised
        count_waiting(core, row, core.comp[row].first if held < 0 else held, -1)
    core.comp[leader].promise, core.comp[leader].promised = INF, -1
