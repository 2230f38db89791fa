"""Which component stood first in a module's queue, at every instant of a wait."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.report.module_view import ModuleView
from scheduler_sim.report.queue_order import QueueOrder

MOST_LOOKS = 2000
"""Instants at which an order that moves is evaluated; between them the front is taken to stay."""

BLOCK = 64


def fronts(view: ModuleView, order: QueueOrder, one: int, instants: Ints) -> Ints:
    """Return for each instant the position of the first waiting component, ``one`` included.

    Parameters
    ----------
    one : position of a component that waits at all of the instants
    instants : int64[n], seconds, increasing
    """
    if order.moves:
        return _fronts_of_moving_order(view, order, instants)
    return _fronts_of_static_order(view, order, one, instants)


def _fronts_of_static_order(view: ModuleView, order: QueueOrder, one: int, instants: Ints) -> Ints:
    """Paint the instants in queue order: the first takes all that is not painted yet."""
    waits = np.flatnonzero((view.eligible <= instants[-1]) & (view.leave > instants[0]))
    ahead = waits[~order.after(waits, one)]
    ahead = order.sorted(ahead)
    begins = np.searchsorted(instants, view.eligible[ahead]).tolist()
    ends = np.searchsorted(instants, view.leave[ahead]).tolist()
    painted = np.full(len(instants), one, dtype=np.int64)
    next_bare = list(range(len(instants) + 1))
    bare = len(instants)
    for position, begin, end in zip(ahead.tolist(), begins, ends, strict=True):
        place = _find(next_bare, begin)
        while place < end:
            painted[place] = position
            bare -= 1
            next_bare[place] = place + 1
            place = _find(next_bare, place + 1)
        if not bare:
            break
    return painted


def _find(parent: list[int], place: int) -> int:
    """Return the first bare place from ``place`` on, and shorten the way there."""
    root = place
    while parent[root] != root:
        root = parent[root]
    while parent[place] != root:
        parent[place], place = root, parent[place]
    return root


def _fronts_of_moving_order(view: ModuleView, order: QueueOrder, instants: Ints) -> Ints:
    """Evaluate the order at up to ``MOST_LOOKS`` instants, and let each front stay until the next."""
    looks = np.unique(np.linspace(0, len(instants) - 1, min(len(instants), MOST_LOOKS)).astype(np.int64))
    found = np.empty(len(looks), dtype=np.int64)
    for at in range(0, len(looks), BLOCK):
        times = instants[looks[at : at + BLOCK]]
        near = np.flatnonzero((view.eligible <= times[-1]) & (view.leave > times[0]))
        for step, time in enumerate(times.tolist()):
            waiting = near[(view.eligible[near] <= time) & (time < view.leave[near])]
            found[at + step] = order.first(waiting, time)
    reach = np.diff(np.append(looks, len(instants)))
    return np.repeat(found, reach)
