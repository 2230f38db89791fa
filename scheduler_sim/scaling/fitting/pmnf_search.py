"""Searching a performance model normal form for run times: every form at once, the most probable first.

With relative noise σ, of density s/σ² exp(−s²/2σ²), and every share of a term equally probable, n times have

    evidence = s π^(k/2) Γ((n − k + 1)/2) |X'X|^(−1/2) (RSS + s²)^(−(n − k + 1)/2)

under a form of k coefficients: the integral of the likelihood over these and σ (as in Zellner 1971, ch. 3). X
has a column a coefficient, over the times and with a mean square of 1, so that a coefficient is a share; RSS
sums the squares of the relative errors. Far out forms differ a hundredfold that a few noisy points
hardly tell apart: the error of predicting each point from the others chooses worse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.errors import InputError
from scheduler_sim.scaling.curves import LostCycles, Pmnf
from scheduler_sim.scaling.fitting.fit import LIKELY, POSSIBLE, Candidate, Fit, label_of, pmnf_columns
from scheduler_sim.scaling.fitting.points import checked
from scheduler_sim.scaling.fitting.regression import EXACT, smape

I_SET = sorted({n / 4 for n in range(13)} | {n / 3 for n in range(10)})
J_SET = (0, 1, 2)
EXPONENTS: list[tuple[float, float]] = [(i, j) for i in I_SET for j in J_SET]
"""Parts tried, the constant first: p to quarters and thirds up to 3, as Extra-P, and log2 p to 2, as
Calotoiu et al. 2013."""

CONSTANT = 0

PER_TERM, PER_STEP = 2.0, 1.0
"""Logarithms of the prior odds against each term that is not constant, and against each step of its exponents
from plain ones, whole, without logarithm and up to 1: costs are more often of p than of p^(3/4) log2 p or of
p^3. Errors far out hardly change with 1 to 4 and 0.75 to 2."""

NOISE = (0.01, EXACT / 100)
"""s, the size of noise, equally probable: of run times, and of times that were computed."""

FEWEST = 5
"""Points below which Extra-P's authors warn, too."""

SHOWN = 60
"""Least number of forms listed as candidates; all that are possible are."""

APART = 1e-7
"""Least part of a column, over its length, that the others must leave, to tell their coefficients apart."""


def fit_time(
    processes: ArrayLike, times: ArrayLike, name: str = "time", *, scaling: str = "weak", level: float = 0.9
) -> Fit:
    """Find constant + up to two terms c p^i log2(p)^j, all c >= 0, for run times.

    Parameters
    ----------
    processes : float[n]; times : float[n], s
    scaling : weak: the time is modelled; strong: processes x time, as no term of a normal form falls
    level : of the prediction interval

    The most probable form is taken, where plain forms are more probable beforehand (``PER_TERM``,
    ``PER_STEP``). Relative errors are minimised: noise of run times is relative. One or two points
    give a constant; a second term takes ``FEWEST``. Intervals hold for the terms chosen, not for the choice.

    Raises InputError for points that cannot be, and an unknown ``scaling``.
    """
    p, t = checked(name, processes, times, "time")
    if scaling not in ("strong", "weak"):
        raise InputError(f"scaling: found {scaling!r}; allowed: strong, weak")
    gives = "work" if scaling == "strong" else "time"
    y = p * t if scaling == "strong" else t
    ranked = _candidates(p, y, gives)
    chosen = ranked[0]
    ties = tuple(c.label for c in ranked[1:6] if c.odds >= LIKELY)
    warnings = []
    if len(y) < FEWEST:
        warnings.append(f"{name}: {len(y)} points; at least {FEWEST} are wanted to choose terms")
    if ties:
        warnings.append(
            f"{name}: {len(ties)} or more other forms nearly as probable as {label_of(chosen.curve)}"
        )
    return Fit(name, chosen.curve, p, t, np.ones(len(y)), tuple(ranked), ties, tuple(warnings), level)


@dataclass(frozen=True)
class _Fits:
    """m forms of k parts, fitted to n points.

    Attributes
    ----------
    parts : int64[m, k], positions in ``EXPONENTS``
    found : float64[m, k], coefficients
    error, left_out : float64[m, n], relative errors at the points, and of predicting each from the others
    chance : float64[m], logarithm of evidence and prior odds
    """

    parts: Ints
    found: Floats
    error: Floats
    left_out: Floats
    chance: Floats


def _candidates(p: Floats, y: Floats, gives: str) -> list[Candidate]:
    """Return the forms whose coefficients are all above 0, the most probable first."""
    columns = pmnf_columns(p, EXPONENTS[1:], constant=True) / y[:, None]
    fits = [_fitted(columns, parts) for parts in _forms(len(y))]
    chance = np.concatenate([fit.chance for fit in fits])
    odds = np.exp(chance - chance.max())
    rows = [(fit, row) for fit in fits for row in range(len(fit.parts))]
    best = np.argsort(-odds, kind="stable")[: max(SHOWN, int((odds >= POSSIBLE).sum()))]
    return [_candidate(y, gives, rows[place], float(odds[place])) for place in best.tolist()]


def _candidate(y: Floats, gives: str, form: tuple[_Fits, int], odds: float) -> Candidate:
    fits, row = form
    found = {EXPONENTS[part]: c for part, c in zip(fits.parts[row], fits.found[row].tolist(), strict=True)}
    constant = found.pop(EXPONENTS[CONSTANT], 0.0)
    terms = [{"c": c, "i": float(i), "j": float(j)} for (i, j), c in found.items()]
    left_out = smape(y * (1 - fits.left_out[row]), y) if len(y) > 1 else np.nan
    curve = Pmnf.of(constant=constant, terms=terms, gives=gives)
    return Candidate(curve, left_out, float(np.sum(fits.error[row] ** 2)), odds)


def _forms(points: int) -> Iterator[Ints]:
    """Yield the forms of as many points, int64[m, k] for each number k of parts; the constant alone first."""
    every = range(len(EXPONENTS))
    yield np.array([[CONSTANT]])
    if points >= 3:
        yield np.array([[part] for part in every[1:]])
        yield np.array([[CONSTANT, part] for part in every[1:]])
    if points >= FEWEST:
        pairs = list(combinations(every[1:], 2))
        yield np.array(pairs)
        yield np.array([(CONSTANT, *pair) for pair in pairs])


def _fitted(columns: Floats, parts: Ints) -> _Fits:
    """Fit forms by least squares of relative errors, and keep those whose coefficients are all above 0.

    With a coefficient held at 0 a form is one of the smaller ones, so nothing is lost.

    Parameters
    ----------
    columns : float64[n, EXPONENTS], the values of every part over the times
    parts : int64[m, k], positions in ``EXPONENTS``
    """
    n, k = len(columns), parts.shape[1]
    scale = np.sqrt((columns**2).mean(axis=0))
    scale[scale == 0] = 1  # log2 p of one process alone
    x = np.moveaxis((columns / scale)[:, parts], 0, 1)
    q, r = np.linalg.qr(x)
    spread = np.abs(np.diagonal(r, axis1=1, axis2=2))
    apart = spread.min(axis=1) > APART * np.sqrt(n)
    parts, q, r, spread = parts[apart], q[apart], r[apart], spread[apart]
    along = q.sum(axis=1)  # of the times over themselves, 1 each
    share = np.linalg.solve(r, along[..., None])[..., 0]
    above = (share > 0).all(axis=1)
    parts, q, spread, along, share = parts[above], q[above], spread[above], along[above], share[above]
    error = 1 - np.einsum("mnk,mk->mn", q, along)
    rest = np.maximum(1 - (q**2).sum(axis=2), EXACT)  # 0 where only that point shows a part
    return _Fits(parts, share / scale[parts], error, error / rest, _chance(parts, spread, error, n, k))


def _chance(parts: Ints, spread: Floats, error: Floats, n: int, k: int) -> Floats:
    from scipy.special import gammaln

    free, rss = (n - k + 1) / 2, (error**2).sum(axis=1)
    noise = np.logaddexp(*(np.log(s) - free * np.log(rss + s**2) for s in NOISE))
    evidence = k / 2 * np.log(np.pi) + gammaln(free) - np.log(spread).sum(axis=1) + noise
    return np.asarray(evidence - _PRIOR[parts].sum(axis=1), dtype=np.float64)


def _steps(i: float, j: float) -> float:
    """Return how far exponents are from plain ones: halves are nearer than thirds and quarters."""
    return min(Fraction(i).limit_denominator(4).denominator - 1, 2) + j + max(i - 1, 0)


_PRIOR = np.array([0.0, *(PER_TERM + PER_STEP * _steps(i, j) for i, j in EXPONENTS[1:])])
"""Logarithm of the prior odds against each part."""


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
