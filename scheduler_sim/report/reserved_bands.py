"""Advance reservations as bands on the nodes that they hold, as far as a result tells of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.report.leaf_order import in_leaf_order, leaves_of
from scheduler_sim.report.module_view import told_apart
from scheduler_sim.report.wording import count, listing, plain
from scheduler_sim.result.node_lists import runs_in

Keys = Mapping[str, Any]

MOST_TURNS, MOST_NAMES = 200, 5
"""Turns of one reservation that are drawn, and reservations that are named which are not."""


class Band(NamedTuple):
    """A turn of a reservation on nodes beside one another, from ``low`` up to, but not with, ``high``."""

    name: str
    start: int
    end: int
    low: int
    high: int


def are_placed(manifest: Keys, module: str) -> bool:
    """Whether the rows of a module are its nodes, so that bands can lie on them."""
    return module in told_apart(manifest) or module in (manifest.get("topology") or {})


def bands(manifest: Keys, module: str, first: int, last: int) -> list[Band]:
    """Return the bands of a module within a span of time, clipped to it; nodes as a Gantt chart has them.

    Where nodes are only counted, a band has as many as it holds, from 0 on.
    """
    found = []
    for one in manifest.get("reserved") or ():
        if not is_told(one) or not one["nodes"].get(module):
            continue
        _, low, high = runs_in([one["nodes"][module]])
        pieces = _placed(manifest, module, low, high + 1)
        for start, end in islice(turns(one, first, last), MOST_TURNS):
            begin, stop = max(start, first), min(end, last)
            found += [Band(plain(one["name"]), begin, stop, a, b) for a, b in pieces]
    return found


def counted(found: list[Band]) -> tuple[Ints, Ints]:
    """Return times and the number of nodes in bands from each on; those of several count once for each."""
    times = np.unique([time for one in found for time in (one.start, one.end)]).astype(np.int64)
    values = np.zeros(len(times), dtype=np.int64)
    for one in found:
        values[(times >= one.start) & (times < one.end)] += one.high - one.low
    return times, values


def left_out(manifest: Keys) -> list[str]:
    """Say which reservations are not drawn, as the result does not state their nodes, or when."""
    names = [plain(one["name"]) for one in manifest.get("reserved") or () if not is_told(one)]
    shown, more = names[:MOST_NAMES], len(names) - MOST_NAMES
    if not names:
        return []
    said = [*shown, *([f"{more:,} more"] if more > 0 else [])]
    return [
        f"Not drawn: {count(len(names), 'reservation')} of which a result does not state nodes or turns:"
        f" {listing(said)}."
    ]


def is_told(one: Keys) -> bool:
    """Whether a result states its nodes and turns."""
    return one.keys() >= {"start", "end", "every_s", "nodes"}


def _placed(manifest: Keys, module: str, low: Ints, high: Ints) -> list[tuple[int, int]]:
    """Where stretches of nodes stand."""
    if not are_placed(manifest, module):
        return [(0, int((high - low).sum()))]
    _, begin, behind = in_leaf_order(leaves_of(manifest, module), np.zeros_like(low), low, high)
    return [(int(a), int(b)) for a, b in zip(begin, behind, strict=True)]


def turns(one: Keys, first: int, last: int) -> Iterator[tuple[int, int]]:
    """The turns that touch a span of time."""
    start, end, step = int(one["start"]), int(one["end"]), int(one["every_s"])
    skipped = max(0, (first - end) // step + 1) * step if step else 0
    start, end = start + skipped, end + skipped
    while start < last:
        if end > first:
            yield start, end
        if not step:
            return
        start, end = start + step, end + step
