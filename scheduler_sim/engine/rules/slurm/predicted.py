"""When running components will have freed enough nodes, as Slurm's select plugins predict it.

select/linear takes running components away one by one in order of their planned ends;
select/cons_tres takes away groups of them, each group wider than the one before, and
predicts the end of the group's last.
"""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.accelerate.release_order import (
    component_in,
    ended_by,
    planned_end,
    put_nodes,
)
from scheduler_sim.engine.rules.slurm.bits import count_between, first_between, last_before, nth
from scheduler_sim.engine.rules.slurm.nodes import has_needs
from scheduler_sim.engine.rules.slurm.slot_search import others_leave
from scheduler_sim.engine.rules.slurm.state import Partition, SlurmCore

FIRST_GROUP_S = 30


@part
def fits_now(core: SlurmCore, placement: int) -> bool:
    """Whether nodes in seats STAYING that are idle, or about to be, suffice; they are in LATER."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    if _idle_after(core, it, 0) < core.placements[placement].nodes:
        return False
    _take(core, it, 0)
    return has_needs(core, placement, core.slurm.sets.later)


@part
def predicted_start(core: SlurmCore, placement: int) -> int:
    """When nodes in seats STAYING suffice by planned ends, those in LATER; INF if not before others end.

    STAYING is what stays free of reservations for a try, of those who have ended by its end, and
    enough. Who ends after that matters only to the group that is not whole by then.
    """
    if fits_now(core, placement):
        return core.clock.now
    it = core.slurm.partition[core.slurm.way[placement].partition]
    known, stop = core.slurm.memory.ended, core.slurm.memory.ends
    had = _idle_after(core, it, 0)
    need = max(core.placements[placement].nodes, had + 1)  # of each kind it needs, if it had enough
    if _idle_after(core, it, known) < need:
        return INF
    enough = _size_that_frees(core, it, need)
    i, width, barrier = enough - 1, FIRST_GROUP_S, -1
    if core.slurm.rules.grouped:
        first = i if need == had + 1 else _size_that_frees(core, it, had + 1) - 1
        barrier = _first_barrier(core, planned_end(core, first))
        if core.slurm.rules.aligned:
            width = _width_of_group(core, it, barrier, i)
        else:
            i = first
    while i < known:
        if barrier < 0:
            barrier = _first_barrier(core, planned_end(core, i))
        if core.slurm.rules.grouped:
            i = _next_that_frees(core, it, max(i, ended_by(core, barrier + width) - 1))
        whole = i < known
        if not whole:
            if known < stop and others_leave(core, placement):
                return INF
            i = _last_that_frees(core, it)
        if i + 1 >= enough:
            _take(core, it, i + 1)
            if has_needs(core, placement, core.slurm.sets.later):
                return _end_as_seen(core, planned_end(core, i))
        if not whole:
            return INF
        width = _wider(core, width)
        if core.slurm.rules.aligned:
            while i + 1 < stop and planned_end(core, i + 1) > barrier + width:
                width = _wider(core, width)
        else:
            barrier = -1
        i = _next_that_frees(core, it, i + 1)
    return INF


@part
def _width_of_group(core: SlurmCore, it: Partition, barrier: int, i: int) -> int:
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
    back = core.slurm.seats.back[it.module]
    return before if count_between(core.slurm.sets.staying, back[last], back[i]) == 0 else width


@part
def _idle_after(core: SlurmCore, it: Partition, size: int) -> int:
    """How many nodes in seats STAYING are idle once so many have ended."""
    return count_between(core.slurm.sets.staying, it.low << 6, core.slurm.seats.back[it.module, size])


@part
def _size_that_frees(core: SlurmCore, it: Partition, nodes: int) -> int:
    """How many must have ended for so many nodes in seats STAYING to be idle; they will be."""
    return component_in(core, it.module, nth(core.slurm.sets.staying, it.low, nodes)) + 1


@part
def _next_that_frees(core: SlurmCore, it: Partition, i: int) -> int:
    """The first from the ``i``-th on that gives back nodes in seats STAYING, or how many are known."""
    known, back = core.slurm.memory.ended, core.slurm.seats.back[it.module]
    seat = first_between(core.slurm.sets.staying, back[i], back[known])
    return known if seat >= back[known] else component_in(core, it.module, seat)


@part
def _last_that_frees(core: SlurmCore, it: Partition) -> int:
    """The last that does; there is one."""
    back = core.slurm.seats.back[it.module, core.slurm.memory.ended]
    return component_in(core, it.module, last_before(core.slurm.sets.staying, back))


@part
def _take(core: SlurmCore, it: Partition, size: int) -> None:
    """Make LATER the nodes in seats STAYING that are idle once so many have ended."""
    put_nodes(
        core, core.slurm.sets.later, core.slurm.sets.staying, it, core.slurm.seats.back[it.module, size]
    )


@part
def _first_barrier(core: SlurmCore, end: int) -> int:
    """Where the first group ends, but for its width: 22.05 aligns it to half minutes of the epoch."""
    if not core.slurm.rules.aligned:
        return end
    return end + FIRST_GROUP_S - (end + core.slurm.rules.epoch) % FIRST_GROUP_S


@part
def _wider(core: SlurmCore, width: int) -> int:
    return width + core.slurm.rules.bf_window_linear if core.slurm.rules.bf_window_linear else 2 * width


@part
def _end_as_seen(core: SlurmCore, planned: int) -> int:
    """A planned end; one that has passed is guessed at, by cons_tres with KillWait and OverTimeLimit."""
    now = core.clock.now
    if planned > now:
        return planned
    guess = now + 1
    if core.slurm.rules.grouped:
        guess = max(guess, planned + core.slurm.rules.kill_wait + core.slurm.rules.over_time)
    core.slurm.memory.valid = min(core.slurm.memory.valid, guess - 1)
    return guess
