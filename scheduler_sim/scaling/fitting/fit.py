"""A fit: the curve chosen, the others by rank, and how far it can be trusted where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from scheduler_sim.arrays import Floats
from scheduler_sim.scaling.curves import READINGS, Amdahl, Constant, Curve, Pmnf, Table
from scheduler_sim.scaling.curves.efficiency import InverseLine
from scheduler_sim.scaling.curves.time import pmnf_term
from scheduler_sim.scaling.fitting.regression import prediction_interval, weighted_quantile

MARGIN = 0.1
"""Curves whose left-out errors differ by less than this share are as good."""

LIKELY = 0.1
"""Odds against the form chosen above which another normal form may as well be the right one."""

POSSIBLE = 1e-3
"""Odds below which a normal form has no part in an envelope."""

SLOPE = 0.05
"""How far, beyond the points, the exponent of P may be off that of every form.

The least step of 0.05 with which envelopes hold nine truths of ten of each kind in
``benchmarks.envelope.CALIBRATED``, up to four times the largest P."""

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
    curve : the one chosen
    processes, values : float64[n], the points as measured, P rising
    weight : float64[n], what each counted
    candidates : all that were tried, best first
    ties : labels of those that are as good, within the margin
    warnings : what a person should know before using it
    level : of the intervals
    """

    name: str
    curve: Curve
    processes: Floats
    values: Floats
    weight: Floats
    candidates: tuple[Candidate, ...]
    ties: tuple[str, ...]
    warnings: tuple[str, ...]
    level: float = field(default=0.9)

    @property
    def quantity(self) -> str:
        """What was measured: ``efficiency`` (share of 1) or ``time`` (s)."""
        return "efficiency" if self.curve.quantity == "efficiency" else "time"

    def predicted(self, processes: ArrayLike) -> Floats:
        """Return what the curve chosen says."""
        p = np.asarray(processes, dtype=np.float64)
        return self.curve.values(p) / unit(self.curve, p)

    def interval(self, processes: ArrayLike) -> tuple[Floats, Floats]:
        """Return where a further measurement lies at the fit's level, if kind and reading are right.

        Noise is taken as relative: a measured value is off by so many per cent. An efficiency is
        kept within 0 and 1, a time above 0; with too few points these limits are all that is known.
        """
        p = np.atleast_1d(np.asarray(processes, dtype=np.float64))
        return self._interval_of(self.curve, p)

    def by_reading(self, processes: ArrayLike) -> dict[str, Floats]:
        """Return the values of the same kind of curve under each reading of P; empty for other kinds."""
        p = np.atleast_1d(np.asarray(processes, dtype=np.float64))
        return {reading: curve.values(p) for reading, curve in self._readings().items()}

    def envelope(self, processes: ArrayLike) -> tuple[Floats, Floats]:
        """Return between what the curves lie that the points allow, at the fit's level.

        These are the same kind of curve under every reading of P, which count alike, and normal forms, which
        count by their odds: the ends are quantiles of the ends of their intervals. Points at a few times the
        base cannot tell them apart, while they differ wholly at a hundred times: the interval covers noise,
        this covers the choice as well. As the truth may be none of them, the ends go apart by P to the
        power of ``SLOPE`` beyond the points, of efficiencies the low one: none rises for good. A table has
        no curve, and is not widened.
        """
        p = np.atleast_1d(np.asarray(processes, dtype=np.float64))
        own = self._interval_of(self.curve, p)
        if isinstance(self.curve, Table):
            return own
        rivals = self._rivals() or [(self.curve, 1.0)]
        lows, highs = (
            np.array(ends) for ends in zip(*(self._interval_of(curve, p) for curve, _ in rivals), strict=True)
        )
        odds, tail = np.array([weight for _, weight in rivals]), (1 - self.level) / 2
        beyond = np.maximum(p / self.processes.max(), 1) ** SLOPE
        low = np.minimum(weighted_quantile(lows, odds, tail), own[0]) / beyond
        high = np.maximum(weighted_quantile(highs, odds, 1 - tail), own[1])
        return low, high * beyond if self.quantity == "time" else high

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

    def _most(self) -> float:
        """Return what no value exceeds: 1 for an efficiency, unless one measured did."""
        return 1.0 if self.quantity == "efficiency" and (self.values <= 1).all() else np.inf

    def _rivals(self) -> list[tuple[Curve, float]]:
        """Return the curves that may be right, and how much each counts."""
        if not isinstance(self.curve, Pmnf):
            return [(curve, 1.0) for curve in self._readings().values()]
        return [(c.curve, c.odds) for c in self.candidates if c.odds >= POSSIBLE]

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

    def _interval_of(self, curve: Curve, p: Floats) -> tuple[Floats, Floats]:
        fitted = curve.values(p)
        if isinstance(curve, InverseLine):
            return self._inverse_interval(curve, p, fitted)
        if isinstance(curve, Table):
            return fitted, fitted
        if isinstance(curve, Pmnf):
            exponents = [(term.i, term.j) for term in curve.terms]
            columns = pmnf_columns(self.processes, exponents, curve.constant > 0)
            at = pmnf_columns(p, exponents, curve.constant > 0)
        else:
            columns, at = np.ones((len(self.values), 1)), np.ones((len(p), 1))
        y = self.values * unit(curve, self.processes)
        low, high = prediction_interval(columns, y, self.weight / y**2, at, fitted**2, self.level)
        low = np.minimum(np.maximum(low, 0), fitted)
        high = np.maximum(np.minimum(high, self._most()), fitted)
        return low / unit(curve, p), high / unit(curve, p)

    def _inverse_interval(self, curve: InverseLine, p: Floats, fitted: Floats) -> tuple[Floats, Floats]:
        reading = curve.reading
        columns = np.stack([np.ones(len(self.values)), curve.h(self.processes, reading)], axis=1)
        at = np.stack([np.ones(len(p)), curve.h(p, reading)], axis=1)
        weight = self.weight * self.values**2
        low, high = prediction_interval(columns, 1 / self.values, weight, at, 1 / fitted**2, self.level)
        with np.errstate(divide="ignore"):
            least, most = 1 / np.maximum(high, 1), 1 / np.maximum(low, 1)
        return np.minimum(least, fitted), np.maximum(most, fitted)


def unit(curve: Curve, p: Floats) -> Floats:
    """Return what the values of a curve are over what was measured: P for work, else 1."""
    return p if curve.quantity == "work" else np.ones_like(p)


def pmnf_columns(p: Floats, exponents: Sequence[tuple[float, float]], constant: bool) -> Floats:
    """Return a column for each part of a normal form, float64[n, parts]."""
    columns = [np.ones(len(p))] if constant or not exponents else []
    return np.stack([*columns, *(pmnf_term(p, i, j) for i, j in exponents)], axis=1)


def label_of(curve: Curve) -> str:
    """Return the kind of a curve, with its reading or its terms."""
    if isinstance(curve, InverseLine):
        return f"{curve.NAME} ({curve.reading})"
    if isinstance(curve, Pmnf):
        return pmnf_text(curve)
    return curve.NAME


def pmnf_text(curve: Pmnf) -> str:
    """Write the time of a normal form as a formula: ``24.44 + 2.26e-07 p^2``, of work over p."""
    parts = [f"{curve.constant:.4g}"] if curve.constant > 0 or not curve.terms else []
    for term in curve.terms:
        power = "" if term.i == 0 else " p" if term.i == 1 else f" p^{term.i:.3g}"
        log = "" if term.j == 0 else " log2(p)" if term.j == 1 else f" log2(p)^{term.j:g}"
        parts.append(f"{term.c:.4g}{power}{log}")
    said = " + ".join(parts)
    if curve.gives != "work":
        return said
    return f"({said}) / p" if curve.terms else f"{said} / p"
