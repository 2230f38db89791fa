"""How evenly a schedule treats users, and which jobs were overtaken."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.result.columns import NEVER, Columns, numbers
from scheduler_sim.texts import TextColumn

NOT_KNOWN = -1


def jain(values: np.ndarray) -> float:
    """Jain's index (Σx)² / (n·Σx²): 1 if all are equal, 1/n if one has everything.

    R. Jain, D.-M. Chiu, W. Hawe, "A quantitative measure of fairness and discrimination for
    resource allocation in shared computer systems", DEC-TR-301, 1984. NaN if nothing is above 0.
    """
    squares = len(values) * float((values**2).sum())
    return float(values.sum()) ** 2 / squares if squares > 0 else np.nan


def gini(values: np.ndarray) -> float:
    """Gini coefficient Σ_i Σ_j |x_i − x_j| / (2·n²·mean): 0 if all are equal.

    It is (n − 1)/n if one has everything; computed from the sorted values as
    Σ (2i − n − 1)·x_i / (n·Σx). NaN if nothing is above 0.
    """
    count, total = len(values), float(values.sum())
    if not total > 0:
        return np.nan
    ranks = 2.0 * np.arange(1, count + 1) - count - 1
    return max(0.0, float((ranks * np.sort(values)).sum()) / (count * total))


def max_over_mean(values: np.ndarray) -> float:
    """Largest value over the mean of all: 1 if all are equal. NaN if nothing is above 0."""
    total = float(values.sum())
    return float(values.max()) * len(values) / total if total > 0 else np.nan


def user_numbers(users: Any) -> np.ndarray:
    """Number the users; a component without a user has −1.

    Returns
    -------
    int64[components]
    """
    column = TextColumn.of(users).in_order()
    return np.where(column == "", NOT_KNOWN, column.codes).astype(np.int64)


def user_means(values: np.ndarray, users: np.ndarray) -> np.ndarray:
    """Mean of the values of each user who has any; those of nobody known are left out.

    Parameters
    ----------
    values : float64[jobs] or int64[jobs]; users : int64[jobs] from ``user_numbers``.

    Returns
    -------
    float64[users], in the order of their numbers.
    """
    known = users != NOT_KNOWN
    if not known.any():
        return np.zeros(0)
    jobs = np.bincount(users[known])
    sums = np.bincount(users[known], weights=values[known])
    return sums[jobs > 0] / jobs[jobs > 0]


def overtaken(components: Columns) -> np.ndarray:
    """Tell which components had to watch a later one start.

    A component is overtaken if, while it was eligible and waited, one that was submitted
    later started on the module on which it ran itself. That need not have delayed it: backfilled
    jobs overtake, and mostly do no harm.

    Returns
    -------
    bool[components] : False for those that never ran.
    """
    submit, eligible, start = (
        numbers(components, f"{name}_time") for name in ("submit", "eligible", "start")
    )
    modules = TextColumn.of(components["module"]).in_order().codes
    result = np.zeros(len(start), dtype=bool)
    ran = start != NEVER
    for module in np.unique(modules[ran]):
        rows = np.flatnonzero(ran & (modules == module))
        rows = rows[np.argsort(start[rows], kind="stable")]
        starts, submits = start[rows], submit[rows]
        behind = np.searchsorted(starts, starts)
        later = np.maximum.accumulate(np.append(np.iinfo(np.int64).min, submits))[behind] > submits
        # What was eligible at once has waited since before any later one started; of others it is to be seen.
        held = np.flatnonzero(later & (eligible[rows] > submits))
        first = np.searchsorted(starts, eligible[rows[held]])
        later[held] = _largest(submits, first, behind[held]) > submits[held]
        result[rows] = later
    return result


def _largest(values: np.ndarray, first: np.ndarray, behind: np.ndarray) -> np.ndarray:
    """Largest of ``values[first:behind]`` for each range; the smallest int64 for an empty one.

    Ranges are covered by two runs of 2^k values; the table of one k at a time is kept.
    """
    result = np.full(len(first), np.iinfo(np.int64).min)
    length = behind - first
    table, run = values, 1
    while run <= length.max(initial=0):
        here = np.flatnonzero((length >= run) & (length < 2 * run))
        result[here] = np.maximum(table[first[here]], table[behind[here] - run])
        table = np.maximum(table[:-run], table[run:])
        run *= 2
    return result
