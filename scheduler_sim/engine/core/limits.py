"""Time limits that change: of what waits, and of what runs and is planned to end by them."""

from __future__ import annotations

from scheduler_sim.engine.core.events import drop_end, push_end
from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import end_forgotten, end_planned
from scheduler_sim.engine.core.releases import add_release, drop_release
from scheduler_sim.engine.core.state import BY_LIMIT, Core


@question
def time_granted(core: Core, row: int, placement: int) -> int:
    """How long after its start (s) a job is planned to end in a placement: its limit."""
    return core.placements[placement].limit


@question
def time_suspended(core: Core, row: int) -> int:
    """How long (s) a job that runs has been suspended since its start, if it works now."""
    return 0


@part
def change_limit(core: Core, placement: int, limit: int, run: int, overrun: int) -> None:
    """What a placement takes by a new limit (s); ``run`` and ``overrun`` in s."""
    it = core.placements[placement]
    it.limit = limit
    set_duration(core, placement, run, overrun)


@question
def set_duration(core: Core, placement: int, run: int, overrun: int) -> None:
    """How long a placement takes by its limit; ``run`` and ``overrun`` in s."""
    it = core.placements[placement]
    it.duration = min(run, it.limit + overrun)
    it.killed = BY_LIMIT if run > it.limit + overrun else 0


@question
def set_run_time(core: Core, placement: int, run: int) -> None:
    """How long a placement takes from its next start on, but for its limit; ``run`` in s."""
    set_duration(core, placement, run, core.rules.overrun)


@question
def least_limit(core: Core, row: int, overrun: int) -> int:
    """The least limit (s) that a running job can be given: what it has run already, so that it ends now."""
    return core.clock.now - core.jobs[row].start - overrun


@part
def forget_end(core: Core, row: int) -> None:
    """Take what runs out of the events and the planned ends."""
    it = core.jobs[row]
    planned = it.start + time_granted(core, row, it.placed)
    drop_end(core, row)
    drop_release(core, core.placements[it.placed].module, planned, row)
    for i in range(core.demand.shape[1]):
        if core.demand[it.placed, i] > 0:
            drop_release(core, core.clock.modules + i, planned, row)
    end_forgotten(core, row)


@part
def plan_end(core: Core, row: int) -> None:
    """Put what runs among the events and the planned ends, by its limit as it is now."""
    end_planned(core, row)
    it = core.jobs[row]
    placement = core.placements[it.placed]
    planned = it.start + time_granted(core, row, it.placed)
    add_release(core, placement.module, planned, row, placement.nodes)
    for i in range(core.demand.shape[1]):
        if core.demand[it.placed, i] > 0:
            add_release(core, core.clock.modules + i, planned, row, core.demand[it.placed, i])
    it.end = it.start + placement.duration + time_suspended(core, row)
    push_end(core, it.end, row)
    core.clock.lost = 1  # reservations may count on its nodes
