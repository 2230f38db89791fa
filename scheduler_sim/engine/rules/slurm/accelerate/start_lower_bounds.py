"""Lower bounds on starts: up to where all attempts to start a job are known to fail.

A job that found that no start before some boundary leaves enough nodes free found it for all jobs, later in
the pass, that need as many nodes for as long, and look as far from one try to the next. They begin their
tries there.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.accelerate.state import BOUNDS, AcceleratedCore
from scheduler_sim.engine.rules.slurm.backfill_pass import attempts_failed_before, first_attempt


@part
def open_bounds(core: AcceleratedCore) -> None:
    """Nothing is known yet."""
    for i in range(BOUNDS):
        core.accelerate.bound[i].start = -INF


@on(first_attempt, "accelerate", unless="reservations")
def first_that_may_do(core: AcceleratedCore, placement: int) -> int:
    """When a job is tried first."""
    way, it = core.slurm.way[placement], core.placements[placement]
    start = core.clock.now
    if way.mask == core.slurm.partition[way.partition].members:
        for i in range(BOUNDS):
            one = core.accelerate.bound[i]
            if (
                one.start > start
                and one.partition == way.partition
                and one.nodes <= it.nodes
                and one.limit <= it.limit
            ):
                start = one.start
    return start


@on(attempts_failed_before, "accelerate", unless="reservations")
def note_bound(core: AcceleratedCore, placement: int, start: int) -> None:
    """The new bound replaces one that it makes useless, or else the nearest."""
    way, it = core.slurm.way[placement], core.placements[placement]
    if way.mask != core.slurm.partition[way.partition].members or start <= core.clock.now:
        return
    if not core.slurm.rules.aligned:
        return  # 19.05 has another try at each new boundary
    worst = 0
    for i in range(BOUNDS):
        one = core.accelerate.bound[i]
        if (
            one.start <= start
            and one.partition == way.partition
            and it.nodes <= one.nodes
            and it.limit <= one.limit
        ):
            worst = i
            break
        if one.start < core.accelerate.bound[worst].start:
            worst = i
    one = core.accelerate.bound[worst]
    one.start, one.partition = start, way.partition
    one.nodes, one.limit = it.nodes, it.limit


@part
def turn_back_bounds(core: AcceleratedCore, partition: int, time: int) -> None:
    """From now on jobs of a partition have a try at ``time``: it may not fail, nor those behind."""
    for i in range(BOUNDS):
        one = core.accelerate.bound[i]
        if one.partition == partition:
            one.start = min(one.start, time)


@part
def forget_bounds(core: AcceleratedCore, partition: int, time: int) -> None:
    """They have no try at ``time`` any more: the one before may have all nodes up to the next."""
    for i in range(BOUNDS):
        one = core.accelerate.bound[i]
        if one.partition == partition and one.start >= time:
            one.start = -INF


@part
def narrow_bounds(core: AcceleratedCore, partition: int, time: int, limit: int) -> None:
    """Only jobs with such a limit still try at ``time``: bounds there and behind hold for no others."""
    for i in range(BOUNDS):
        one = core.accelerate.bound[i]
        if one.partition == partition and one.start >= time:
            one.limit = max(one.limit, limit)
