"""Fronts of the plan: up to where all tries are known to be in vain.

Who found that no start before some boundary leaves enough nodes free found it for all, later in the
pass, who need as many nodes for as long, and look as far from one try to the next. They begin their
tries there. Like notes, fronts are only there for speed, and change nothing.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.slots import ALIGNED, FRONTS
from scheduler_sim.engine.state import INF, NOW, Core


@part
def open_fronts(core: Core) -> None:
    """Nothing is known yet."""
    for i in range(FRONTS):
        core.front[i].start = -INF


@part
def first_try(core: Core, placement: int) -> int:
    """When a component is tried first."""
    way, it = core.way[placement], core.place[placement]
    start = core.clock[NOW]
    if way.mask == core.partition[way.partition].members:
        for i in range(FRONTS):
            one = core.front[i]
            if (
                one.start > start
                and one.partition == way.partition
                and one.nodes <= it.nodes
                and one.limit <= it.limit
            ):
                start = one.start
    return start


@part
def note_front(core: Core, placement: int, start: int) -> None:
    """All tries before ``start`` were in vain.

    The new front replaces one that it makes useless, or else the nearest.
    """
    way, it = core.way[placement], core.place[placement]
    if way.mask != core.partition[way.partition].members or start <= core.clock[NOW]:
        return
    if not core.slurm[ALIGNED]:
        return  # 19.05 has another try at each new boundary
    worst = 0
    for i in range(FRONTS):
        one = core.front[i]
        if (
            one.start <= start
            and one.partition == way.partition
            and it.nodes <= one.nodes
            and it.limit <= one.limit
        ):
            worst = i
            break
        if one.start < core.front[worst].start:
            worst = i
    one = core.front[worst]
    one.start, one.partition = start, way.partition
    one.nodes, one.limit = it.nodes, it.limit


@part
def turn_back_fronts(core: Core, time: int) -> None:
    """From now on there is a try at ``time``: it may not be in vain, nor those behind."""
    for i in range(FRONTS):
        core.front[i].start = min(core.front[i].start, time)


@part
def forget_fronts(core: Core, time: int) -> None:
    """There is no try at ``time`` any more: the one before may have all nodes up to the next."""
    for i in range(FRONTS):
        if core.front[i].start >= time:
            core.front[i].start = -INF


@part
def narrow_fronts(core: Core, partition: int, time: int, limit: int) -> None:
    """Only jobs with such a limit still try at ``time``: fronts there and behind hold for no others."""
    for i in range(FRONTS):
        if core.front[i].partition == partition and core.front[i].start >= time:
            core.front[i].limit = max(core.front[i].limit, limit)
