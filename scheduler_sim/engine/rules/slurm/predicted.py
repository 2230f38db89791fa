"""When running jobs will have freed enough nodes, as Slurm's select plugins predict it.

select/linear takes running jobs away one by one in order of their planned ends;
select/cons_tres takes away groups of them, each group wider than the one before, and
predicts the end of the group's last.
"""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.change import holds_until
from scheduler_sim.engine.rules.slurm.nodes import has_needs
from scheduler_sim.engine.rules.slurm.planned_ends import (
    ended_by,
    ends_that_free,
    frees_between,
    idle_after,
    last_that_frees,
    next_that_frees,
    planned_end,
    running,
    take_idle_after,
)
from scheduler_sim.engine.rules.slurm.slot_search import others_leave
from scheduler_sim.engine.rules.slurm.state import Partition, SlurmCore

FIRST_GROUP_S = 30


@part
def fits_now(core: SlurmCore, placement: int) -> bool:
    """Whether nodes STAYING that are idle, or about to be, suffice; they are in LATER."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    if idle_after(core, it, 0) < core.placements[placement].nodes:
        return False
    take_idle_after(core, it, 0)
    return has_needs(core, placement, core.slurm.sets.later)


@part
def predicted_start(core: SlurmCore, placement: int) -> int:
    """When nodes STAYING suffice by planned ends, those in LATER; INF if not before others end.

    STAYING is what stays free of reservations for a try, and is idle by its end: enough nodes. Jobs that
    end after that matter only to the group that is not whole by then.
    """
    if fits_now(core, placement):
        return core.clock.now
    it = core.slurm.partition[core.slurm.way[placement].partition]
    known, stop = core.slurm.memory.ended, running(core)
    had = idle_after(core, it, 0)
    need = max(core.placements[placement].nodes, had + 1)  # of each kind it needs, if it had enough
    if idle_after(core, it, known) < need:
        return INF
    enough = ends_that_free(core, it, need)
    i, width, barrier = enough - 1, FIRST_GROUP_S, -1
    if core.slurm.rules.grouped:
        first = i if need == had + 1 else ends_that_free(core, it, had + 1) - 1
        barrier = first_barrier(core, planned_end(core, first))
        if core.slurm.rules.aligned:
            width = _width_of_group(core, it, barrier, i)
        else:
            i = first
    while i < known:
        if barrier < 0:
            barrier = first_barrier(core, planned_end(core, i))
        if core.slurm.rules.grouped:
            i = next_that_frees(core, it, max(i, ended_by(core, barrier + width) - 1))
        whole = i < known
        if not whole:
            if known < stop and others_leave(core, placement):
                return INF
            i = last_that_frees(core, it)
        if i + 1 >= enough:
            take_idle_after(core, it, i + 1)
            if has_needs(core, placement, core.slurm.sets.later):
                return end_as_seen(core, planned_end(core, i))
        if not whole:
            return INF
        width = wider(core, width)
        if core.slurm.rules.aligned:
            while i + 1 < stop and planned_end(core, i + 1) > barrier + width:
                width = wider(core, width)
        else:
            barrier = -1
        i = next_that_frees(core, it, i + 1)
    return INF


@part
def _width_of_group(core: SlurmCore, it: Partition, barrier: int, i: int) -> int:
    """Of the group in which the ``i``-th to end is taken away, where all groups count from one barrier.

    That is the first that is wide enough, or the one before if no job that matters ends from its
    last second on: a group is whole only with one that frees nodes STAYING.
    """
    end, width, before = planned_end(core, i), FIRST_GROUP_S, -1
    while barrier + width < end:
        width, before = wider(core, width), width
    if before < 0:
        return width
    last = ended_by(core, barrier + before) - 1
    return width if frees_between(core, it, last, i) else before


@part
def first_barrier(core: SlurmCore, end: int) -> int:
    """Where the first group ends, but for its width: 22.05 aligns it to half minutes of the epoch."""
    if not core.slurm.rules.aligned:
        return end
    return end + FIRST_GROUP_S - (end + core.slurm.rules.epoch) % FIRST_GROUP_S


@part
def wider(core: SlurmCore, width: int) -> int:
    """How wide the next group is."""
    return width + core.slurm.rules.bf_window_linear if core.slurm.rules.bf_window_linear else 2 * width


@part
def end_as_seen(core: SlurmCore, planned: int) -> int:
    """A planned end; one that has passed is guessed at, by cons_tres with KillWait and OverTimeLimit."""
    now = core.clock.now
    if planned > now:
        return planned
    guess = now + 1
    if core.slurm.rules.grouped:
        guess = max(guess, planned + core.slurm.rules.KillWait + core.slurm.rules.over_time)
    holds_until(core, guess - 1)
    return guess
