"""One loop a scheme: the same instants around different passes.

Each is compiled by itself on first use, so that a run under one scheme does not
wait for the others. They return when nothing happens before ``until``, after
``budget`` steps in all, or when the caller must look: see STATUS.
"""

from __future__ import annotations

from scheduler_sim.engine.crew import is_member
from scheduler_sim.engine.easy import easy_pass
from scheduler_sim.engine.events import drop_end
from scheduler_sim.engine.greedy import greedy_pass
from scheduler_sim.engine.idle import append, take_first
from scheduler_sim.engine.instant import (
    close_step,
    end_due,
    move_to,
    next_instant,
    only_nodes_left,
    open_step,
    submit_due,
    take_events,
)
from scheduler_sim.engine.jit import entry, part
from scheduler_sim.engine.keep import keep_pass
from scheduler_sim.engine.life import changed_by_hand, finish, leave_queue, requeue, send_back, vacate
from scheduler_sim.engine.plan import plan_pass
from scheduler_sim.engine.queue import remove
from scheduler_sim.engine.reference import by_reference
from scheduler_sim.engine.releases import add_release, drop_release
from scheduler_sim.engine.slurm.advance import held_idle
from scheduler_sim.engine.slurm.clock import catch_up, slurm_instant
from scheduler_sim.engine.slurm.het_jobs import end_with_leader
from scheduler_sim.engine.slurm.slots import BACKFILL_FIRST, HOLDING
from scheduler_sim.engine.state import (
    COMPLEX,
    DIRTY,
    EARLY,
    HEAD,
    IDLE,
    INF,
    LOST,
    NEW,
    NEWCOMERS,
    NOW,
    QUEUE,
    RUNNING,
    SWITCHING,
    TAIL,
    WAITING,
    Core,
    Filler,
)
from scheduler_sim.engine.switching import plan_off, switch_over
from scheduler_sim.engine.waiting import settle_wait


@entry
def drive_greedy(core: Core, fill_keys: Filler, fill_second: Filler, until: int, budget: int) -> None:
    """Fcfs and first fit."""
    core = by_reference(core)
    while open_step(core, until, budget):
        take_events(core)
        greedy_pass(core, fill_keys, fill_second)
        close_step(core)


@entry
def drive_easy(core: Core, fill_keys: Filler, fill_second: Filler, until: int, budget: int) -> None:
    """EASY by shadow time and extra nodes."""
    core = by_reference(core)
    while open_step(core, until, budget):
        take_events(core)
        easy_pass(core, fill_keys, fill_second)
        close_step(core)


@entry
def drive_plan(core: Core, fill_keys: Filler, fill_second: Filler, until: int, budget: int) -> None:
    """Reservations of any depth, planned anew."""
    core = by_reference(core)
    while open_step(core, until, budget):
        take_events(core)
        plan_pass(core, fill_keys, fill_second)
        close_step(core)


@entry
def drive_keep(core: Core, fill_keys: Filler, fill_second: Filler, until: int, budget: int) -> None:
    """Conservative with kept promises."""
    core = by_reference(core)
    while open_step(core, until, budget):
        take_events(core)
        keep_pass(core, fill_keys)
        close_step(core)


@entry
def drive_slurm(core: Core, fill_keys: Filler, fill_second: Filler, until: int, budget: int) -> None:
    """Slurm's main and backfill schedulers."""
    core = by_reference(core)
    while open_step(core, until, budget):
        slurm_instant(core)
        close_step(core)


# What the outside does, at an instant that ``reach`` has brought to its ends.


@entry
def reach(core: Core, time: int) -> None:
    """Bring the core to the ends of an instant, so that the outside can act before its pass.

    Under policy slurm what the trace submits at the instant comes first, too: an operator's
    command finds it, and a release goes behind it.
    """
    core = by_reference(core)
    move_to(core, time)
    if core.rules[SWITCHING]:
        switch_over(core)
    if core.slurm[HOLDING]:
        catch_up(core)
    if not core.slurm[BACKFILL_FIRST]:  # there, ends come after the first scheduler's look
        end_due(core)
    if core.slurm[HOLDING]:
        submit_due(core)


@entry
def strike(core: Core, row: int, state: int) -> None:
    """End a running component now."""
    core = by_reference(core)
    drop_end(core, row)
    finish(core, row, state)
    if core.slurm[HOLDING]:
        end_with_leader(core, row, state)
        changed_by_hand(core)


@entry
def interrupt(core: Core, row: int) -> None:
    """Stop a running component now and put it back into the queue, by Slurm's rules under policy slurm."""
    core = by_reference(core)
    drop_end(core, row)
    if core.slurm[HOLDING]:
        send_back(core, row)
    else:
        vacate(core, row, WAITING)
        requeue(core, row)


@entry
def abandon(core: Core, row: int, state: int) -> None:
    """End a component that waits or is held, with all that would start with it.

    Those not yet submitted will be passed over.
    """
    core = by_reference(core)
    if not is_member(core, row):
        _leave(core, row, state)
        return
    unit = core.unit[core.member[row].unit]
    for i in range(unit.first, unit.last):
        if core.comp[core.crew[i]].state < RUNNING:
            _leave(core, core.crew[i], state)


@part
def _leave(core: Core, row: int, state: int) -> None:
    if core.comp[row].state == WAITING:
        remove(core, row)
    leave_queue(core, row, state)


@entry
def take_down(core: Core, module: int, nodes: int) -> None:
    """Take nodes out of service: idle ones now, then those that are off, the rest as they become idle."""
    core = by_reference(core)
    idle = min(nodes, core.pool[module].free)
    core.pool[module].free -= idle
    core.pool[module].down += idle
    if core.rules[SWITCHING]:
        take_first(core, module, IDLE, idle)
        idle += _take_down_off(core, module, nodes - idle)
    core.pool[module].draining += nodes - idle
    core.pool[module].touched = 1
    core.clock[DIRTY] = core.clock[EARLY] = core.clock[LOST] = 1


@entry
def take_down_off(core: Core, module: int, nodes: int) -> None:
    """Take nodes out of service that are switched off."""
    core = by_reference(core)
    _take_down_off(core, module, nodes)
    core.pool[module].touched = 1
    core.clock[DIRTY] = core.clock[EARLY] = core.clock[LOST] = 1


@part
def _take_down_off(core: Core, module: int, nodes: int) -> int:
    """Take at most so many; returns how many there were."""
    asleep = min(nodes, core.switch[module].off)
    core.switch[module].off -= asleep
    core.pool[module].down += asleep
    plan_off(core, module)
    return asleep


@entry
def bring_back(core: Core, module: int, nodes: int) -> None:
    """Put nodes back into service; those that were still to be drained just stay."""
    core = by_reference(core)
    kept = min(nodes, core.pool[module].draining)
    core.pool[module].draining -= kept
    core.pool[module].down -= nodes - kept
    core.pool[module].free += nodes - kept
    if core.rules[SWITCHING]:
        append(core, module, IDLE, core.clock[NOW], nodes - kept)
    core.pool[module].touched = 1
    core.clock[DIRTY] = core.clock[EARLY] = 1


@entry
def announce(core: Core, module: int, nodes: int, time: int, row: int) -> None:
    """Plan that nodes out of service are back at ``time``; ``row`` (negative) names the announcement."""
    core = by_reference(core)
    add_release(core, module, time, row, nodes)


@entry
def retract(core: Core, module: int, time: int, row: int) -> None:
    """The announcement has come true, or will not."""
    core = by_reference(core)
    drop_release(core, module, time, row)


@entry
def look_at_each(core: Core) -> None:
    """From now on some component has several placements or asks for shared resources."""
    core = by_reference(core)
    for i in range(core.clock[HEAD], core.clock[TAIL]):
        settle_wait(core, core.lists[QUEUE, i])
    for i in range(core.clock[NEW]):
        settle_wait(core, core.lists[NEWCOMERS, i])
    core.rules[COMPLEX] = 1
    core.clock[DIRTY] = core.clock[EARLY] = 1


@entry
def idle_but_held(core: Core, module: int) -> int:
    """Idle nodes of a module that are held for components that wait in their reservations."""
    core = by_reference(core)
    return held_idle(core, module)


@entry
def upcoming(core: Core) -> int:
    """When something happens next, INF if never, or if all that happens is that nodes are switched off."""
    core = by_reference(core)
    if core.rules[SWITCHING] and only_nodes_left(core):
        return INF
    return next_instant(core)
