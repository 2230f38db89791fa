"""Power from counters, or from a load level, where everything was measured at one clock.

No law of the clock can be fitted then; what a node draws under an application that was counted and not
metered can. Rows may be load levels of a workload (RenewIT's tables), and workloads are left out whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats
from scheduler_sim.energy.fitting.errors import bias, mape, rmse_percent
from scheduler_sim.energy.fitting.regression import SPARE
from scheduler_sim.energy.fitting.selection import clearly_less
from scheduler_sim.energy.laws import COUNTERS, ONE, SQUARE, LinearMap, LinearPower, Stall
from scheduler_sim.energy.model import Model
from scheduler_sim.energy.points import ROLE, WORKLOAD, Points
from scheduler_sim.energy.pstates import PStates
from scheduler_sim.errors import InputError

MEAN = "mean of all"
LEAST_WORKLOADS = 4
EACH = 2
"""Workloads that a richer law needs for each coefficient: each tells it at several levels of load."""


@dataclass(frozen=True, eq=False)
class OneClock:
    """Laws of power at one clock, and how well each tells workloads that were left out.

    Attributes
    ----------
    khz : the clock, kHz.
    laws : terms of each law by its name, the simplest first.
    left_out : what each says of each row, fitted without its workload, W; columns are the laws.
    measured, workloads, judged : of each row; judged: those of role test, or all where there are no roles.
    selected : name of the law that was taken; coefficients : of its terms, fitted to all rows.
    """

    khz: int
    laws: dict[str, tuple[str, ...]]
    left_out: pd.DataFrame
    measured: Floats
    workloads: np.ndarray
    judged: np.ndarray
    selected: str
    coefficients: Floats

    @property
    def errors(self) -> pd.DataFrame:
        """Errors of each law on workloads left out: ``rmse_percent``, ``mape`` and ``bias``, %."""
        measured, left_out = self.measured[self.judged], self.left_out[self.judged]
        made = {
            name: [measure(measured, told.to_numpy()) for measure in (rmse_percent, mape, bias)]
            for name, told in left_out.items()
        }
        return pd.DataFrame.from_dict(made, orient="index", columns=["rmse_percent", "mape", "bias"])

    @property
    def told(self) -> Floats:
        """What the law selected says of each row judged, W."""
        told: Floats = self.left_out[self.selected].to_numpy(np.float64)[self.judged]
        return told

    def model(self) -> Model:
        """Return the law selected as a model of one P-state."""
        states, terms = PStates.of([self.khz]), self.laws[self.selected]
        power = LinearPower(COUNTERS, LinearMap(terms, states, self.coefficients.reshape(1, 1, -1)))
        return Model(f"power by {self.selected}", states, power, Stall.constant(states))


def fit_one_clock(points: Points, counters: Sequence[str]) -> OneClock:
    """Fit laws of power to rows at one clock, and take the simplest that a richer one does not clearly beat.

    Laws are the mean, a line in each counter, the same with its square, and a plane in all counters. What is
    of role test is never fitted.

    Raises InputError for several clocks, no counter, and fewer than four workloads.
    """
    clocks, names = np.unique(points.khz), points.table[WORKLOAD].to_numpy(object)
    if len(clocks) != 1:
        raise InputError(f"points: found {len(clocks)} frequencies; allowed here: one")
    if not counters:
        raise InputError(
            "points: found one frequency and no counter that varies, so there is nothing to"
            " fit; allowed: counters or load levels, or a second frequency"
        )
    test = points.table[ROLE].to_numpy() == "test" if points.has(ROLE) else np.zeros(len(points), bool)
    if (workloads := len(set(names[~test]))) < LEAST_WORKLOADS:
        raise InputError(f"points: found {workloads} workloads; allowed: at least {LEAST_WORKLOADS}")
    laws: dict[str, tuple[str, ...]] = {MEAN: (ONE,), **{name: (name, ONE) for name in counters}}
    laws |= {f"{name}, bent": (name, name + SQUARE, ONE) for name in counters}
    if len(counters) > 1:
        laws[", ".join(counters)] = (*counters, ONE)
    laws = {name: terms for name, terms in laws.items() if workloads >= len(terms) + SPARE}
    told = {name: _left_out(points, terms, names, test) for name, terms in laws.items()}
    of_fit = {name: one[~test] for name, one in told.items()}
    selected = _selected(laws, of_fit, points.power[~test], names[~test])
    return OneClock(
        int(clocks[0]),
        laws,
        pd.DataFrame(told),
        points.power,
        names,
        test if test.any() else ~test,
        selected,
        _coefficients(points.terms(laws[selected])[~test], points.power[~test]),
    )


def _left_out(points: Points, terms: Sequence[str], names: np.ndarray, test: np.ndarray) -> Floats:
    """Return what a law says of each row when it is fitted without the workload of that row, W."""
    x, told = points.terms(terms), np.empty(len(points))
    for name in set(names):
        own = names == name
        others = ~own & ~test
        told[own] = x[own] @ _coefficients(x[others], points.power[others])
    return told


def _coefficients(x: Floats, watts: Floats) -> Floats:
    scale = np.where((size := np.abs(x).max(axis=0)) > 0, size, 1.0)
    return np.asarray(np.linalg.lstsq(x / scale, watts, rcond=None)[0] / scale)


def _selected(
    laws: dict[str, tuple[str, ...]], told: dict[str, Floats], watts: Floats, names: np.ndarray
) -> str:
    """Return the simplest law, unless a richer one has workloads enough and is clearly better."""
    errors = {
        name: pd.Series(np.abs(one - watts) / watts.max()).groupby(names).mean().to_numpy()[None, :]
        for name, one in told.items()
    }
    held = MEAN
    for name, terms in laws.items():
        enough = len(set(names)) >= EACH * len(terms)
        if name != MEAN and enough and clearly_less(errors[name], errors[held]):
            held = name
    return held
