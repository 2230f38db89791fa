"""A veto of the user's own: the function that says who may start."""

from __future__ import annotations

from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.scheme import filler_of


class Vetoes(Numbers):
    """Has the function compiled."""

    part = "vetoes"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = run.policy.may_start is not None

    def room(self, sizes: Sizes) -> int:
        """For every job."""
        return sizes.rows

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """The loop calls it."""
        core.vetoes.at.changed = core.clock.now
        function = self.run.policy.may_start_function()
        return (
            core if function is None else core._replace(vetoes=core.vetoes._replace(ask=filler_of(function)))
        )
