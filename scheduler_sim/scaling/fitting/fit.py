"""A fit: the curve chosen, the others by rank, and how far it can be trusted where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from scheduler_sim.arrays import Floats
from scheduler_sim.scaling.curves import READINGS, Amdahl, Constant, Curve, Mixture, Pmnf, Segments, Table
from scheduler_sim.scaling.curves.efficiency import InverseLine
from scheduler_sim.scaling.fitting.evidence import predictive
from scheduler_sim.scaling.fitting.regression import prediction_interval
from scheduler_sim.scaling.fitting.sample import Sample
from scheduler_sim.scaling.fitting.shapes import shape_values
from scheduler_sim.scaling.parameters import PROCESSES

MARGIN = 0.1
"""Curves whose left-out errors differ by less than this share are as good."""

LIKELY = 0.1
"""Odds against the form chosen above which another normal form may as well be the right one."""

SYMBOLS = {PROCESSES: "p"}
"""What formulas call a parameter where it is not its name."""

SLOPE = 0.02
"""How far, beyond the points, the exponent of P may be off that of every reading of an efficiency."""

TRUST = 0.8
"""Power of their odds by which normal forms count in an envelope.

Odds take every term to be one of those tried, and noise to be normal: with 1 envelopes held 75 to 94 % of
runs drawn, with 0.8 85 to 97 % (kinds of ``benchmarks.scaling_laws.CALIBRATED``, 800 draws of each, seeds 1
and 3)."""

FAR = 8
"""Times the largest fitted P beyond which a prediction is called far."""


@dataclass(frozen=True)
class Candidate:
    """A curve that was tried.

    Attributes
    ----------
    curve : with the parameters found on all points
    left_out_error : SMAPE (%) of predicting each point from the others; NaN with too few points
    residual : sum of the squares of the relative errors on the points themselves
    odds : of a normal form, how probable it is, over the one chosen; NaN for other curves
    """

    curve: Curve
    left_out_error: float
    residual: float
    odds: float = np.nan

    @property
    def label(self) -> str:
        """Kind and reading: ``amdahl (cbrt)``."""
        return label_of(self.curve)


@dataclass(frozen=True)
class Fit:
    """A curve learnt from points.

    All that it says is in the quantity measured, a share or seconds; a curve of work is divided by P.

    Attributes
    ----------
    name : of the factor, phase or metric
    curve : what predicts: the one chosen, or a mixture of those that may be right
    sample : the points, their means and repetitions
    weight : float64[n], what each counted
    candidates : all that were tried, best first
    ties : labels of those that are as good, within the margin
    warnings : what a person should know before using it
    level : of the intervals
    parameters : what the columns of points are
    """

    name: str
    curve: Curve
    sample: Sample
    weight: Floats
    candidates: tuple[Candidate, ...]
    ties: tuple[str, ...]
    warnings: tuple[str, ...]
    level: float = field(default=0.9)
    parameters: tuple[str, ...] = (PROCESSES,)

    @property
    def formula(self) -> Curve:
        """The curve for people to read: of a mixture the most probable form."""
        return self.candidates[0].curve if isinstance(self.curve, Mixture) else self.curve

    @property
    def processes(self) -> Floats:
        """P of the points, or the first of several parameters."""
        return self.sample.points[:, 0]

    @property
    def values(self) -> Floats:
        """Measured values, means of repetitions."""
        return self.sample.values

    @property
    def quantity(self) -> str:
        """What was measured: ``efficiency`` (share of 1) or ``time`` (s)."""
        return "efficiency" if self.curve.quantity == "efficiency" else "time"

    def predicted(self, at: ArrayLike) -> Floats:
        """Return what the curve says at P, float[q], or at points of several parameters, float[q, k]."""
        points = self._points(at)
        return self.curve.at(self._counts(points)) / self._unit(points)

    def interval(self, at: ArrayLike) -> tuple[Floats, Floats]:
        """Return where a further measurement lies at the fit's level, if the formula is right.

        Noise is taken as relative: a measured value is off by so many per cent. An efficiency is
        kept within 0 and 1, a time above 0; with too few points these limits are all that is known.
        """
        points = self._points(at)
        if not isinstance(self.formula, Pmnf):
            return self._interval_of(self.formula, points[:, 0])
        return self._quantiles(points, [(self.formula, 1.0)])

    def by_reading(self, processes: ArrayLike) -> dict[str, Floats]:
        """Return the values of the same kind of curve under each reading of P; empty for other kinds."""
        p = np.atleast_1d(np.asarray(processes, dtype=np.float64))
        return {reading: curve.values(p) for reading, curve in self._readings().items()}

    def envelope(self, at: ArrayLike) -> tuple[Floats, Floats]:
        """Return where a further measurement lies at the fit's level, whichever curve is right.

        Of times these are quantiles of what all normal forms predict that may be right, each by its odds
        to the power of ``TRUST``; of efficiencies the hull of the intervals under every reading of P. Points
        at a few times the base cannot tell them apart, while they differ wholly at a hundred times: the
        interval covers noise, this covers the choice as well. As an efficiency may follow no reading, its low
        end falls beyond the points by P to the power of ``SLOPE``: none rises for good. A table has no curve,
        and is not widened.
        """
        points = self._points(at)
        if isinstance(self.formula, Pmnf):
            return self._quantiles(points, [(c.curve, c.odds**TRUST) for c in self.candidates])
        p = points[:, 0]
        if isinstance(self.curve, Table):
            return self._interval_of(self.curve, p)
        ends = [self._interval_of(curve, p) for curve in (self.curve, *self._readings().values())]
        beyond = np.maximum(p / self.processes.max(), 1) ** SLOPE
        return np.min([low for low, _ in ends], axis=0) / beyond, np.max([high for _, high in ends], axis=0)

    def along(self, parameter: str) -> Slice:
        """Return the fit as a function of one of several parameters, the others as at the largest points."""
        place = self.parameters.index(parameter)
        points = self.sample.points
        others = [k for k in range(len(self.parameters)) if k != place]
        counts = {tuple(row): 0 for row in points[:, others].tolist()}
        for row in points[:, others].tolist():
            counts[tuple(row)] += 1
        longest = max(counts.values())
        fixed = max(row for row, count in counts.items() if count == longest)
        own = (points[:, others] == np.array(fixed)).all(axis=1)
        base = np.insert(np.array(fixed), place, np.nan)
        return Slice(self, place, base, points[own, place], self.values[own])

    def cautions(self, processes: float, checked_to: float | None = None) -> list[str]:
        """Say what speaks against a prediction at P, beyond the fit's own warnings.

        ``checked_to`` is the largest P at which a prediction was held against a measurement.
        """
        largest = float(self.processes.max())
        said = []
        if processes > FAR * largest:
            said.append(
                f"{self.name}: {processes:g} is {processes / largest:.3g} times the largest P fitted"
                f" ({largest:g}); readings of P differ there, see the envelope"
            )
        if processes > 2 * largest and (checked_to is None or checked_to < processes / 2):
            said.append(
                f"{self.name}: nothing was measured halfway to {processes:g} to hold the curve against"
            )
        return said

    def _points(self, at: ArrayLike) -> Floats:
        return np.asarray(at, dtype=np.float64).reshape(-1, len(self.parameters))

    def _counts(self, points: Floats) -> dict[str, Floats]:
        return dict(zip(self.parameters, points.T, strict=True))

    def _unit(self, points: Floats) -> Floats:
        return unit(self.curve, self._counts(points))

    def _most(self) -> float:
        """Return what no value exceeds: 1 for an efficiency, unless one measured did."""
        return 1.0 if self.quantity == "efficiency" and (self.values <= 1).all() else np.inf

    def _readings(self) -> dict[str, Curve]:
        if not isinstance(self.curve, InverseLine | Constant) or len(self.values) < 2:
            return {}
        kind = type(self.curve) if isinstance(self.curve, InverseLine) else Amdahl
        if (self.values > 1).any():
            return {}
        return {
            reading: kind.fitted(self.processes, self.values, self.weight, reading=reading)
            for reading in READINGS
        }

    def _quantiles(self, points: Floats, curves: Sequence[tuple[Curve, float]]) -> tuple[Floats, Floats]:
        """Return both ends of what normal forms predict, each by its odds."""
        here, there = self._counts(self.sample.points), self._counts(points)
        sample = replace(self.sample, values=self.values * unit(self.curve, here))
        forms = [
            (part_columns(form, here), part_columns(form, there), part_coefficients(form), odds)
            for form, odds in curves
            if isinstance(form, Pmnf)
        ]
        predicted, tail = predictive(forms, sample), (1 - self.level) / 2
        middle = self.curve.at(there)
        low, high = (
            np.minimum(predicted.quantile(tail), middle),
            np.maximum(predicted.quantile(1 - tail), middle),
        )
        if len(self.values) == 1:
            low, high = np.zeros_like(low), np.full_like(high, np.inf)
        return low / unit(self.curve, there), high / unit(self.curve, there)

    def _interval_of(self, curve: Curve, p: Floats) -> tuple[Floats, Floats]:
        fitted = curve.values(p)
        if isinstance(curve, InverseLine):
            return self._inverse_interval(curve, p, fitted)
        if isinstance(curve, Table):
            return fitted, fitted
        columns, at = np.ones((len(self.values), 1)), np.ones((len(p), 1))
        weight = self.weight / self.values**2
        low, high = prediction_interval(columns, self.values, weight, at, fitted**2, self.level)
        return np.minimum(np.maximum(low, 0), fitted), np.maximum(np.minimum(high, self._most()), fitted)

    def _inverse_interval(self, curve: InverseLine, p: Floats, fitted: Floats) -> tuple[Floats, Floats]:
        reading = curve.reading
        columns = np.stack([np.ones(len(self.values)), curve.h(self.processes, reading)], axis=1)
        at = np.stack([np.ones(len(p)), curve.h(p, reading)], axis=1)
        weight = self.weight * self.values**2
        low, high = prediction_interval(columns, 1 / self.values, weight, at, 1 / fitted**2, self.level)
        with np.errstate(divide="ignore"):
            least, most = 1 / np.maximum(high, 1), 1 / np.maximum(low, 1)
        return np.minimum(least, fitted), np.maximum(most, fitted)


@dataclass(frozen=True)
class Slice:
    """A fit of several parameters along one of them: what pictures ask of a fit.

    Attributes
    ----------
    fit : of all parameters; place : of the one that changes; base : float64[k], the values of the others
    processes, values : float64[n], that parameter and what was measured, on the longest line of points
    """

    fit: Fit
    place: int
    base: Floats
    processes: Floats
    values: Floats

    @property
    def quantity(self) -> str:
        """What was measured."""
        return self.fit.quantity

    @property
    def level(self) -> float:
        """Of the intervals."""
        return self.fit.level

    @property
    def where(self) -> str:
        """Say where the others are: ``size 160,000``."""
        named = zip(self.fit.parameters, self.base, strict=True)
        return ", ".join(f"{name} {value:,.0f}" for name, value in named if not np.isnan(value))

    def predicted(self, x: ArrayLike) -> Floats:
        """Return what the curve says."""
        return self.fit.predicted(self._points(x))

    def interval(self, x: ArrayLike) -> tuple[Floats, Floats]:
        """Return the interval of the fit."""
        return self.fit.interval(self._points(x))

    def envelope(self, x: ArrayLike) -> tuple[Floats, Floats]:
        """Return the envelope of the fit."""
        return self.fit.envelope(self._points(x))

    def by_reading(self, _: ArrayLike) -> dict[str, Floats]:
        """Return nothing: run times have no readings."""
        return {}

    def _points(self, x: ArrayLike) -> Floats:
        points = np.tile(self.base, (np.size(x), 1))
        points[:, self.place] = np.ravel(x)
        return points


def unit(curve: Curve, counts: Mapping[str, Floats]) -> Floats:
    """Return what the values of a curve are over what was measured: P for work, else 1."""
    return counts[PROCESSES] if curve.quantity == "work" else np.ones(())


def part_columns(form: Pmnf, counts: Mapping[str, Floats]) -> Floats:
    """Return a column for each part of a normal form, float64[n, parts], the constant first."""
    one = np.ones(len(next(iter(counts.values()))))
    columns = [one] if form.constant > 0 or not form.terms else []
    for term in form.terms:
        parts = [shape_values(counts[name], shape) for name, shape in term.shapes.items()]
        columns.append(np.prod([one, *parts], axis=0))
    return np.stack(columns, axis=1)


def part_coefficients(form: Pmnf) -> Floats:
    """Return the coefficients of those columns."""
    constant = [form.constant] if form.constant > 0 or not form.terms else []
    return np.array([*constant, *(term.c for term in form.terms)])


def label_of(curve: Curve) -> str:
    """Return the kind of a curve, with its reading or its terms."""
    if isinstance(curve, InverseLine):
        return f"{curve.NAME} ({curve.reading})"
    if isinstance(curve, Pmnf):
        return pmnf_text(curve)
    if isinstance(curve, Segments):
        laws = [
            label_of(part.first if isinstance(part, Mixture) else part) for part in curve.segments.values()
        ]
        begins = "".join(f", {law} from {at:.4g} on" for law, at in zip(laws[1:], curve.breaks, strict=True))
        return laws[0] + begins
    return curve.NAME


def pmnf_text(curve: Pmnf) -> str:
    """Write the time of a normal form as a formula: ``24.44 + 2.26e-07 p^2``, of work over p."""
    parts = [f"{curve.constant:.4g}"] if curve.constant > 0 or not curve.terms else []
    for term in curve.terms:
        factors = [_factor(SYMBOLS.get(name, name), *shape) for name, shape in term.shapes.items()]
        parts.append(" ".join([f"{term.c:.4g}", *factors]))
    said = " + ".join(parts)
    if curve.gives != "work":
        return said
    return f"({said}) / p" if curve.terms else f"{said} / p"


def _factor(x: str, i: float, j: float) -> str:
    power = "" if i == 0 else x if i == 1 else f"{x}^{i:.3g}"
    log = "" if j == 0 else f"log2({x})" if j == 1 else f"log2({x})^{j:g}"
    return f"{power} {log}".strip()
