"""What is known to happen by itself, and coming back when it is due.

To nodes, to the power cap, to advance reservations, and announced returns. How far each has come is state
of the simulation; what SimPy is told can be told again, in another environment.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor
from typing import TYPE_CHECKING, Any

import simpy

from scheduler_sim.engine.core import state as slot
from scheduler_sim.engine.engine import FullCore
from scheduler_sim.simulation.environment import Turn
from scheduler_sim.simulation.node_events import Happening, ToCome
from scheduler_sim.simulation.outages import Change

if TYPE_CHECKING:
    from scheduler_sim.simulation.power_cap import PowerCap


class Awaiting:
    """The part of a Simulation that comes back when something is due."""

    env: simpy.Environment
    _core: FullCore
    _cap: PowerCap | None
    _reservations: Any
    _to_come: ToCome | None
    _returning: list[Change]
    _happening: list[Happening]
    _changes: list[Change]
    _reserving: bool

    def _live_in(self, env: simpy.Environment) -> None:
        raise NotImplementedError

    def _schedule_step(self) -> None:
        raise NotImplementedError

    def _tell(self, _: simpy.Event) -> None:
        raise NotImplementedError

    def _now(self) -> int:
        """The instant: whole seconds, also where SimPy's clock went through fractions."""
        return floor(self.env.now + 1e-6)

    def _at(
        self,
        time: float,
        then: Callable[[simpy.Event], None] | None = None,
        priority: Any = simpy.events.NORMAL,
    ) -> simpy.Event:
        """Schedule an event, at the earliest now."""
        event = Turn(self.env)
        event._ok, event._value = True, None
        if then is not None and event.callbacks is not None:
            event.callbacks.append(then)
        self.env.schedule(event, priority=priority, delay=max(time - self.env.now, 0))
        return event

    def _note(self, change: Change) -> None:
        self._changes.append(change)
        self._schedule_step()

    def _await_all(self) -> None:
        """Come back for everything, in an environment that has been told of nothing yet."""
        self._await_nodes()
        self._await_cap()
        for coming in self._returning:
            self._await_return(coming)
        self._await_reservations()
        if self._core.queue.at.told:
            self._at(int(self._core.clock.now), self._tell)
        else:
            self._schedule_step()

    def _await_nodes(self) -> None:
        if self._to_come is not None and self._to_come.next is not None:
            self._at(self._to_come.next.time, self._play)

    def _play(self, _: simpy.Event) -> None:
        """Let happen to nodes what is due, and what is past."""
        there = self._to_come
        while there is not None and there.next is not None and there.next.time <= self.env.now:
            self._happening.append(there.take())
        self._schedule_step()
        self._await_nodes()

    def _await_cap(self) -> None:
        if self._cap is not None and (time := self._cap.due) is not None:
            self._at(time, self._change_cap)

    def _change_cap(self, _: simpy.Event) -> None:
        if self._cap is not None:
            self._note(Change("cap", self._cap.pool, self._cap.take()))
            self._await_cap()

    def _await_return(self, coming: Change) -> None:
        """Bring nodes back at the announced instant."""
        self._at(int(coming.until or 0), self._return)

    def _return(self, _: simpy.Event) -> None:
        due = [coming for coming in self._returning if int(coming.until or 0) <= self.env.now]
        self._returning = [coming for coming in self._returning if coming not in due]
        for coming in due:
            self._note(coming)

    def _await_reservations(self) -> None:
        """Come back when there is something to do about advance reservations."""
        if self._reservations is not None and (time := self._reservations.due()) < slot.INF:
            self._at(time, self._look_at_reservations)

    def _look_at_reservations(self, _: simpy.Event) -> None:
        if self._reservations.due() <= self._now():
            self._reserving = True
            self._schedule_step()
