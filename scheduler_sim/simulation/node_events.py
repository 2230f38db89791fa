"""Node events of a system: when each begins and ends, and what it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import Any, NamedTuple

from scheduler_sim.engine.engine import FullCore
from scheduler_sim.errors import InputError
from scheduler_sim.simulation.node_book import Reason
from scheduler_sim.simulation.outages import Outage, Outages
from scheduler_sim.system.node_events import DOWN, RESUME, NodeEvent, seconds_at
from scheduler_sim.system.system import System

ENDS, BEGINS, ENDS_AT_ONCE = 0, 1, 2
"""What comes first at an instant; an event that takes no time has to begin before it ends."""


class Happening(NamedTuple):
    """The begin, or the end, of an event; they are in order of what stands first.

    Attributes
    ----------
    time : s on the trace's clock
    order : ``ENDS``, ``BEGINS`` or ``ENDS_AT_ONCE``
    number : which event, of all there are
    until : when the event ends, s; None: not by itself
    event : that event
    """

    time: int
    order: int
    number: int
    until: int | None
    event: NodeEvent

    @property
    def ends(self) -> bool:
        """Whether it is the end."""
        return self.order != BEGINS


def happenings(events: Sequence[NodeEvent], unix_start: int | None) -> list[Happening]:
    """Return begins and ends in order of time, at an instant ends first.

    Raises InputError for dates where the trace does not tell when it began (``unix_start``).
    """
    found: list[Happening] = []
    for i, event in enumerate(events):
        begin = _on_trace(event.time, i, unix_start)
        end = None if event.end is None else _on_trace(event.end, i, unix_start)
        found += _begin_and_end(event, i, begin, end)
    return sorted(found)


class ToCome:
    """What is yet to happen to nodes, in order of time: what is stated, and failures as they are drawn.

    How far it has come is its state alone: a copy of it goes on as it does.

    Attributes
    ----------
    next : what happens next; None: nothing any more
    """

    def __init__(self, stated: Sequence[Happening], drawn: Iterator[NodeEvent] | None, first: int) -> None:
        """``drawn`` come in order of their begins, in seconds; they are numbered from ``first``."""
        self._stated, self._place = tuple(stated), 0
        self._drawn, self._number = drawn, first
        self._unfolded: tuple[Happening, ...] = ()  # the next of those drawn: its begin, and its end
        self._to_end: list[Happening] = []  # of those drawn that have begun
        self._draw()
        self.next = self._earliest()

    @property
    def stated_to_come(self) -> int:
        """Begins and ends of stated events that are to come."""
        return len(self._stated) - self._place

    def take(self) -> Happening:
        """What was next happens; there is one."""
        taken = self.next
        assert taken is not None
        if self._place < len(self._stated) and taken is self._stated[self._place]:
            self._place += 1
        elif taken in self._unfolded[:1]:
            self._draw()
        else:
            heappop(self._to_end)
        self.next = self._earliest()
        return taken

    def _draw(self) -> None:
        """Draw the next event; that before has begun."""
        for end in self._unfolded[1:]:
            heappush(self._to_end, end)
        event = None if self._drawn is None else next(self._drawn, None)
        self._unfolded = ()
        if event is not None:
            self._unfolded = tuple(_begin_and_end(event, self._number, event.time, event.end))
            self._number += 1

    def _earliest(self) -> Happening | None:
        stated = self._stated[self._place : self._place + 1]
        return min((*stated, *self._unfolded[:1], *self._to_end[:1]), default=None)


def _begin_and_end(event: NodeEvent, number: int, begin: Any, end: Any) -> Iterator[Happening]:
    until = None if end is None else max(end, begin)
    yield Happening(begin, BEGINS, number, until, event)
    if until is not None:
        yield Happening(until, ENDS if until > begin else ENDS_AT_ONCE, number, until, event)


def _on_trace(time: int | str, number: int, unix_start: int | None) -> int:
    if not isinstance(time, str):
        return time
    if unix_start is None:
        raise InputError(
            f"events[{number}]: found the date {time}, and a trace without UnixStartTime;"
            " allowed here: seconds on its clock"
        )
    return seconds_at(time) - unix_start


class NodeEvents:
    """Node events of a system, carried out on the core."""

    def __init__(self, system: System, outages: Outages) -> None:
        self._system, self._outages = system, outages
        self.failures = 0  # that a model drew

    def carry_out(self, core: FullCore, one: Happening) -> FullCore:
        """Take nodes out of service, or bring back those that nothing else keeps out; returns the core."""
        event = one.event
        module = self._system.module_index(event.module)
        if one.ends:
            return self._outages.end(core, one.number)
        if event.state == RESUME:
            return self._outages.resume(core, module, event.nodes, event.count)
        self.failures += one.number >= len(self._system.events)
        count = 0 if event.nodes else event.count
        outage = Outage(module, event.nodes, count, down=event.state == DOWN, requeue=event.requeue)
        return self._outages.take(core, outage, Reason(one.number, one.until))
