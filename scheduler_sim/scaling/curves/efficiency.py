"""Curves of one efficiency factor: constant, Amdahl's, and the pipeline's."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field

from scheduler_sim.arrays import Floats
from scheduler_sim.scaling.curves.kind import READINGS, Curve, PositiveShare, Reading, Share, number
from scheduler_sim.scaling.least_squares import efficiency_line


class Constant(Curve):
    """A factor without a trend."""

    NAME: ClassVar[str] = "constant"
    GIVES: ClassVar[str] = "efficiency"
    EQUATION: ClassVar[str] = "η(P) = value"
    SOURCE: ClassVar[str] = "D2.3, section 4.1 (load balance held constant)"

    value: Annotated[float, number(0, 100, above=True)] = Field(
        description="the efficiency; above 1 only for factors that may exceed 1"
    )

    def _value(self, *inputs: Floats) -> Floats:
        return np.full(np.shape(inputs[0]), self.value)

    @classmethod
    def fitted(cls, processes: Floats, eta: Floats, weight: Floats | None = None) -> Self:
        """Return the weighted mean."""
        return cls.of(value=float(np.average(eta, weights=weight)))


class InverseLine(Curve):
    """Curves whose 1/η is a line in a function h of P, h(1) = 0; so their fit has a closed form."""

    GIVES: ClassVar[str] = "efficiency"

    reading: Reading = Field(default="linear", description="g(P): P, its cube root, or 1 + log2 P")

    @classmethod
    def h(cls, processes: Floats, reading: str) -> Floats:
        """Return h(P)."""
        raise NotImplementedError

    @classmethod
    def of_line(cls, k: float, m: float, reading: str) -> Self:
        """Return the curve with 1/η = k + m h."""
        raise NotImplementedError

    @classmethod
    def fitted(
        cls, processes: Floats, eta: Floats, weight: Floats | None = None, *, reading: str = "linear"
    ) -> Self:
        """Minimise the squares of the relative errors of 1/η within the bounds of the parameters."""
        ones = np.ones(len(eta)) if weight is None else weight
        return cls.of_line(*efficiency_line(cls.h(processes, reading), eta, ones), reading)


class Amdahl(InverseLine):
    """Efficiency by Amdahl's law, with three readings of P."""

    NAME: ClassVar[str] = "amdahl"
    EQUATION: ClassVar[str] = "η(P) = a0 / (f + (1 − f) g(P)), g = P, ∛P or 1 + log2 P"
    SOURCE: ClassVar[str] = "Rosas et al. 2014, eq. 5; D2.3, section 4.1"

    a0: PositiveShare = Field(default=1.0, description="efficiency of one process")
    f: Share = Field(description="parallel share: for a0 = 1 the serial share is 1 − f")

    def _value(self, *inputs: Floats) -> Floats:
        g = READINGS[self.reading](inputs[0])
        return self.a0 / (self.f + (1 - self.f) * g)

    @classmethod
    def h(cls, processes: Floats, reading: str) -> Floats:
        """Return g(P) − 1."""
        return READINGS[reading](processes) - 1

    @classmethod
    def of_line(cls, k: float, m: float, reading: str) -> Self:
        """Return the curve with 1/η = k + m (g − 1)."""
        return cls.of(reading=reading, a0=1 / k, f=1 - m / k)


class Pipeline(InverseLine):
    """Efficiency of a pipeline of processes, with three readings of P."""

    NAME: ClassVar[str] = "pipeline"
    EQUATION: ClassVar[str] = "η(P) = c g(P) / ((1 − f) + f (2 g(P) − 1)), g = P, ∛P or 1 + log2 P"
    SOURCE: ClassVar[str] = "Rosas et al. 2014, eq. 6; f from 0.5, as below it efficiency would grow with P"

    c: PositiveShare = Field(
        default=1.0, description="efficiency of one process; c / (2f) is the limit for many processes"
    )
    f: Annotated[float, number(0.5, 1)] = Field(description="share of the pipeline")

    def _value(self, *inputs: Floats) -> Floats:
        g = READINGS[self.reading](inputs[0])
        return self.c * g / ((1 - self.f) + self.f * (2 * g - 1))

    @classmethod
    def h(cls, processes: Floats, reading: str) -> Floats:
        """Return 1 − 1/g(P)."""
        return 1 - 1 / READINGS[reading](processes)

    @classmethod
    def of_line(cls, k: float, m: float, reading: str) -> Self:
        """Return the curve with 1/η = k + m (1 − 1/g)."""
        return cls.of(reading=reading, c=1 / k, f=(1 + m / k) / 2)
