"""From pass to pass: for one who decides outside of the simulation, as an agent in an environment does."""

from __future__ import annotations

from typing import Any, Self

from scheduler_sim.engine.core.state import UNTIL
from scheduler_sim.engine.engine import FullCore
from scheduler_sim.engine.schemes.own_scheduler import go_to_pass, leave_pass
from scheduler_sim.schedulers.caller import Caller
from scheduler_sim.schedulers.job import Jobs
from scheduler_sim.schedulers.view import View


class Stepped:
    """The scheduler of a simulation that stops in every pass."""

    def schedule(self, view: Any) -> None:
        """It is never called: whoever steps decides."""
        raise NotImplementedError


class SteppedCaller(Caller):
    """Lets the loop work up to the next pass, and stands in it until it is called again.

    Attributes
    ----------
    view : the pass in which it stands; None where it stands in none
    """

    def __init__(self, scheduler: Any, trace: Jobs) -> None:
        super().__init__(scheduler, trace)
        self.view: View | None = None

    def copied(self) -> Self:
        """Return one that stands in the same pass."""
        made = super().copied()
        made.view = None if self.view is None else made._view
        return made

    def look_at(self, core: FullCore) -> None:
        """Be at this core, in the pass in which it stands."""
        super().look_at(core)
        if self.view is not None:
            self.view.look_at(core)

    def drive(self, core: FullCore, until: int, steps: int) -> None:
        """Leave the pass in which it stands; go to the next with jobs that wait, if there is one."""
        self.trace.core = core
        if self.view is not None:
            leave_pass(core)
            self.view = None
        if go_to_pass(core, until, steps):
            core.clock.status = UNTIL
            self._view.look_at(core)
            self.view = self._view
