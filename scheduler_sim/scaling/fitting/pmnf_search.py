"""Fitting run times by normal forms: the most probable, and the median of all by their odds.

Far out forms differ a hundredfold that a few noisy points hardly tell apart; the error of predicting each
point from the others chooses worse than their odds, and one form alone predicts worse than the median of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scheduler_sim.errors import InputError
from scheduler_sim.scaling.curves import Curve, LostCycles, Mixture, Pmnf
from scheduler_sim.scaling.fitting.evidence import Fits
from scheduler_sim.scaling.fitting.finer_powers import finer_powers
from scheduler_sim.scaling.fitting.fit import LIKELY, Candidate, Fit
from scheduler_sim.scaling.fitting.points import checked
from scheduler_sim.scaling.fitting.regression import smape
from scheduler_sim.scaling.fitting.sample import Sample
from scheduler_sim.scaling.fitting.search import CONSTANT, FEWEST, searched
from scheduler_sim.scaling.fitting.shapes import NONE, Terms, terms_of
from scheduler_sim.scaling.parameters import PROCESSES

POSSIBLE, MOST = 1e-4, 400
"""Odds, over the most probable form, below which one has no part in what is predicted; and most that have."""

TOGETHER = 0.999
"""Correlation of the logarithms of two parameters above which points cannot tell what each does."""

LEAST_PART, MOST_PARTS = 0.01, 30
"""The same of the parts of a mixture, which a profile writes down."""


def fit_time(
    points: ArrayLike,
    times: ArrayLike,
    name: str = "time",
    *,
    parameters: Sequence[str] = (PROCESSES,),
    scaling: str = "weak",
    level: float = 0.9,
) -> Fit:
    """Find a constant and terms c p^i log2(p)^j, all c >= 0, for run times.

    Parameters
    ----------
    points : float[n], P, or float[n, k], a column a parameter; the same point may stand several times
    times : float[n], s
    parameters : what the columns are, of ``PARAMETERS``
    scaling : weak: the time is modelled; strong: processes x time, as no term of a normal form falls
    level : of the prediction interval

    Up to two terms of one parameter, up to four of several. Relative errors are minimised: noise of run
    times is relative. The curve is the median of all forms by their odds, where plain forms are more probable
    beforehand (``shapes.PER_TERM``, ``PER_STEP``); where one has more than half of them it is that form. One
    or two points give a constant; a second term takes ``FEWEST``.

    Raises InputError for points that cannot be, an unknown ``scaling``, and strong scaling without processes.
    """
    named = tuple(parameters)
    sample = checked(name, points, times, "time", named)
    if scaling not in ("strong", "weak"):
        raise InputError(f"scaling: found {scaling!r}; allowed: strong, weak")
    if scaling == "strong" and PROCESSES not in named:
        raise InputError(f"{name}: found no processes; allowed: with them for strong scaling, or weak")
    gives, own = modelled(sample, named, scaling)
    steady = tuple(
        one for one, x in zip(named, sample.points.T, strict=True) if len(named) > 1 and np.ptp(x) == 0
    )
    ranked = _candidates(own, named, steady, gives)
    curve, ties = _curve(ranked, gives), tuple(c.label for c in ranked[1:6] if c.odds >= LIKELY)
    warnings = [*_not_told_apart(name, sample, named, steady)]
    if len(sample.values) < FEWEST:
        warnings.append(
            f"{name}: {len(sample.values)} points; at least {FEWEST} are recommended to choose terms"
        )
    if ties:
        warnings.append(f"{name}: {len(ties)} or more other forms nearly as probable as {ranked[0].label}")
    return Fit(name, curve, sample, sample.count, tuple(ranked), ties, tuple(warnings), level, named)


def modelled(sample: Sample, parameters: Sequence[str], scaling: str) -> tuple[str, Sample]:
    """Return what normal forms are fitted to: times, of strong scaling processes x time, ``work``."""
    if scaling != "strong":
        return "time", sample
    work = sample.values * sample.points[:, list(parameters).index(PROCESSES)]
    return "work", replace(sample, values=work)


def _candidates(
    sample: Sample, parameters: tuple[str, ...], steady: tuple[str, ...], gives: str
) -> list[Candidate]:
    """Return the forms whose coefficients are all above 0, the most probable first."""
    terms = terms_of(parameters, steady)
    fits = searched(terms, sample.points, sample)
    found = [(terms, fit) for fit in fits]
    if len(parameters) > 1:
        found += finer_powers(terms, fits, sample)
    chance = np.concatenate([fit.chance for _, fit in found])
    odds = np.exp(chance - chance.max())
    rows = [(which, fit, row) for which, fit in found for row in range(len(fit.terms))]
    best = [place for place in np.argsort(-odds, kind="stable")[:MOST].tolist() if odds[place] >= POSSIBLE]
    return [_candidate(sample, parameters, gives, rows[place], float(odds[place])) for place in best]


def _candidate(
    sample: Sample,
    parameters: Sequence[str],
    gives: str,
    form: tuple[Terms, Fits, int],
    odds: float,
) -> Candidate:
    terms, fits, row = form
    constant, written = 0.0, []
    for place, c in zip(fits.terms[row].tolist(), fits.found[row].tolist(), strict=True):
        if place == CONSTANT:
            constant = c
        else:
            written.append(_term(c, dict(zip(parameters, terms.shapes[place], strict=True))))
    y = sample.values
    left_out = smape(y * (1 - fits.left_out[row]), y) if len(y) > 1 else np.nan
    curve = Pmnf.of(constant=constant, terms=written, gives=gives)
    return Candidate(curve, left_out, float(np.sum(fits.error[row] ** 2)), odds)


def _term(c: float, shapes: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    i, j = shapes.get(PROCESSES, NONE)
    others = {name: list(shape) for name, shape in shapes.items() if name != PROCESSES and shape != NONE}
    return {"c": c, "i": i, "j": j, "of": others}


def _not_told_apart(
    name: str, sample: Sample, parameters: Sequence[str], steady: Sequence[str]
) -> Iterator[str]:
    """Say of which parameters the points tell nothing, or nothing of each."""
    varied = [
        (one, np.log(x)) for one, x in zip(parameters, sample.points.T, strict=True) if one not in steady
    ]
    for one in steady:
        yield f"{name}: {one} is the same at all points: its effect is not known, and taken as none"
    for (one, x), (other, y) in combinations(varied, 2):
        if len(x) > 1 and abs(np.corrcoef(x, y)[0, 1]) > TOGETHER:
            yield f"{name}: {one} and {other} change together: their effects cannot be told apart"


def _curve(ranked: Sequence[Candidate], gives: str) -> Curve:
    """Return the form that has more than half of the odds, else a mixture."""
    parts = [c for c in ranked[:MOST_PARTS] if c.odds >= LEAST_PART]
    first, every = ranked[0].curve, sum(c.odds for c in parts)
    if 2 * ranked[0].odds > every:
        return first
    forms = [
        {"weight": c.odds / every, "constant": c.curve.constant, "terms": c.curve.terms}
        for c in parts
        if isinstance(c.curve, Pmnf)
    ]
    return Mixture.of(forms=forms, gives=gives)


def fit_lost_cycles(
    processes: ArrayLike, computation: float, overheads: Mapping[str, ArrayLike], *, level: float = 0.9
) -> tuple[LostCycles, dict[str, Fit]]:
    """Model each category of lost cycles by itself, and put them together.

    Parameters
    ----------
    processes : float[n]; computation : s of all processes together, the same for every P
    overheads : by category, float[n], s of all processes together

    Returns the curve of the run time, and the fits of the categories. Raises InputError as ``fit_time``.
    """
    fits = {name: fit_time(processes, lost, name, level=level) for name, lost in overheads.items()}
    curves = {name: fit.curve for name, fit in fits.items()}
    return LostCycles.of(computation=computation, overheads=curves), fits
