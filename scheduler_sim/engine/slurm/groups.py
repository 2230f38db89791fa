"""Jobs of one user and name, among which singletons wait for one another.

A singleton is eligible when no job of its group runs and none that waits was submitted before
it. So it is always the first in line that may be let go, if it is a singleton. Of one that is held
by hand Slurm tests nothing before its release.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.state import RUNNING, UNSEEN, Core


@part
def begins(core: Core, row: int) -> None:
    """One of the group runs."""
    if core.job[row].group >= 0:
        core.group[core.job[row].group].running += 1


@part
def next_in_line(core: Core, row: int) -> int:
    """The singleton of the group of ``row`` that may go now, -1 if there is none; it is let go once."""
    if core.job[row].group < 0:
        return -1
    group = core.group[core.job[row].group]
    while group.first >= 0 and core.comp[group.first].state >= RUNNING:
        group.first = core.job[group.first].following
    first = group.first
    if group.running > 0 or first < 0 or not core.job[first].singleton or core.comp[first].held:
        return -1
    if core.comp[first].state == UNSEEN and first != row:
        return -1
    core.job[first].singleton = 0
    return first


@part
def returns(core: Core, row: int) -> None:
    """One of the group waits again: it is first in line, unless another was before it."""
    if core.job[row].group >= 0:
        group = core.group[core.job[row].group]
        group.first = group.head
