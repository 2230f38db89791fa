"""Which of many candidates is best, and how sure that is: screening by paired differences, look by look.

All candidates have the same jobs under the same seed (common random numbers). After each look those go
that are worse than another one by more than chance allows:

    mean_i − mean_l > W_il = t · S_il / √n

S_il is the standard deviation of the n paired differences, t the quantile of Student's t with n − 1 degrees
of freedom at 1 − α / (looks · (k − 1)) for k candidates. The best one is lost with probability α at most:
B. L. Nelson, J. Swann, D. Goldsman, W. Song, "Simple procedures for selecting the best simulated system
when the number of alternatives is large", Operations Research 49(6), 950–963, 2001, by Bonferroni over
pairs, as common random numbers need it, and over looks. What the one with the smallest mean may lose against
the best is, with the same confidence, no more than the largest mean_w − mean_l + W_wl over those left:
J. C. Hsu, "Constrained simultaneous confidence intervals for multiple comparisons with the best",
Annals of Statistics 12(3), 1136–1144, 1984. Of what cannot be negative it is no more than mean_w itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from scheduler_sim.arrays import Bools, Floats


class Margins(NamedTuple):
    """Of one candidate against each of k: mean difference (own − other), and what chance allows it."""

    difference: Floats
    chance: Floats


class Selected(NamedTuple):
    """What is left of k candidates after a look.

    ``left`` : bool[k], the best one is among them. ``winner`` : number of the smallest mean among them.
    ``loss`` : what the winner's mean is above the best one's, at most; 0 if it is the only one.
    """

    left: Bools
    winner: int
    loss: float


def quantile(seeds: int, alpha: float, comparisons: int) -> float:
    """Quantile of Student's t for one of so many one-sided comparisons."""
    return float(stdtrit(seeds - 1, 1 - alpha / max(comparisons, 1)))


def looks(first: int, most: int) -> list[int]:
    """Return how many seeds there are at each look: doubled from the first on, ``most`` at the last."""
    numbers = []
    while first < most:
        numbers.append(first)
        first *= 2
    return [*numbers, most]


def margins(values: Floats, one: int, t: float) -> Margins:
    """Compare one candidate with all.

    Parameters
    ----------
    values : float64[k, n], of each candidate and seed, n at least 2.
    """
    differences = values[one] - values
    spread = differences.std(axis=1, ddof=1)
    return Margins(differences.mean(axis=1), t * spread / np.sqrt(values.shape[1]))


def select(values: Floats, candidates: int, alpha: float) -> Selected:
    """Screen those that are left, at one look; less is better.

    Parameters
    ----------
    values : float64[k, n], of those that are left, by seed.
    candidates : how many there were at first, which the correction counts.
    alpha : chance at this look that the best one is lost.
    """
    t = quantile(values.shape[1], alpha, candidates - 1)
    means = values.mean(axis=1)
    order = np.argsort(means, kind="stable")
    left = np.ones(len(values), dtype=bool)
    for better in order:  # a candidate that loses against a good one need not be compared with others
        if left[better]:
            found = margins(values, int(better), t)
            left &= -found.difference <= found.chance
    winner = int(order[0])
    found = margins(values, winner, t)
    others = left.copy()
    others[winner] = False
    above = (found.difference + found.chance)[others]
    loss = max(0.0, float(above.max(initial=0.0)))
    return Selected(left, winner, min(loss, room_below(values, winner)))


def room_below(values: Floats, one: int) -> float:
    """Return by how much anything can be better than one: its mean, unless values can be negative."""
    return float(values[one].mean()) if (values >= 0).all() else np.inf


def undominated(first: Floats, second: Floats, candidates: int, alpha: float) -> Bools:
    """Screen by two measures at one look: a candidate worse than another in both, beyond chance, goes.

    All that are truly on the front are kept with a probability of at least 1 − α; a measure that
    is the same for every seed has no chance in it, and is then worse or equal.

    Parameters
    ----------
    first, second : float64[k, n], of those that are left, by seed; less is better in both.

    Returns
    -------
    bool[k]
    """
    t = quantile(first.shape[1], alpha, candidates * (candidates - 1))
    left = np.ones(len(first), dtype=bool)
    for better in np.argsort(first.mean(axis=1), kind="stable"):
        if left[better]:
            left &= ~_is_dominated(margins(first, int(better), t), margins(second, int(better), t))
    return left


def _is_dominated(one: Margins, other: Margins) -> Bools:
    """Which are worse than the candidate of these margins: beyond chance in both, or in one with a tie."""
    worse = [-part.difference > part.chance for part in (one, other)]
    ties = [(part.difference == 0) & (part.chance == 0) for part in (one, other)]
    dominated: Bools = (worse[0] & worse[1]) | (worse[0] & ties[1]) | (worse[1] & ties[0])
    return dominated


def front(first: Floats, second: Floats) -> Bools:
    """Tell which are on the Pareto front of two means: none is at least as good in both, and better in one.

    Parameters
    ----------
    first, second : float64[k]; less is better.
    """
    order = np.lexsort((second, first))
    on = np.zeros(len(first), dtype=bool)
    best, at = np.inf, -np.inf
    for i in order:
        if second[i] < best or (second[i] == best and first[i] == at):
            on[i] = True
            best, at = second[i], first[i]
    return on
