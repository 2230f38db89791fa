"""The terms that are tried in normal forms, and how probable each is before anything is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np

from scheduler_sim.arrays import Bools, Floats
from scheduler_sim.scaling.parameters import CLOCK

Shape = tuple[float, float]
"""Exponents (i, j) of x^i log2(x)^j."""

NONE: Shape = (0.0, 0.0)

I_SET = sorted({n / 4 for n in range(13)} | {n / 3 for n in range(10)})
J_SET = (0.0, 1.0, 2.0)
GRID: list[Shape] = [(i, j) for i in I_SET for j in J_SET]
"""Powers in quarters and thirds up to 3, as Extra-P; logarithms to the second, as Calotoiu et al. 2013."""

BETWEEN: list[Shape] = [
    (n / 20, 0.0) for n in range(1, 61) if min(abs(n / 20 - power) for power in I_SET) > 1e-6
]
"""Powers between those, tried as the only term: applications need not keep to simple fractions."""

PER_TERM, PER_STEP, PER_JOIN = 2.5, 0.8, 0.5
"""Logarithms of the prior odds against each term, against each step of its exponents from plain ones,
whole, without logarithm and up to 1, as costs are more often of p than of p^(3/4) log2 p or of p^3, and
against each further parameter in it."""

STEPS_BETWEEN = 3.0
"""Steps of a power that is no simple fraction."""

FEW_STEPS = 3
"""Most steps of a shape where several parameters multiply the number of terms."""


@cache
def steps(shape: Shape) -> float:
    """Return how far exponents are from plain ones: halves are nearer than thirds and quarters."""
    i, j = shape
    if shape in BETWEEN:
        return STEPS_BETWEEN + max(i - 1, 0)
    falls = 2 if i < 0 else 0
    return min(Fraction(i).limit_denominator(4).denominator - 1, 2) + j + max(abs(i) - 1, 0) + falls


@dataclass(frozen=True)
class Terms:
    """t terms of k parameters, the constant first.

    Attributes
    ----------
    shapes : of each term, one for each parameter
    prior : float64[t], logarithm of the prior odds against each
    alone : bool[t], whether it is tried without others only (but for the constant); these stand last
    """

    shapes: list[tuple[Shape, ...]]
    prior: Floats
    alone: Bools

    def columns(self, points: Floats) -> Floats:
        """Return the values of every term, float64[n, t], at points[n, k]."""
        columns = np.ones((len(points), len(self.shapes)))
        for place, x in enumerate(points.T):
            used = [shapes[place] for shapes in self.shapes]
            places = {shape: k for k, shape in enumerate(dict.fromkeys(used))}
            values = np.stack([shape_values(x, shape) for shape in places], axis=1)
            columns *= values[:, [places[shape] for shape in used]]
        return columns


def shape_values(x: Floats, shape: Shape) -> Floats:
    """Return x^i log2(x)^j."""
    i, j = shape
    return np.asarray(x**i * np.log2(x) ** j if j else x**i, dtype=np.float64)


@cache
def terms_of(parameters: tuple[str, ...], steady: tuple[str, ...] = ()) -> Terms:
    """Return the terms to try: for several parameters all products of their shapes.

    ``steady``: parameters that were the same in all measurements, of which nothing is known.
    """
    shapes: list[tuple[Shape, ...]]
    if len(parameters) == 1 and parameters[0] != CLOCK:
        shapes = [(shape,) for shape in (*GRID, *BETWEEN)]
    else:
        sets = [[NONE] if name in steady else _shapes(name, parameters) for name in parameters]
        shapes = list(product(*sets))
    together = len(shapes)
    if len(parameters) > 1:
        shapes += _powers(shapes, parameters, steady)
    prior = [0.0, *map(_prior, shapes[1:])]
    alone = [
        place >= together or (len(term) == 1 and term[0] in BETWEEN) for place, term in enumerate(shapes)
    ]
    return Terms(shapes, np.array(prior), np.array(alone))


def _prior(term: tuple[Shape, ...]) -> float:
    joined = sum(shape != NONE for shape in term) - 1
    return PER_TERM + PER_STEP * sum(map(steps, term)) + PER_JOIN * joined


def between_prior(powers: Floats) -> float:
    """Return the logarithm of the prior odds against a product of powers that are no simple fractions."""
    used = powers[powers != 0]
    far = sum(STEPS_BETWEEN + max(abs(i) - 1, 0) for i in used)
    return float(PER_TERM + PER_STEP * far + PER_JOIN * (len(used) - 1))


def step_between(parameters: int) -> float:
    """Return the step in which powers are searched where no shape is known, for products of so many."""
    return 0.05 if parameters <= 2 else 0.1


def _powers(
    known: list[tuple[Shape, ...]], parameters: Sequence[str], steady: Sequence[str]
) -> list[tuple[Shape, ...]]:
    """Return products of powers between the shapes known, of all parameters but the clock."""
    step = round(20 * step_between(len(parameters) - len(steady)))
    every = [(n / 20, 0.0) for n in range(step, 61, step)]
    seen = set(known)
    fixed = {name: _shapes(name, parameters) for name in parameters if name == CLOCK}
    fixed |= {name: [NONE] for name in steady}
    sets = [fixed.get(name, every) for name in parameters]
    return [term for term in product(*sets) if term not in seen]


def _shapes(name: str, parameters: Sequence[str]) -> list[Shape]:
    if name == CLOCK:  # a part of the time follows the clock, the rest memory and network
        return [NONE, (-1.0, 0.0)]
    most = FEW_STEPS if len(parameters) == 2 else FEW_STEPS - 1
    few = [shape for shape in GRID if steps(shape) <= most]
    shared = name == "nodes" and "processes" in parameters
    return [NONE, *([(-1.0, 0.0)] if shared else []), *few[1:]]  # fewer on a node: less to share
