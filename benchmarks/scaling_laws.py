"""Laws of run times, drawn at random: what fits are held against by ``envelope`` and ``extrapolation``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from scheduler_sim.arrays import Floats

POINTS = (
    16 * 2.0 ** np.arange(5),
    64 * 2.0 ** np.arange(7),
    2 * 2.0 ** np.arange(9),
    np.array([24, 48, 96, 160, 240, 384.0]),
)
"""Sets of P at which laws of one parameter are measured."""

Law = Callable[[Floats], Floats]
Draws = np.random.Generator

PLAIN: Mapping[str, Law] = {
    "log p": np.log2,
    "√p": np.sqrt,
    "p": lambda p: p,
    "p log p": lambda p: p * np.log2(p),
    "p²": np.square,
}
OTHER: Mapping[str, Law] = {
    "p^(1/3)": np.cbrt,
    "p^(2/3)": lambda p: p ** (2 / 3),
    "p^(3/2)": lambda p: p**1.5,
    "p³": lambda p: p**3,
    "log² p": lambda p: np.log2(p) ** 2,
    "√p log p": lambda p: np.sqrt(p) * np.log2(p),
}


def _one_of(laws: Mapping[str, Law], last: float, draws: Draws) -> Law:
    """Return one of the laws, 1 at the last point."""
    law = laws[str(draws.choice(list(laws)))]
    return lambda p: law(p) / law(np.array([last]))[0]


def _constant(draws: Draws, least: float = 0.05, most: float = 3.0) -> float:
    """Return a part that does not depend on P, as often as not 0."""
    return float(draws.uniform(least, most)) if draws.random() < 0.5 else 0.0


def plain(last: float, draws: Draws) -> Law:
    """A constant, or one plain term with or without one."""
    if draws.random() < 1 / 6:
        return np.ones_like
    constant, term = _constant(draws), _one_of(PLAIN, last, draws)
    return lambda p: constant + term(p)


def two_terms(last: float, draws: Draws) -> Law:
    """Two different plain terms in any proportion, with or without a constant."""
    names = draws.choice(list(PLAIN), 2, replace=False)
    one, other = (_one_of({name: PLAIN[name]}, last, draws) for name in names)
    share, constant = draws.uniform(0.1, 0.9), _constant(draws, most=2.0)
    return lambda p: constant + share * one(p) + (1 - share) * other(p)


def other_term(last: float, draws: Draws) -> Law:
    """A term with a less plain exponent."""
    constant, term = _constant(draws, most=2.0), _one_of(OTHER, last, draws)
    return lambda p: constant + term(p)


def strong(last: float, draws: Draws) -> Law:
    """Work that is shared, a serial part, and communication."""
    serial = 10 ** draws.uniform(-2, 0.7) / last
    messages = 5 * 10 ** draws.uniform(-2, 0) / last
    law = _one_of({name: PLAIN[name] for name in ("log p", "√p", "p")}, last, draws)
    return lambda p: 1 / p + serial + messages * law(p)


def usl(last: float, draws: Draws) -> Law:
    """Gunther's law, contention and coherency."""
    a, b = 10 ** draws.uniform(-4, -1.5), 10 ** draws.uniform(-8, -5)
    return lambda p: (1 + a * (p - 1) + b * p * (p - 1)) / p


def any_power(last: float, draws: Draws) -> Law:
    """A power that is no simple fraction."""
    exponent, constant = draws.uniform(0.1, 2.2), draws.uniform(0, 2)
    return lambda p: constant + (p / last) ** exponent


def saturating(last: float, draws: Draws) -> Law:
    """A cost that rises and then stands still."""
    half, constant = last * 10 ** draws.uniform(-0.7, 0.7), draws.uniform(0.2, 2)
    return lambda p: constant + p / (p + half)


def knee(last: float, draws: Draws) -> Law:
    """A cost that begins at some P, at times beyond the points."""
    begin, exponent = last * 10 ** draws.uniform(-0.5, 0.8), draws.uniform(0.3, 1.2)
    return lambda p: np.maximum(p / begin, 1) ** exponent + 0.1 * np.log2(p) / np.log2(last)


def step(last: float, draws: Draws) -> Law:
    """A plain term, and a jump of up to a quarter at some P before the last, as of a cache or a switch."""
    begin, height = last * 2.0 ** -draws.integers(0, 4), draws.uniform(-0.25, 0.25)
    term = _one_of(PLAIN, last, draws)
    return lambda p: (1 + 0.5 * term(p)) * np.where(p >= begin, 1 + height, 1)


def broken(last: float, draws: Draws) -> Law:
    """A plain law up to a break, and from there on another power of P, as often as not with a jump."""
    begin, exponent = last * 2.0**-3.5, draws.uniform(0.2, 1.2)
    jump = draws.uniform(0.7, 1.5) if draws.random() < 0.5 else 1.0
    constant, term = _constant(draws, most=2.0), _one_of(PLAIN, begin, draws)

    def law(p: Floats) -> Floats:
        before, after = constant + term(np.minimum(p, begin)), np.maximum(p / begin, 1) ** exponent
        return np.asarray(before * np.where(p < begin, 1.0, jump * after))

    return law


EXTRA_P = [
    *[
        (0, 1),
        (0, 2),
        (1 / 4, 0),
        (1 / 3, 0),
        (1 / 4, 1),
        (1 / 3, 1),
        (1 / 4, 2),
        (1 / 3, 2),
        (1 / 2, 0),
        (1 / 2, 1),
    ],
    *[
        (1 / 2, 2),
        (2 / 3, 0),
        (3 / 4, 0),
        (2 / 3, 1),
        (3 / 4, 1),
        (4 / 5, 0),
        (4 / 5, 1),
        (2 / 3, 2),
        (3 / 4, 2),
    ],
    *[
        (1, 0),
        (1, 1),
        (1, 2),
        (5 / 4, 0),
        (5 / 4, 1),
        (4 / 3, 0),
        (4 / 3, 1),
        (3 / 2, 0),
        (3 / 2, 1),
        (3 / 2, 2),
    ],
    *[
        (5 / 3, 0),
        (7 / 4, 0),
        (2, 0),
        (2, 1),
        (2, 2),
        (9 / 4, 0),
        (7 / 3, 0),
        (5 / 2, 0),
        (5 / 2, 1),
        (5 / 2, 2),
    ],
    *[(8 / 3, 0), (11 / 4, 0), (3, 0), (3, 1)],
]
"""Exponents (i, j) of the search space of Extra-P 4.2.5."""


def extra_p(last: float, draws: Draws) -> Law:
    """One term of Extra-P's own search space, all as probable, with or without a constant."""
    i, j = EXTRA_P[draws.integers(len(EXTRA_P))]
    constant = _constant(draws)
    return lambda p: constant + (p / last) ** i * (np.log2(p) / np.log2(last)) ** j


class Kind(NamedTuple):
    """A kind of truth, what it is called, and how its runs scale."""

    words: str
    law: Callable[..., Law]
    scaling: str = "weak"


ONE_PARAMETER = (
    Kind("one plain term", plain),
    Kind("two plain terms", two_terms),
    Kind("a power that is no simple fraction", any_power),
    Kind("strong scaling", strong, "strong"),
    Kind("one term of Extra-P's grid", extra_p),
)
"""Kinds in which extrapolations are compared."""

CALIBRATED = (
    Kind("one plain term, with and without a constant", plain),
    Kind("two plain terms, with and without a constant", two_terms),
    Kind("one other term", other_term),
    Kind("strong scaling: serial part, communication", strong, "strong"),
    Kind("powers that are no simple fractions", any_power),
)
"""Kinds by which it was chosen how forms count in envelopes."""

HELD_BACK = (
    Kind("universal scalability law, strong scaling", usl, "strong"),
    Kind("a jump among the points", step),
    Kind("a cost that saturates", saturating),
    Kind("a cost that begins, at times beyond the points", knee),
)
"""Kinds that had no part in that."""


BASES = (16.0, 1e4, 8.0)
"""The least values of up to three parameters; each has five, doubling."""

VALUES = 5


def full(parameters: int) -> Floats:
    """Return every combination of the values, float64[5^k, k]."""
    lines = [base * 2.0 ** np.arange(VALUES) for base in BASES[:parameters]]
    return np.array(list(product(*lines)))


def lines(parameters: int) -> Floats:
    """Return a line of points along each parameter, the others at their least, and the largest of all."""
    least, every = np.array(BASES[:parameters]), full(parameters)
    along = (every != least).sum(axis=1) <= 1
    return every[along | (every == every.max(axis=0)).all(axis=1)]


def _shape(draws: Draws, place: int, last: float) -> Law:
    """Return a law of one of several parameters, 1 at its last value: a plain term, or less often another."""
    law = _one_of(PLAIN if draws.random() < 0.7 else OTHER, last, draws)
    return lambda x: law(x[:, place])


def _product(laws: list[Law]) -> Law:
    return lambda x: np.prod([law(x) for law in laws], axis=0)


def added(last: Floats, draws: Draws) -> Law:
    """A term of each parameter."""
    terms = [(draws.uniform(0.2, 1), _shape(draws, place, end)) for place, end in enumerate(last)]
    constant = _constant(draws, most=2.0)
    return lambda x: constant + np.sum([c * law(x) for c, law in terms], axis=0)


def multiplied(last: Floats, draws: Draws) -> Law:
    """A product of a term of each parameter."""
    whole = _product([_shape(draws, place, end) for place, end in enumerate(last)])
    constant = _constant(draws, most=2.0)
    return lambda x: constant + whole(x)


def both(last: Floats, draws: Draws) -> Law:
    """A product of a term of each parameter, and a term of one of them."""
    whole, place = multiplied(last, draws), int(draws.integers(len(last)))
    term, share = _shape(draws, place, last[place]), draws.uniform(0.2, 1)
    return lambda x: whole(x) + share * term(x)


def any_powers(last: Floats, draws: Draws) -> Law:
    """A product of powers that are no simple fractions."""
    exponents, constant = draws.uniform(0.2, 2.2, len(last)), _constant(draws, most=2.0)
    return lambda x: constant + np.prod((x / last) ** exponents, axis=1)


def shared(last: Floats, draws: Draws) -> Law:
    """Work of the size that is shared by the processes, a serial part, and communication."""
    work = _product([_shape(draws, place, last[place]) for place in range(1, len(last))])
    serial, messages = 10 ** draws.uniform(-2, 0.5, 2) / last[0]
    law = _shape(draws, 0, last[0])
    return lambda x: work(x) / x[:, 0] + serial + messages * law(x)


SEVERAL = (
    Kind("a term of each, added", added),
    Kind("a product", multiplied),
    Kind("a product and a term", both),
    Kind("a product of powers that are no simple fractions", any_powers),
    Kind("strong scaling", shared, "strong"),
)
"""Kinds of laws of several parameters."""
