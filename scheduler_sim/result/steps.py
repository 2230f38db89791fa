"""Step functions of time: what is in use, what waits.

A step function is a pair of int64 arrays (times, values): strictly increasing times at
which the value changes; 0 before the first, constant between two.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Steps = tuple[np.ndarray, np.ndarray]


def sum_of_intervals(start: np.ndarray, end: np.ndarray, amount: np.ndarray) -> Steps:
    """Add up amounts that hold from start (included) to end (excluded); empty intervals hold nothing."""
    return from_changes(np.concatenate((start, end)), np.concatenate((amount, -amount)))


def from_changes(time: np.ndarray, change: np.ndarray) -> Steps:
    """Add up changes, all those of one instant at once."""
    if len(time) == 0:
        return time, change
    order = np.argsort(time, kind="stable")
    time, value = time[order], np.cumsum(change[order])
    last_of_instant = np.append(time[1:] != time[:-1], True)
    return from_samples(time[last_of_instant], value[last_of_instant])


def from_samples(time: np.ndarray, value: np.ndarray) -> Steps:
    """Keep of (time, value) samples those at which the value changes."""
    changes = np.diff(value, prepend=0) != 0
    return time[changes], value[changes]


def value_at(steps: Steps, instants: np.ndarray) -> np.ndarray:
    """Evaluate at each instant."""
    times, values = steps
    return np.append(0, values)[np.searchsorted(times, instants, side="right")]


def first_difference(one: Steps, other: Steps) -> tuple[int, int, int] | None:
    """Find the first instant at which two step functions differ: (instant, one's value, other's value)."""
    if np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1]):
        return None
    instants = np.union1d(one[0], other[0])
    left, right = value_at(one, instants), value_at(other, instants)
    at = int(np.flatnonzero(left != right)[0])
    return int(instants[at]), int(left[at]), int(right[at])


def time_at_least(steps: Steps, least: int, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return int64[n], how long the value is at least ``least`` (above 0) from each first to its last."""
    times, values = steps
    if not len(times):
        return np.zeros(len(first), dtype=np.int64)
    reached = values >= least
    before = np.append(0, np.cumsum(reached[:-1] * np.diff(times)))

    def until(instants: np.ndarray) -> np.ndarray:
        place = np.searchsorted(times, instants, side="right") - 1
        inside = before[place] + reached[place] * (instants - times[place])
        return np.asarray(np.where(place < 0, 0, inside))

    seconds: np.ndarray = np.maximum(until(last) - until(first), 0)
    return seconds


def integral(steps: Steps) -> int:
    """Integrate a step function that ends at 0, over all time."""
    times, values = steps
    return int((values[:-1] * np.diff(times)).sum()) if len(times) else 0


def areas(steps: Steps, spans: Sequence[tuple[int, int]]) -> np.ndarray:
    """Integrate a step function over each span of time."""
    times, values = steps
    edges = np.array(spans, dtype=np.int64).reshape(-1, 2)
    if not len(times):
        return np.zeros(len(edges), dtype=values.dtype)
    before = np.append(0, np.cumsum(values[:-1] * np.diff(times)))
    place = np.searchsorted(times, edges, side="right") - 1
    until = np.where(place < 0, 0, before[place] + values[place] * (edges - times[place]))
    area: np.ndarray = until[:, 1] - until[:, 0]
    return area
