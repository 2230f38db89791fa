"""Searching normal forms: the most probable of one term, and with each further term the most probable again.

Of one parameter all forms of up to two terms are tried. Of several there are millions, so only the ``WIDTH``
most probable forms get a further term; which it may be is seen from what each column explains of the errors
that are left, all at once. A term that was the best alone need not be one of the best three: each of the most
probable forms then has its terms exchanged one by one, as long as that finds a more probable one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.scaling.fitting.evidence import Fits, fitted, log_evidence, scaled
from scheduler_sim.scaling.fitting.regression import EXACT
from scheduler_sim.scaling.fitting.sample import Sample
from scheduler_sim.scaling.fitting.shapes import Terms

CONSTANT = 0

WIDTH = 80
"""Forms that get a further term, with and without a constant each."""

LOOKED_AT = 1500
"""Of the forms that come of that, those that are looked at, the most probable."""

EXCHANGED, ROUNDS = 8, 4
"""Forms whose terms are exchanged, and how often at most."""

FEWEST = 5
"""Points below which Extra-P's authors warn, too; a second term takes as many."""

MOST_TERMS = 4
"""Besides a constant, with several parameters; with one two."""

FITTED = 400
"""Forms with as many terms that are fitted at last, the most probable."""


def searched(terms: Terms, points: Floats, sample: Sample) -> list[Fits]:
    """Return forms of terms whose coefficients are all above 0, by their numbers of coefficients.

    Parameters
    ----------
    points : float64[n, k]; sample : what was measured there, or that times P
    """
    rows, scale = scaled(terms.columns(points), sample)
    most = 2 if points.shape[1] == 1 else MOST_TERMS
    found = [np.array([[CONSTANT]])]
    bases = [np.empty((1, 0), dtype=np.int64), np.array([[CONSTANT]])]
    best = -np.inf
    together = int((~terms.alone).sum())
    for number in range(1, most + 1):
        if len(sample.values) < (3 if number == 1 else 2 * number + 1):
            break
        before = best
        for place, base in enumerate(bases):
            forms, chance = _extended(rows[:, : None if number == 1 else together], base, terms, sample)
            if points.shape[1] > 1 and number > 1:
                forms, chance = _exchanged(rows[:, :together], forms, chance, terms, sample)
            found.append(forms)
            best = max(best, float(chance.max(initial=-np.inf)))
            many = len(terms.shapes) if points.shape[1] == 1 else WIDTH
            bases[place] = forms[~terms.alone[forms].any(axis=1)][:many]
        if number > 1 and best == before:  # a further term makes no form more probable
            break
    fits = [fitted(rows, scale, forms[:FITTED], sample) for forms in found if len(forms)]
    return [replace(fit, chance=fit.chance - terms.prior[fit.terms].sum(axis=1)) for fit in fits]


def _extended(rows: Floats, bases: Ints, terms: Terms, sample: Sample) -> tuple[Ints, Floats]:
    """Add each term to each form; return the forms, int64[m, k + 1], the most probable first, and their odds.

    Parameters
    ----------
    rows : float64[n, t], columns as ``scaled`` returns them; bases : int64[b, k]
    """
    if not len(bases):
        return np.empty((0, bases.shape[1] + 1), dtype=np.int64), np.empty(0)
    target = np.sqrt(sample.count)
    q, r = np.linalg.qr(np.moveaxis(rows[:, bases], 0, 1))
    shadow = np.swapaxes(q, 1, 2) @ rows
    along = target @ q
    left = np.maximum((rows**2).sum(axis=0) - (shadow**2).sum(axis=1), 0)
    more = target @ rows - (along[:, None, :] @ shadow)[:, 0]
    possible = (left > 1e-12 * sample.measurements) & (more > 0)
    possible[:, CONSTANT] = False
    np.put_along_axis(possible, bases, False, axis=1)
    share = np.divide(more, left, out=np.zeros_like(more), where=possible)
    between = sample.measurements - (along**2).sum(axis=1)[:, None] - share * more
    size = np.log(np.abs(np.diagonal(r, axis1=1, axis2=2))).sum(axis=1)[:, None]
    size = size + np.log(left, out=np.zeros_like(left), where=possible) / 2
    chance = log_evidence(np.maximum(between, 0), size, bases.shape[1] + 1, sample)
    chance = chance - terms.prior[bases].sum(axis=1)[:, None] - terms.prior[: rows.shape[1]]
    chance[~possible] = -np.inf
    best = _largest(chance.ravel(), max(LOOKED_AT * bases.shape[1], chance.shape[1]))
    base, term = np.divmod(best, chance.shape[1])
    before = along[base] - shadow[base, :, term] * share[base, term][:, None]
    above = (np.linalg.solve(r[base], before[..., None])[..., 0] > 0).all(axis=1)
    base, term = base[above], term[above]
    forms = np.sort(np.concatenate([bases[base], term[:, None]], axis=1), axis=1)
    _, first = np.unique(forms @ (chance.shape[1] ** np.arange(forms.shape[1])), return_index=True)
    first = np.sort(first)
    return forms[first], chance[base, term][first]


def _exchanged(
    rows: Floats, forms: Ints, chance: Floats, terms: Terms, sample: Sample
) -> tuple[Ints, Floats]:
    """Exchange terms of the most probable forms, one at a time, until none becomes more probable."""
    for _ in range(ROUNDS):
        if not len(forms):
            break
        best, shorter = chance[0], forms[:EXCHANGED]
        places = range(1 if (shorter[0] == CONSTANT).any() else 0, forms.shape[1])
        bases = np.unique(np.concatenate([np.delete(shorter, k, axis=1) for k in places]), axis=0)
        more, of_more = _extended(rows, bases, terms, sample)
        every, first = np.unique(np.concatenate([forms, more]), axis=0, return_index=True)
        of_every = np.concatenate([chance, of_more])[first]
        order = np.argsort(-of_every, kind="stable")[:LOOKED_AT]
        forms, chance = every[order], of_every[order]
        if chance[0] <= best + EXACT:
            break
    return forms, chance


def _largest(values: Floats, number: int) -> Ints:
    """Return the places of the largest finite values, the largest first."""
    places = np.flatnonzero(np.isfinite(values))
    if len(places) > number:
        places = places[values[places] >= np.partition(values[places], -number)[-number]]
    return places[np.argsort(-values[places], kind="stable")]
