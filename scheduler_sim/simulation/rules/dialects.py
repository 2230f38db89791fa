"""Dialects that are parts of the core: there is nothing to write."""

from __future__ import annotations

from scheduler_sim.engine.engine import Sizes
from scheduler_sim.simulation.rules.numbers import Numbers, Run


class Dialect(Numbers):
    """What a policy says by a key; it has no room of its own."""

    def room(self, sizes: Sizes) -> bool:
        """It is there."""
        return True


class SingleEvents(Dialect):
    """A pass after every single event."""

    part = "single_events"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = run.policy.passes == "event"


class SecondOrder(Dialect):
    """An order of their own for candidates, which the scheme writes."""

    part = "second_order"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = run.policy.backfill_order is not None
