"""When running components will have freed enough nodes, as Slurm's select plugins predict it.

select/linear takes running components away one by one in order of their planned ends;
select/cons_tres takes away groups of them, each group wider than the one before, and
predicts the end of the group's last.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.bits import copy, count, count_common, keep_common
from scheduler_sim.engine.slurm.nodes import has_needs
from scheduler_sim.engine.slurm.planned_ends import ended_by, freed_by, in_words, planned_end
from scheduler_sim.engine.slurm.slots import (
    ALIGNED,
    AVAILABLE,
    BF_WINDOW_LINEAR,
    ENDS,
    EPOCH,
    GIVEN_BY,
    GROUPED,
    KILL_WAIT,
    LATER,
    OVER_TIME,
    STRIDE,
    VALID,
)
from scheduler_sim.engine.slurm.tries import others_leave
from scheduler_sim.engine.state import INF, NOW, Core, Table

FIRST_GROUP_S = 30
FEW = 8  # quicker to look at one by one


@part
def fits_now(core: Core, placement: int) -> bool:
    """Whether nodes of AVAILABLE that are idle, or about to be, suffice; they are in LATER."""
    it = core.partition[core.way[placement].partition]
    if count_common(core.given[0], core.sets[AVAILABLE], it.low, it.high) < core.place[placement].nodes:
        return False
    copy(core.sets[LATER], core.given[0], it.low, it.high)
    keep_common(core.sets[LATER], core.sets[AVAILABLE], it.low, it.high)
    return has_needs(core, placement, LATER)


@part
def predicted_start(core: Core, placement: int) -> int:
    """When nodes of AVAILABLE suffice by planned ends, those in LATER; INF if not before others end.

    AVAILABLE is what stays free of reservations for a try, as far as it is in GIVEN, and enough. Who
    ends after that matters only to the group that is not whole by then.
    """
    if fits_now(core, placement):
        return core.clock[NOW]
    it = core.partition[core.way[placement].partition]
    known, stop = core.slurm[GIVEN_BY], core.slurm[ENDS]
    had = count_common(core.given[0], core.sets[AVAILABLE], it.low, it.high)
    need = max(core.place[placement].nodes, had + 1)  # of each kind it needs, if it had enough
    if count(core.sets[AVAILABLE], it.low, it.high) < need:
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
            i = _last_that_frees(core, it, known)
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
    last second on: a group is whole only with somebody who frees nodes of AVAILABLE.
    """
    end, width, before = planned_end(core, i), FIRST_GROUP_S, -1
    while barrier + width < end:
        width, before = _wider(core, width), width
    if before < 0:
        return width
    last = ended_by(core, barrier + before) - 1
    return before if _idle_after(core, it, last) == _idle_after(core, it, i) else width


@part
def _size_that_frees(core: Core, it: Table, nodes: int) -> int:
    """How many must have ended for so many nodes of AVAILABLE to be idle; they will be."""
    low, high = 0, core.slurm[GIVEN_BY] // core.slurm[STRIDE] + 1
    while high - low > 1:
        middle = (low + high) // 2
        if _idle_in(core, it, middle) < nodes:
            low = middle
        else:
            high = middle
    size = low * core.slurm[STRIDE]
    missing = nodes - _idle_after(core, it, size)
    while missing > 0:
        missing -= freed_by(core, it, size)
        size += 1
    return size


@part
def _idle_after(core: Core, it: Table, size: int) -> int:
    """How many nodes of AVAILABLE are idle once so many have ended."""
    snapshot = size // core.slurm[STRIDE]
    total = _idle_in(core, it, snapshot)
    for i in range(snapshot * core.slurm[STRIDE], size):
        total += freed_by(core, it, i)
    return total


@part
def _idle_in(core: Core, it: Table, snapshot: int) -> int:
    """How many nodes of AVAILABLE are idle in a snapshot."""
    return count_common(core.given[snapshot], core.sets[AVAILABLE], it.low, it.high)


@part
def _next_that_frees(core: Core, it: Table, i: int) -> int:
    """The first from the ``i``-th on that gives back nodes of AVAILABLE, or how many are known."""
    known = core.slurm[GIVEN_BY]
    for _ in range(FEW):
        if i >= known or freed_by(core, it, i) > 0:
            return min(i, known)
        i += 1
    idle = _idle_after(core, it, i)
    if idle == count(core.sets[AVAILABLE], it.low, it.high):
        return known
    return _size_that_frees(core, it, idle + 1) - 1


@part
def _last_that_frees(core: Core, it: Table, i: int) -> int:
    """The last before the ``i``-th; there is one."""
    i -= 1
    while freed_by(core, it, i) == 0:
        i -= 1
    return i


@part
def _take(core: Core, it: Table, size: int) -> None:
    """Make LATER the nodes of AVAILABLE that are idle once so many have ended."""
    snapshot, later = size // core.slurm[STRIDE], core.sets[LATER]
    copy(later, core.given[snapshot], it.low, it.high)
    for i in range(snapshot * core.slurm[STRIDE], size):
        if in_words(core, i, it):
            for at in range(core.leave[i], core.leave[i + 1]):
                later[core.away[at].word] |= core.away[at].bits
    keep_common(later, core.sets[AVAILABLE], it.low, it.high)


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
