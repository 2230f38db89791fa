"""Jobs that wait: counted in a module, with a reservation or without."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import pending_changed
from scheduler_sim.engine.core.placement import module_of
from scheduler_sim.engine.core.record import short_so_far
from scheduler_sim.engine.core.state import INF, UNSEEN, Core


@question
def join_queue(core: Core, row: int) -> None:
    """A job that has become eligible is a newcomer to the queue."""
    count_waiting(core, core.jobs[row].first, 1)
    add_newcomer(core, row)


@question
def stop_waiting(core: Core, row: int) -> None:
    """It is no longer counted in the queue, nor has it a reservation."""
    stop_counting(core, row)
    core.jobs[row].reserved_start, core.jobs[row].reserved_placement = INF, -1


@part
def stop_counting(core: Core, row: int) -> None:
    """It is no longer counted in the module of its reservation, or of its first placement."""
    held = core.jobs[row].reserved_placement
    count_waiting(core, core.jobs[row].first if held < 0 else held, -1)


@part
def add_newcomer(core: Core, row: int) -> None:
    """``row`` is a newcomer: it takes its place in the queue before this step's pass."""
    core.queue.newcomers[core.queue.at.new] = row
    core.queue.at.new += 1


@part
def count_waiting(core: Core, placement: int, sign: int) -> None:
    """One more or less waits in the module of a placement."""
    module = module_of(core, placement)
    core.pools[module].queued += sign
    core.pools[module].queued_nodes += sign * core.placements[placement].nodes
    core.pools[module].touched = 1


@part
def count_pending(core: Core, row: int, sign: int) -> None:
    """One more or less that is submitted, not held by hand, and has yet to start."""
    if core.jobs[row].state != UNSEEN and not core.jobs[row].held:
        pending_changed(core, row, sign)


@part
def reserve_start(core: Core, row: int, placement: int, time: int) -> None:
    """Hold a reservation for ``row``; it counts in the queue of that module."""
    held = core.jobs[row].reserved_placement
    now_in = core.jobs[row].first if held < 0 else held
    if now_in != placement and core.jobs[row].eligible >= 0:
        count_waiting(core, now_in, -1)
        count_waiting(core, placement, 1)
    core.jobs[row].reserved_start, core.jobs[row].reserved_placement = time, placement


@part
def withdraw(core: Core, row: int) -> None:
    """Take the reservation of ``row`` back."""
    held = core.jobs[row].reserved_placement
    if held >= 0 and held != core.jobs[row].first and core.jobs[row].eligible >= 0:
        count_waiting(core, held, -1)
        count_waiting(core, core.jobs[row].first, 1)
    core.jobs[row].reserved_start, core.jobs[row].reserved_placement = INF, -1


@part
def measure_wait(core: Core, row: int) -> None:
    """From now on its wait for nodes is read off its module, until it starts or ``settle_wait``."""
    it = core.placements[core.jobs[row].first]
    core.jobs[row].wait_resources -= short_so_far(core, it.module, it.nodes)
    core.jobs[row].measured = 1


@part
def settle_wait(core: Core, row: int) -> None:
    """Write down how long ``row`` has waited for nodes; from now on that is not read off its module."""
    if core.jobs[row].measured:
        it = core.placements[core.jobs[row].first]
        core.jobs[row].wait_resources += short_so_far(core, it.module, it.nodes)
        core.jobs[row].measured = 0
