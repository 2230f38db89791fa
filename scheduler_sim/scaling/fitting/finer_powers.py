"""Powers closer than those of the search, for a product of powers that is alone or stands beside a constant.

Many points, or little noise, tell powers apart that are closer than the steps of the search. So from the most
probable product of powers one goes on in steps of half the length, each time to the most probable of its
neighbours, if that is more probable. A power between is less probable beforehand by as much as its step is
shorter than that of the search: those within one share its odds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from scheduler_sim.arrays import Floats
from scheduler_sim.scaling.fitting.evidence import Fits, fitted, scaled
from scheduler_sim.scaling.fitting.sample import Sample
from scheduler_sim.scaling.fitting.search import CONSTANT
from scheduler_sim.scaling.fitting.shapes import Shape, Terms, between_prior, step_between

LONGEST, HALVINGS = 0.1, 6
"""The step that is halved, which is the longest of the search, and how often."""


def finer_powers(terms: Terms, fits: list[Fits], sample: Sample) -> Iterator[tuple[Terms, Fits]]:
    """Yield the forms on the way from the most probable product of powers, each once, with their terms."""
    powers, best = _most_probable(terms, fits)
    free, known = powers > 0, set(terms.shapes)
    if not free.any():
        return
    searched = step_between(int((np.ptp(sample.points, axis=0) > 0).sum()))
    for halving in range(1, HALVINGS + 1):
        length = LONGEST / 2**halving
        near = powers + length * free * np.array(list(product((-1, 0, 1), repeat=len(powers))))
        near = np.unique(near[((near > 0) | ~free).all(axis=1) & (near != powers).any(axis=1)], axis=0)
        near = np.array([term for term in near if _shapes(term) not in known])
        if not len(near):
            continue
        finer = _terms(near, int(free.sum()) * max(float(np.log(searched / length)), 0.0))
        rows, scale = scaled(finer.columns(sample.points), sample)
        every = np.arange(1, len(near) + 1)[:, None]
        for forms in (every, np.hstack([np.zeros_like(every), every])):
            fit = fitted(rows, scale, forms, sample)
            fit = replace(fit, chance=fit.chance - finer.prior[fit.terms].sum(axis=1))
            yield finer, fit
            if len(fit.chance) and fit.chance.max() > best:
                best = float(fit.chance.max())
                powers = near[fit.terms[fit.chance.argmax(), -1] - 1]


def _most_probable(terms: Terms, fits: list[Fits]) -> tuple[Floats, float]:
    """Return the powers of the most probable form of one product of powers, float64[k], and its chance.

    Powers of 0 if there is none.
    """
    best, powers = -np.inf, np.zeros(len(terms.shapes[CONSTANT]))
    for fit in fits:
        for row in np.flatnonzero(fit.chance > best):
            *others, last = fit.terms[row].tolist()
            alone = others in ([], [CONSTANT]) and last != CONSTANT
            if alone and fit.chance[row] > best and all(j == 0 for _, j in terms.shapes[last]):
                best, powers = float(fit.chance[row]), np.array([i for i, _ in terms.shapes[last]])
    return powers, best


def _shapes(powers: Floats) -> tuple[Shape, ...]:
    return tuple((float(i), 0.0) for i in powers)


def _terms(powers: Floats, further: float) -> Terms:
    """Return products of powers, float64[m, k], after a constant, and ``further`` prior odds against each."""
    every = [_shapes(np.zeros(powers.shape[1])), *map(_shapes, powers)]
    prior = np.array([0.0, *(between_prior(term) + further for term in powers)])
    return Terms(every, prior, np.ones(len(every), dtype=bool))
