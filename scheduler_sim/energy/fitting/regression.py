"""Least squares for every pair of frequencies, and what each law would say of a workload left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from scheduler_sim.energy.fitting.grid import Grid
from scheduler_sim.energy.laws import CPI, ONE, CpiTime, LinearPower, Stall, power_law, time_law
from scheduler_sim.energy.points import POWER, TIME
from scheduler_sim.energy.pstates import Array

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


def left_out(law: Law, grid: Grid) -> Iterator[tuple[Array, Array]]:
    """Yield, for each pair of frequencies, what was measured and what the law says without that workload.

    By the closed form of leave-one-out residuals, e / (1 − h) with the leverage h.
    """
    for reference, target, rows in _pairs(grid, law):
        own = grid.rows(rows)
        measured = own.columns[POWER if law.quantity == "power" else TIME][:, target]
        if law is PROPORTIONAL:
            yield measured, own.columns[TIME][:, reference] * own.slower(reference, target)
            continue
        x, y = _system(law, own, reference, target)
        q, r = np.linalg.qr(x)
        kept = np.abs(np.diag(r)) > 1e-10 * max(np.abs(r).max(), 1e-300)
        q = q[:, kept]
        leverage = np.minimum((q * q).sum(axis=1), FULL_LEVERAGE)
        fitted = q @ (q.T @ y)
        held_out = y - (y - fitted) / (1.0 - leverage)
        yield measured, _back(law, own, reference, target, held_out)


def _coefficients(law: Law, grid: Grid) -> Array:
    k = len(grid.pstates)
    made = np.full((k, k, len(law.terms)), np.nan)
    for reference, target, rows in _pairs(grid, law):
        x, y = _system(law, grid.rows(rows), reference, target)
        scale = np.where((size := np.abs(x).max(axis=0)) > 0, size, 1.0)
        made[reference, target] = np.linalg.lstsq(x / scale, y, rcond=None)[0] / scale
    return made


def _pairs(grid: Grid, law: Law) -> Iterator[tuple[int, int, Array]]:
    """Yield pairs of different frequencies with the workloads that ran at both, where they are enough."""
    names = [POWER, *([TIME] if law.quantity == "time" else [])]
    ran = np.logical_and.reduce([np.isfinite(grid.columns[name]) for name in names])
    need = len(law.terms) + SPARE
    k = len(grid.pstates)
    without_power = law.quantity == "power" and law.form == "affine" and POWER not in law.terms
    for reference in range(k):
        for target in range(k):
            rows = ran[:, reference] & ran[:, target]
            if (reference != target or without_power) and np.count_nonzero(rows) >= need:
                yield reference, target, rows


def _system(law: Law, grid: Grid, reference: int, target: int) -> tuple[Array, Array]:
    """Return terms (w, c) and right side (w,) of the least squares."""
    x = grid.terms(law.terms, reference)
    if law.quantity == "power":
        power = grid.columns[POWER]
        return x, power[:, target] / power[:, reference] if law.form == "ratio" else power[:, target]
    if law.form == "cpi":
        return x, grid.columns[CPI][:, target]
    time = grid.columns[TIME]
    lost = grid.slower(reference, target) - 1.0
    return x, (time[:, target] / time[:, reference] - 1.0) / lost


def _back(law: Law, grid: Grid, reference: int, target: int, y: Array) -> Array:
    """Turn the right side of the least squares into watts, or seconds."""
    if law.quantity == "power":
        return y * grid.columns[POWER][:, reference] if law.form == "ratio" else y
    time, slower = grid.columns[TIME][:, reference], grid.slower(reference, target)
    if law.form == "cpi":
        return time * y / grid.columns[CPI][:, reference] * slower
    return time * (1.0 + np.clip(y, 0.0, 1.0) * (slower - 1.0))
