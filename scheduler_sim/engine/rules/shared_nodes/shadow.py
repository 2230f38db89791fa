"""The shadow state: what is free on each node at the shadow time of its module's front (R6).

It is the state from which all jobs with a planned end up to that time are gone; the front fits in it, and is
put on its nodes. A job that starts behind the front and outlasts the shadow time stands in it, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.front import (
    count_to_shadow,
    ends_or_takes_extra,
    may_pass_front,
    set_shadow,
)
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.placement import judged_time
from scheduler_sim.engine.core.record import nodes_fit
from scheduler_sim.engine.core.records import Ints, Record, Table, Words, table
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.shared_nodes.able import (
    has_bit,
    has_enough,
    is_able_now,
    may_take,
    note_change,
    pick_changed,
    set_bit,
    told_apart,
)
from scheduler_sim.engine.rules.shared_nodes.by_leaf import goes_by_leaf
from scheduler_sim.engine.rules.shared_nodes.device_state import NOTED, THEN
from scheduler_sim.engine.rules.shared_nodes.devices import (
    asks_for_devices,
    has_common_devices,
    note_common_devices,
)
from scheduler_sim.engine.rules.shared_nodes.lifecycle import taken_of
from scheduler_sim.engine.rules.shared_nodes.packing import choose, choose_nodes_now
from scheduler_sim.engine.rules.shared_nodes.scores import is_drawn
from scheduler_sim.engine.rules.shared_nodes.state import (
    AWAY,
    CORES,
    NEVER,
    SharedCore,
    SharedSizes,
)


class Front(Record):
    """The front of a module, in its shadow state."""

    placement: int  # -1 = none
    slack: int  # nodes that are able for it then, beyond those it asks for


class Beside:
    """For a demand: the nodes that are able both now and in the shadow state, beside the front."""

    able: int
    read: int  # of the log of changes
    refused: int  # the least number of nodes for which it was refused ...
    refused_at: int  # ... as things were at this change


class Shadow(NamedTuple):
    """n nodes, m modules, d demands, c kinds."""

    front: Table[Front]  # [m]
    free: Ints  # [c, n] at the shadow time, with the front on its nodes
    jobs: Ints  # [n] on a node then
    held: Ints  # [n] 1 + the slot in which it is one of the front's, 0 = it is none
    able: Words  # [n / 64] bits: the nodes that are able for the front then, without it
    before: Ints  # [c + 1, n] the state of an earlier pass, and the jobs in it
    beside: Table[Beside]  # [d]
    beside_able: Words  # [d, n / 64] bits: see ``Beside``


class ShadowCore(SharedCore):
    """A core of whose nodes some are held for the first job that cannot start."""

    shadow: Shadow


def blank_shadow(sizes: SharedSizes) -> Shadow:
    """Return a part with room for every node."""
    words = (sizes.nodes + 63) >> 6
    made = Shadow(
        front=table(Front, sizes.modules),
        free=np.zeros((sizes.kinds, sizes.nodes), dtype=np.int64),
        jobs=np.zeros(sizes.nodes, dtype=np.int64),
        held=np.zeros(sizes.nodes, dtype=np.int64),
        able=np.zeros(words, dtype=np.uint64),
        before=np.zeros((sizes.kinds + 1, sizes.nodes), dtype=np.int64),
        beside=table(Beside, sizes.demands),
        beside_able=np.zeros((sizes.demands, words), dtype=np.uint64),
    )
    made.front["placement"], made.beside["read"], made.beside["refused_at"] = -1, NEVER, -1
    return made


# -- the front


@on(set_shadow, "shadow")
def set_shadow_state(core: ShadowCore, module: int, front: int) -> None:
    """Find the shadow time of a front, the earliest planned end at which it fits, and the state at it."""
    if not told_apart(core, module):
        count_to_shadow(core, module, front)
        return
    nodes, state, part = core.shared_nodes.module[module], core.shadow, core.shared_nodes
    kinds = len(part.capacity)
    for node in range(nodes.begin, nodes.end):
        state.before[kinds, node] = state.jobs[node]
        state.jobs[node], state.held[node] = part.node[node].jobs, 0
        set_bit(state.able, node, False)
        for kind in range(kinds):
            state.before[kind, node] = state.free[kind, node]
            state.free[kind, node] = part.free[kind, node]
    before, slack = state.front[module].placement, state.front[module].slack
    state.front[module].placement = front
    _go_to_shadow(core, module, front)
    _place_front(core, module)
    if before != front or slack != state.front[module].slack:
        note_change(core, nodes.begin)  # what was refused may not be now
    for node in range(nodes.begin, nodes.end):
        changed = state.jobs[node] != state.before[kinds, node]
        for kind in range(kinds):
            changed = changed or state.free[kind, node] != state.before[kind, node]
        if changed:
            note_change(core, node)


@part
def _go_to_shadow(core: ShadowCore, module: int, front: int) -> None:
    """Take away what is planned to end, until the front fits; all that ends at that instant."""
    pool, plan, wanted = core.pools[module], core.releases[module], core.placements[front].nodes
    able = _count_able(core, front)
    pool.shadow = INF
    soonest = core.clock.now + 1  # also for what is past its planned end
    for i in range(pool.release_head, pool.release_tail):
        time = max(plan[i].time, soonest)
        if time > pool.shadow:
            break
        if plan[i].row >= 0:
            able += _leave(core, core.jobs[plan[i].row].placed, front)
        else:
            able += _come_back(core, module, front, plan[i].time)
        if able >= wanted:
            pool.shadow = time
    core.shadow.front[module].slack = able - wanted


@part
def _count_able(core: ShadowCore, front: int) -> int:
    """How many nodes are able for the front in the shadow state; their set is ``able`` then."""
    it = core.shared_nodes
    demand, able = it.request[front].demand, 0
    for i in range(it.demand[demand].first, it.demand[demand].last):
        for node in range(it.range[i].begin, it.range[i].end):
            able += set_bit(core.shadow.able, node, is_able_then(core, demand, node))
    return able


@part
def _leave(core: ShadowCore, placement: int, front: int) -> int:
    """Take a job out of the shadow state; returns how many more nodes are able for the front then."""
    part, more = core.shared_nodes, 0
    slot, demand = part.request[placement].slot, part.request[front].demand
    for i in range(slot, slot + core.placements[placement].nodes):
        node = part.slots[i]
        _put(core, part.request[placement].demand, i, -1)
        if may_take(core, demand, node):
            more -= has_bit(core.shadow.able, node)
            more += set_bit(core.shadow.able, node, is_able_then(core, demand, node))
    return more


@part
def _come_back(core: ShadowCore, module: int, front: int, announced: int) -> int:
    """Nodes are announced to be back at a time; returns how many more are able for the front then."""
    part, more = core.shared_nodes, 0
    demand = part.request[front].demand
    for node in range(part.module[module].begin, part.module[module].end):
        if part.node[node].back == announced:
            core.shadow.free[CORES, node] += AWAY
            if may_take(core, demand, node):
                more += set_bit(core.shadow.able, node, is_able_then(core, demand, node))
    return more


@inlined
def is_able_then(core: ShadowCore, demand: int, node: int) -> bool:
    """Whether a node is able for a demand in the shadow state."""
    if core.shared_nodes.demand[demand].exclusive and core.shadow.jobs[node] > 0:
        return False
    return has_enough(core, demand, node, core.shadow.free)


@part
def _put(core: ShadowCore, demand: int, at: int, sign: int) -> None:
    """Put a job on the node in a slot, in the shadow state (1), or take it away (-1)."""
    node = core.shared_nodes.slots[at]
    core.shadow.jobs[node] += sign
    for kind in range(len(core.shadow.free)):
        core.shadow.free[kind, node] -= sign * taken_of(core, demand, at, kind)


@part
def _place_front(core: ShadowCore, module: int) -> None:
    """Put the front on the nodes that it takes in the shadow state."""
    front = core.shadow.front[module].placement
    if core.shadow.front[module].slack >= 0:
        choose(core, front, core.shadow.able, core.shadow.free, THEN)
        _put_front(core, front, 1)


@part
def _put_front(core: ShadowCore, front: int, sign: int) -> None:
    part = core.shared_nodes
    slot = part.request[front].slot
    for i in range(slot, slot + core.placements[front].nodes):
        _put(core, part.request[front].demand, i, sign)
        core.shadow.held[part.slots[i]] = i + 1 if sign > 0 else 0
        note_change(core, part.slots[i])


# -- what passes it


@on(may_pass_front, "shadow")
def may_pass_front_on_nodes(core: ShadowCore, placement: int) -> bool:
    """Whether a job may start now behind the front: on the nodes that it takes now, or beside the front."""
    module = core.placements[placement].module
    pool = core.pools[module]
    if not told_apart(core, module):
        return ends_or_takes_extra(core, placement)
    if core.clock.now + judged_time(core, placement) <= pool.shadow:
        if not nodes_fit(core, placement):
            return False
        choose_nodes_now(core, placement)
        return True
    if not core.rules.extra or _is_hopeless(core, module, placement) or not nodes_fit(core, placement):
        return False
    choose_nodes_now(core, placement)
    if _leaves_room(core, module, placement) or _fits_beside(core, placement):
        _stay(core, module, placement)
        return True
    it = core.shadow.beside[core.shared_nodes.request[placement].demand]
    it.refused, it.refused_at = core.placements[placement].nodes, core.shared_nodes.rules.changes
    return False


@part
def _is_hopeless(core: ShadowCore, module: int, placement: int) -> bool:
    """Whether it cannot start: its nodes are able beside the front, or are ones that the front can spare."""
    demand, wanted = core.shared_nodes.request[placement].demand, core.placements[placement].nodes
    it = core.shadow.beside[demand]
    same_first = not (is_drawn(core) or goes_by_leaf(core))
    if it.refused_at == core.shared_nodes.rules.changes and it.refused <= wanted and same_first:
        return True
    if asks_for_devices(core, demand):  # the front may take other ones of the same node
        return False
    return _count_beside(core, demand) < wanted - core.shadow.front[module].slack


@part
def _count_beside(core: ShadowCore, demand: int) -> int:
    """How many nodes are able both now and in the shadow state beside the front; see ``Beside``."""
    it, able = core.shadow.beside[demand], core.shadow.beside_able[demand]
    for i in range(pick_changed(core, demand, it.read)):
        node = core.shared_nodes.pick[i]
        it.able -= has_bit(able, node)
        it.able += set_bit(able, node, _is_able_beside(core, demand, node))
    it.read = core.shared_nodes.rules.changes
    return it.able


@inlined
def _is_able_beside(core: ShadowCore, demand: int, node: int) -> bool:
    if not (is_able_now(core, demand, node) and is_able_then(core, demand, node)):
        return False
    return has_common_devices(core, demand, node, core.shared_nodes.free, core.shadow.free)


@part
def _leaves_room(core: ShadowCore, module: int, placement: int) -> bool:
    """Whether the front still fits at its shadow time with a job on the nodes chosen for it now."""
    part, lost = core.shared_nodes, 0
    slot, demand = part.request[placement].slot, part.request[placement].demand
    asked = part.request[core.shadow.front[module].placement].demand
    for i in range(slot, slot + core.placements[placement].nodes):
        node = part.slots[i]
        if not has_bit(core.shadow.able, node):
            continue
        held = core.shadow.held[node]
        _put(core, demand, i, 1)
        if held > 0:
            _put(core, asked, held - 1, -1)
        lost += not is_able_then(core, asked, node)
        if held > 0:
            _put(core, asked, held - 1, 1)
        _put(core, demand, i, -1)
    return lost <= core.shadow.front[module].slack


@part
def _fits_beside(core: ShadowCore, placement: int) -> bool:
    """Choose nodes that are able both now and in the shadow state beside the front; False if too few."""
    demand, able = core.shared_nodes.request[placement].demand, core.shadow.beside_able
    _count_beside(core, demand)
    note_common_devices(core, demand, able[demand], core.shared_nodes.free, core.shadow.free)
    return choose(core, placement, able[demand], core.shared_nodes.free, NOTED)


@part
def _stay(core: ShadowCore, module: int, placement: int) -> None:
    """A job that outlasts the shadow time stands in its state, and the front takes nodes anew."""
    part, state = core.shared_nodes, core.shadow
    front = state.front[module].placement
    _put_front(core, front, -1)
    slot, asked = part.request[placement].slot, part.request[front].demand
    for i in range(slot, slot + core.placements[placement].nodes):
        node = part.slots[i]
        _put(core, part.request[placement].demand, i, 1)
        if has_bit(state.able, node):
            state.front[module].slack -= not set_bit(state.able, node, is_able_then(core, asked, node))
        note_change(core, node)
    _place_front(core, module)
