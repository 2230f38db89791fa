"""Fitting one efficiency factor: which curve, which reading of P, or none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from scheduler_sim.arrays import Floats
from scheduler_sim.errors import InputError
from scheduler_sim.scaling.curves import READINGS, Amdahl, Constant, Curve, Pipeline, Table
from scheduler_sim.scaling.fitting.fit import MARGIN, Candidate, Fit, label_of
from scheduler_sim.scaling.fitting.points import checked
from scheduler_sim.scaling.fitting.regression import EXACT, left_out_error
from scheduler_sim.scaling.fitting.sample import Sample
from scheduler_sim.scaling.names import may_exceed_one

WEIGHTS: dict[str, Callable[[int], Floats]] = {
    "equal": lambda n: np.ones(n),
    "first": lambda n: np.concatenate(([100.0], np.ones(n - 1))),
}
"""What each point counts; ``first`` is the default of BSC's tool, a tenth of the error at the first."""

STEADY = 0.01
"""A scalability that changes by less than this is held constant."""

_KINDS: dict[str, type[Amdahl] | type[Pipeline]] = {"amdahl": Amdahl, "pipeline": Pipeline}


def fit_factor(
    processes: ArrayLike,
    values: ArrayLike,
    name: str = "efficiency",
    *,
    kind: str = "auto",
    reading: str = "auto",
    weights: str = "equal",
    level: float = 0.9,
) -> Fit:
    """Fit one factor.

    Parameters
    ----------
    processes, values : float[n], P and efficiency (share of 1); of the same P several times the mean counts
    name : of the factor; those of ``names.FACTORS`` that are scalabilities may exceed 1
    kind : amdahl, pipeline, constant or table; auto: constant, unless one of the first two under one of
        the readings lowers the error of predicting each point from the others by a tenth
    reading : linear, cbrt or log2; auto: the best, but linear, the most cautious, where it is as good
    weights : equal, or first: the first point counts ten times in its error
    level : of the prediction interval

    One point gives a constant, two points Amdahl's curve through them, linear unless told; a factor that
    may exceed 1 is held constant or tabulated, as none of the curves describes it. ``warnings`` say so.

    Raises
    ------
    InputError
        for points that cannot be (see ``points.checked``), and unknown words.
    """
    sample = checked(name, processes, values, "efficiency")
    p, y = sample.points[:, 0], sample.values
    for said, word, words in (
        ("kind", kind, ("auto", *_KINDS, "constant", "table")),
        ("reading", reading, ("auto", *READINGS)),
        ("weights", weights, tuple(WEIGHTS)),
    ):
        if word not in words:
            raise InputError(f"{said}: found {word!r}; allowed: {', '.join(words)}")
    weight = WEIGHTS[weights](len(y)) * sample.count
    if may_exceed_one(name) or kind == "table":
        return _scalability(name, sample, weight, kind, level)
    candidates = _candidates(p, y, weight, kind, reading)
    chosen, ties = _chosen(candidates)
    warnings = _warnings(name, chosen, ties, len(y))
    if reading == "auto" and getattr(chosen.curve, "reading", "linear") != "linear":
        warnings.append(
            f"{name}: {label_of(chosen.curve)} chosen by {len(y)} points, which cannot settle the reading;"
            " linear is the most cautious"
        )
    ranked = tuple(sorted(candidates, key=lambda c: (np.nan_to_num(c.left_out_error), c.residual)))
    return Fit(name, chosen.curve, sample, weight, ranked, ties, tuple(warnings), level)


def _candidates(p: Floats, y: Floats, weight: Floats, kind: str, reading: str) -> list[Candidate]:
    """Return the curves to choose from, in the order of preference."""
    if len(y) == 1:
        return [_candidate(lambda rows: Constant.fitted(p[rows], y[rows]), p, y)]
    tried: list[Callable[[Floats], Curve]] = []
    if kind in ("auto", "constant") and (len(y) > 2 or kind == "constant"):
        tried.append(lambda rows: Constant.fitted(p[rows], y[rows], weight[rows]))
    kinds = list(_KINDS) if kind == "auto" and len(y) > 2 else ["amdahl"] if kind == "auto" else [kind]
    readings = (
        list(READINGS) if reading == "auto" and len(y) > 2 else ["linear" if reading == "auto" else reading]
    )
    for one in kinds:
        for g in readings if one in _KINDS else ():

            def learnt(rows: Floats, one: str = one, g: str = g) -> Curve:
                return _KINDS[one].fitted(p[rows], y[rows], weight[rows], reading=g)

            tried.append(learnt)
    return [_candidate(fitted, p, y) for fitted in tried]


def _candidate(fitted: Callable[[Floats], Curve], p: Floats, y: Floats) -> Candidate:
    curve = fitted(np.ones(len(y), dtype=bool))
    error = left_out_error(lambda rows: fitted(rows).values, p, y) if len(y) > 2 else np.nan
    return Candidate(curve, error, float(np.sum((curve.values(p) / y - 1) ** 2)))


def _chosen(candidates: list[Candidate]) -> tuple[Candidate, tuple[str, ...]]:
    """Return the candidate chosen, and what else is as good."""
    constants = [c for c in candidates if isinstance(c.curve, Constant)]
    others = [c for c in candidates if not isinstance(c.curve, Constant)]
    if not others or np.isnan(others[0].left_out_error):
        return (others or constants)[0], ()
    best = min(c.left_out_error for c in others)
    if constants and (
        constants[0].left_out_error <= EXACT or best > (1 - MARGIN) * constants[0].left_out_error
    ):
        return constants[0], ()
    equal = [c for c in others if c.left_out_error <= best * (1 + MARGIN) + EXACT]
    return equal[0], tuple(c.label for c in equal[1:])


def _warnings(name: str, chosen: Candidate, ties: tuple[str, ...], points: int) -> list[str]:
    curve = chosen.curve
    if points == 1:
        return [f"{name}: one point: held constant, its trend is not known"]
    said = []
    if points == 2:
        said.append(f"{name}: two points: {label_of(curve)} goes through both, its error is not known")
    held = [f for f in curve.at_bounds() if not isinstance(curve, Constant)]
    if held:
        said.append(f"{name}: {', '.join(held)} at a bound; the points may not follow {curve.NAME}")
    if ties:
        said.append(f"{name}: {', '.join(ties)} as good as {label_of(curve)}; the readings differ far out")
    return said


def _scalability(name: str, sample: Sample, weight: Floats, kind: str, level: float) -> Fit:
    """Hold a factor that may exceed 1 constant where it hardly changes, else keep its measured values."""
    p, y = sample.points[:, 0], sample.values
    steady = kind in ("auto", "constant") and np.ptp(y) <= STEADY * y.mean()
    curve: Curve = Constant.fitted(p, y, weight) if steady or kind == "constant" else Table.fitted(p, y)
    residual = float(np.sum((curve.values(p) / y - 1) ** 2))
    said = [] if steady else [f"{name}: kept as measured, flat beyond {p.min():g} and {p.max():g}"]
    return Fit(name, curve, sample, weight, (Candidate(curve, np.nan, residual),), (), tuple(said), level)
