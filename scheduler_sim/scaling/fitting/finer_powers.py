"""Powers closer than those of the search, for a product of powers that is alone or stands beside a constant.

Many points, or little noise, tell powers apart that are closer than the steps of the search. So from the most
probable product of powers one goes on in steps of half the length, each time to the most probable of its
neighbours. A power between is less probable beforehand by as much as its step is shorter: those within a step
of the search share its odds.
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
from scheduler_sim.scaling.fitting.shapes import NONE, Terms, between_prior, step_between

HALVINGS = 5
"""Of the steps of a power."""


def finer_powers(terms: Terms, fits: list[Fits], sample: Sample) -> Iterator[tuple[Terms, Fits]]:
    """Yield the forms passed on the way from the most probable product of powers, with their terms."""
    powers = _most_probable(terms, fits)
    if powers is None or not (powers > 0).any():
        return
    free = powers > 0
    length = step_between(int(free.sum()))
    for halving in range(1, HALVINGS + 1):
        length /= 2
        near = powers + length * free * np.array(list(product((-1, 0, 1), repeat=len(powers))))
        near = np.unique(near[((near > 0) | ~free).all(axis=1)], axis=0)
        finer = _terms(near, halving, int(free.sum()))
        rows, scale = scaled(finer.columns(sample.points), sample)
        best = -np.inf
        every = np.arange(1, len(near) + 1)[:, None]
        for forms in (every, np.hstack([np.zeros_like(every), every])):
            fit = fitted(rows, scale, forms, sample)
            fit = replace(fit, chance=fit.chance - finer.prior[fit.terms].sum(axis=1))
            yield finer, fit
            if len(fit.chance) and fit.chance.max() > best:
                best = float(fit.chance.max())
                powers = near[fit.terms[fit.chance.argmax(), -1] - 1]


def _most_probable(terms: Terms, fits: list[Fits]) -> Floats | None:
    """Return the powers of the most probable form of one product of powers, float64[k], if there is one."""
    best, powers = -np.inf, None
    for fit in fits:
        for row in np.flatnonzero(fit.chance > best):
            *others, last = fit.terms[row].tolist()
            alone = others in ([], [CONSTANT]) and last != CONSTANT
            if alone and fit.chance[row] > best and all(j == 0 for _, j in terms.shapes[last]):
                best, powers = fit.chance[row], np.array([i for i, _ in terms.shapes[last]])
    return powers


def _terms(powers: Floats, halving: int, free: int) -> Terms:
    """Return products of powers, float64[m, k], after a constant; ``free`` of them are halved."""
    shapes = [tuple((float(i), 0.0) for i in term) for term in powers]
    prior = [between_prior(term) + free * halving * np.log(2) for term in powers]
    every = [(NONE,) * powers.shape[1], *shapes]
    return Terms(every, np.array([0.0, *prior]), np.ones(len(every), dtype=bool))
