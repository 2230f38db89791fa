"""Bounds for slots: while jobs are planned one after another, who asks for no less starts no earlier.

A plan only ever takes nodes. So the slot of a job that asked for no more nodes, for no more time, is a time
before which there is none. The last slots found are kept; in long queues they spare most of the search.
"""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.placement import judged_time
from scheduler_sim.engine.core.profile import earliest
from scheduler_sim.engine.core.state import KEPT, Core

WORTHWHILE = 2 * KEPT
"""Steps of a profile; one with fewer is searched sooner than the slots that are kept."""


@part
def forget_slots(core: Core) -> None:
    """A plan is begun."""
    for pool in range(len(core.pools)):
        core.pools[pool].slots = 0


@part
def next_slot(core: Core, placement: int, after: int) -> int:
    """Earliest start of a placement that asks for nodes alone, in a plan to which others were only added."""
    pool = core.placements[placement].module
    if core.pools[pool].profile_size < WORTHWHILE:
        return earliest(core, placement, after)
    time = earliest(core, placement, _bound(core, placement, after))
    _keep(core, placement, time)
    return time


@part
def _bound(core: Core, placement: int, after: int) -> int:
    """A time, from ``after`` on, before which it has no slot: the latest of those that asked for no more."""
    it, length, slots = core.placements[placement], judged_time(core, placement), core.slots
    nodes, lengths, starts = slots.nodes[it.module], slots.length[it.module], slots.start[it.module]
    bound = after
    for i in range(min(core.pools[it.module].slots, KEPT)):
        start = starts[i] if (nodes[i] <= it.nodes) & (lengths[i] <= length) else after
        bound = max(bound, start)
    return bound


@part
def _keep(core: Core, placement: int, start: int) -> None:
    """The slot of a placement takes the place of the oldest."""
    it, slots = core.placements[placement], core.slots
    place = core.pools[it.module].slots % KEPT
    slots.nodes[it.module, place] = it.nodes
    slots.length[it.module, place] = judged_time(core, placement)
    slots.start[it.module, place] = start
    core.pools[it.module].slots += 1
