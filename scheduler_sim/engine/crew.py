"""Who belongs to which unit, and which units are complete."""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.slots import HOLDING
from scheduler_sim.engine.state import UNITS, WAITING, Core


@part
def is_member(core: Core, row: int) -> bool:
    """Whether ``row`` is a member of a unit that has yet to start."""
    if not core.rules[UNITS] or core.member[row].unit < 0:
        return False
    return core.unit[core.member[row].unit].start < 0


@part
def starts_with_others(core: Core, row: int) -> bool:
    """Whether ``row`` has one entry in the queue with others; under Slurm each member has its own."""
    return is_member(core, row) and not core.slurm[HOLDING]


@part
def is_complete(core: Core, row: int) -> bool:
    """Whether all who start with ``row`` wait."""
    if not is_member(core, row):
        return True
    unit = core.unit[core.member[row].unit]
    for i in range(unit.first, unit.last):
        if core.comp[core.crew[i]].state != WAITING:
            return False
    return True


@part
def leader_of(core: Core, row: int) -> int:
    """Who stands in the queue for ``row``: itself, the leader of its unit; -1 while that is not complete."""
    if not starts_with_others(core, row):
        return row
    return core.unit[core.member[row].unit].leader if is_complete(core, row) else -1
