"""Curves of run times as sums of terms or parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, Field

from scheduler_sim.arrays import Floats
from scheduler_sim.config.keys import Keys
from scheduler_sim.config.value import Check, choice
from scheduler_sim.scaling.curves.kind import Curve, NotNegative, Seconds, number
from scheduler_sim.scaling.least_squares import not_negative

NOTHING = 1e-9
"""Largest share of a term in any point at which it is taken for rounding."""


class PmnfTerm(Keys):
    """One term of a normal form, c p^i log2(p)^j."""

    c: NotNegative = Field(description="coefficient, in the unit of the model")
    i: Annotated[float, number(-8, 8)] = Field(default=0.0, description="exponent of p")
    j: Annotated[float, number(0, 8)] = Field(default=0.0, description="exponent of log2 p")


class Pmnf(Curve):
    """Performance model normal form. Coefficients cannot be negative, so no time ever is."""

    NAME: ClassVar[str] = "pmnf"
    GIVES: ClassVar[str] = "time"
    EQUATION: ClassVar[str] = "f(p) = constant + Σ c p^i log2(p)^j"
    SOURCE: ClassVar[str] = "Calotoiu et al. 2013; coefficients ≥ 0 are ours"

    constant: NotNegative = Field(default=0.0, description="the part that does not depend on p")
    terms: list[PmnfTerm] = Field(default=[], description="terms {c, i, j}")
    gives: Annotated[str, choice("time", "work")] = Field(
        default="time", description="time in s, or work: processes × s, as for a fixed problem size"
    )

    @property
    def quantity(self) -> str:
        """Time, or work."""
        return self.gives

    def _value(self, *inputs: Floats) -> Floats:
        p = inputs[0]
        total = np.full(np.shape(p), self.constant)
        for term in self.terms:
            total = total + term.c * pmnf_term(p, term.i, term.j)
        return total

    @classmethod
    def fitted(
        cls, processes: Floats, y: Floats, exponents: Sequence[tuple[float, float]], gives: str = "time"
    ) -> Self:
        """Find coefficients for given exponents (i, j) by least squares of relative errors, all >= 0."""
        columns = [np.ones(len(y)), *(pmnf_term(processes, i, j) for i, j in exponents)]
        found = not_negative(columns, y, 1 / y**2)
        shares = [float(np.max(c * column / y)) for c, column in zip(found, columns, strict=True)]
        constant, *coefficients = np.where(np.array(shares) > NOTHING, found, 0.0)
        terms = [
            {"c": float(c), "i": float(i), "j": float(j)}
            for c, (i, j) in zip(coefficients, exponents, strict=True)
            if c > 0
        ]
        return cls.of(constant=float(constant), terms=terms, gives=gives)


def pmnf_term(p: Floats, i: float, j: float) -> Floats:
    """Return p^i log2(p)^j."""
    return p**i * np.log2(p) ** j


def _curves(written: Any) -> dict[str, Curve]:
    if not isinstance(written, dict) or not written:
        raise TypeError
    if not all(isinstance(part, Curve) for part in written.values()):
        raise TypeError
    return dict(written)


Parts = Annotated[dict[str, Any], BeforeValidator(Check("curves by name", _curves))]


class Phases(Curve):
    """Phases or call paths one after the other, each with its own curve of time or work."""

    NAME: ClassVar[str] = "phases"
    GIVES: ClassVar[str] = "time"
    EQUATION: ClassVar[str] = "T(P) = Σ T_phase(P), where T = work / P for a phase stated as work"
    SOURCE: ClassVar[str] = "Calotoiu et al. 2013 (a model for each call path)"
    PARTS: ClassVar[str] = "phases"

    phases: Parts = Field(description="curves by name")

    def _value(self, *inputs: Floats) -> Floats:
        seconds: Floats = np.sum([_seconds(curve, inputs[0]) for curve in self.phases.values()], axis=0)
        return seconds


class LostCycles(Curve):
    """Run time from the pure computation and the cycles that each kind of overhead takes from it."""

    NAME: ClassVar[str] = "lost_cycles"
    GIVES: ClassVar[str] = "time"
    EQUATION: ClassVar[str] = "T(P) = (T_c + Σ T_o(P)) / P, T_o summed over all processes"
    SOURCE: ClassVar[str] = "Crovella and LeBlanc 1994 (lost cycles analysis)"
    PARTS: ClassVar[str] = "overheads"

    computation: Seconds = Field(description="T_c, pure computation, seconds of all processes together")
    overheads: Parts = Field(
        description="T_o by category, seconds of all processes together: load imbalance, insufficient"
        " parallelism, synchronisation loss, communication loss, resource contention"
    )

    def _value(self, *inputs: Floats) -> Floats:
        p = inputs[0]
        lost = np.sum([curve.values(p) for curve in self.overheads.values()], axis=0)
        seconds: Floats = (self.computation + lost) / p
        return seconds

    def efficiency(self, processes: Any) -> Floats:
        """Return T_c / (T_c + overheads), the share of all cycles that compute."""
        p = np.asarray(processes, dtype=np.float64)
        return self.computation / (p * self.values(p))


def _seconds(curve: Curve, p: Floats) -> Floats:
    """Return the seconds of a curve of time or work."""
    return curve.values(p) / p if curve.quantity == "work" else curve.values(p)
