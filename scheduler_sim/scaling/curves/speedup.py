"""Curves of the speedup of a whole application over one process."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field

from scheduler_sim.arrays import Floats
from scheduler_sim.scaling.curves.kind import Curve, NotNegative, Share, number
from scheduler_sim.scaling.least_squares import bounded, not_negative


class _Speedup(Curve):
    GIVES: ClassVar[str] = "speedup"


class AmdahlSpeedup(_Speedup):
    """Speedup at a fixed problem size by the serial share alone."""

    NAME: ClassVar[str] = "amdahl_speedup"
    EQUATION: ClassVar[str] = "S(P) = P / (1 + s (P − 1))"
    SOURCE: ClassVar[str] = "Amdahl 1967"

    serial: Share = Field(description="serial share s of the run time of one process")

    def _value(self, *inputs: Floats) -> Floats:
        p = inputs[0]
        return p / (1 + self.serial * (p - 1))

    @classmethod
    def fitted(cls, processes: Floats, eta: Floats, weight: Floats | None = None) -> Self:
        """Minimise the squares of the relative errors of 1/η = 1 + s (P − 1), s from 0 to 1."""
        w = eta**2 if weight is None else weight * eta**2
        (serial,) = not_negative([processes - 1], 1 / eta - 1, w)
        return cls.of(serial=min(float(serial), 1.0))


class Gustafson(_Speedup):
    """Scaled speedup, the time held fixed; over threads, a serial region between parallel ones."""

    NAME: ClassVar[str] = "gustafson"
    EQUATION: ClassVar[str] = "S(P) = P − s (P − 1), so η(P) = (1 − s) + s/P"
    SOURCE: ClassVar[str] = "Gustafson 1988; as OpenMP load balance D2.3, section 4.3"

    serial: Share = Field(description="serial share s of the run time on P processes")

    def _value(self, *inputs: Floats) -> Floats:
        p = inputs[0]
        return p - self.serial * (p - 1)

    @classmethod
    def fitted(cls, processes: Floats, eta: Floats, weight: Floats | None = None) -> Self:
        """Minimise the squares of the errors of 1 − η = s (1 − 1/P), s from 0 to 1."""
        ones = np.ones(len(eta)) if weight is None else weight
        (serial,) = not_negative([1 - 1 / processes], 1 - eta, ones)
        return cls.of(serial=min(float(serial), 1.0))


class Usl(_Speedup):
    """Universal scalability law: contention and coherency, with a largest speedup."""

    NAME: ClassVar[str] = "usl"
    EQUATION: ClassVar[str] = "S(P) = P / (1 + a (P − 1) + b P (P − 1))"
    SOURCE: ClassVar[str] = "Gunther 2007"

    a: Share = Field(description="contention")
    b: NotNegative = Field(description="coherency, the cost of each pair of processes")

    def _value(self, *inputs: Floats) -> Floats:
        p = inputs[0]
        return p / (1 + self.a * (p - 1) + self.b * p * (p - 1))

    @property
    def peak(self) -> float:
        """Processes of the largest speedup; infinite for b = 0."""
        return float(np.sqrt((1 - self.a) / self.b)) if self.b > 0 else np.inf

    @classmethod
    def fitted(cls, processes: Floats, eta: Floats, weight: Floats | None = None) -> Self:
        """Minimise the squares of the relative errors of 1/η, which is linear in a and b."""
        p = processes
        w = eta**2 if weight is None else weight * eta**2
        a, b = not_negative([p - 1, p * (p - 1)], 1 / eta - 1, w)
        return cls.of(a=min(float(a), 1.0), b=float(b))


class Downey(_Speedup):
    """Speedup by average parallelism and its variation: synthetic moldable jobs."""

    NAME: ClassVar[str] = "downey"
    EQUATION: ClassVar[str] = (
        "σ ≤ 1: S = AP / (A + σ(P − 1)/2) for P ≤ A, AP / (σ(A − 1/2) + P(1 − σ/2)) for A ≤ P ≤ 2A − 1,"
        " else A; σ ≥ 1: S = PA(σ + 1) / (σ(P + A − 1) + A) for P ≤ A + Aσ − σ, else A"
    )
    SOURCE: ClassVar[str] = "Downey 1997 (a model of speedup of parallel programs)"

    A: Annotated[float, number(1)] = Field(description="average parallelism")
    sigma: NotNegative = Field(description="variation of parallelism, σ")

    def _value(self, *inputs: Floats) -> Floats:
        n, a, s = inputs[0], self.A, self.sigma
        if s <= 1:
            below = a * n / (a + s * (n - 1) / 2)
            above = a * n / (s * (a - 0.5) + n * (1 - s / 2))
            return np.where(n <= a, below, np.where(n <= 2 * a - 1, above, a))
        rising = n * a * (s + 1) / (s * (n + a - 1) + a)
        return np.where(n <= a + a * s - s, rising, a)

    @classmethod
    def fitted(cls, processes: Floats, eta: Floats, weight: Floats | None = None) -> Self:
        """Minimise the squares of the errors of η, from several starts: A within 16 of the largest P."""
        root = np.sqrt(np.ones(len(eta)) if weight is None else weight)
        most = 16 * float(processes.max())

        def residuals(parameters: Floats) -> Floats:
            a, sigma = (float(value) for value in parameters)
            return root * (cls.of(A=max(a, 1.0), sigma=sigma).values(processes) / processes - eta)

        starts = [(a, s) for a in np.geomspace(1.5, most * 0.9, 6) for s in (0.1, 0.8, 2.0, 10.0)]
        a, sigma = bounded(residuals, starts, (1.0, 0.0), (most, 1000.0))
        return cls.of(A=float(a), sigma=float(sigma))
