"""How right such estimates were before: ranks of run times that are known by now among what was believed."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.prediction.arrivals import WEEK, WEEKS
from scheduler_sim.prediction.history import FEWEST, History
from scheduler_sim.prediction.run_times import EVEN, Kinds, kinds_of, run_times_of
from scheduler_sim.prediction.state import State
from scheduler_sim.units import HOUR

INSTANTS = 24
"""Instants of the history at which it is asked what would have been believed."""

MOST = 200
"""Jobs of an instant that are looked at, at the most."""

BESIDE = 100
"""Jobs with even ranks that count beside those found: few jobs say little."""

PARTS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""A run time that several jobs took has all the ranks of these; it gets the ranks at these parts of them."""


def past_ranks(history: History, at: int) -> Floats:
    """Return ranks from 0 to 1, ascending: how jobs' run times lay in what was believed of them before.

    If what is believed is right they are even; if jobs take longer than others like them took before, more of
    them are near 1. Instants are of the last weeks, the first quarter of the history left out, and what is
    younger than its longest run, as jobs that ran then have ended. Where nothing is left, ``EVEN``.
    This is calibrated regression: V. Kuleshov, N. Fenner, S. Ermon, Proc. ICML 2018, PMLR 80, 2796-2804.

    Parameters
    ----------
    at : the instant of the prediction, s on the history's clock
    """
    if len(history.run) < FEWEST:
        return EVEN
    first = int(history.submit[0])
    begin, end = max((3 * first + at) // 4, at - WEEKS * WEEK), at - int(history.run.max())
    if begin >= end:
        return EVEN
    parts = np.array(PARTS)[:, np.newaxis]
    found = [np.repeat((np.arange(BESIDE) + 0.5) / BESIDE, len(PARTS))]
    nobody = np.zeros(0, dtype=np.int64)
    kinds = kinds_of(_state(history, nobody, at), history).history
    for instant in _instants(history, begin, end).tolist():
        ended = np.flatnonzero(history.end <= instant)
        there = (history.submit <= instant) & (history.end > instant) & (history.limit > 0)
        rows = np.flatnonzero(there)
        if len(ended) < FEWEST or not len(rows):
            continue
        rows = rows[:: -(-len(rows) // MOST)]
        state = _state(history, rows, instant)
        known = Kinds([of[ended] for of in kinds], [of[rows] for of in kinds], kinds[0][rows])
        below, up_to = run_times_of(state, history.rows(ended), known).shares(history.run[rows])
        found.append((below + parts * (up_to - below)).ravel())
    return np.sort(np.concatenate(found))


def _instants(history: History, begin: int, end: int) -> Ints:
    """Return instants, the more of them the more jobs waited; spread evenly over time if none did."""
    times = np.arange(begin, end, HOUR)
    start = np.sort(history.end - history.run)
    waited = np.searchsorted(history.submit, times, side="right") - np.searchsorted(
        start, times, side="right"
    )
    asked = np.cumsum(waited if waited.any() else np.ones_like(times))
    at = np.searchsorted(asked, (np.arange(INSTANTS) + 0.5) / INSTANTS * asked[-1])
    instants: Ints = times[np.unique(at)]
    return instants


def _state(history: History, rows: Ints, instant: int) -> State:
    """Return what ran and waited at an instant (s), as far as it has ended by now."""
    start = history.end[rows] - history.run[rows]
    return State(
        jobs=history.jobs.select(rows),
        labels=(),
        start=np.where(start <= instant, start, -1),
        limit=history.limit[rows],
        at=instant,
        origin=None,
    )
