"""Node events of a system, carried out on the core: which nodes are out, by which, and who was on them.

Where nodes are told apart it is these nodes, and the components on them. Where they are only counted, as many
are taken as the event names: of DOWN drawn among all in service, as `fail` does, of others idle ones first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.engine.core.events import KIND
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.errors import InputError
from scheduler_sim.simulation.outages import Outages
from scheduler_sim.simulation.rules.shared_nodes import running_on, take_nodes_down
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
    event : that event
    """

    time: int
    order: int
    number: int
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
    yield Happening(begin, BEGINS, number, event)
    if end is not None:
        yield Happening(max(end, begin), ENDS if end > begin else ENDS_AT_ONCE, number, event)


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
    """Which nodes are out of service by the events of a system, and by which of these."""

    def __init__(self, system: System, outages: Outages) -> None:
        self._system, self._outages = system, outages
        self._open: dict[tuple[int, int], set[int]] = {}  # events of each node that is out
        self._counted: dict[int, tuple[int, int]] = {}  # module and how many, of events that name no nodes
        self._to_end = 0  # events that have begun, and have an end to come
        self.failures = 0  # that a model drew

    @property
    def withheld(self) -> bool:
        """Whether nodes are out of service by some event."""
        return bool(self._open or self._counted)

    @property
    def awaited(self) -> bool:
        """Whether some event that has begun will end."""
        return self._to_end > 0

    def carry_out(self, core: FullCore, one: Happening) -> None:
        """Take nodes out of service, or bring back those that no other event keeps out."""
        event = one.event
        if event.end is not None:
            self._to_end += -1 if one.ends else 1
        self.failures += one.number >= len(self._system.events) and not one.ends
        module = self._system.module_index(event.module)
        if not event.nodes:
            self._change_count(core, module, one)
        elif one.ends or event.state == RESUME:
            self._bring_back(core, module, event.nodes, None if event.state == RESUME else one.number)
        else:
            self._take(core, module, one)

    def _change_count(self, core: FullCore, module: int, one: Happening) -> None:
        event = one.event
        if event.state == RESUME:
            self._outages.resume(core, module, event.count)
        elif one.ends:
            self._outages.resume(core, *self._counted.pop(one.number))
        else:
            amount = min(event.count, self._outages.in_service(core, module))
            self._counted[one.number] = module, amount
            self._outages.take_counted(core, module, amount, down=event.state == DOWN, requeue=event.requeue)

    def _take(self, core: FullCore, module: int, one: Happening) -> None:
        event = one.event
        new = [node for node in event.nodes if (module, node) not in self._open]
        for node in event.nodes:
            self._open.setdefault((module, node), set()).add(one.number)
        there = _ShareOfNodes.of(core, module) or _WholeNodes.of(core, module)
        if there is None:
            self._outages.take_counted(
                core, module, len(new), down=event.state == DOWN, requeue=event.requeue
            )
            return
        there.take_out(new)
        if event.state == DOWN:
            self._outages.stop(core, there.rows_on(event.nodes), requeue=event.requeue)

    def _bring_back(self, core: FullCore, module: int, nodes: Sequence[int], number: int | None) -> None:
        """End one event of some nodes, or all that keep them out."""
        back = []
        for node in nodes:
            events = self._open.get((module, node), set())
            if number is None or events == {number}:
                back += [node] if self._open.pop((module, node), None) else []
            else:
                events.discard(number)
        there = _ShareOfNodes.of(core, module) or _WholeNodes.of(core, module)
        if there is None:
            self._outages.resume(core, module, len(back))
        else:
            there.put_back(back)


class _ShareOfNodes:
    """The nodes of a module that are told apart, as jobs may share them."""

    def __init__(self, core: FullCore, begin: int) -> None:
        self._core, self._begin = core, begin

    @classmethod
    def of(cls, core: FullCore, module: int) -> _ShareOfNodes | None:
        """Return them; None where they are not told apart."""
        if not has(core, "shared_nodes"):
            return None
        it = core.shared_nodes.module[module]
        return cls(core, int(it.begin)) if it.begin < it.end else None

    def take_out(self, nodes: Sequence[int]) -> None:
        take_nodes_down(self._core, self._begin + np.array(nodes, dtype=np.int64))

    def put_back(self, nodes: Sequence[int]) -> None:
        from scheduler_sim.engine.rules.shared_nodes.service import bring_node_back

        for node in nodes:
            bring_node_back(self._core, self._begin + node)

    def rows_on(self, nodes: Sequence[int]) -> np.ndarray:
        rows = _running(self._core)
        own = self._core.shared_nodes.module["begin"][_modules_of(self._core, rows)] == self._begin
        return running_on(self._core, rows[own], self._begin + np.array(nodes))


class _WholeNodes:
    """The nodes of a module under Slurm."""

    def __init__(self, core: FullCore, module: int) -> None:
        self._core, self._module = core, module

    @classmethod
    def of(cls, core: FullCore, module: int) -> _WholeNodes | None:
        """Return them; None where it is not known who has which."""
        return cls(core, module) if has(core, "outages") else None

    def take_out(self, nodes: Sequence[int]) -> None:
        from scheduler_sim.engine.rules.slurm.outages import take_out

        for node in self._numbers(nodes):
            take_out(self._core, node)

    def put_back(self, nodes: Sequence[int]) -> None:
        from scheduler_sim.engine.rules.slurm.outages import put_back

        for node in self._numbers(nodes):
            put_back(self._core, node, self._module)

    def rows_on(self, nodes: Sequence[int]) -> np.ndarray:
        from scheduler_sim.simulation.rules.slurm.outages import has_any
        from scheduler_sim.simulation.rules.slurm.running import planned_ends

        numbers = set(self._numbers(nodes))
        return np.array([row for row in planned_ends(self._core) if has_any(self._core, row, numbers)], int)

    def _numbers(self, nodes: Sequence[int]) -> Iterator[int]:
        from scheduler_sim.simulation.rules.slurm.outages import number_of

        return (number_of(self._core, self._module, node) for node in nodes)


def _running(core: FullCore) -> np.ndarray:
    """Rows of running components, ascending."""
    rows = np.sort(np.asarray(core.heap)["row"][: core.clock.events])
    running: np.ndarray = rows[rows // KIND == 0]
    return running


def _modules_of(core: FullCore, rows: np.ndarray) -> np.ndarray:
    modules: np.ndarray = np.asarray(core.placements)["module"][np.asarray(core.jobs)["placed"][rows]]
    return modules
