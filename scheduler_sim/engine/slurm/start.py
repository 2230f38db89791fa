"""Slurm's start of a component, and what may stand against it."""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import start
from scheduler_sim.engine.slurm.nodes import hold
from scheduler_sim.engine.slurm.slots import CHECK_PERIOD, OVER_TIME, STARTS_AT
from scheduler_sim.engine.state import BY_LIMIT, MODULES, NOW, PAST_LIMIT, Core


@part
def may_run(core: Core, row: int) -> bool:
    """Whether its job array has room for one more task that runs."""
    array = core.term[row].array
    if array < 0:
        return True
    return core.array[array].limit < 0 or core.array[array].running < core.array[array].limit


@part
def has_licences(core: Core, placement: int) -> bool:
    """Whether the shared resources it asks for are free."""
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > core.pool[core.clock[MODULES] + i].free:
            return False
    return True


@part
def start_on_picked(core: Core, row: int, placement: int, launch_s: int) -> None:
    """Start now on the nodes PICKED."""
    hold(core, row, placement)
    core.job[row].launch = launch_s
    set_end(core, row, placement, core.clock[NOW])
    if core.term[row].array >= 0:
        core.array[core.term[row].array].running += 1
    start(core, row, placement)


@part
def set_end(core: Core, row: int, placement: int, begun: int) -> None:
    """When it ends: by itself, or at the first look from now on that finds it past its limit."""
    it, natural = core.place[placement], core.way[placement].run
    allowed, period = it.limit + core.slurm[OVER_TIME], core.slurm[CHECK_PERIOD]
    late = natural > allowed
    natural += core.job[row].launch
    allowed = max(allowed, core.clock[NOW] - begun)
    if period > 1:
        allowed += (core.slurm[STARTS_AT] - begun - allowed) % period
    it.killed = BY_LIMIT if natural > allowed else PAST_LIMIT if late else 0
    it.duration = min(natural, allowed)
