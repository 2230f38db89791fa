"""When running components will have freed enough nodes, as Slurm's select plugins predict it.

select/linear takes running components away one by one in order of their planned ends;
select/cons_tres takes away groups of them, each group wider than the one before, and
predicts the end of the group's last.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import everywhere
from scheduler_sim.engine.slurm.bits import count
from scheduler_sim.engine.slurm.nodes import add_held, overlap, pick
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
    """Whether AVAILABLE has enough nodes that are idle, or about to be; if so, the choice is in PICKED."""
    it = core.partition[core.way[placement].partition]
    later, idle, leaving, available = (
        core.sets[LATER],
        core.sets[IDLE],
        core.sets[LEAVING],
        core.sets[AVAILABLE],
    )
    for word in range(it.low, it.high):
        later[word] = (idle[word] | leaving[word]) & available[word]
    if count(later, it.low, it.high) < core.place[placement].nodes:
        return False
    pick(core, placement, LATER)
    return True


@part
def predicted_start(core: Core, placement: int) -> int:
    """When AVAILABLE will have enough nodes by planned ends, INF if never; the choice is in PICKED."""
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
            freed = overlap(core, row, AVAILABLE, it.low, it.high)
            i += 1
            if freed == 0:
                continue
            if barrier < 0:
                barrier = _first_barrier(core, end)
            last = end
            add_held(core, row, LATER, AVAILABLE)
            missing -= freed
            if not core.slurm[GROUPED] or (i < stop and plan[i].time > barrier + width):
                break
            full = taken > MOST_IN_GROUP
            taken += 1
            if full:
                break
        if last < 0:
            return INF
        if missing <= 0 and not (full and i < stop):
            pick(core, placement, LATER)
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
