"""What holds a component: its dependencies, satisfied or not, and whatever else is to be lifted."""

from __future__ import annotations

from scheduler_sim.engine.events import HOPELESS, SATISFIED, push_end
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.lines import ask_for_place, lacks_place, next_in_line
from scheduler_sim.engine.slurm.slots import HOLDING, KILL_INVALID
from scheduler_sim.engine.state import (
    AFTER,
    AFTERNOTOK,
    AFTEROK,
    CANCELLED,
    COMPLETED,
    HELD,
    HOLD,
    NOW,
    READY,
    UNSEEN,
    UNTIED,
    Core,
)

HOPE_LOST = -1  # an edge that will never be satisfied, also if what it waits for runs again later


@part
def lift(core: Core, row: int) -> None:
    """One thing less that holds a component, beside its dependencies."""
    core.comp[row].missing -= HOLD
    _free_if_ready(core, row)


@part
def _meet(core: Core, row: int) -> None:
    """A dependency is met; where any one is enough, the others have nothing more to add."""
    if core.comp[row].missing % HOLD > 0:
        core.comp[row].missing -= 1
        _free_if_ready(core, row)


@part
def _free_if_ready(core: Core, row: int) -> None:
    if core.comp[row].state != HELD:
        return
    if core.comp[row].missing == 0:
        core.lists[UNTIED, core.clock[READY]] = row
        core.clock[READY] += 1
    else:
        seek_place(core, row)


@part
def seek_place(core: Core, row: int) -> None:
    """A task of an array with a limit needs a place there, once nothing else holds it."""
    if core.comp[row].missing == HOLD and lacks_place(core, row):
        ask_for_place(core, row)


@part
def let_singleton_go(core: Core, row: int) -> None:
    """The next singleton of the same user and name need not wait any more."""
    first = next_in_line(core, row)
    if first >= 0:
        _meet(core, first)


@part
def satisfy_started(core: Core, row: int) -> None:
    """``row`` started: who may start after that is freed, at once or later."""
    for edge in range(core.comp[row].after, core.comp[row].after_last):
        if core.edge[edge].kind == AFTER:
            _satisfy_later(core, edge)


@part
def satisfy_by_call(core: Core, row: int) -> None:
    """Every AFTEROK on ``row`` becomes AFTER."""
    for edge in range(core.comp[row].after, core.comp[row].after_last):
        if core.edge[edge].kind == AFTEROK:
            core.edge[edge].kind = AFTER
            _satisfy_later(core, edge)


@part
def _satisfy_later(core: Core, edge: int) -> None:
    """So long after a start, or after an end, as it says."""
    if core.edge[edge].delay > 0:
        push_end(core, core.clock[NOW] + core.edge[edge].delay, SATISFIED + edge)
    else:
        satisfy(core, edge)


@part
def satisfy_ended(core: Core, row: int) -> None:
    """Rejected and cancelled components end without having started (and not successfully)."""
    well = core.comp[row].state == COMPLETED
    for edge in range(core.comp[row].after, core.comp[row].after_last):
        kind = core.edge[edge].kind
        if kind == AFTER and core.edge[edge].delay > 0 and core.comp[row].start >= 0:
            continue  # its time comes by itself
        if kind == AFTER and core.slurm[HOLDING] and core.comp[row].state == CANCELLED:
            _satisfy_later(core, edge)  # to Slurm it started when it was cancelled
            continue
        if not ((kind == AFTEROK and not well) or (kind == AFTERNOTOK and well)):
            _satisfy_later(core, edge)
        elif core.slurm[HOLDING]:
            _lose_hope(core, edge)


@part
def _lose_hope(core: Core, edge: int) -> None:
    """A dependency that can never be satisfied any more ends who needs it, if it is to be killed."""
    row = core.edge[edge].successor
    if core.edge[edge].satisfied:
        return
    core.edge[edge].satisfied = HOPE_LOST
    core.job[row].hopes -= 1
    if core.comp[row].state == HELD:
        end_hopeless(core, row)


@part
def hope_again(core: Core, row: int) -> None:
    """``row`` is to run once more: what Slurm did not test, as it is not there yet or held, is hoped for."""
    for edge in range(core.comp[row].after, core.comp[row].after_last):
        dependent = core.edge[edge].successor
        tested = core.comp[dependent].state != UNSEEN and not core.comp[dependent].held
        if core.edge[edge].satisfied == HOPE_LOST and not tested:
            core.edge[edge].satisfied = 0
            core.job[dependent].hopes += 1


@part
def end_hopeless(core: Core, row: int) -> None:
    """Cancel what can never start, if it is to be killed; of what is held by hand Slurm tests nothing."""
    if core.slurm[KILL_INVALID] and core.job[row].hopes <= 0 and not core.comp[row].held:
        push_end(core, core.clock[NOW], HOPELESS + row)


@part
def satisfy(core: Core, edge: int) -> None:
    """A dependency is satisfied, and stays so."""
    if core.edge[edge].satisfied:
        return
    core.edge[edge].satisfied = 1
    _meet(core, core.edge[edge].successor)
