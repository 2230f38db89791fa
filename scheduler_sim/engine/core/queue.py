"""Which job goes first: the queue, in its total order (rule 3).

The queue is an array kept in order, in a window that moves either way. With an
order that depends on time it is sorted anew at each pass; between two passes it
changes little, so the sort is one that is quick on what is nearly sorted.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import event, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Ints
from scheduler_sim.engine.core.state import WAITING, Core
from scheduler_sim.engine.core.waiting import measure_wait


@question
def entry_of(core: Core, row: int) -> int:
    """The job that stands in the queue for ``row``: itself; -1 while there is none."""
    return row


@part
def goes_before(core: Core, one: int, other: int) -> bool:
    """Partition priority, then the order's key, then submit time, then trace order."""
    a, b = core.ranks[one], core.ranks[other]
    if a.tier != b.tier:
        return a.tier > b.tier
    if a.key != b.key:
        return a.key < b.key
    if core.jobs[one].submit != core.jobs[other].submit:
        return core.jobs[one].submit < core.jobs[other].submit
    return one < other


@part
def insert(core: Core, row: int) -> bool:
    """Put ``row`` in its place; True if that is the end of the queue. From now on its wait is measured."""
    if not (core.rules.complex or core.rules.named or core.jobs[row].measured):
        measure_wait(core, row)
    waiting = core.queue.waiting
    head, tail = core.queue.at.head, core.queue.at.tail
    if tail == len(waiting):
        for i in range(tail - head):
            waiting[i] = waiting[head + i]
        head, tail = 0, tail - head
        core.queue.at.head = 0
    if head == tail or goes_before(core, waiting[tail - 1], row):
        waiting[tail] = row
        core.queue.at.tail = tail + 1
        return True
    place = _place_of(core, row, head, tail)
    if head > 0 and place - head < tail - place:
        for i in range(head, place):
            waiting[i - 1] = waiting[i]
        waiting[place - 1] = row
        core.queue.at.head = head - 1
        core.queue.at.tail = tail
    else:
        for i in range(tail, place, -1):
            waiting[i] = waiting[i - 1]
        waiting[place] = row
        core.queue.at.tail = tail + 1
    return False


@part
def remove(core: Core, row: int) -> None:
    """Take a waiting component, or the unit it is in, out of the queue or out of the newcomers."""
    row = entry_of(core, row)
    if row < 0:
        return
    for i in range(core.queue.at.new):
        if core.queue.newcomers[i] == row:
            core.queue.at.new -= 1
            core.queue.newcomers[i] = core.queue.newcomers[core.queue.at.new]
            return
    tail = core.queue.at.tail
    place = _place_of(core, row, core.queue.at.head, tail)
    if place == tail or core.queue.waiting[place] != row:
        return  # late for its reservation, it waits beside the queue
    for i in range(place, tail - 1):
        core.queue.waiting[i] = core.queue.waiting[i + 1]
    core.queue.at.tail = tail - 1


@part
def close_gaps(core: Core, stop: int) -> None:
    """Drop from the queue, up to place ``stop``, those that no longer wait."""
    waiting = core.queue.waiting
    kept = stop
    for i in range(stop - 1, core.queue.at.head - 1, -1):
        if core.jobs[waiting[i]].state == WAITING:
            kept -= 1
            waiting[kept] = waiting[i]
    core.queue.at.head = kept


@part
def insert_newcomers(core: Core) -> None:
    """Put this step's newcomers into the queue."""
    for i in range(core.queue.at.new):
        insert(core, core.queue.newcomers[i])


@part
def newcomers_come_last(core: Core) -> bool:
    """Sort this step's newcomers; True if all of them stand behind the whole queue."""
    sort_newcomers(core)
    head, tail = core.queue.at.head, core.queue.at.tail
    if core.queue.at.new == 0 or head == tail:
        return True
    return goes_before(core, core.queue.waiting[tail - 1], core.queue.newcomers[0])


@part
def sort_newcomers(core: Core) -> None:
    """Bring this step's newcomers into queue order."""
    sort_rows(core, core.queue.newcomers, 0, core.queue.at.new)


@part
def refresh(core: Core) -> None:
    """Newcomers take their places; where the order depends on time, all jobs get new keys and theirs."""
    insert_newcomers(core)
    if not core.rules.dynamic:
        return
    head, size = core.queue.at.head, core.queue.at.tail - core.queue.at.head
    rows = core.queue.waiting[head : head + size]
    core.orders.fill(core.clock.now - core.clock.origin, rows, core.orders.columns, core.orders.keys)
    for i in range(size):
        core.ranks[rows[i]].key = core.orders.keys[i]
    sort_rows(core, core.queue.waiting, head, head + size)


@part
def sort_queue(core: Core) -> None:
    """Bring the jobs that wait into order again: their keys have changed."""
    sort_rows(core, core.queue.waiting, core.queue.at.head, core.queue.at.tail)


@event
def sort_candidates(core: Core, size: int) -> None:
    """So many candidates come into an order of their own."""


@part
def _place_of(core: Core, row: int, low: int, high: int) -> int:
    """First place whose component does not go before ``row``."""
    while low < high:
        middle = (low + high) // 2
        if goes_before(core, core.queue.waiting[middle], row):
            low = middle + 1
        else:
            high = middle
    return low


@part
def sort_rows(core: Core, rows: Ints, low: int, high: int) -> None:
    """Bring jobs into queue order: insertion sort while little moves, else heap sort."""
    patience = 32 * (high - low) + 64
    for i in range(low + 1, high):
        row = rows[i]
        j = i
        while j > low and goes_before(core, row, rows[j - 1]):
            rows[j] = rows[j - 1]
            j -= 1
        rows[j] = row
        patience -= i - j
        if patience < 0:
            break
    else:
        return
    size = high - low
    for top in range(size // 2 - 1, -1, -1):
        _sink(core, rows, low, top, size)
    for last in range(size - 1, 0, -1):
        rows[low], rows[low + last] = rows[low + last], rows[low]
        _sink(core, rows, low, 0, last)


@part
def _sink(core: Core, rows: Ints, low: int, place: int, size: int) -> None:
    """Let the component at ``place`` sink until none below it goes later."""
    row = rows[low + place]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and goes_before(core, rows[low + child], rows[low + child + 1]):
            child += 1
        if not goes_before(core, row, rows[low + child]):
            break
        rows[low + place] = rows[low + child]
        place = child
    rows[low + place] = row
