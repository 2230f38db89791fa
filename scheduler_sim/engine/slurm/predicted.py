"""When running components will have freed enough nodes, as Slurm's select plugins predict it.

select/linear takes running components away one by one in order of their planned ends;
select/cons_tres takes away groups of them, each group wider than the one before, and
predicts the end of the group's last.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import everywhere
from scheduler_sim.engine.slurm.bits import count
from scheduler_sim.engine.slurm.nodes import has_needs, suffices, take_held
from scheduler_sim.engine.slurm.slots import (
    ALIGNED,
    AVAILABLE,
    BF_WINDOW_LINEAR,
    EPOCH,
    GROUPED,
    IDLE,
    KILL_WAIT,
    LATER,
    LEAVING,
    OVER_TIME,
    VALID,
)
from scheduler_sim.engine.state import INF, NOW, Core

FIRST_GROUP_S = 30
MOST_IN_GROUP = 200


@part
def fits_now(core: Core, placement: int) -> bool:
    """Whether nodes of AVAILABLE that are idle, or about to be, suffice; they are in LATER."""
    it = core.partition[core.way[placement].partition]
    later, idle, leaving, available = (
        core.sets[LATER],
        core.sets[IDLE],
        core.sets[LEAVING],
        core.sets[AVAILABLE],
    )
    for word in range(it.low, it.high):
        later[word] = (idle[word] | leaving[word]) & available[word]
    return suffices(core, placement, LATER)


@part
def _leaving(core: Core, placement: int) -> int:
    it = core.partition[core.way[placement].partition]
    return count(core.sets[LEAVING], it.low, it.high)


@part
def earliest_thinkable(core: Core, placement: int) -> int:
    """When its module will have enough nodes by planned ends one by one: no prediction is earlier."""
    it = core.place[placement]
    plan, pool = core.release[it.module], core.pool[it.module]
    missing = it.nodes - pool.free - _leaving(core, placement)
    i = pool.release_head
    time = core.clock[NOW]
    while missing > 0 and i < pool.release_tail:
        missing -= plan[i].nodes
        time = max(time, plan[i].time)
        i += 1
    return time


@part
def predicted_start(core: Core, placement: int) -> int:
    """When nodes of AVAILABLE will suffice by planned ends, INF if never; they are in LATER."""
    if fits_now(core, placement):
        return core.clock[NOW]
    it = core.partition[core.way[placement].partition]
    every = everywhere(core)
    plan, stop = core.release[every], core.pool[every].release_tail
    missing = core.place[placement].nodes - count(core.sets[LATER], it.low, it.high)
    width, barrier = FIRST_GROUP_S, -1
    i = core.pool[every].release_head
    while i < stop:
        last, taken, full = -1, 0, False
        while i < stop:
            row, end = plan[i].row, plan[i].time
            freed = take_held(core, row, LATER, AVAILABLE, it.low, it.high)
            i += 1
            if freed == 0:
                continue
            if barrier < 0:
                barrier = _first_barrier(core, end)
            last = end
            missing -= freed
            if not core.slurm[GROUPED] or (i < stop and plan[i].time > barrier + width):
                break
            full = taken > MOST_IN_GROUP
            taken += 1
            if full:
                break
        if last < 0:
            return INF
        if missing <= 0 and not (full and i < stop) and has_needs(core, placement, LATER):
            return _end_as_seen(core, last)
        if full:
            continue
        width = _wider(core, width)
        if core.slurm[ALIGNED]:
            while i < stop and plan[i].time > barrier + width:
                width = _wider(core, width)
        else:
            barrier = -1
    return INF


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
