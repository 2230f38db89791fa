"""When running components will have freed enough nodes, as Slurm's select plugins predict it.

select/linear takes running components away one by one in order of their planned ends;
select/cons_tres takes away groups of them, each group wider than the one before, and
predicts the end of the group's last.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.bits import count_between, first_between, last_before, nth
from scheduler_sim.engine.slurm.nodes import has_needs
from scheduler_sim.engine.slurm.seats import component_in, ended_by, planned_end, put_nodes
from scheduler_sim.engine.slurm.slots import (
    ALIGNED,
    BF_WINDOW_LINEAR,
    ENDED,
    ENDS,
    EPOCH,
    GROUPED,
    KILL_WAIT,
    LATER,
    OVER_TIME,
    STAYING,
    VALID,
)
from scheduler_sim.engine.slurm.tries import others_leave
from scheduler_sim.engine.state import INF, NOW, Core, Table

FIRST_GROUP_S = 30


@part
def fits_now(core: Core, placement: int) -> bool:
    """Whether nodes in seats STAYING that are idle, or about to be, suffice; they are in LATER."""
    it = core.partition[core.way[placement].partition]
    if _idle_after(core, it, 0) < core.place[placement].nodes:
        return False
    _take(core, it, 0)
    return has_needs(core, placement, LATER)


@part
def predicted_start(core: Core, placement: int) -> int:
    """When nodes in seats STAYING suffice by planned ends, those in LATER; INF if not before others end.

    STAYING is what stays free of reservations for a try, of those who have ended by its end, and
    enough. Who ends after that matters only to the group that is not whole by then.
    """
    if fits_now(core, placement):
        return core.clock[NOW]
    it = core.partition[core.way[placement].partition]
    known, stop = core.slurm[ENDED], core.slurm[ENDS]
    had = _idle_after(core, it, 0)
    need = max(core.place[placement].nodes, had + 1)  # of each kind it needs, if it had enough
    if _idle_after(core, it, known) < need:
        return INF
    enough = _size_that_frees(core, it, need)
    i, width, barrier = enough - 1, FIRST_GROUP_S, -1
    if core.slurm[GROUPED]:
        first = i if need == had + 1 else _size_that_frees(core, it, had + 1) - 1
        barrier = _first_barrier(core, planned_end(core, first))
        if core.slurm[ALIGNED]:
            width = _width_of_group(core, it, barrier, i)
        else:
            i = first
    while i < known:
        if barrier < 0:
            barrier = _first_barrier(core, planned_end(core, i))
        if core.slurm[GROUPED]:
            i = _next_that_frees(core, it, max(i, ended_by(core, barrier + width) - 1))
        whole = i < known
        if not whole:
            if known < stop and others_leave(core, placement):
                return INF
            i = _last_that_frees(core, it)
        if i + 1 >= enough:
            _take(core, it, i + 1)
            if has_needs(core, placement, LATER):
                return _end_as_seen(core, planned_end(core, i))
        if not whole:
            return INF
        width = _wider(core, width)
        if core.slurm[ALIGNED]:
            while i + 1 < stop and planned_end(core, i + 1) > barrier + width:
                width = _wider(core, width)
        else:
            barrier = -1
        i = _next_that_frees(core, it, i + 1)
    return INF


@part
def _width_of_group(core: Core, it: Table, barrier: int, i: int) -> int:
    """Of the group in which the ``i``-th to end is taken away, where all groups count from one barrier.

    That is the first that is wide enough, or the one before if nobody who matters ends from its
    last second on: a group is whole only with somebody who frees nodes in seats STAYING.
    """
    end, width, before = planned_end(core, i), FIRST_GROUP_S, -1
    while barrier + width < end:
        width, before = _wider(core, width), width
    if before < 0:
        return width
    last = ended_by(core, barrier + before) - 1
    back = core.back[it.module]
    return before if count_between(core.sets[STAYING], back[last], back[i]) == 0 else width


@part
def _idle_after(core: Core, it: Table, size: int) -> int:
    """How many nodes in seats STAYING are idle once so many have ended."""
    return count_between(core.sets[STAYING], it.low << 6, core.back[it.module, size])


@part
def _size_that_frees(core: Core, it: Table, nodes: int) -> int:
    """How many must have ended for so many nodes in seats STAYING to be idle; they will be."""
    return component_in(core, it.module, nth(core.sets[STAYING], it.low, nodes)) + 1


@part
def _next_that_frees(core: Core, it: Table, i: int) -> int:
    """The first from the ``i``-th on that gives back nodes in seats STAYING, or how many are known."""
    known, back = core.slurm[ENDED], core.back[it.module]
    seat = first_between(core.sets[STAYING], back[i], back[known])
    return known if seat >= back[known] else component_in(core, it.module, seat)


@part
def _last_that_frees(core: Core, it: Table) -> int:
    """The last that does; there is one."""
    back = core.back[it.module, core.slurm[ENDED]]
    return component_in(core, it.module, last_before(core.sets[STAYING], back))


@part
def _take(core: Core, it: Table, size: int) -> None:
    """Make LATER the nodes in seats STAYING that are idle once so many have ended."""
    put_nodes(core, core.sets[LATER], core.sets[STAYING], it, core.back[it.module, size])


@part
def _first_barrier(core: Core, end: int) -> int:
    """Where the first group ends, but for its width: 22.05 aligns it to half minutes of the epoch."""
    if not core.slurm[ALIGNED]:
        return end
    return end + FIRST_GROUP_S - (end + core.slurm[EPOCH]) % FIRST_GROUP_S


@part
def _wider(core: Core, width: int) -> int:
    return width + core.slurm[BF_WINDOW_LINEAR] if core.slurm[BF_WINDOW_LINEAR] else 2 * width


@part
def _end_as_seen(core: Core, planned: int) -> int:
    """A planned end; one that has passed is guessed at, by cons_tres with KillWait and OverTimeLimit."""
    now = core.clock[NOW]
    if planned > now:
        return planned
    guess = now + 1
    if core.slurm[GROUPED]:
        guess = max(guess, planned + core.slurm[KILL_WAIT] + core.slurm[OVER_TIME])
    core.slurm[VALID] = min(core.slurm[VALID], guess - 1)
    return guess
