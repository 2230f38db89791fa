"""What holds a job before it is eligible: a count, which rules add to and take from."""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import held_by_less
from scheduler_sim.engine.core.state import HELD, HOLD, Core


@part
def lift(core: Core, row: int) -> None:
    """One thing less that holds a job, beside its dependencies."""
    core.jobs[row].missing -= HOLD
    _free_if_ready(core, row)


@part
def meet(core: Core, row: int) -> None:
    """A dependency is met; where any one is enough, the others have nothing more to add."""
    if core.jobs[row].missing % HOLD > 0:
        core.jobs[row].missing -= 1
        _free_if_ready(core, row)


@part
def _free_if_ready(core: Core, row: int) -> None:
    if core.jobs[row].state != HELD:
        return
    if core.jobs[row].missing == 0:
        note_released(core, row)
    else:
        held_by_less(core, row)


@part
def note_released(core: Core, row: int) -> None:
    """Nothing holds ``row`` any more: it is eligible with the next updates of dependencies."""
    core.queue.released[core.queue.at.released] = row
    core.queue.at.released += 1
