"""Time limits that change: of what waits, and of what runs and is planned to end by them."""

from __future__ import annotations

from scheduler_sim.engine.events import drop_end, push_end
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import everywhere
from scheduler_sim.engine.releases import add_release, drop_release
from scheduler_sim.engine.slurm.slots import HOLDING
from scheduler_sim.engine.slurm.start import set_end
from scheduler_sim.engine.state import BY_LIMIT, BY_RUN, LOST, MODULES, Core


@part
def change_limit(core: Core, placement: int, limit: int, run: int, overrun: int) -> None:
    """What a placement takes by a new limit (s); ``run`` and ``overrun`` in s."""
    it = core.place[placement]
    it.cost = it.cost / it.limit * limit
    it.limit = it.test = limit
    if not core.slurm[HOLDING]:
        it.duration = min(run, limit + overrun)
        it.killed = BY_LIMIT if run > limit + overrun else 0
        if core.rules[BY_RUN]:
            it.test = max(it.duration, 1)


@part
def forget_end(core: Core, row: int) -> None:
    """Take what runs out of the events and the planned ends."""
    it = core.comp[row]
    planned = it.start + core.place[it.placed].limit
    drop_end(core, row)
    drop_release(core, core.place[it.placed].module, planned, row)
    for i in range(core.demand.shape[1]):
        if core.demand[it.placed, i] > 0:
            drop_release(core, core.clock[MODULES] + i, planned, row)
    if core.slurm[HOLDING]:
        drop_release(core, everywhere(core), planned, row)


@part
def plan_end(core: Core, row: int) -> None:
    """Put what runs among the events and the planned ends, by its limit as it is now."""
    it = core.comp[row]
    placement = it.placed
    planned, nodes = it.start + core.place[placement].limit, core.place[placement].nodes
    if core.slurm[HOLDING]:
        set_end(core, row, placement, it.start)
        add_release(core, everywhere(core), planned, row, nodes)
    add_release(core, core.place[placement].module, planned, row, nodes)
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > 0:
            add_release(core, core.clock[MODULES] + i, planned, row, core.demand[placement, i])
    it.end = it.start + core.place[placement].duration
    push_end(core, it.end, row)
    core.clock[LOST] = 1  # promises may count on its nodes
