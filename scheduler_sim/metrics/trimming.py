"""Which components count: without those submitted while the system fills up or empties.

All components run; a rule only says which of them the measures cover. Both rules look at
submissions, which no policy changes, so that the same components count under each.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.errors import InputError
from scheduler_sim.result.columns import NEVER, Columns, numbers

BATCH = 5
"""Waits in a batch of MSER-5."""

FEWEST_BATCHES = 10
"""With fewer, MSER-5 says nothing."""


def trim(components: Columns, warm_up: float = 0.0, cool_down: float = 0.0) -> np.ndarray:
    """Leave out what was submitted in the first and last shares of the span of submissions.

    Parameters
    ----------
    warm_up, cool_down : shares of the span from the first to the last submission, 0 to 1,
        together less than 1. A component at a limit counts.

    Returns
    -------
    bool[components] : which count.

    Raises
    ------
    InputError : if the shares are not such.
    """
    if not (warm_up >= 0 and cool_down >= 0 and warm_up + cool_down < 1):
        raise InputError(
            f"warm-up {warm_up} and cool-down {cool_down}; allowed: shares from 0, together less than 1"
        )
    submit = numbers(components, "submit_time")
    if len(submit) == 0:
        return np.zeros(0, dtype=bool)
    first, last = submit.min(), submit.max()
    span = last - first
    kept: np.ndarray = (submit - first >= warm_up * span) & (last - submit >= cool_down * span)
    return kept


def trimmed_span(components: pd.DataFrame, warm_up: float = 0.0, cool_down: float = 0.0) -> tuple[int, int]:
    """Return the span of submissions, in s, without the shares left out by ``trim``; (0, 0) for nothing."""
    submit = components["submit_time"].to_numpy()
    if len(submit) == 0:
        return 0, 0
    first, last = int(submit.min()), int(submit.max())
    return first + ceil(warm_up * (last - first)), last - ceil(cool_down * (last - first))


class WarmUp(NamedTuple):
    """What MSER-5 found: components submitted from ``submit_time`` on count.

    ``left_out`` is how many of those that ran were submitted before, ``words`` says it in a sentence.
    """

    settled: bool
    left_out: int
    submit_time: int
    words: str

    def counts(self, components: pd.DataFrame) -> np.ndarray:
        """Tell which components of this or another run count: bool[components]."""
        return components["submit_time"].to_numpy() >= self.submit_time


def find_warm_up(components: pd.DataFrame) -> WarmUp:
    """Apply MSER-5 to the waits in order of submission.

    Without a minimum in the first half of the run nothing is left out, and ``settled`` is
    False. Runs to be compared share one rule: the latest ``submit_time`` found in any of them.
    """
    ran = np.flatnonzero(components["start_time"].to_numpy() != NEVER)
    submit = components["submit_time"].to_numpy()[ran]
    order = np.argsort(submit, kind="stable")
    submit = submit[order]
    waits = components["start_time"].to_numpy()[ran][order] - submit
    count = len(waits)
    first = int(submit[0]) if count else 0
    batches = count // BATCH
    if batches < FEWEST_BATCHES:
        words = f"{count} waits are too few for MSER-5, which asks for {FEWEST_BATCHES * BATCH}"
        return WarmUp(False, 0, first, f"{words}; nothing is left out")
    left_out = mser(waits)
    if left_out >= batches // 2 * BATCH:
        words = f"the waits do not settle in the first half of {count} by MSER-5"
        return WarmUp(False, 0, first, f"{words}; nothing is left out")
    start = int(submit[left_out])
    left_out = int(np.searchsorted(submit, start))  # those submitted at the same second stay together
    if left_out == 0:
        return WarmUp(True, 0, first, f"no warm-up found in {count} waits by MSER-5")
    words = f"the first {left_out} of {count} waits are warm-up by MSER-5"
    return WarmUp(True, left_out, start, f"{words}: components submitted from {start} s on count")


def mser(waits: np.ndarray) -> int:
    """Find how many waits to leave out at the beginning by MSER-5.

    With Z the means of k batches of 5, leave out the d ≤ k/2 first batches for which
    Σ_{j > d} (Z_j − mean_d)² / (k − d)² is least, mean_d being that of the batches kept:
    K. P. White, "An effective truncation heuristic for bias reduction in simulation output",
    Simulation 69(6), 323–334, 1997, on batches as in K. P. White, M. J. Cobb and S. C. Spratt
    (Winter Simulation Conference 2000). d = k/2 means that the series has not settled.

    Parameters
    ----------
    waits : int64[n] or float64[n], in order of submission; the last n mod 5 are not looked at.

    Returns
    -------
    A multiple of 5; the smallest of several equally good ones, and 0 for fewer than two batches.
    """
    batches = len(waits) // BATCH
    if batches < 2:
        return 0
    sums = waits[: batches * BATCH].reshape(batches, BATCH).sum(axis=1)
    centred = (sums - np.median(sums)).astype(np.float64)
    kept = np.arange(batches, 0, -1)
    squares = np.cumsum((centred**2)[::-1])[::-1] - np.cumsum(centred[::-1])[::-1] ** 2 / kept
    return int(np.argmin((np.maximum(squares, 0.0) / kept**2)[: batches // 2 + 1])) * BATCH
