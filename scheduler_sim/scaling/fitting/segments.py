"""Two laws on either side of a break, where the points make them far more probable than one law.

The evidence of the points under all normal forms (``evidence``) is that of one law. For two laws it is the
product of the evidences of either side, each with coefficients and noise of its own, averaged over the places
where a break may be: between two numbers of processes, with ``FEWEST_ASIDE`` on either side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scheduler_sim.arrays import Bools, Floats
from scheduler_sim.scaling.curves import Segments
from scheduler_sim.scaling.fitting.fit import Candidate, Fit
from scheduler_sim.scaling.fitting.pmnf_search import fit_time, modelled
from scheduler_sim.scaling.fitting.sample import Sample, part_of
from scheduler_sim.scaling.fitting.search import searched
from scheduler_sim.scaling.fitting.shapes import terms_of
from scheduler_sim.scaling.parameters import PROCESSES

FEWEST_ASIDE = 4
"""Numbers of processes that a law of its own takes: two fewer would fit anything."""

CLEARLY = np.log(100)
"""Logarithm of the odds of two laws over one above which a break is taken.

Chosen by other draws than those of the table that ``benchmarks.breaks`` writes."""


@dataclass(frozen=True)
class SegmentedFit(Fit):
    """Two fits on either side of a break.

    Attributes
    ----------
    sides : the fits
    between : the numbers of processes next to the break
    odds : logarithm of those of two laws over one
    """

    sides: tuple[Fit, ...] = ()
    between: tuple[float, float] = (1.0, 1.0)
    odds: float = 0.0

    def interval(self, at: ArrayLike) -> tuple[Floats, Floats]:
        """Return the intervals of the side that each P is on."""
        return self._by_side(at, "interval")

    def envelope(self, at: ArrayLike) -> tuple[Floats, Floats]:
        """Return the envelopes of the side that each P is on, beyond the points of the last."""
        return self._by_side(at, "envelope")

    def _by_side(self, at: ArrayLike, what: str) -> tuple[Floats, Floats]:
        p = self._points(at)[:, 0]
        low, high = np.empty(len(p)), np.empty(len(p))
        for side, there in zip(self.sides, _sides(p, self.between), strict=True):
            if there.any():
                low[there], high[there] = getattr(side, what)(p[there])
        return low, high


def fit_laws(
    points: ArrayLike,
    times: ArrayLike,
    name: str = "time",
    *,
    parameters: Sequence[str] = (PROCESSES,),
    scaling: str = "weak",
    level: float = 0.9,
) -> Fit:
    """Fit run times as ``fit_time`` does, by two laws where a break is far more probable than none.

    A break is looked for in points of processes alone, of 8 numbers of them and more. Raises as ``fit_time``.
    """
    one = fit_time(points, times, name, parameters=parameters, scaling=scaling, level=level)
    if tuple(parameters) != (PROCESSES,):
        return one
    place, odds = best_break(modelled(one.sample, one.parameters, scaling)[1])
    if odds < CLEARLY:
        return one
    p = one.sample.points[:, 0]
    between = (float(p[place - 1]), float(p[place]))
    every, values = np.asarray(points, dtype=np.float64).ravel(), np.asarray(times, dtype=np.float64)
    names = (f"{name} up to {between[0]:g}", f"{name} from {between[1]:g} on")
    sides = tuple(
        fit_time(every[there], values[there], side, scaling=scaling, level=level)
        for side, there in zip(names, _sides(every, between), strict=True)
    )
    curve = Segments.of(
        breaks=[float(np.sqrt(between[0] * between[1]))],
        segments={"first": sides[0].curve, "second": sides[1].curve},
    )
    count = np.array([len(side.values) for side in sides])
    left_out = np.array([_error(side) for side in sides])
    candidate = Candidate(curve, float(count @ left_out / count.sum()), np.nan)
    said = f"{name}: a break between P = {between[0]:g} and P = {between[1]:g}: two laws are {_times(odds)}"
    warnings = [f"{said} times as probable as one; beyond the points the second is taken"]
    warnings += [warning for side in sides for warning in side.warnings]
    return SegmentedFit(
        name, curve, one.sample, one.weight, (candidate,), (), tuple(warnings), level, one.parameters,
        sides=sides, between=between, odds=odds,
    )  # fmt: skip


def best_break(sample: Sample) -> tuple[int, float]:
    """Return the place of the first point after the most probable break, and the odds of two laws over one.

    The odds are a logarithm, -inf where there are too few points for a break.
    """
    n = len(sample.values)
    places = np.arange(FEWEST_ASIDE, n - FEWEST_ASIDE + 1)
    if not len(places):
        return 0, -np.inf
    two = np.array(
        [
            _evidence(part_of(sample, slice(None, place))) + _evidence(part_of(sample, slice(place, None)))
            for place in places
        ]
    )
    odds = float(np.logaddexp.reduce(two) - np.log(len(places)) - _evidence(sample))
    return int(places[np.argmax(two)]), odds


def _evidence(sample: Sample) -> float:
    """Return the logarithm of the evidence of points of P under all normal forms."""
    fits = searched(terms_of((PROCESSES,)), sample.points, sample)
    return float(np.logaddexp.reduce(np.concatenate([fit.chance for fit in fits])))


def _sides(p: Floats, between: tuple[float, float]) -> tuple[Bools, Bools]:
    after = p >= np.sqrt(between[0] * between[1])
    return ~after, after


def _error(side: Fit) -> float:
    return next(c.left_out_error for c in side.candidates if c.curve is side.formula)


def _times(odds: float) -> str:
    return f"{np.exp(odds):.2g}" if odds < np.log(1e6) else "over a million"
