"""What a placement asks for, to those who choose between placements."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import Core


@question
def module_of(core: Core, placement: int) -> int:
    """The module whose nodes a placement takes; the pool that it takes them from may be a part of that."""
    return core.placements[placement].module


@part
def judged_time(core: Core, placement: int) -> int:
    """What a candidate is judged by: its limit, or in one dialect its run time."""
    it = core.placements[placement]
    return max(it.duration, 1) if core.rules.by_run else it.limit


@question
def cost_of(core: Core, placement: int) -> float:
    """What the placements of a job are ranked by: nodes x cost of a node x limit."""
    it = core.placements[placement]
    return it.nodes * core.pools[it.module].cost * it.limit
