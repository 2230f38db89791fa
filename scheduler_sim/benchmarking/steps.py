"""Steps in a series: where its level changed, with a stated rate of false alarms.

A stretch of a series is told from the rest where their ranks differ most: S² n / (l (n − l)) is largest, S
the sum of the l centred ranks of the stretch (circular binary segmentation, Olshen et al. 2004, on ranks, so
that an outlier is no step). Stretches that begin or end the series have any length, others those of a
geometric row.
How often chance alone would differ as much is told by SciPy's permutation test. The parts are then looked
at in the same way, and steps that do not differ from their neighbours are taken back. If the values of a
series without a step come in any order alike, the share of such series in which one is found is
``FALSE_ALARMS`` at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.stats import permutation_test, rankdata

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.streams import stream

FALSE_ALARMS = 0.01
"""Share of series without a step in which one is found."""

SHORTEST = 3
"""Fewest runs on either side of a step: fewer are outliers."""

FEWEST = 8
"""Runs from which on a series is looked at: of fewer no order is rare enough."""

DRAWS = 1999

LENGTHS = 16
"""Lengths of the stretches within a series that are looked at."""

MOST_AT_ONCE = 4_000_000
"""Sums that are held in memory at once."""


@dataclass(frozen=True)
class Step:
    """A change of level.

    Attributes
    ----------
    at : position of the first value after it
    before, after : medians of the values from the step before and up to the step behind
    p : how often chance alone gives as much
    """

    at: int
    before: float
    after: float
    p: float

    @property
    def change(self) -> float:
        """By how much the level changed, as a share of what it was; NaN from 0."""
        return self.after / self.before - 1 if self.before else float("nan")


def find_steps(values: Floats, *, false_alarms: float = FALSE_ALARMS) -> list[Step]:
    """Find the steps of a series in the order of time; none in one of fewer than ``FEWEST`` values.

    The same values give the same steps: draws come from a stream of their own.
    """
    values = np.asarray(values, dtype=np.float64)
    cuts = sorted(_cuts(values, 0, len(values), false_alarms))
    return _confirmed(values, cuts, false_alarms)


def _cuts(values: Floats, first: int, end: int, level: float) -> list[int]:
    """Cut a part at the ends of its most different stretch, as long as chance would not."""
    p, stretch = _test(values[first:end], whole=False)
    if p > level:
        return []
    cuts = [first + at for at in stretch if 0 < at < end - first]
    edges = [first, *cuts, end]
    return cuts + [cut for a, b in pairwise(edges) for cut in _cuts(values, a, b, level)]


def _confirmed(values: Floats, cuts: list[int], level: float) -> list[Step]:
    """Put each cut in its place; take back the least certain until all stand out from their neighbours."""
    while cuts:
        edges, certain = [0, *cuts, len(values)], []
        for i, (first, end) in enumerate(zip(edges[:-2], edges[2:], strict=True)):
            edges[i + 1] = first + _place(values[first:end])
            certain.append(_test(values[first:end], whole=True)[0])
        cuts, worst = edges[1:-1], int(np.argmax(certain))
        if certain[worst] <= level:
            levels = [float(np.median(values[first:end])) for first, end in pairwise(edges)]
            return [Step(*step) for step in zip(cuts, levels[:-1], levels[1:], certain, strict=True)]
        cuts = cuts[:worst] + cuts[worst + 1 :]
    return []


def _place(values: Floats) -> int:
    """Return the cut with the least distances to the medians of both sides; ranks lean to the middle."""
    places = range(SHORTEST, len(values) - SHORTEST + 1)
    return min(places, key=lambda at: _distance(values[:at]) + _distance(values[at:]))


def _distance(values: Floats) -> float:
    return float(np.abs(values - np.median(values)).sum())


def _test(values: Floats, *, whole: bool) -> tuple[float, tuple[int, int]]:
    """Return how often chance alone differs as much at the most different stretch, and where that is.

    ``whole``: only stretches that begin the series.
    """
    n = len(values)
    if n < FEWEST:
        return 1.0, (0, n)
    places = _stretches(n, whole)
    centred = rankdata(values) - (n + 1) / 2

    def differences(ranks: Floats) -> Floats:
        sums = np.concatenate([np.zeros((*ranks.shape[:-1], 1)), np.cumsum(ranks, axis=-1)], axis=-1)
        first, end = places.T
        return np.asarray(
            (sums[..., end] - sums[..., first]) ** 2 * (n / ((end - first) * (n - end + first)))
        )

    def most(ranks: Floats, axis: int) -> Floats:
        assert axis in (-1, ranks.ndim - 1)
        return np.asarray(differences(ranks).max(axis=-1))

    found = permutation_test(
        (centred,),
        most,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=DRAWS,
        batch=max(1, MOST_AT_ONCE // len(places)),
        alternative="greater",
        random_state=stream(0, f"steps of {n} values"),
    )
    first, end = places[int(np.argmax(differences(centred)))]
    return float(found.pvalue), (int(first), int(end))


def _stretches(n: int, whole: bool) -> Ints:
    """Return int64[m, 2]: where stretches begin and end, and so that as many values are left outside."""
    prefixes = [(0, end) for end in range(SHORTEST, n - SHORTEST + 1)]
    if whole:
        return np.array(prefixes, dtype=np.int64)
    lengths = np.unique(np.geomspace(SHORTEST, max(n - 2 * SHORTEST, SHORTEST), LENGTHS).astype(np.int64))
    inner = [
        (first, first + length)
        for length in lengths.tolist()
        for first in range(SHORTEST, n - length - SHORTEST + 1)
    ]
    return np.array(prefixes + inner, dtype=np.int64)
