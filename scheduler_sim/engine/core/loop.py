"""The loop over instants, and what the outside does between two of its calls.

The loop is compiled once for each scheme and set of rules, on first use. It returns when nothing happens
before ``until``, after ``budget`` steps in all, or when the caller must look: see ``clock.status``.
"""

from __future__ import annotations

from scheduler_sim.engine.core.events import drop_end
from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.instant import (
    close_step,
    end_due,
    handle_instant,
    is_over,
    move_to,
    next_instant,
    open_step,
)
from scheduler_sim.engine.core.jit import entry, part
from scheduler_sim.engine.core.lifecycle import finish, leave_queue, send_back
from scheduler_sim.engine.core.moments import (
    instant_opens,
    nodes_idle,
    nodes_removed,
    struck,
)
from scheduler_sim.engine.core.queue import remove
from scheduler_sim.engine.core.releases import add_release, drop_release
from scheduler_sim.engine.core.state import INF, WAITING, Core
from scheduler_sim.engine.core.waiting import settle_wait


@entry
def drive(core: Core, until: int, budget: int) -> None:
    """Handle instant after instant."""
    while open_step(core, until, budget):
        handle_instant(core)
        close_step(core)


# What the outside does, at an instant that ``reach`` has brought to its ends.


@entry
def reach(core: Core, time: int) -> None:
    """Bring the core to an instant, so that the outside can act before its pass."""
    move_to(core, time)
    instant_opens(core)
    come_to_act(core)


@question
def come_to_act(core: Core) -> None:
    """What comes before the outside acts: all that ends at the instant."""
    end_due(core)


@entry
def strike(core: Core, row: int, state: int) -> None:
    """End a running job now."""
    drop_end(core, row)
    finish(core, row, state)
    struck(core, row, state)


@entry
def interrupt(core: Core, row: int) -> None:
    """Stop a running job now, and have it wait again."""
    drop_end(core, row)
    send_back(core, row)


@entry
def abandon(core: Core, row: int, state: int) -> None:
    """End a job that waits or is held, with all that would start with it.

    Those not yet submitted will be passed over.
    """
    give_up_start(core, row, state)


@question
def give_up_start(core: Core, row: int, state: int) -> None:
    """A job that waits or is held will never start."""
    leave(core, row, state)


@part
def leave(core: Core, row: int, state: int) -> None:
    """Take a job out of the queue, if it is there, and end it."""
    if core.jobs[row].state == WAITING:
        remove(core, row)
    leave_queue(core, row, state)


@entry
def take_down(core: Core, module: int, nodes: int) -> None:
    """Take nodes out of service: idle ones now, then those that are off, the rest as they become idle."""
    idle = min(nodes, core.pools[module].free)
    core.pools[module].free -= idle
    core.pools[module].down += idle
    nodes_removed(core, module, idle)
    leaving = nodes - idle - take_those_off(core, module, nodes - idle)
    core.pools[module].draining += leaving
    core.pools[module].touched = 1
    core.clock.dirty = core.clock.early = core.clock.lost = 1


@entry
def take_down_off(core: Core, module: int, nodes: int) -> None:
    """Take nodes out of service that are switched off."""
    take_those_off(core, module, nodes)
    core.pools[module].touched = 1
    core.clock.dirty = core.clock.early = core.clock.lost = 1


@question
def take_those_off(core: Core, module: int, nodes: int) -> int:
    """Take at most so many nodes out of service that are switched off; returns how many there were."""
    return 0


@entry
def bring_back(core: Core, module: int, nodes: int) -> None:
    """Put nodes back into service; those that were still to be drained just stay."""
    kept = min(nodes, core.pools[module].draining)
    core.pools[module].draining -= kept
    core.pools[module].down -= nodes - kept
    core.pools[module].free += nodes - kept
    nodes_idle(core, module, nodes - kept)
    core.pools[module].touched = 1
    core.clock.dirty = core.clock.early = 1


@entry
def announce(core: Core, module: int, nodes: int, time: int, row: int) -> None:
    """Plan that nodes out of service are back at ``time``; ``row`` (negative) names the announcement."""
    add_release(core, module, time, row, nodes)


@entry
def retract(core: Core, module: int, time: int, row: int) -> None:
    """The announcement has come true, or will not."""
    drop_release(core, module, time, row)


@entry
def look_at_each(core: Core) -> None:
    """From now on some job has several placements or asks for shared resources."""
    for i in range(core.queue.at.head, core.queue.at.tail):
        settle_wait(core, core.queue.waiting[i])
    for i in range(core.queue.at.new):
        settle_wait(core, core.queue.newcomers[i])
    core.rules.complex = 1
    core.clock.dirty = core.clock.early = 1


@entry
def idle_but_held(core: Core, module: int) -> int:
    """Idle nodes of a module that are held for jobs that wait in their reservations."""
    return held_idle(core, module)


@question
def held_idle(core: Core, module: int) -> int:
    """Idle nodes of a module that are held for a job."""
    return 0


@entry
def upcoming(core: Core) -> int:
    """When something happens next, INF if never, or if what happens is no reason to go on."""
    return INF if is_over(core) else next_instant(core)
