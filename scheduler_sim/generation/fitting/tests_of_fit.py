"""How well a trace follows the laws fitted to it: distances, tests, and what they mean in words.

A distance is the largest difference, over all values, of the shares of jobs up to that value.
The p-values take the parameters of sizes and times as if they had been known before, so they
err in favour of these laws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2, kstwobign

from scheduler_sim.generation.cirne import Cirne
from scheduler_sim.generation.fitting.cycle_fit import CycleFit
from scheduler_sim.generation.fitting.distance import FOLLOWS, Share, ks_distance, verdict
from scheduler_sim.generation.fitting.records import Records
from scheduler_sim.generation.fitting.words import percent, spoken
from scheduler_sim.generation.law import (
    accuracies_up_to,
    gaps_up_to,
    limits_up_to,
    run_times_up_to,
    sizes_up_to,
)

_LEAST_EXPECTED = 5.0
_BELOW = 1e-6  # an accuracy this much smaller


class LawTest(NamedTuple):
    """A test of one law: its statistic, p-value, number of jobs, and a verdict in words."""

    law: str
    test: str
    statistic: float
    p_value: float
    jobs: int
    verdict: str


def tests_of(model: Cirne, records: Records, cycle: CycleFit) -> list[LawTest]:
    """Return a test of every law that the trace tells something about."""
    nodes, stated = records.nodes, records.stated
    size = np.minimum(records.size, nodes)
    found = [
        _ks("sizes", size, lambda x: sizes_up_to(model, nodes, x), _of_nodes),
        _size_classes(model, size, nodes),
    ]
    if records.requested:
        found.append(_ks("requests", records.limit[stated], lambda x: limits_up_to(model, x), spoken))
    found.append(_ks("run times", records.run_time, lambda x: run_times_up_to(model, x), spoken))
    if records.requested:
        limit = records.limit[stated]
        used = np.clip(records.run_time[stated], 1, limit) / limit
        found.append(_ks("accuracy", used, lambda x: accuracies_up_to(model, x), _of_limit, _BELOW))
    found.append(_ks("gaps", records.gaps, lambda x: gaps_up_to(model, nodes, x), spoken))
    return found + _cycle_tests(cycle, records.calendar)


def _ks(law: str, values: np.ndarray, up_to: Share, name: Callable[[float], str], step: float = 1) -> LawTest:
    found = ks_distance(values, up_to, step)
    p_value = float(kstwobign.sf(found.distance * np.sqrt(len(values))))
    words = verdict(found.distance, p_value)
    if words != FOLLOWS:
        words += f": {percent(found.found)} are at most {name(found.at)}, by the law {percent(found.law)}"
    return LawTest(law, "Kolmogorov-Smirnov", found.distance, p_value, len(values), words)


def _size_classes(model: Cirne, size: np.ndarray, nodes: int) -> LawTest:
    """Chi-square over sizes, neighbours pooled until 5 jobs are expected; 3 parameters were fitted."""
    expected = np.diff(sizes_up_to(model, nodes, np.arange(nodes + 1))) * len(size)
    found = np.bincount(size, minlength=nodes + 1)[1:]
    last = max(expected.sum() // _LEAST_EXPECTED - 1, 0)
    pool = np.unique(np.minimum(np.cumsum(expected) // _LEAST_EXPECTED, last), return_inverse=True)[1]
    return _chi_square("sizes", "chi-square", np.bincount(pool, found), np.bincount(pool, expected), 3)


def _cycle_tests(cycle: CycleFit, calendar: bool) -> list[LawTest]:
    """Test the cycle on both halves of the time, and whether all weekdays have the same hours."""
    hour, day = cycle.hours % 24, cycle.hours // 24 % 7
    half = (np.arange(len(hour)) >= len(hour) // 2).astype(np.int64)
    weekly = bool(cycle.arrivals.cycle.weekly)
    found = [_by_rows("hours", "chi-square, halves", cycle, half, hour, 24)]
    if weekly:
        found.append(_by_rows("hours", "chi-square, weekdays", cycle, day, hour, 24))
    if calendar:
        found.append(_by_rows("weekdays", "chi-square, halves", cycle, half, day, 7))
    return found


def _by_rows(
    law: str, test: str, cycle: CycleFit, row: np.ndarray, column: np.ndarray, columns: int
) -> LawTest:
    """Chi-square of submissions by row and column, each row expecting as many as it has."""
    cell = row * columns + column
    found, expected = (
        np.bincount(cell, x, minlength=columns * (int(row.max()) + 1)).reshape(-1, columns)
        for x in (cycle.counts, cycle.expected)
    )
    possible = expected.sum(axis=1) > 0.0
    found, expected = found[possible], expected[possible]
    expected *= (found.sum(axis=1) / expected.sum(axis=1))[:, np.newaxis]
    fitted = expected.shape[0] + int((expected.sum(axis=0) > 0.0).sum()) - 2
    return _chi_square(law, test, found, expected, fitted)


def _chi_square(law: str, test: str, found: np.ndarray, expected: np.ndarray, fitted: int) -> LawTest:
    """Return the test, with the share of jobs that would have to move for the law to hold."""
    possible = expected > 0.0
    statistic = float(((found - expected)[possible] ** 2 / expected[possible]).sum())
    free = int(possible.sum()) - 1 - fitted
    p_value = float(chi2.sf(statistic, free)) if free > 0 else 1.0
    moved = float(np.abs(found - expected).sum() / 2 / found.sum())
    words = verdict(moved, p_value)
    if words != FOLLOWS:
        words += f": {percent(moved)} of jobs would have to move"
    return LawTest(law, test, statistic, p_value, int(found.sum()), words)


def _of_nodes(size: float) -> str:
    return f"{size:.0f} node{'s' * (size != 1)}"


def _of_limit(fraction: float) -> str:
    return "just short of the limit" if 1.0 > fraction > 0.9999 else f"{percent(fraction)} of the limit"
