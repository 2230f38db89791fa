"""Choosing a P-state and a module for each component, from what every option would take and draw."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.energy.pstates import Array, Ints
from scheduler_sim.errors import InputError, did_you_mean

OBJECTIVES = ("min_time", "min_energy", "edp", "sum_of_squares")
"""What may be minimised.

``sum_of_squares`` is (E / E_min)² + (T / T_min)², the rule of the DEEP-EST Slurm simulator's priority plugin;
the least of each is taken over all options of the component, so that the order of three or more is one order.
"""


def choose(
    component: Ints,
    time_s: Array,
    energy_j: Array,
    objective: str,
    *,
    slowdown: float | None = None,
    reference_s: Array | None = None,
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
    names, owner = np.unique(component, return_inverse=True)
    possible = np.isfinite(time_s) & np.isfinite(energy_j) & (time_s >= 0) & (energy_j >= 0)
    if slowdown is not None:
        base = _least(time_s, possible, owner, len(names)) if reference_s is None else reference_s
        possible &= time_s <= (1.0 + slowdown) * base
    score = _score(objective, time_s, energy_j, possible, owner, len(names))
    order = np.lexsort((energy_j, time_s, score, ~possible, owner))
    first = np.searchsorted(owner[order], np.arange(len(names)))
    best = order[first]
    if not possible[best].all():
        lost = names[~possible[best]][0]
        bound = f" within {100 * slowdown:g} % of its reference time" if slowdown is not None else ""
        raise InputError(f"component {lost}: no option{bound}; allowed: at least one with time and energy")
    return best.astype(np.int64)


def _score(
    objective: str, time: Array, energy: Array, possible: NDArray[np.bool_], owner: Ints, groups: int
) -> Array:
    if objective == "min_time":
        return time
    if objective == "min_energy":
        return energy
    if objective == "edp":
        return energy * time
    return _share(energy, possible, owner, groups) ** 2 + _share(time, possible, owner, groups) ** 2


def _share(value: Array, possible: NDArray[np.bool_], owner: Ints, groups: int) -> Array:
    """Divide by the least of the component; where that is 0, itself is 1 and all others are infinite."""
    least = _least(value, possible, owner, groups)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(value == least, 1.0, value / least)


def _least(value: Array, possible: NDArray[np.bool_], owner: Ints, groups: int) -> Array:
    """Return the least possible value of each row's component, (n,)."""
    least = np.full(groups, np.inf)
    np.minimum.at(least, owner[possible], value[possible])
    return least[owner]
