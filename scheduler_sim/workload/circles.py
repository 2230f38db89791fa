"""Circles among rows that wait for one another."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scheduler_sim.arrays import Bools, Ints


def on_circles(row: Ints, after: Ints) -> Bools:
    """Say of each pair, where ``row`` waits for ``after``, whether it lies on a circle.

    A pair does if both its ends are in one strongly connected component (Sharir 1981: those that reach
    one another are what is left to reach, backwards, from the last to be done with).
    """
    on = np.zeros(len(row), dtype=bool)
    if (after < row).all():  # as in nearly every trace: all wait for what came before
        return on
    label = _strong(row, after)
    on[:] = [label[one] == label[other] for one, other in zip(row.tolist(), after.tolist(), strict=True)]
    return on


def _strong(row: Ints, after: Ints) -> dict[int, int]:
    """Give all that reach one another the same label."""
    there, back = _neighbours(row, after), _neighbours(after, row)
    done: dict[int, None] = {}
    for start in there:
        done.update(dict.fromkeys(_finished(start, there, done)))
    label: dict[int, int] = {}
    for start in reversed(done):
        for one in _finished(start, back, label):
            label[one] = start
    return label


def _neighbours(row: Ints, after: Ints) -> dict[int, list[int]]:
    neighbours: dict[int, list[int]] = {one: [] for one in [*row.tolist(), *after.tolist()]}
    for one, other in zip(row.tolist(), after.tolist(), strict=True):
        neighbours[one].append(other)
    return neighbours


def _finished(
    start: int, neighbours: dict[int, list[int]], known: dict[int, None] | dict[int, int]
) -> list[int]:
    """What is reached from ``start`` and not known, each when all beyond it is done with."""
    if start in known:
        return []
    finished, seen = [], {start}
    path: list[tuple[int, Iterator[int]]] = [(start, iter(neighbours[start]))]
    while path:
        one, further = path[-1]
        for other in further:
            if other not in seen and other not in known:
                seen.add(other)
                path.append((other, iter(neighbours[other])))
                break
        else:
            path.pop()
            finished.append(one)
    return finished
