"""Begin times in cheap or clean hours, chosen at submission."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.energy.tariff import Series

PAIRS_AT_ONCE = 1 << 20
EQUAL = 1e-9
"""Sums that differ by less, relative to the larger, are taken as equal."""


def cheapest_begin(submit: Ints, length: Ints, bound_s: int, series: Series) -> Ints:
    """Return when components should begin, (n,) s: from ``submit`` on, at most ``bound_s`` later.

    Of all begins the one with the least integral of the series over ``length`` seconds, the earliest of
    several. As the series changes in steps, one of these is: the first, the last, one at which a step
    stands at the begin or at the end.

    Raises InputError for a series that does not cover all that may be chosen.
    """
    submit, length = np.asarray(submit, np.int64), np.asarray(length, np.int64)
    if not len(submit):
        return submit
    series.covers(int(submit.min()), int((submit + length).max()) + bound_s)
    steps = series.time[1:-1]
    each = np.full(len(submit), 2)
    for first in (submit, submit + length):
        each += _steps_between(steps, first, bound_s)[1]
    whole, begin, start = np.append(0, np.cumsum(each)), submit.copy(), 0
    while start < len(submit):
        stop = max(int(np.searchsorted(whole, whole[start] + PAIRS_AT_ONCE, side="right")) - 1, start + 1)
        part = slice(start, stop)
        begin[part] = _best(submit[part], length[part], bound_s, series, steps)
        start = stop
    return begin


def _best(submit: Ints, length: Ints, bound_s: int, series: Series, steps: Ints) -> Ints:
    owner, delay = [np.arange(len(submit))] * 2, [np.zeros_like(submit), np.full_like(submit, bound_s)]
    for first in (submit, submit + length):
        low, count = _steps_between(steps, first, bound_s)
        whose = np.repeat(np.arange(len(submit)), count)
        place = np.arange(len(whose)) - np.repeat(np.cumsum(count) - count, count) + low[whose]
        owner.append(whose)
        delay.append(steps[place] - first[whose])
    row, wait = np.concatenate(owner), np.concatenate(delay)
    begin = submit[row] + wait
    cost: Floats = series.integral(begin, begin + length[row])
    least = np.full(len(submit), np.inf)
    np.minimum.at(least, row, cost)
    good = cost - least[row] <= EQUAL * np.abs(cost)
    found = np.full(len(submit), bound_s)
    np.minimum.at(found, row[good], wait[good])
    chosen: Ints = submit + found
    return chosen


def _steps_between(steps: Ints, first: Ints, bound_s: int) -> tuple[Ints, Ints]:
    """Return the first step after each instant, and how many there are before the bound is over."""
    low = np.searchsorted(steps, first, side="right")
    return low, np.maximum(np.searchsorted(steps, first + bound_s, side="left") - low, 0)
