"""Curves of run times as sums of terms or parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from scheduler_sim.arrays import Floats
from scheduler_sim.config.keys import Keys
from scheduler_sim.config.value import Check, choice
from scheduler_sim.scaling.curves.kind import Curve, NotNegative, Seconds, number
from scheduler_sim.scaling.least_squares import not_negative
from scheduler_sim.scaling.parameters import PARAMETERS, PROCESSES
from scheduler_sim.scaling.quantile import weighted_quantile

NOTHING = 1e-9
"""Largest share of a term in any point at which it is taken for rounding."""


def _exponents(written: Any) -> dict[str, tuple[float, float]]:
    """Read {size: [1, 0]}: exponents i and j of other parameters."""
    read = {}
    for name, (i, j) in dict(written).items():
        if name == PROCESSES or name not in PARAMETERS or isinstance(i, bool) or isinstance(j, bool):
            raise ValueError
        if not (-8 <= i <= 8 and 0 <= j <= 8):
            raise ValueError
        read[name] = (float(i), float(j))
    return read


OTHERS = [name for name in PARAMETERS if name != PROCESSES]
Exponents = Annotated[
    dict[str, tuple[float, float]],
    BeforeValidator(
        Check(f"[i, j] by parameter, of {', '.join(OTHERS)}, i from -8 to 8, j 0 to 8", _exponents)
    ),
]


class PmnfTerm(Keys):
    """One term of a normal form, c p^i log2(p)^j, times the same of other parameters."""

    c: NotNegative = Field(description="coefficient, in the unit of the model")
    i: Annotated[float, number(-8, 8)] = Field(default=0.0, description="exponent of p")
    j: Annotated[float, number(0, 8)] = Field(default=0.0, description="exponent of log2 p")
    of: Exponents = Field(default={}, description="exponents of other parameters, {size: [1, 0]}")

    @property
    def shapes(self) -> dict[str, tuple[float, float]]:
        """Exponents (i, j) by parameter; none where both are 0."""
        every = {PROCESSES: (self.i, self.j), **self.of}
        return {name: shape for name, shape in every.items() if shape != (0, 0)}


class NormalForm(Keys):
    """A constant and terms."""

    constant: NotNegative = Field(default=0.0, description="the constant part")
    terms: list[PmnfTerm] = Field(default=[], description="terms {c, i, j, of}")

    def value(self, counts: Mapping[str, Floats]) -> Floats:
        """Return the sum where the parameters are those given."""
        total: Floats = np.full(np.broadcast_shapes(*map(np.shape, counts.values())), self.constant)
        for term in self.terms:
            part = np.asarray(term.c)
            for name, (i, j) in term.shapes.items():
                part = part * pmnf_term(counts[name], i, j)
            total = total + part
        return total


class WeightedForm(NormalForm):
    """A normal form, and how much it counts."""

    weight: Annotated[float, number(0, above=True)] = Field(description="weight of the form")


class _Forms(Curve):
    """Curves of normal forms, which depend on processes and on what their terms name besides."""

    GIVES: ClassVar[str] = "time"
    OTHERS: ClassVar[bool] = True

    gives: Annotated[str, choice("time", "work")] = Field(
        default="time", description="time in s, or work: processes × s, as for a fixed problem size"
    )

    @property
    def quantity(self) -> str:
        """Time, or work."""
        return self.gives

    @property
    def inputs(self) -> tuple[str, ...]:
        """Processes, and the other parameters of the terms in the order of ``PARAMETERS``."""
        named = {name for form in self._forms() for term in form.terms for name in term.shapes}
        return tuple(name for name in PARAMETERS if name == PROCESSES or name in named)

    def _forms(self) -> Sequence[NormalForm]:
        raise NotImplementedError


class Pmnf(_Forms, NormalForm):
    """Performance model normal form. Coefficients cannot be negative, so no time ever is."""

    NAME: ClassVar[str] = "pmnf"
    EQUATION: ClassVar[str] = "f = constant + Σ c p^i log2(p)^j · Π x^a log2(x)^b of other parameters x"
    SOURCE: ClassVar[str] = "Calotoiu et al. 2013, of several parameters 2016; coefficients ≥ 0 are ours"

    def _forms(self) -> Sequence[NormalForm]:
        return [self]

    def _value(self, *inputs: Floats) -> Floats:
        return self.value(dict(zip(self.inputs, inputs, strict=True)))

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


class Mixture(_Forms):
    """Normal forms that may each be right, by their weights: half of these predict no more."""

    NAME: ClassVar[str] = "mixture"
    EQUATION: ClassVar[str] = "f = the least value up to which forms of half of the weight lie"
    SOURCE: ClassVar[str] = "the median of models weighted by their odds, ours"

    forms: list[WeightedForm] = Field(
        description="normal forms {weight, constant, terms}, the most probable first"
    )

    @field_validator("forms")
    @classmethod
    def _one(cls, forms: list[WeightedForm]) -> list[WeightedForm]:
        if not forms:
            raise PydanticCustomError("allowed", "{text}", {"text": "at least one normal form"})
        return forms

    @property
    def first(self) -> Pmnf:
        """The most probable form."""
        form = self.forms[0]
        return Pmnf.of(constant=form.constant, terms=form.terms, gives=self.gives)

    def _forms(self) -> Sequence[NormalForm]:
        return self.forms

    def band(self, counts: Mapping[str, Floats], level: float) -> tuple[Floats, Floats]:
        """Return between what values forms of this share of the weight lie."""
        return self._quantile(counts, (1 - level) / 2), self._quantile(counts, (1 + level) / 2)

    def _value(self, *inputs: Floats) -> Floats:
        return self._quantile(dict(zip(self.inputs, inputs, strict=True)), 0.5)

    def _quantile(self, counts: Mapping[str, Floats], share: float) -> Floats:
        own = {name: counts[name] for name in self.inputs}
        values = np.array([form.value(own) for form in self.forms])
        weight = np.array([form.weight for form in self.forms])
        flat = weighted_quantile(values.reshape(len(values), -1), weight, share)
        return flat.reshape(values.shape[1:])


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

    @property
    def inputs(self) -> tuple[str, ...]:
        """What any of the phases depends on."""
        named = {name for curve in self.phases.values() for name in curve.inputs}
        return tuple(name for name in PARAMETERS if name in named)

    def _value(self, *inputs: Floats) -> Floats:
        counts = dict(zip(self.inputs, inputs, strict=True))
        seconds: Floats = np.sum([_seconds(curve, counts) for curve in self.phases.values()], axis=0)
        return seconds

    def band(self, counts: Mapping[str, Floats], level: float) -> tuple[Floats, Floats]:
        """Return the sums of the ends of all phases, as if all were off to the same side."""
        ends = [(curve, curve.band(counts, level)) for curve in self.phases.values()]
        unit = [counts[PROCESSES] if curve.quantity == "work" else 1.0 for curve, _ in ends]
        low, high = (
            np.sum([both[side] / one for (_, both), one in zip(ends, unit, strict=True)], axis=0)
            for side in (0, 1)
        )
        return low, high


def _rising(written: Any) -> list[float]:
    breaks = [float(value) for value in written]
    if isinstance(written, str | dict) or any(isinstance(value, bool) for value in written):
        raise TypeError
    if not breaks or sorted(set(breaks)) != breaks or not 1 < breaks[0] <= breaks[-1] < np.inf:
        raise ValueError
    return breaks


class Segments(Curve):
    """Another law on either side of a break, such as where a cache or a switch no longer suffices."""

    NAME: ClassVar[str] = "segments"
    GIVES: ClassVar[str] = "time"
    EQUATION: ClassVar[str] = "f = f_k(P) from break k − 1 up to break k; the last one for good"
    SOURCE: ClassVar[str] = "segmented behaviour is Ilyas et al. 2017's term; how it is found is ours"
    PARTS: ClassVar[str] = "segments"

    breaks: Annotated[list[float], BeforeValidator(Check("a list of rising numbers above 1", _rising))] = (
        Field(description="numbers of processes from which the next curve holds")
    )
    segments: Parts = Field(description="curves by name, in order, one more than breaks")

    @field_validator("segments")
    @classmethod
    def _alike(cls, segments: dict[str, Curve], info: ValidationInfo) -> dict[str, Curve]:
        wanted = len(info.data.get("breaks", [])) + 1
        said = ""
        if wanted > 1 and len(segments) != wanted:
            said = f"{wanted} curves, one more than breaks"
        if len({(curve.quantity, curve.inputs) for curve in segments.values()}) > 1:
            said = "curves that give the same, of the same"
        if said:
            raise PydanticCustomError("allowed", "{text}", {"text": said})
        return segments

    @property
    def quantity(self) -> str:
        """That of its segments."""
        return str(next(iter(self.segments.values())).quantity)

    @property
    def inputs(self) -> tuple[str, ...]:
        """What the segments depend on."""
        return tuple(next(iter(self.segments.values())).inputs)

    def band(self, counts: Mapping[str, Floats], level: float) -> tuple[Floats, Floats]:
        """Return the ends of the segment that each place is in."""
        own = {name: counts[name] for name in self.inputs}
        ends = [curve.band(own, level) for curve in self.segments.values()]
        low, high = (self._chosen(counts[PROCESSES], [both[side] for both in ends]) for side in (0, 1))
        return low, high

    def _value(self, *inputs: Floats) -> Floats:
        counts = dict(zip(self.inputs, inputs, strict=True))
        return self._chosen(counts[PROCESSES], [curve.at(counts) for curve in self.segments.values()])

    def _chosen(self, p: Floats, values: Sequence[Floats]) -> Floats:
        place = np.searchsorted(self.breaks, p, side="right")
        return np.asarray(np.choose(place, values), dtype=np.float64)


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


def _seconds(curve: Curve, counts: Mapping[str, Floats]) -> Floats:
    """Return the seconds of a curve of time or work."""
    values = curve.at(counts)
    return values / counts[PROCESSES] if curve.quantity == "work" else values
