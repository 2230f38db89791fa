"""One loop a scheme: the same instants around different passes.

Each is compiled by itself on first use, so that a run under one scheme does not
wait for the others. They return when nothing happens before ``until``, after
``budget`` steps in all, or when the caller must look: see STATUS.
"""

from __future__ import annotations

from scheduler_sim.engine.easy import easy_pass
from scheduler_sim.engine.greedy import greedy_pass
from scheduler_sim.engine.instant import close_step, end_due, move_to, open_step
from scheduler_sim.engine.jit import entry
from scheduler_sim.engine.keep import keep_pass
from scheduler_sim.engine.plan import plan_pass
from scheduler_sim.engine.state import Core


@entry
def drive_greedy(core: Core, fill_keys, until: int, budget: int) -> None:
    """Fcfs and first fit."""
    while open_step(core, until, budget):
        greedy_pass(core, fill_keys)
        close_step(core)


@entry
def drive_easy(core: Core, fill_keys, until: int, budget: int) -> None:
    """EASY by shadow time and extra nodes."""
    while open_step(core, until, budget):
        easy_pass(core, fill_keys)
        close_step(core)


@entry
def drive_plan(core: Core, fill_keys, until: int, budget: int) -> None:
    """Reservations of any depth, planned anew."""
    while open_step(core, until, budget):
        plan_pass(core, fill_keys)
        close_step(core)


@entry
def drive_keep(core: Core, fill_keys, until: int, budget: int) -> None:
    """Conservative with kept promises."""
    while open_step(core, until, budget):
        keep_pass(core, fill_keys)
        close_step(core)


@entry
def reach(core: Core, time: int) -> None:
    """Bring the core to the ends of an instant, so that the outside can act before its pass."""
    move_to(core, time)
    end_due(core)
