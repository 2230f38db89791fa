"""Choosing a P-state and a module for each component, from what every option would take and draw."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Bools, Floats, Ints
from scheduler_sim.errors import InputError, did_you_mean

OBJECTIVES = ("min_time", "min_energy", "edp", "sum_of_squares")
"""What may be minimised.

``sum_of_squares`` is (E / E_min)² + (T / T_min)², the rule of the DEEP-EST Slurm simulator's priority plugin;
the least of each is taken over all options of the component, so that the order of three or more is one order.
"""


def choose(
    component: Ints,
    time_s: Floats,
    energy_j: Floats,
    objective: str,
    *,
    slowdown: float | None = None,
    reference_s: Floats | None = None,
) -> Ints:
    """Return the row of the best option of each component, in ascending order of components.

    Of options that are equally good the faster one is taken, then the one that takes less energy, then the
    first.

    Parameters
    ----------
    component : (n,) whose option each row is.
    time_s, energy_j : (n,) run time (s) and energy (J, all nodes) of each option; NaN: not possible.
    objective : one of :data:`OBJECTIVES`.
    slowdown : options slower than (1 + slowdown) times the reference are left out; None: no bound. It is held
        against the very times given here: round run times before, not after.
    reference_s : (n,) the time to compare with, s, the same in all rows of a component; by default its least.

    Raises
    ------
    InputError : an unknown objective, a negative bound, or a component without any option left.
    """
    if objective not in OBJECTIVES:
        hint = did_you_mean(objective, OBJECTIVES)
        raise InputError(f"objective: found {objective!r}; allowed: {', '.join(OBJECTIVES)}{hint}")
    if slowdown is not None and not slowdown >= 0:
        raise InputError(f"slowdown: found {slowdown}; allowed: a number >= 0")
    order = np.argsort(component, kind="stable")
    options = _Options(component[order])
    time, energy = np.asarray(time_s, np.float64)[order], np.asarray(energy_j, np.float64)[order]
    left = np.isfinite(time) & np.isfinite(energy) & (time >= 0) & (energy >= 0)
    if slowdown is not None:
        base = options.least(time, left) if reference_s is None else np.asarray(reference_s)[order]
        left &= time <= (1.0 + slowdown) * base
    if len(lost := options.without(left)):
        bound = f" within {100 * slowdown:g} % of its reference time" if slowdown is not None else ""
        raise InputError(f"component {lost[0]}: no option{bound}; allowed: at least one with time and energy")
    for value in (_score(objective, time, energy, left, options), time, energy):
        left &= value == options.least(value, left)
    return order[options.first(left)].astype(np.int64)


class _Options:
    """Options in the order of their components, so that those of one are neighbours."""

    def __init__(self, component: Ints) -> None:
        changes = np.append(True, component[1:] != component[:-1]) if len(component) else np.empty(0, bool)
        self._component = component
        self._start = np.flatnonzero(changes)
        self._count = np.diff(np.append(self._start, len(component)))

    def least(self, value: Floats, which: Bools) -> Floats:
        """Return the least value among some options of each one's component, (n,); infinite without any."""
        among = np.where(which, value, np.inf)
        return np.repeat(np.minimum.reduceat(among, self._start), self._count) if len(among) else among

    def first(self, which: Bools) -> Ints:
        """Return the first of some options of each component."""
        place = np.where(which, np.arange(len(which)), len(which))
        return np.minimum.reduceat(place, self._start) if len(which) else place

    def without(self, which: Bools) -> Ints:
        """Return the components that have none of some options."""
        components: Ints = self._component[self._start][self.first(which) == len(which)]
        return components


def _score(objective: str, time: Floats, energy: Floats, left: Bools, options: _Options) -> Floats:
    if objective == "min_time":
        return time
    if objective == "min_energy":
        return energy
    if objective == "edp":
        return energy * time
    return _share(energy, left, options) ** 2 + _share(time, left, options) ** 2


def _share(value: Floats, left: Bools, options: _Options) -> Floats:
    """Divide by the least of the component; where that is 0, itself is 1 and all others are infinite."""
    least = options.least(value, left)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(value == least, 1.0, value / least)
