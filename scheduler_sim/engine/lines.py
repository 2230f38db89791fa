"""Who waits for others without naming them: jobs of one user and name, and tasks of one array.

Jobs of one user and name stand in line where there are singletons among them. A singleton is
eligible when none in its line runs and none that waits was submitted before it. So it is always the
first in line that may be let go, if it is a singleton. Of one that is held by hand nothing is
tested before its release.

Where an array has a limit, a task takes one of its places once nothing else holds it, and has it until it
ends or is held again. Slurm's schedulers have rules of their own for that.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.state import (
    HAS_PLACE,
    HELD,
    HOLD,
    LACKS_PLACE,
    READY,
    RUNNING,
    UNSEEN,
    UNTIED,
    Core,
)


@part
def begins(core: Core, row: int) -> None:
    """One in line runs."""
    if core.term[row].group >= 0:
        core.group[core.term[row].group].running += 1


@part
def next_in_line(core: Core, row: int) -> int:
    """The singleton in the line of ``row`` that may go now, -1 if there is none; it is let go once."""
    if core.term[row].group < 0:
        return -1
    group = core.group[core.term[row].group]
    while group.first >= 0 and core.comp[group.first].state >= RUNNING:
        group.first = core.term[group.first].following
    first = group.first
    if group.running > 0 or first < 0 or not core.term[first].singleton or core.comp[first].held:
        return -1
    if core.comp[first].state == UNSEEN and first != row:
        return -1
    core.term[first].singleton = 0
    return first


@part
def returns(core: Core, row: int) -> None:
    """One that was out waits again: it is first in line, unless another was before it."""
    if core.term[row].group >= 0:
        group = core.group[core.term[row].group]
        group.first = group.head
    if core.term[row].array >= 0:
        array = core.array[core.term[row].array]
        array.first = array.head


@part
def lacks_place(core: Core, row: int) -> bool:
    """Whether ``row`` is a task that is to have a place in its array, and has none."""
    return len(core.term) > 0 and core.term[row].place == LACKS_PLACE


@part
def ask_for_place(core: Core, row: int) -> None:
    """The array of ``row`` may have a place to give: see to it with the next updates of dependencies."""
    number = core.term[row].array
    if not core.array[number].asked:
        core.array[number].asked = 1
        core.lists[UNTIED, core.clock[READY]] = -1 - number
        core.clock[READY] += 1


@part
def give_places(core: Core) -> None:
    """Tasks that get a place in their array, the first in trace order, are untied now."""
    i = 0
    while i < core.clock[READY]:
        entry = core.lists[UNTIED, i]
        if entry >= 0:
            i += 1
            continue
        core.clock[READY] -= 1
        core.lists[UNTIED, i] = core.lists[UNTIED, core.clock[READY]]
        _give_places_in(core, -1 - entry)


@part
def _give_places_in(core: Core, number: int) -> None:
    array = core.array[number]
    array.asked = 0
    while array.limit < 0 or array.running < array.limit:
        row = _next_task(core, number)
        if row < 0:
            return
        array.running += 1
        core.term[row].place = HAS_PLACE
        core.comp[row].missing -= HOLD
        core.lists[UNTIED, core.clock[READY]] = row
        core.clock[READY] += 1


@part
def _next_task(core: Core, number: int) -> int:
    """The first task of an array that nothing but the lack of a place holds; -1 if there is none."""
    array = core.array[number]
    while array.first >= 0 and core.comp[array.first].state > RUNNING:
        array.first = core.term[array.first].next_task
    row = array.first
    while row >= 0 and core.comp[row].state != UNSEEN:
        if core.comp[row].state == HELD and core.comp[row].missing == HOLD and lacks_place(core, row):
            return row
        row = core.term[row].next_task
    return -1


@part
def leave_place(core: Core, row: int) -> None:
    """A task has no place in its array any more, if it had one; should it run again, it needs one."""
    if core.term[row].place == HAS_PLACE:
        core.term[row].place = LACKS_PLACE
        core.comp[row].missing += HOLD
        core.array[core.term[row].array].running -= 1
        ask_for_place(core, row)
