"""Slurm's start of a component, and what may stand against it."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import agreement, on, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import start
from scheduler_sim.engine.core.limits import time_granted, time_suspended
from scheduler_sim.engine.core.state import BY_LIMIT, PAST_LIMIT
from scheduler_sim.engine.rules.slurm.nodes import allocate
from scheduler_sim.engine.rules.slurm.state import SlurmCore


@agreement
def may_run(core: SlurmCore, row: int) -> bool:
    """Whether every limit lets it run now; one that may not blocks nothing."""
    return True


@question
def may_run_there(core: SlurmCore, placement: int) -> bool:
    """Whether one that may run now is tried in the partition of a placement."""
    return True


@on(may_run, "holds")
def array_has_room(core: SlurmCore, row: int) -> bool:
    """Whether its job array has room for one more task that runs."""
    array = core.holds.term[row].array
    if array < 0:
        return True
    return (
        core.holds.array[array].limit < 0 or core.holds.array[array].running < core.holds.array[array].limit
    )


@question
def licences(core: SlurmCore) -> int:
    """How many of the shared resources are such that a job without them is passed over."""
    return int(core.demand.shape[1])


@part
def has_licences(core: SlurmCore, placement: int) -> bool:
    """Whether the shared resources it asks for are free."""
    for i in range(licences(core)):
        if core.demand[placement, i] > core.pools[core.clock.modules + i].free:
            return False
    return True


@part
def start_on_picked(core: SlurmCore, row: int, placement: int, launch_s: int) -> None:
    """Start now on the nodes PICKED."""
    allocate(core, row, placement)
    core.slurm.job[row].launch = launch_s
    set_end(core, row, placement, core.clock.now)
    if core.holds.term[row].array >= 0:
        core.holds.array[core.holds.term[row].array].running += 1
    start(core, row, placement)


@question
def found_from(core: SlurmCore, row: int) -> int:
    """From when on a look for jobs past their limit finds one that runs."""
    return core.clock.now


@part
def set_end(core: SlurmCore, row: int, placement: int, begun: int) -> None:
    """When it ends: by itself, or at the first look from now on that finds it past its limit."""
    it, natural = core.placements[placement], core.slurm.way[placement].run
    suspended = time_suspended(core, row)
    begun += suspended  # as if it had started so much later
    allowed = time_granted(core, row, placement) - suspended + core.slurm.rules.over_time
    period = core.slurm.rules.limit_check_s
    late = natural > allowed
    natural += core.slurm.job[row].launch
    allowed = max(allowed, found_from(core, row) - begun)
    if period > 1:
        allowed += (core.slurm.rules.starts_at - begun - allowed) % period
    it.killed = BY_LIMIT if natural > allowed else PAST_LIMIT if late else 0
    it.duration = min(natural, allowed)
