"""Which law to take: the simplest, unless a richer one is clearly better on workloads that were left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import t as student

from scheduler_sim.arrays import Floats
from scheduler_sim.energy.fitting.grid import Grid
from scheduler_sim.energy.fitting.regression import CONSTANT, PROPORTIONAL, Law, fit_power, fit_time, left_out
from scheduler_sim.energy.model import Model
from scheduler_sim.energy.points import POWER, TIME

EACH = 5
"""Workloads that a richer law needs for each coefficient, the least that rules of thumb for regressions ask.

With two, laws that were chosen by nine workloads lost to the simplest on others.
"""

GAIN = 0.2
"""Share by which the error of a richer law has to be less."""

CONFIDENCE = 0.9
"""Of the test that it is less for workloads in general, and not for a few of them by chance."""


def select(laws: Sequence[Law], grid: Grid) -> Law:
    """Return the law to take, from those of one quantity.

    The one with the fewest coefficients is held; each richer one in turn takes its place if it knows every
    pair of frequencies that the other knows, has workloads enough, and is clearly better on those left out.
    """
    by_size = sorted(laws, key=lambda law: len(law.terms))
    held, errors = by_size[0], _errors(by_size[0], grid)
    for law in by_size[1:]:
        its = _errors(law, grid)
        if _knows(its, errors, EACH * len(law.terms)) and clearly_less(its, errors):
            held, errors = law, its
    return held


def _errors(law: Law, grid: Grid) -> Floats:
    """Return the error of each workload left out, in units of the largest at the target, (pairs, w)."""
    measured = grid.columns[POWER if law.quantity == "power" else TIME].T
    largest = np.nan_to_num(measured).max(axis=1, keepdims=True, initial=0.0)
    errors = np.abs(left_out(law, grid) - measured) / largest
    by_pair: Floats = errors.reshape(len(grid.pstates) ** 2, len(grid))
    return by_pair


def _knows(errors: Floats, others: Floats, workloads: int) -> bool:
    """Whether a law has an error wherever another has one, of at least so many workloads in each pair."""
    known = np.isfinite(others)
    return bool(
        np.isfinite(errors[known]).all() and (known.sum(axis=1)[known.any(axis=1)] >= workloads).all()
    )


def clearly_less(errors: Floats, others: Floats) -> bool:
    """Whether errors are by ``GAIN`` less in the root of their mean square, and less workload by workload.

    By a paired t test, of one side, of the mean errors of the workloads.
    """
    known = np.isfinite(others)
    if not known.any() or _rms(errors[known]) > (1.0 - GAIN) * _rms(others[known]):
        return False
    ran = known.any(axis=0)
    gain = np.nanmean(np.where(known, others - errors, np.nan)[:, ran], axis=0)
    if len(gain) < 2:
        return False
    bound = student.ppf(CONFIDENCE, len(gain) - 1) * gain.std(ddof=1) / np.sqrt(len(gain))
    return bool(gain.mean() > bound)


def _rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(values**2)))


def fit_selected(laws: Sequence[Law], grid: Grid) -> tuple[Model, Law, Law]:
    """Fit the selected law of power and of time to all workloads; return the model and both laws.

    Laws without the measured power are not selected. Without run times, T ∝ 1 / f.
    """
    power = select([law for law in laws if law.quantity == "power" and _carries(law)] or [CONSTANT], grid)
    times = [law for law in laws if law.quantity == "time"] if TIME in grid.columns else []
    time = select(times or [PROPORTIONAL], grid) if TIME in grid.columns else PROPORTIONAL
    model = Model(f"{power.name}, {time.name}", grid.pstates, fit_power(power, grid), fit_time(time, grid))
    return model, power, time


def _carries(law: Law) -> bool:
    return law.form == "ratio" or POWER in law.terms
