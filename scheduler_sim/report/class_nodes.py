"""How many nodes the components of each class held over time: a picture of more than can be told apart."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.report.wording import span_text
from scheduler_sim.units import DAY, HOUR, MINUTE

COLUMNS = 200
"""Columns of time at most: each is some pixels wide, so that no line in the picture is a hair."""

WIDTHS = (
    *(MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR),
    *(DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY),
)
"""Widths of a column that people know, s."""


def column_width(seconds: int) -> int:
    """Return the width of a column of time, s, of which at most ``COLUMNS`` make up a span."""
    return next((width for width in WIDTHS if seconds <= COLUMNS * width), -(-seconds // COLUMNS))


def width_words(seconds: int) -> str:
    """Say how wide a column is, after ``each``: ``day``, ``2 days``, ``6 h``."""
    days, rest = divmod(seconds, DAY)
    if rest:
        return span_text(seconds)
    return "day" if days == 1 else f"{days:,} days"


def column_edges(first: int, last: int) -> Ints:
    """Return where columns begin and end from ``first`` to ``last``, s: int64[n + 1]."""
    return np.append(np.arange(first, last, column_width(last - first), dtype=np.int64), last)


def nodes_by_class(
    start: Ints, end: Ints, nodes: Ints | Floats, code: Ints, codes: int, edges: Ints
) -> Floats:
    """Return the mean number of nodes that each class held in each column: float64[codes, n].

    Exact however short a component is: the integral of the nodes held up to each edge, and its differences.

    Parameters
    ----------
    start, end : int64[m], s; from when until when ``nodes`` were held.
    code : int64[m], class of each, below ``codes``.
    edges : int64[n + 1], s, where columns begin and end.
    """
    held = np.empty((codes, len(edges) - 1))
    for one in range(codes):
        own = code == one
        area = _area(start[own], nodes[own], edges) - _area(end[own], nodes[own], edges)
        held[one] = np.diff(area) / np.diff(edges)
    return held


def _area(moments: Ints, nodes: Ints | Floats, edges: Ints) -> Floats:
    """Integrate up to each edge what begins at ``moments`` and stays, counted from the first edge."""
    order = np.argsort(moments, kind="stable")
    since = (moments[order] - edges[0]).astype(np.float64)
    there = np.searchsorted(since, edges - edges[0])
    together = np.concatenate(([0.0], np.cumsum(nodes[order], dtype=np.float64)))
    weighted = np.concatenate(([0.0], np.cumsum(nodes[order] * since)))
    area: Floats = together[there] * (edges - edges[0]) - weighted[there]
    return area
