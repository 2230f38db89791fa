"""How probable normal forms are by the measurements, and what they predict.

With relative noise σ, of density s sqrt(2/π) exp(−s²/2σ²) / σ², and every share of a term equally probable,
n measurements have the evidence

    (2π)^(−(n−k)/2) sqrt(2/π) s 2^(m/2 − 1) Γ(m/2) |X'X|^(−1/2) (RSS + s²)^(−m/2),    m = n − k + 1

under a form of k coefficients: the integral of the likelihood over these and σ (as in Zellner 1971, ch. 3). X
has a column a coefficient, over the values and with a mean square of 1, so that a coefficient is a share; RSS
sums the squares of the relative errors. A prediction is then Student's with m degrees of freedom.

Repetitions say how large the noise is. But runs of one job may be more alike than runs of two, so it is as
probable beforehand that the noise is that of repetitions as that their means have a noise of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.scaling.fitting.regression import EXACT
from scheduler_sim.scaling.fitting.sample import Sample

NOISE = (0.01, EXACT / 100)
"""s, the size of noise, equally probable: of run times, and of times that were computed."""

APART = 1e-7
"""Least part of a column, over its length, that the others must leave, to tell their coefficients apart."""

HALVINGS = 30
"""Of the bracket of a quantile."""

LEAST_WEIGHT = 1e-3
"""Of a part of what is predicted, over the largest; the others are left out."""


@dataclass(frozen=True)
class Fits:
    """m forms of k terms, fitted to n points by least squares of relative errors.

    Attributes
    ----------
    terms : int64[m, k], columns
    found : float64[m, k], coefficients, all above 0
    error, left_out : float64[m, n], relative errors at the points, and of predicting each from the others
    chance : float64[m], logarithm of the evidence
    """

    terms: Ints
    found: Floats
    error: Floats
    left_out: Floats
    chance: Floats


def fitted(rows: Floats, scale: Floats, terms: Ints, sample: Sample) -> Fits:
    """Fit forms, and keep those whose coefficients are all above 0.

    With a coefficient held at 0 a form is one of the smaller ones, so nothing is lost.

    Parameters
    ----------
    rows, scale : of every term, as ``scaled`` returns them
    terms : int64[m, k]
    """
    root_count = np.sqrt(sample.count)
    x = np.moveaxis(rows[:, terms], 0, 1)
    q, r = np.linalg.qr(x)
    size = np.abs(np.diagonal(r, axis1=1, axis2=2))
    apart = size.min(axis=1) > APART * root_count.sum() / np.sqrt(len(rows))
    terms, q, r, size = terms[apart], q[apart], r[apart], size[apart]
    along = np.einsum("mnk,n->mk", q, root_count)  # of the values over themselves, 1 each
    share = np.linalg.solve(r, along[..., None])[..., 0]
    above = (share > 0).all(axis=1)
    terms, q, r, size, along, share = (part[above] for part in (terms, q, r, size, along, share))
    error = root_count - np.einsum("mnk,mk->mn", q, along)
    rest = np.maximum(1 - (q**2).sum(axis=2), EXACT)  # 0 where only that point shows a term
    chance = log_evidence((error**2).sum(axis=1), np.log(size).sum(axis=1), terms.shape[1], sample)
    error = error / root_count
    return Fits(terms, share / scale[terms], error, error / rest, chance)


def scaled(columns: Floats, sample: Sample) -> tuple[Floats, Floats]:
    """Return columns over the values measured with a mean square of 1 a measurement, and their scale.

    ``columns``, float64[n, t], the values of every term.
    """
    rows = columns * (np.sqrt(sample.count) / sample.values)[:, None]
    scale = np.sqrt(np.einsum("nt,nt->t", rows, rows) / sample.measurements)
    scale[scale == 0] = 1  # log2 p of one process alone
    rows /= scale
    return rows, scale


def log_evidence(between: Floats, log_size: Floats, k: int, sample: Sample) -> Floats:
    """Return the logarithm of the evidence of forms of k coefficients, but for a constant.

    Parameters
    ----------
    between : float64[m], sum of the squares of the errors of means, times their repetitions
    log_size : float64[m], half the logarithm of |X'X|
    """
    whole = np.logaddexp.reduce([source.chance for source in _sources(between, k, sample)])
    return np.asarray(whole - log_size)


class _Source(NamedTuple):
    """One prior of the noise.

    ``chance``, logarithm of the evidence; ``free``, degrees of freedom; ``variance`` of a measurement, from
    which those of coefficients follow; ``further``, variance of one more. All float64[m] but ``free``.
    """

    chance: Floats
    free: int
    variance: Floats
    further: Floats


def _sources(between: Floats, k: int, sample: Sample) -> Iterator[_Source]:
    """Yield what each prior of the noise makes of the errors of m forms."""
    n, points = sample.measurements, len(sample.values)
    for s in NOISE:
        free = n - k + 1
        variance = (between + sample.spread + s**2) / free
        yield _Source(_integral(n, k, between + sample.spread, s), free, variance, variance)
    if n > points:
        repeated = np.logaddexp(*[_integral(n - points, 0, np.array(sample.spread), s) for s in NOISE])
        for s in NOISE:
            free = points - k + 1
            chance = _integral(points, k, between, s) + repeated - np.log(len(NOISE))
            variance, runs = (between + s**2) / free, n / points
            yield _Source(chance, free, variance, variance / runs + sample.noise**2 * (1 - 1 / runs))


def _integral(n: int, k: int, squares: Floats, s: float) -> Floats:
    from scipy.special import gammaln

    m = n - k + 1
    known = np.log(s) + (m / 2 - 1) * np.log(2) + gammaln(m / 2) - (n - k) / 2 * np.log(2 * np.pi)
    return np.asarray(known + np.log(2 / np.pi) / 2 - m / 2 * np.log(squares + s**2))


@dataclass(frozen=True)
class Predictive:
    """What forms predict at q places: a mixture of a Student's distributions.

    Attributes
    ----------
    middle, width : float64[a, q]; free : float64[a], degrees of freedom; weight : float64[a], their sum 1
    """

    middle: Floats
    width: Floats
    free: Floats
    weight: Floats

    def quantile(self, share: float) -> Floats:
        """Return below what a further measurement lies with this probability, float64[q], at least 0."""
        from scipy.special import stdtr, stdtrit

        ends = self.middle + self.width * stdtrit(self.free, share)[:, None]
        low, high = ends.min(axis=0), ends.max(axis=0)
        width = np.maximum(self.width, 1e-300)
        for _ in range(HALVINGS):
            between = (low + high) / 2
            with np.errstate(over="ignore"):  # of exact points the width is 0
                below = self.weight @ stdtr(self.free[:, None], (between - self.middle) / width)
            low, high = np.where(below < share, between, low), np.where(below < share, high, between)
        return np.asarray(np.maximum((low + high) / 2, 0))


def predictive(forms: Sequence[tuple[Floats, Floats, Floats, float]], sample: Sample) -> Predictive:
    """Return what a further measurement may be, by forms and their odds.

    Parameters
    ----------
    forms : of each the columns at the points, float64[n, k], and where to predict, float64[q, k], its
        coefficients, float64[k], and its odds
    """
    middle, width, free, weight = [], [], [], []
    for here, there, found, odds in forms:
        rows = here / sample.values[:, None] * np.sqrt(sample.count)[:, None]
        scale = np.sqrt((rows**2).sum(axis=0))
        scale[scale == 0] = 1
        _, root = np.linalg.qr(rows / scale)
        error = np.sqrt(sample.count) - rows @ found
        value = there @ found
        reach = (np.linalg.lstsq(root.T, (there / scale).T, rcond=1e-12)[0] ** 2).sum(axis=0)
        sources = list(_sources(np.array((error**2).sum()), len(found), sample))
        chance = np.array([float(source.chance) for source in sources])
        shares = np.exp(chance - np.logaddexp.reduce(chance))
        for share, source in zip(shares, sources, strict=True):
            middle.append(value)
            width.append(np.sqrt(source.variance * reach + source.further * value**2))
            free.append(source.free)
            weight.append(odds * share)
    total = np.array(weight) / np.sum(weight)
    kept = total > total.max() * LEAST_WEIGHT
    return Predictive(
        np.array(middle)[kept], np.array(width)[kept], np.array(free, dtype=float)[kept], total[kept]
    )
