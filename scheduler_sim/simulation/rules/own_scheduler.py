"""A scheduler of the user's own: its part of the core, and the jobs that it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.engine.engine import FullCore, Sizes, has
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.system.system import System

if TYPE_CHECKING:
    from scheduler_sim.schedulers.caller import Caller


class OwnScheduler(Numbers):
    """Makes the scheduler, and what calls it.

    Attributes
    ----------
    caller : None without a scheduler of the user's own
    """

    part = "own_scheduler"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = run.policy.scheduler is not None
        self.caller = _caller_of(run.policy.own_scheduler(), run.system) if self.needed else None

    def room(self, sizes: Sizes) -> int:
        """For every job."""
        return sizes.rows

    def write(self, core: FullCore, jobs: Jobs, described: None) -> FullCore:
        """It can look up what the trace says of them, and compiled code their ids."""
        if self.caller is not None:
            self.caller.trace.add(jobs.first, jobs.workload, jobs.placements)
            core.own_scheduler.ids[jobs.rows] = jobs.column("component_id")
        return core


def held_by_scheduler(core: FullCore) -> int:
    """How often a scheduler of the user's own has held a job that was in the queue."""
    return int(core.own_scheduler.at.held) if has(core, "own_scheduler") else 0


def _caller_of(scheduler: Any, system: System) -> Caller:
    """Return what calls a scheduler: compiled, if its class asks for it and anything is."""
    from scheduler_sim.schedulers.caller import MARK, PythonCaller
    from scheduler_sim.schedulers.job import Jobs as Shown
    from scheduler_sim.schedulers.stepping import Stepped, SteppedCaller

    trace = Shown(system)
    if isinstance(scheduler, Stepped):
        return SteppedCaller(scheduler, trace)

    if COMPILED and getattr(type(scheduler), MARK, False):
        from scheduler_sim.schedulers.compiling import CompiledCaller

        return CompiledCaller(scheduler, trace)
    return PythonCaller(scheduler, trace)
