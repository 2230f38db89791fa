"""What happens next: a binary heap of (time, row), earliest first, ties in trace order.

A row by itself is the end of that component. Other kinds of event are the row (or edge)
with the kind added, so that they come before or after the ends of their instant.
"""

from __future__ import annotations

from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.state import INF, Core, End

KIND = 1 << 40
"""Kinds of events are multiples of this, those of the rules beside 0, the end of a job."""


@inlined
def next_end(core: Core) -> int:
    """Earliest end of a running component, INF if none runs."""
    return core.heap[0].time if core.clock.events > 0 else INF


@inlined
def push_end(core: Core, time: int, row: int) -> None:
    """Add the end of ``row``."""
    place = core.clock.events
    core.clock.events = place + 1
    _rise(core, place, time, row)


@inlined
def pop_end(core: Core) -> int:
    """Remove the earliest end and return its row."""
    row = core.heap[0].row
    _remove(core, 0)
    return row


@part
def drop_end(core: Core, row: int) -> None:
    """Remove the end of ``row``, which will not come: it was cancelled or hit."""
    for place in range(core.clock.events):
        if core.heap[place].row == row:
            _remove(core, place)
            return


@inlined
def _remove(core: Core, place: int) -> None:
    last = core.clock.events - 1
    core.clock.events = last
    if place == last:
        return
    time, row = core.heap[last].time, core.heap[last].row
    if place > 0 and _earlier(time, row, core.heap[(place - 1) // 2]):
        _rise(core, place, time, row)
    else:
        _sink(core, place, time, row)


@inlined
def _earlier(time: int, row: int, other: End) -> bool:
    return time < other.time or (time == other.time and row < other.row)


@inlined
def _rise(core: Core, place: int, time: int, row: int) -> None:
    heap = core.heap
    while place > 0:
        parent = (place - 1) // 2
        if not _earlier(time, row, heap[parent]):
            break
        heap[place].time, heap[place].row = heap[parent].time, heap[parent].row
        place = parent
    heap[place].time, heap[place].row = time, row


@inlined
def _sink(core: Core, place: int, time: int, row: int) -> None:
    heap, size = core.heap, core.clock.events
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and _earlier(heap[child + 1].time, heap[child + 1].row, heap[child]):
            child += 1
        if _earlier(time, row, heap[child]):
            break
        heap[place].time, heap[place].row = heap[child].time, heap[child].row
        place = child
    heap[place].time, heap[place].row = time, row
