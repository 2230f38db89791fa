"""The SimPy environment of one simulation, which knows whether somebody else lives in it."""

from __future__ import annotations

from typing import Any, cast
from weakref import WeakSet

import simpy
from simpy.events import NORMAL, EventPriority, Initialize, Process


class Turn(simpy.Event):
    """An event of the simulation itself."""


class OwnEnvironment(simpy.Environment):
    """An environment that a simulation has made."""

    def __init__(self, now: float) -> None:
        super().__init__(initial_time=now)
        self._processes: WeakSet[Process] = WeakSet()

    def schedule(self, event: simpy.Event, priority: EventPriority = NORMAL, delay: float = 0) -> None:
        """Schedule an event; the first of a process is how it comes to live here."""
        if isinstance(event, Initialize) and event.callbacks:
            self._processes.update(cast(Any, then).__self__ for then in event.callbacks)
        super().schedule(event, priority=priority, delay=delay)

    @property
    def processes(self) -> int:
        """How many processes live here."""
        return sum(process.is_alive for process in self._processes)

    @property
    def foreign(self) -> int:
        """How many events are due of which the simulation has not asked, and somebody is to be told."""
        return sum(bool(event.callbacks) and not isinstance(event, Turn) for *_, event in self._queue)
