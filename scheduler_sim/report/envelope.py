"""Step functions cut into columns: a million changes, drawn without losing one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.arrays import Ints
from scheduler_sim.result.steps import Steps, value_at


@dataclass(frozen=True)
class Envelope:
    """A step function over columns of time.

    Attributes
    ----------
    edges : int64[n + 1], seconds
    area : int64[n], the integral over each column, exact
    low, high : int64[n], least and largest value in each column
    exact : every column holds one value, so nothing was lost
    """

    edges: Ints
    area: Ints
    low: Ints
    high: Ints
    exact: bool

    @property
    def mean(self) -> NDArray[np.float64]:
        """Time-weighted mean of each column, float64[n]."""
        return self.area / np.diff(self.edges)


def envelope(steps: Steps, first: int, last: int, columns: int) -> Envelope:
    """Cut a step function between two times into at most ``columns`` columns.

    With no more changes than columns each value gets a column of its own; else the
    columns are equally wide, to a second.
    """
    time = steps[0]
    inside = time[(time > first) & (time < last)]
    exact = len(inside) < columns
    if exact:
        edges = np.concatenate(([first], inside, [last])).astype(np.int64)
    else:
        edges = np.unique(np.linspace(first, last, columns + 1).astype(np.int64))
    pieces, values, begins = _pieces(steps, edges)
    return Envelope(
        edges=edges,
        area=np.add.reduceat(values * np.diff(pieces), begins),
        low=np.minimum.reduceat(values, begins),
        high=np.maximum.reduceat(values, begins),
        exact=exact,
    )


def means(steps: Steps, edges: Ints) -> NDArray[np.float64]:
    """Return the time-weighted mean of a step function between each two edges, float64[n]."""
    pieces, values, begins = _pieces(steps, edges)
    return np.add.reduceat(values * np.diff(pieces), begins) / np.diff(edges)


def _pieces(steps: Steps, edges: Ints) -> tuple[Ints, Ints, Ints]:
    """Cut at the edges and at every change between them: times, values, first piece of each column."""
    time = steps[0]
    inside = time[(time > edges[0]) & (time < edges[-1])]
    where = np.searchsorted(inside, edges)
    fresh = ~np.isin(edges, inside, assume_unique=True)
    pieces = np.insert(inside, where[fresh], edges[fresh])
    return pieces, value_at(steps, pieces[:-1]), np.searchsorted(pieces[:-1], edges[:-1])
