"""The front of a module under easy: the first job that cannot start, and what may pass it."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import answered_by
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.placement import judged_time
from scheduler_sim.engine.core.state import INF, Core


@part
def count_to_shadow(core: Core, module: int, placement: int) -> None:
    """When planned ends free enough nodes for the front, and how many are then left over."""
    plan, pool = core.releases[module], core.pools[module]
    soonest = core.clock.now + 1  # also for what is past its planned end
    needed = core.placements[placement].nodes
    available = pool.free - pool.draining
    shadow = INF
    if core.rules.static_shadow and pool.reserved == pool.front:
        shadow = pool.shadow
    for i in range(pool.release_head, pool.release_tail):
        time = max(plan[i].time, soonest)
        if time > shadow:
            break
        available += plan[i].nodes
        if shadow == INF and available >= needed:
            shadow = time
    pool.shadow = shadow
    pool.extra = max(0, available - needed)


@part
def ends_or_takes_extra(core: Core, placement: int) -> bool:
    """Whether a job fits now, and ends by the shadow time or takes extra nodes alone, using them up."""
    it = core.placements[placement]
    pool = core.pools[it.module]
    if it.nodes > pool.free:
        return False
    if core.clock.now + judged_time(core, placement) > pool.shadow:
        if core.rules.extra == 0 or it.nodes > pool.extra:
            return False
        pool.extra -= it.nodes
    return True


set_shadow = answered_by(count_to_shadow)
"""Find when planned ends free enough nodes for the front, and what is left over then."""

may_pass_front = answered_by(ends_or_takes_extra)
"""Whether a job may start now behind the front of its module."""
