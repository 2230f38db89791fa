"""Searching a performance model normal form for run times."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from scheduler_sim.errors import InputError
from scheduler_sim.scaling.curves import Curve, LostCycles, Pmnf
from scheduler_sim.scaling.curves.kind import Floats
from scheduler_sim.scaling.fitting.fit import MARGIN, Candidate, Fit, label_of, pmnf_columns
from scheduler_sim.scaling.fitting.points import checked
from scheduler_sim.scaling.fitting.regression import EXACT, least_t, left_out_error

Exponents = tuple[tuple[float, float], ...]
"""Terms of a normal form, (i, j) each."""

I_SET = sorted({n / 4 for n in range(13)} | {n / 3 for n in range(10)})
J_SET = (0, 1, 2)
EXPONENTS: list[tuple[float, float]] = [(i, j) for i in I_SET for j in J_SET if (i, j) != (0, 0)]
"""Terms tried: p to quarters and thirds up to 3, as Extra-P, and log2 p to 2, as Calotoiu et al. 2013."""

MARGINS = (0.2, 0.7)
"""Shares by which the first and the second term must lower the error of predicting each point from the
others. Of seven points with 2 % noise, a second term that lowers it by a tenth is nearly always noise."""

SURE = 0.995
"""One-sided level at which the coefficient of every term must differ from 0: terms grow wild far out."""

FEWEST = 5
"""Points below which Extra-P's authors warn, too."""

SCREENED = 60
"""Pairs of terms, best on the points themselves, whose left-out error is taken."""


def fit_time(
    processes: ArrayLike, times: ArrayLike, name: str = "time", *, scaling: str = "weak", level: float = 0.9
) -> Fit:
    """Find constant + up to two terms c p^i log2(p)^j, all c >= 0, for run times.

    Parameters
    ----------
    processes : float[n]; times : float[n], s
    scaling : weak: the time is modelled; strong: processes x time, as no term of a normal form falls
    level : of the prediction interval

    A further term must lower the error of predicting each point from the others (SMAPE) by its share of
    ``MARGINS``, and differ from 0 at ``SURE``; of forms as good, the one with the plainest
    exponents is taken. Relative errors are minimised: noise of run times is relative. Intervals hold for
    the terms chosen, not for the choice.

    Raises InputError for points that cannot be, and an unknown ``scaling``.
    """
    p, t = checked(name, processes, times, "time")
    if scaling not in ("strong", "weak"):
        raise InputError(f"scaling: found {scaling!r}; allowed: strong, weak")
    gives = "work" if scaling == "strong" else "time"
    y = p * t if scaling == "strong" else t
    warnings = []
    if len(y) < FEWEST:
        warnings.append(f"{name}: {len(y)} points; at least {FEWEST} are wanted to choose terms")
    by_terms = [[_candidate(p, y, (), gives)]]
    if len(y) >= 3:
        by_terms.append([_candidate(p, y, (term,), gives) for term in EXPONENTS])
    best_single = min((c.left_out_error for c in by_terms[-1]), default=0.0)
    if len(y) >= FEWEST and best_single > EXACT:
        by_terms.append([_candidate(p, y, pair, gives) for pair in _pairs(p, y, gives)])
    chosen, ranked = _simplest(by_terms, p, y)
    ties = tuple(
        c.label
        for c in ranked
        if c is not chosen and c.left_out_error <= chosen.left_out_error * (1 + MARGIN) + EXACT
    )
    ties = ties[:5]
    if len(ties) and len(y) >= 3:
        warnings.append(f"{name}: {len(ties)} or more other forms as good as {label_of(chosen.curve)}")
    return Fit(name, chosen.curve, p, y, np.ones(len(y)), tuple(ranked), ties, tuple(warnings), level)


def _pairs(p: Floats, y: Floats, gives: str) -> list[Exponents]:
    def residual(pair: Exponents) -> float:
        return float(np.sum((Pmnf.fitted(p, y, pair, gives).values(p) / y - 1) ** 2))

    pairs: list[Exponents] = list(combinations(EXPONENTS, 2))
    return sorted(pairs, key=residual)[:SCREENED]


def _candidate(p: Floats, y: Floats, exponents: Exponents, gives: str) -> Candidate:
    def learnt(rows: Floats) -> Pmnf:
        return Pmnf.fitted(p[rows], y[rows], exponents, gives)

    curve = learnt(np.ones(len(y), dtype=bool))
    error = left_out_error(lambda rows: learnt(rows).values, p, y) if len(y) > 1 else np.nan
    return Candidate(curve, error, float(np.sum((curve.values(p) / y - 1) ** 2)))


def _simplest(by_terms: list[list[Candidate]], p: Floats, y: Floats) -> tuple[Candidate, list[Candidate]]:
    """Return the candidate with the fewest terms that none with more beats by its margin, and all by rank."""
    chosen = by_terms[0][0]
    for candidates, margin in zip(by_terms[1:], MARGINS, strict=False):
        sure = [c for c in candidates if _is_sure(c.curve, p, y)]
        least = min((c.left_out_error for c in sure), default=np.inf)
        equal = [c for c in sure if c.left_out_error <= least * (1 + MARGIN) + EXACT]
        best = min(equal, key=lambda c: (_awkward(c.curve), c.left_out_error), default=chosen)
        if chosen.left_out_error > EXACT and best.left_out_error <= (1 - margin) * chosen.left_out_error:
            chosen = best
    every = [candidate for candidates in by_terms for candidate in candidates]
    different = {c.curve.model_dump_json(): c for c in reversed(every)}  # coefficients of 0 make forms equal
    ranked = sorted(different.values(), key=lambda c: (c is not chosen, np.nan_to_num(c.left_out_error)))
    return chosen, ranked


def _awkward(curve: Curve) -> int:
    """Return how far the exponents are from whole ones without logarithms."""
    assert isinstance(curve, Pmnf)
    fractions = (Fraction(term.i).limit_denominator(4).denominator for term in curve.terms)
    return sum(min(part - 1, 2) for part in fractions) + sum(int(term.j) for term in curve.terms)


def _is_sure(curve: Curve, p: Floats, y: Floats) -> bool:
    """Whether every term differs from 0 by more than noise."""
    from scipy.stats import t

    assert isinstance(curve, Pmnf)
    if not curve.terms:
        return False
    columns = pmnf_columns(p, [(term.i, term.j) for term in curve.terms], curve.constant > 0)
    least, freedom = least_t(columns, y, 1 / y**2, len(curve.terms))
    return freedom > 0 and least > t.ppf(SURE, freedom)


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
