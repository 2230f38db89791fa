"""Fronts of the plan: up to where all tries are known to be in vain.

Who found that no start before some boundary leaves enough nodes free found it for all, later in the
pass, who need as many nodes for as long, and look as far from one try to the next. They begin their
tries there. Like notes, fronts are only there for speed, and change nothing.
"""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.state import FRONTS, SlurmCore


@part
def open_fronts(core: SlurmCore) -> None:
    """Nothing is known yet."""
    for i in range(FRONTS):
        core.slurm.accelerate.front[i].start = -INF


@part
def first_try(core: SlurmCore, placement: int) -> int:
    """When a component is tried first."""
    way, it = core.slurm.way[placement], core.placements[placement]
    start = core.clock.now
    if way.mask == core.slurm.partition[way.partition].members:
        for i in range(FRONTS):
            one = core.slurm.accelerate.front[i]
            if (
                one.start > start
                and one.partition == way.partition
                and one.nodes <= it.nodes
                and one.limit <= it.limit
            ):
                start = one.start
    return start


@part
def note_front(core: SlurmCore, placement: int, start: int) -> None:
    """All tries before ``start`` were in vain.

    The new front replaces one that it makes useless, or else the nearest.
    """
    way, it = core.slurm.way[placement], core.placements[placement]
    if way.mask != core.slurm.partition[way.partition].members or start <= core.clock.now:
        return
    if not core.slurm.rules.aligned:
        return  # 19.05 has another try at each new boundary
    worst = 0
    for i in range(FRONTS):
        one = core.slurm.accelerate.front[i]
        if (
            one.start <= start
            and one.partition == way.partition
            and it.nodes <= one.nodes
            and it.limit <= one.limit
        ):
            worst = i
            break
        if one.start < core.slurm.accelerate.front[worst].start:
            worst = i
    one = core.slurm.accelerate.front[worst]
    one.start, one.partition = start, way.partition
    one.nodes, one.limit = it.nodes, it.limit


@part
def turn_back_fronts(core: SlurmCore, time: int) -> None:
    """From now on there is a try at ``time``: it may not be in vain, nor those behind."""
    for i in range(FRONTS):
        core.slurm.accelerate.front[i].start = min(core.slurm.accelerate.front[i].start, time)


@part
def forget_fronts(core: SlurmCore, time: int) -> None:
    """There is no try at ``time`` any more: the one before may have all nodes up to the next."""
    for i in range(FRONTS):
        if core.slurm.accelerate.front[i].start >= time:
            core.slurm.accelerate.front[i].start = -INF


@part
def narrow_fronts(core: SlurmCore, partition: int, time: int, limit: int) -> None:
    """Only jobs with such a limit still try at ``time``: fronts there and behind hold for no others."""
    for i in range(FRONTS):
        if (
            core.slurm.accelerate.front[i].partition == partition
            and core.slurm.accelerate.front[i].start >= time
        ):
            core.slurm.accelerate.front[i].limit = max(core.slurm.accelerate.front[i].limit, limit)
