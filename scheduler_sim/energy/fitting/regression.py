"""Least squares for every pair of frequencies, and what each law would say of a workload left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.energy.fitting.grid import Grid
from scheduler_sim.energy.laws import CPI, ONE, CpiTime, LinearPower, Stall, power_law, time_law
from scheduler_sim.energy.points import POWER, TIME

SPARE = 2
"""Workloads that a pair needs beyond its number of coefficients."""

FULL_LEVERAGE = 1.0 - 1e-9


class Law(NamedTuple):
    """A law to fit: what reports call it, its form, and the columns it is linear in."""

    name: str
    form: str
    terms: tuple[str, ...]

    @property
    def quantity(self) -> str:
        """``power`` or ``time``."""
        return "power" if self.form in ("affine", "ratio") else "time"


CONSTANT = Law("constant ratio", "ratio", (ONE,))
PROPORTIONAL = Law("f0 / f", "proportional", ())


def power_laws(counters: Sequence[str]) -> list[Law]:
    """Return the laws of power: the baseline, Auweter's with all counters, EAR's with the first one."""
    laws = [CONSTANT]
    if counters:
        laws.append(Law("ratio", "ratio", (*counters, ONE)))
        laws.append(Law("affine", "affine", (POWER, counters[0], ONE)))
    else:
        laws.append(Law("affine", "affine", (POWER, ONE)))
    return laws


def time_laws(counters: Sequence[str], *, cpi: bool) -> list[Law]:
    """Return the laws of time: the baseline, stalls by all counters, EAR's CPI where it is known."""
    rest = [name for name in counters if name != CPI]
    laws = [PROPORTIONAL, Law("stall", "stall", (*rest, ONE))]
    return [*laws, Law("cpi", "cpi", (CPI, *rest[:1], ONE))] if cpi else laws


def absolute_law(counters: Sequence[str]) -> Law:
    """Return the law that sees counters alone, not the measured power."""
    return Law("counters only", "affine", (*counters, ONE))


def fit_power(law: Law, grid: Grid) -> LinearPower:
    """Fit a law of power to every pair of frequencies with enough workloads."""
    return power_law(law.form, law.terms, grid.pstates, _coefficients(law, grid))


def fit_time(law: Law, grid: Grid) -> CpiTime | Stall:
    """Fit a law of time likewise; ``f0 / f`` has nothing to fit."""
    if law is PROPORTIONAL:
        return Stall.constant(grid.pstates)
    return time_law(law.form, law.terms, grid.pstates, _coefficients(law, grid))


def left_out(law: Law, grid: Grid) -> Floats:
    """Return what the law says of each workload if fitted without it, W or s.

    (k, k, w), by reference and target; NaN where a workload did not run, or the pair has too few. By the
    closed form of leave-one-out residuals, e / (1 − h) with the leverage h.
    """
    k = len(grid.pstates)
    made = np.full((k, k, len(grid)), np.nan)
    for system in _systems(law, grid):
        held_out = system.y
        if system.x.shape[1]:
            q, r = np.linalg.qr(system.x)
            kept = np.abs(np.diag(r)) > 1e-10 * max(np.abs(r).max(), 1e-300)
            q = q[:, kept]
            leverage = np.minimum((q * q).sum(axis=1), FULL_LEVERAGE)
            fitted = q @ (q.T @ system.y)
            held_out = system.y - (system.y - fitted) / (1.0 - leverage)[:, None]
        made[system.reference][np.ix_(system.targets, system.rows)] = _back(law, grid, system, held_out).T
    return made


class _System(NamedTuple):
    """Least squares from one frequency to others: rows of workloads (w,), x (w, c), y (w, t)."""

    reference: int
    targets: Ints
    rows: Ints
    x: Floats
    y: Floats


def _coefficients(law: Law, grid: Grid) -> Floats:
    k = len(grid.pstates)
    made = np.full((k, k, len(law.terms)), np.nan)
    for system in _systems(law, grid):
        scale = np.where((size := np.abs(system.x).max(axis=0)) > 0, size, 1.0)
        solution = np.linalg.lstsq(system.x / scale, system.y, rcond=None)[0]
        made[system.reference, system.targets] = solution.T / scale
    return made


def _systems(law: Law, grid: Grid) -> Iterator[_System]:
    """Yield pairs of different frequencies with enough workloads that ran at both, those alike together."""
    names = [POWER, *([TIME] if law.quantity == "time" else [])]
    ran = np.logical_and.reduce([np.isfinite(grid.columns[name]) for name in names])
    for reference in range(len(grid.pstates)):
        both = ran & ran[:, [reference]]
        enough = np.count_nonzero(both, axis=0) >= len(law.terms) + SPARE
        enough[reference] = False
        for pattern in np.unique(both[:, enough], axis=1).T:
            targets = np.flatnonzero(enough & (both == pattern[:, None]).all(axis=0))
            rows = np.flatnonzero(pattern)
            x = grid.terms(law.terms, reference)[rows]
            yield _System(reference, targets, rows, x, _right_side(law, grid, reference, targets, rows))


def _right_side(law: Law, grid: Grid, reference: int, targets: Ints, rows: Ints) -> Floats:
    """Return what the terms of a law are to give, (w, t)."""
    if law.quantity == "power":
        power = grid.columns[POWER][rows]
        return power[:, targets] / power[:, [reference]] if law.form == "ratio" else power[:, targets]
    if law.form == "cpi":
        return grid.columns[CPI][np.ix_(rows, targets)]
    slower = grid.slower(reference)[targets]
    if law is PROPORTIONAL:
        return np.ones((len(rows), len(targets)))
    time = grid.columns[TIME][rows]
    return (time[:, targets] / time[:, [reference]] - 1.0) / (slower - 1.0)


def _back(law: Law, grid: Grid, system: _System, y: Floats) -> Floats:
    """Turn the right side of the least squares into watts, or seconds, (w, t)."""
    start = {name: values[system.rows][:, [system.reference]] for name, values in grid.columns.items()}
    if law.quantity == "power":
        return y * start[POWER] if law.form == "ratio" else y
    slower = grid.slower(system.reference)[system.targets]
    if law.form == "cpi":
        return start[TIME] * y / start[CPI] * slower
    return start[TIME] * (1.0 + np.clip(y, 0.0, 1.0) * (slower - 1.0))
