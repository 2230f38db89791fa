"""What an application draws and how long it runs at another clock, from one measurement of it.

Every fitted law is linear in what was measured, with coefficients for each pair of frequencies:

* EAR: power_w, tpi, 1 to power; cpi, tpi, 1 to CPI (EAR, ``projection.c`` and ``coeffs_compute.c``);
* Auweter et al. (ISC 2014; DEEP-EST D2.3 eq. 5.1): counters and 1 to P(f) / P(f0);
* the constant ratio, the baseline, is that with no counter;
* without the measured power among the terms, a law predicts watts from counters alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.energy.points import POWER, Points
from scheduler_sim.energy.pstates import PStates
from scheduler_sim.errors import InputError

ONE = "1"
CPI = "cpi"
ALPHA = "alpha"

COUNTERS = "counters"
FORMS = ("affine", "ratio", COUNTERS)
"""In W with the measured power among the terms; in units of it; in W from counters at one clock."""

SQUARE = "^2"
"""Ending of a term that is the square of a column."""


class PowerLaw(Protocol):
    """Power at other P-states from signatures."""

    def power(self, signatures: Points, targets: Ints) -> Floats:
        """Return W of a node, (n, t); NaN for a pair of frequencies the law does not know."""
        ...


class TimeLaw(Protocol):
    """Run time at other P-states from signatures."""

    def factor(self, signatures: Points, targets: Ints) -> Floats:
        """Return T(f) / T(f0), (n, t); NaN for a pair of frequencies the law does not know."""
        ...


@dataclass(frozen=True, eq=False)
class LinearMap:
    """One linear form for each pair of reference and target frequency.

    Attributes
    ----------
    terms : (c,) columns of the signatures, ``1`` for the constant.
    pstates : (k,) frequencies known.
    coefficients : (k, k, c) by reference, target and term; NaN for a pair that is not available.
    """

    terms: tuple[str, ...]
    pstates: PStates
    coefficients: Floats

    def __post_init__(self) -> None:
        shape = (len(self.pstates), len(self.pstates), len(self.terms))
        if self.coefficients.shape != shape:
            raise InputError(f"coefficients: found the shape {self.coefficients.shape}; allowed: {shape}")

    def __call__(self, signatures: Points, targets: Ints) -> Floats:
        """Apply the forms: (n, t)."""
        reference, states = self.pstates.index(signatures.khz), self.pstates.index(targets)
        terms = signatures.terms(self.terms)
        made = np.empty((len(terms), len(states)))
        for state in np.flatnonzero(np.bincount(reference)):
            rows = reference == state
            made[rows] = terms[rows] @ self.coefficients[state, states].T
        return made

    def available(self) -> np.ndarray:
        """Whether each pair of reference and target is known, (k, k) bool."""
        return np.asarray(np.isfinite(self.coefficients).all(axis=2))


@dataclass(frozen=True, eq=False)
class LinearPower:
    """Power as a linear form: in watts (``affine``, ``counters``), or in units of the measured power."""

    form: str
    map: LinearMap

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise InputError(f"form: found {self.form!r}; allowed: {', '.join(FORMS)}")

    def power(self, signatures: Points, targets: Ints) -> Floats:
        """Return W of a node, (n, t)."""
        scale = signatures.power[:, None] if self.form == "ratio" else 1.0
        return self.map(signatures, targets) * scale


@dataclass(frozen=True, eq=False)
class IdleDynamic:
    """P(f) = idle + (P(f0) − idle) · g(f) / g(f0): the part above idle follows the clock.

    Attributes
    ----------
    idle_w : power of an idle node, W.
    pstates : (k,) frequencies; share : (k,) g at each, such as f² of the effective clock.
    """

    idle_w: float
    pstates: PStates
    share: Floats

    @classmethod
    def of_exponent(cls, idle_w: float, pstates: PStates, exponent: float = 2.0) -> IdleDynamic:
        """Let g be a power of the effective clock."""
        return cls(idle_w, pstates, (pstates.effective_khz / pstates.effective_khz[0]) ** exponent)

    def power(self, signatures: Points, targets: Ints) -> Floats:
        """Return W of a node, (n, t). Raises InputError for a signature below idle power."""
        above = signatures.power - self.idle_w
        if (above < 0).any():
            lowest = signatures.power.min()
            raise InputError(f"power_w: found {lowest:g} W; allowed: at least idle, {self.idle_w:g} W")
        base = self.share[self.pstates.index(signatures.khz)]
        return self.idle_w + np.outer(above / base, self.share[self.pstates.index(targets)])


@dataclass(frozen=True, eq=False)
class CpiTime:
    """T(f) = T(f0) · CPI(f) / CPI(f0) · f0 / f with a projected CPI (EAR)."""

    map: LinearMap

    def factor(self, signatures: Points, targets: Ints) -> Floats:
        """Return T(f) / T(f0), (n, t)."""
        cpi = self.map(signatures, targets) / signatures.column(CPI)[:, None]
        return cpi * self.map.pstates.slower(signatures.khz, targets)


@dataclass(frozen=True, eq=False)
class Stall:
    """T(f) = T(f0) · (1 + α (f0 / f − 1)): a share α of the time follows the clock, the rest waits.

    α is a linear form of the signature, held within 0 and 1.
    """

    map: LinearMap

    @classmethod
    def constant(cls, pstates: PStates, alpha: float = 1.0) -> Stall:
        """Return the law of one α for all; 1 is T ∝ 1 / f."""
        k = len(pstates)
        return cls(LinearMap((ONE,), pstates, np.full((k, k, 1), float(alpha))))

    @classmethod
    def of_column(cls, pstates: PStates) -> Stall:
        """Return the law of an α that each signature states, in the column ``alpha``."""
        k = len(pstates)
        return cls(LinearMap((ALPHA,), pstates, np.ones((k, k, 1))))

    def factor(self, signatures: Points, targets: Ints) -> Floats:
        """Return T(f) / T(f0), (n, t)."""
        alpha = np.clip(self.map(signatures, targets), 0.0, 1.0)
        return 1.0 + alpha * (self.map.pstates.slower(signatures.khz, targets) - 1.0)


TIME_LAWS: dict[str, type[CpiTime] | type[Stall]] = {"cpi": CpiTime, "stall": Stall}


def power_law(form: str, terms: Sequence[str], pstates: PStates, coefficients: Floats) -> LinearPower:
    """Make a law of power from coefficients (k, k, c); each frequency projects exactly onto itself.

    A law without the measured power (``affine`` without power_w among its terms) is left as it is.
    """
    carrier = ONE if form == "ratio" else POWER
    made = _identity(coefficients, terms, carrier) if carrier in terms else coefficients
    return LinearPower(form, LinearMap(tuple(terms), pstates, made))


def time_law(form: str, terms: Sequence[str], pstates: PStates, coefficients: Floats) -> CpiTime | Stall:
    """Make a law of time, ``cpi`` or ``stall``, likewise."""
    made = _identity(coefficients, terms, CPI if form == "cpi" else ONE)
    return TIME_LAWS[form](LinearMap(tuple(terms), pstates, made))


def _identity(coefficients: Floats, terms: Sequence[str], carrier: str) -> Floats:
    """Let each frequency project onto itself by the one term that carries the quantity, (k, k, c)."""
    made = coefficients.copy()
    places = np.arange(len(made))
    made[places, places] = [1.0 if term == carrier else 0.0 for term in terms]
    return made
