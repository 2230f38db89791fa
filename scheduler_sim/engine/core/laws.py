"""What no run may do: count less than none, or look for ever.

Who changes a count, or goes round in a loop, notes here what broke; the run ends before its next step.
"""

from __future__ import annotations

from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.state import Core

# fmt: off
(KEPT, PARTS_IN_USE, PARTS_FREE, NODE_JOBS, SUBMITTED_JOBS, LIMITED_JOBS, LIMITED_AMOUNT, ARRAY_TASKS,
 NODES_OFF, NODES_BOOTING, NODES_STOPPING, START_LOOKED_FOR) = range(12)
# fmt: on
"""Laws, by number: ``clock.law`` is the one that was broken first."""


@inlined
def keep_count(core: Core, law: int, of: int, count: int) -> None:
    """A count has changed: of what, that has a number among its kind; it is not to be below 0."""
    if count < 0:
        note_broken(core, law, of, count)


@part
def note_broken(core: Core, law: int, of: int, count: int) -> None:
    """What breaks first is told."""
    if core.clock.law == KEPT:
        core.clock.law, core.clock.law_of, core.clock.law_count = law, of, count


@inlined
def advances(core: Core, row: int, before: int, start: int) -> bool:
    """Whether a search for a start tries a later one than before; else it would go on for ever."""
    if start > before:
        return True
    note_broken(core, START_LOOKED_FOR, row, start)
    return False
