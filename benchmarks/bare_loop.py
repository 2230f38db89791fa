"""The speed limit: FCFS and EASY as bare compiled loops that leave nothing but starts.

One module, rigid jobs in order of submission, arrays in and starts out: no recording, no
dependencies, no orders, no outside. Made as well as such a loop is made: a heap of ends, a
sorted list of planned ends, and a short cut where only arrivals happened. They give the
engine's own starts (``check`` in ``measure`` compares them), so a ratio between the two is
the price of all that the engine does beside.

All arrays are int64: submit (s, ascending), nodes (at most ``machine``), limit (s),
duration (s, at most the limit).
"""

from __future__ import annotations

import numba
import numpy as np

NEVER = 1 << 60


@numba.njit(inline="always")
def push(heap, size, time, row):
    """Add an end to a heap of (time, row)."""
    place = size
    while place > 0:
        parent = (place - 1) >> 1
        if heap[parent, 0] <= time:
            break
        heap[place, 0], heap[place, 1] = heap[parent, 0], heap[parent, 1]
        place = parent
    heap[place, 0], heap[place, 1] = time, row


@numba.njit(inline="always")
def pop(heap, size):
    """Take the earliest end off a heap of ``size`` entries; returns its row."""
    first = heap[0, 1]
    time, row = heap[size - 1, 0], heap[size - 1, 1]
    place, child = 0, 1
    while child < size - 1:
        if child + 2 < size and heap[child + 1, 0] < heap[child, 0]:
            child += 1
        if heap[child, 0] >= time:
            break
        heap[place, 0], heap[place, 1] = heap[child, 0], heap[child, 1]
        place, child = child, 2 * child + 1
    heap[place, 0], heap[place, 1] = time, row
    return first


@numba.njit(cache=True)
def fcfs(submit, nodes, limit, duration, machine):
    """Start times under FCFS: the queue is the stretch of jobs from ``head`` to ``seen``."""
    count = len(submit)
    starts = np.full(count, -1, np.int64)
    heap = np.empty((machine + 2, 2), np.int64)
    head = seen = running = 0
    free = machine
    while head < count or running > 0:
        now = heap[0, 0] if running > 0 else NEVER
        if seen < count:
            now = min(now, submit[seen])
        while running > 0 and heap[0, 0] == now:
            free += nodes[pop(heap, running)]
            running -= 1
        while seen < count and submit[seen] == now:
            seen += 1
        while head < seen and nodes[head] <= free:
            starts[head] = now
            free -= nodes[head]
            push(heap, running, now + duration[head], head)
            running += 1
            head += 1
    return starts


@numba.njit(inline="always")
def place_in(plan, size, time):
    """First place of a sorted list whose time is later."""
    low, high = 0, size
    while low < high:
        middle = (low + high) >> 1
        if plan[middle, 0] > time:
            high = middle
        else:
            low = middle + 1
    return low


@numba.njit(cache=True)
def easy(submit, nodes, limit, duration, machine):
    """Start times under EASY: ``follow`` chains those who wait, from the front ``follow[count]``."""
    count = len(submit)
    starts = np.full(count, -1, np.int64)
    heap = np.empty((machine + 2, 2), np.int64)
    plan = np.empty((machine + 2, 2), np.int64)
    follow = np.full(count + 1, -1, np.int64)
    seen = running = 0
    free, last, shadow, extra = machine, count, NEVER, 0
    while seen < count or running > 0:
        now = heap[0, 0] if running > 0 else NEVER
        if seen < count:
            now = min(now, submit[seen])
        ended = False
        while running > 0 and heap[0, 0] == now:
            row = pop(heap, running)
            running -= 1
            free += nodes[row]
            place = place_in(plan, running + 1, starts[row] + limit[row] - 1)
            while plan[place, 1] != row:
                place += 1
            for i in range(place, running):
                plan[i, 0], plan[i, 1] = plan[i + 1, 0], plan[i + 1, 1]
            ended = True
        newcomers = last  # the last who waited before those who come now
        while seen < count and submit[seen] == now:
            follow[last] = seen
            last = seen
            seen += 1
        fresh = ended or newcomers == count  # else the front stays: try the newcomers alone
        before = count if fresh else newcomers
        blocked = not fresh
        while follow[before] >= 0 and free > 0:
            row = follow[before]
            fits = nodes[row] <= free
            if not fits and not blocked:  # the front: when planned ends free enough, and what is left
                blocked = True
                available, place = free, 0
                while available < nodes[row]:
                    available += nodes[plan[place, 1]]
                    place += 1
                shadow = plan[place - 1, 0]
                while place < running and plan[place, 0] == shadow:
                    available += nodes[plan[place, 1]]
                    place += 1
                extra = available - nodes[row]
            elif fits and blocked and now + limit[row] > shadow:
                fits = nodes[row] <= extra
                extra -= nodes[row] if fits else 0
            if not fits:
                before = row
                continue
            follow[before] = follow[row]
            if last == row:
                last = before
            starts[row] = now
            free -= nodes[row]
            place = place_in(plan, running, now + limit[row])
            for i in range(running, place, -1):
                plan[i, 0], plan[i, 1] = plan[i - 1, 0], plan[i - 1, 1]
            plan[place, 0], plan[place, 1] = now + limit[row], row
            push(heap, running, now + duration[row], row)
            running += 1
    return starts


LOOPS = {"fcfs": fcfs, "easy": easy}
