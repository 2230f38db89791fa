"""The shadow state: what is free on each node at the shadow time of its module's front (rule 13a, easy).

It is the state from which all jobs with a planned end up to that time are gone. The front fits in it. A job
that starts behind the front and outlasts the shadow time stands in it, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.front import (
    count_to_shadow,
    ends_or_takes_extra,
    fronts_may_stand,
    may_pass_front,
    set_shadow,
)
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.placement import judged_time
from scheduler_sim.engine.core.records import Ints
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.shared_nodes.able import is_able, is_able_now, may_take, told_apart
from scheduler_sim.engine.rules.shared_nodes.lifecycle import taken_of
from scheduler_sim.engine.rules.shared_nodes.packing import (
    choose_nodes_now,
    keep_choice,
    key_of,
    take_first,
)
from scheduler_sim.engine.rules.shared_nodes.state import CORES, SharedCore, SharedSizes


class Shadow(NamedTuple):
    """n nodes, c kinds."""

    free: Ints  # [c, n]
    jobs: Ints  # [n] that are still on a node


class ShadowCore(SharedCore):
    """A core of whose nodes some are held for the first job that cannot start."""

    shadow: Shadow


def blank_shadow(sizes: SharedSizes) -> Shadow:
    """Return a part with room for every node."""
    return Shadow(
        free=np.zeros((sizes.kinds, sizes.nodes), dtype=np.int64), jobs=np.zeros(sizes.nodes, dtype=np.int64)
    )


@on(set_shadow, "shadow")
def set_shadow_state(core: ShadowCore, module: int, front: int) -> None:
    """Find the shadow time of a front, the earliest planned end at which it fits, and the state at it."""
    if not told_apart(core, module):
        count_to_shadow(core, module, front)
        return
    nodes, part, pool = core.shared_nodes.module[module], core.shared_nodes, core.pools[module]
    for node in range(nodes.begin, nodes.end):
        core.shadow.jobs[node] = part.node[node].jobs
        for kind in range(len(part.capacity)):
            core.shadow.free[kind, node] = part.free[kind, node]
    able = _count_able(core, front)
    wanted, plan = core.placements[front].nodes, core.releases[module]
    pool.shadow = INF
    soonest = core.clock.now + 1  # also for what is past its planned end
    for i in range(pool.release_head, pool.release_tail):
        time = max(plan[i].time, soonest)
        if time > pool.shadow:
            return
        able += _leave(core, core.jobs[plan[i].row].placed, front)
        if able >= wanted:
            pool.shadow = time


@on(may_pass_front, "shadow")
def may_pass_front_on_nodes(core: ShadowCore, placement: int) -> bool:
    """Whether a job that fits may start behind the front: as it fits best now, or else beside the front."""
    pool = core.pools[core.placements[placement].module]
    if not told_apart(core, core.placements[placement].module):
        return ends_or_takes_extra(core, placement)
    choose_nodes_now(core, placement)
    if core.clock.now + judged_time(core, placement) <= pool.shadow:
        return True
    if not core.rules.extra:
        return False
    return leaves_room(core, placement, pool.front) or choose_beside(core, placement, pool.front)


@on(fronts_may_stand, "shadow")
def choices_are_made_anew(core: ShadowCore) -> bool:
    """What starts on other nodes than before may leave the front others, too."""
    return False


@part
def _leave(core: ShadowCore, placement: int, front: int) -> int:
    """Take a job out of the shadow state; returns how many more nodes are able for the front then."""
    part, more = core.shared_nodes, 0
    slot = part.request[placement].slot
    for i in range(slot, slot + core.placements[placement].nodes):
        node = part.slots[i]
        counts = may_take(core, front, node)
        if counts:
            more -= is_able_then(core, front, node)
        put(core, placement, node, -1)
        if counts:
            more += is_able_then(core, front, node)
    return more


@part
def put(core: ShadowCore, placement: int, node: int, sign: int) -> None:
    """Put a placement on a node of the shadow state (1), or take it away (-1)."""
    core.shadow.jobs[node] += sign
    for kind in range(len(core.shadow.free)):
        core.shadow.free[kind, node] -= sign * taken_of(core, placement, node, kind)


@part
def put_chosen(core: ShadowCore, placement: int, sign: int) -> None:
    """Put a placement on the nodes that were chosen for it (1), or take it away from them (-1)."""
    part = core.shared_nodes
    slot = part.request[placement].slot
    for i in range(slot, slot + core.placements[placement].nodes):
        put(core, placement, part.slots[i], sign)


@inlined
def is_able_then(core: ShadowCore, placement: int, node: int) -> bool:
    """Whether a node is able for a placement in the shadow state."""
    if core.shared_nodes.request[placement].exclusive and core.shadow.jobs[node] > 0:
        return False
    return is_able(core, placement, node, core.shadow.free)


@part
def _count_able(core: ShadowCore, placement: int) -> int:
    it, able = core.shared_nodes, 0
    for i in range(it.request[placement].first, it.request[placement].last):
        for node in range(it.range[i].begin, it.range[i].end):
            able += is_able_then(core, placement, node)
    return able


@part
def leaves_room(core: ShadowCore, placement: int, front: int) -> bool:
    """Whether the front still fits at its shadow time with a placement on the nodes chosen for it.

    If so, the placement stays in the shadow state.
    """
    put_chosen(core, placement, 1)
    if _count_able(core, front) >= core.placements[front].nodes:
        return True
    put_chosen(core, placement, -1)
    return False


@part
def choose_beside(core: ShadowCore, placement: int, front: int) -> bool:
    """Choose nodes that are able now, and at the shadow time with the front on its own; False if too few.

    If there are enough, the placement stands on them in the shadow state.
    """
    part = core.shared_nodes
    _rate_able_then(core, front)
    take_first(core, front)
    keep_choice(core, front)
    put_chosen(core, front, 1)
    for i in range(part.request[placement].first, part.request[placement].last):
        for node in range(part.range[i].begin, part.range[i].end):
            able = is_able_now(core, placement, node) and is_able_then(core, placement, node)
            part.key[node] = key_of(core, part.free[CORES, node]) if able else INF
    put_chosen(core, front, -1)
    if not take_first(core, placement):
        return False
    keep_choice(core, placement)
    put_chosen(core, placement, 1)
    return True


@part
def _rate_able_then(core: ShadowCore, placement: int) -> None:
    """Give each node that is able in the shadow state its key."""
    part = core.shared_nodes
    for i in range(part.request[placement].first, part.request[placement].last):
        for node in range(part.range[i].begin, part.range[i].end):
            able = is_able_then(core, placement, node)
            part.key[node] = key_of(core, core.shadow.free[CORES, node]) if able else INF
