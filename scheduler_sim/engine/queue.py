"""Who goes first: the queue, in its total order (rule 3).

The queue is an array kept in order, in a window that moves either way. With an
order that depends on time it is sorted anew at each pass; between two passes it
changes little, so the sort is one that is quick on what is nearly sorted.
"""

from __future__ import annotations

from scheduler_sim.engine.crew import leader_of
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.state import (
    CANDIDATES,
    HEAD,
    NEW,
    NEWCOMERS,
    NOW,
    ORIGIN,
    QUEUE,
    TAIL,
    TWO_ORDERS,
    WAITING,
    Core,
    Filler,
)


@part
def goes_before(core: Core, one: int, other: int) -> bool:
    """Partition priority, then the order's key, then submit time, then trace order."""
    a, b = core.comp[one], core.comp[other]
    if a.tier != b.tier:
        return a.tier > b.tier
    if a.key != b.key:
        return a.key < b.key
    if a.submit != b.submit:
        return a.submit < b.submit
    return one < other


@part
def insert(core: Core, row: int) -> bool:
    """Put ``row`` in its place; True if that is the end of the queue."""
    lists = core.lists
    head, tail = core.clock[HEAD], core.clock[TAIL]
    if tail == lists.shape[1]:
        for i in range(tail - head):
            lists[QUEUE, i] = lists[QUEUE, head + i]
        head, tail = 0, tail - head
        core.clock[HEAD] = 0
    if head == tail or goes_before(core, lists[QUEUE, tail - 1], row):
        lists[QUEUE, tail] = row
        core.clock[TAIL] = tail + 1
        return True
    place = _place_of(core, row, head, tail)
    if head > 0 and place - head < tail - place:
        for i in range(head, place):
            lists[QUEUE, i - 1] = lists[QUEUE, i]
        lists[QUEUE, place - 1] = row
        core.clock[HEAD] = head - 1
        core.clock[TAIL] = tail
    else:
        for i in range(tail, place, -1):
            lists[QUEUE, i] = lists[QUEUE, i - 1]
        lists[QUEUE, place] = row
        core.clock[TAIL] = tail + 1
    return False


@part
def remove(core: Core, row: int) -> None:
    """Take a waiting component, or the unit it is in, out of the queue or out of the newcomers."""
    row = leader_of(core, row)
    if row < 0:
        return
    for i in range(core.clock[NEW]):
        if core.lists[NEWCOMERS, i] == row:
            core.clock[NEW] -= 1
            core.lists[NEWCOMERS, i] = core.lists[NEWCOMERS, core.clock[NEW]]
            return
    tail = core.clock[TAIL]
    place = _place_of(core, row, core.clock[HEAD], tail)
    if place == tail or core.lists[QUEUE, place] != row:
        return  # late for its appointment, it waits beside the queue
    for i in range(place, tail - 1):
        core.lists[QUEUE, i] = core.lists[QUEUE, i + 1]
    core.clock[TAIL] = tail - 1


@part
def close_gaps(core: Core, stop: int) -> None:
    """Drop from the queue, up to place ``stop``, those that no longer wait."""
    lists = core.lists
    kept = stop
    for i in range(stop - 1, core.clock[HEAD] - 1, -1):
        if core.comp[lists[QUEUE, i]].state == WAITING:
            kept -= 1
            lists[QUEUE, kept] = lists[QUEUE, i]
    core.clock[HEAD] = kept


@part
def insert_newcomers(core: Core) -> None:
    """Put this step's newcomers into the queue."""
    for i in range(core.clock[NEW]):
        insert(core, core.lists[NEWCOMERS, i])


@part
def newcomers_come_last(core: Core) -> bool:
    """Sort this step's newcomers; True if all of them stand behind the whole queue."""
    sort_newcomers(core)
    head, tail = core.clock[HEAD], core.clock[TAIL]
    if core.clock[NEW] == 0 or head == tail:
        return True
    return goes_before(core, core.lists[QUEUE, tail - 1], core.lists[NEWCOMERS, 0])


@part
def sort_newcomers(core: Core) -> None:
    """Bring this step's newcomers into queue order."""
    _sort(core, NEWCOMERS, 0, core.clock[NEW])


@part
def refresh(core: Core, fill_keys: Filler) -> None:
    """Orders that depend on time: new keys for all who wait, and the queue sorted by them."""
    insert_newcomers(core)
    head, size = core.clock[HEAD], core.clock[TAIL] - core.clock[HEAD]
    rows = core.lists[QUEUE, head : head + size]
    fill_keys(core.clock[NOW] - core.clock[ORIGIN], rows, core.columns, core.keys)
    for i in range(size):
        core.comp[rows[i]].key = core.keys[i]
    _sort(core, QUEUE, head, head + size)


@part
def sort_queue(core: Core) -> None:
    """Bring those who wait into order again: their keys have changed."""
    _sort(core, QUEUE, core.clock[HEAD], core.clock[TAIL])


@part
def sort_candidates(core: Core, fill_second: Filler, size: int) -> None:
    """Bring the candidates into the backfill order, by swapping its keys in for a moment."""
    if core.rules[TWO_ORDERS] == 2:
        rows = core.lists[CANDIDATES, :size]
        fill_second(core.clock[NOW] - core.clock[ORIGIN], rows, core.columns, core.keys)
        for i in range(size):
            core.comp[rows[i]].second_key = core.keys[i]
    _swap_keys(core, size)
    _sort(core, CANDIDATES, 0, size)
    _swap_keys(core, size)


@part
def _swap_keys(core: Core, size: int) -> None:
    for i in range(size):
        it = core.comp[core.lists[CANDIDATES, i]]
        it.key, it.second_key = it.second_key, it.key


@part
def _place_of(core: Core, row: int, low: int, high: int) -> int:
    """First place whose component does not go before ``row``."""
    while low < high:
        middle = (low + high) // 2
        if goes_before(core, core.lists[QUEUE, middle], row):
            low = middle + 1
        else:
            high = middle
    return low


@part
def _sort(core: Core, which: int, low: int, high: int) -> None:
    """Insertion sort while little moves, else heap sort."""
    lists = core.lists
    patience = 32 * (high - low) + 64
    for i in range(low + 1, high):
        row = lists[which, i]
        j = i
        while j > low and goes_before(core, row, lists[which, j - 1]):
            lists[which, j] = lists[which, j - 1]
            j -= 1
        lists[which, j] = row
        patience -= i - j
        if patience < 0:
            _heap_sort(core, which, low, high - low)
            return


@part
def _heap_sort(core: Core, which: int, low: int, size: int) -> None:
    for top in range(size // 2 - 1, -1, -1):
        _sink(core, which, low, top, size)
    lists = core.lists
    for last in range(size - 1, 0, -1):
        lists[which, low], lists[which, low + last] = lists[which, low + last], lists[which, low]
        _sink(core, which, low, 0, last)


@part
def _sink(core: Core, which: int, low: int, place: int, size: int) -> None:
    """Let the component at ``place`` sink until nobody below it goes later."""
    lists = core.lists
    row = lists[which, low + place]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and goes_before(core, lists[which, low + child], lists[which, low + child + 1]):
            child += 1
        if not goes_before(core, row, lists[which, low + child]):
            break
        lists[which, low + place] = lists[which, low + child]
        place = child
    lists[which, low + place] = row
