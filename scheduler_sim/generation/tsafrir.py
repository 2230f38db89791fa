"""The model of user run time estimates of Tsafrir, Etsion and Feitelson (JSSPP 2005, LNCS 3834).

Users give few, round estimates: twenty values serve nine jobs of ten. The model draws how many
jobs have which estimate, and deals these out at random so that every job fits. Constants are
those of the authors' program ``m_tsafrir05`` in the Parallel Workloads Archive;
docs/reference/lublin-tsafrir.md has the laws, and what is done where the model is silent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.generation import portable
from scheduler_sim.generation.single import Streams
from scheduler_sim.generation.tsafrir_tables import COMMON, POPULARITY, ROUND, VALUES_BY_JOBS

HEAD = len(POPULARITY)
"""How many values count as popular."""

_SMALLEST_MAXIMUM = 6000  # below, there are no 20 multiples of 5 min
_SHIFTS = (0, 30, -30, 20, -20, 10, -10)  # s; how a rare value evades one that is there already


@dataclass(frozen=True)
class UserEstimates:
    """Parameters of the model.

    Attributes
    ----------
    max_estimate : the longest estimate allowed, s, at least 6000.
    max_share : share of the jobs that give it; None: what the other popular values leave of
        ``head_share``, 22 %.
    popular_values : the 19 other popular values, s; None: the authors' rule.
    head_share : share of the jobs that give one of the 20 popular values.
    head_popularity : a, b, c of the percentage of jobs a·e**(b·rank) + c at ranks 2 to 20.
    tail_exponent : the share of the rarer values goes as rank**exponent.
    time_law : p, q of the curve y = (a − 1)·x/(a − x), a = 1 + p·values**q, from the relative
        rank in length of a rare value to its share of ``max_estimate``.
    values_by_jobs : points (jobs, different estimates), from 0 jobs, with straight lines between.

    Raises ConfigError for a value outside its range.
    """

    max_estimate: int
    max_share: float | None = None
    popular_values: tuple[int, ...] | None = None
    head_share: float = 0.89
    head_popularity: tuple[float, float, float] = (14.0491, -0.177531, 0.462513)
    tail_exponent: float = -2.267
    time_law: tuple[float, float] = (12.1039, -0.6026)
    values_by_jobs: tuple[tuple[int, int], ...] = VALUES_BY_JOBS

    def __post_init__(self) -> None:
        problems = [f"{name}: found {value}; allowed: {allowed}" for name, value, allowed in self._wrong()]
        if problems:
            raise ConfigError(problems)

    def _wrong(self) -> list[tuple[str, object, str]]:
        longest, points, popular = self.max_estimate, self.values_by_jobs, self.popular_values
        rises = all(x0 < x1 and y0 <= y1 for (x0, y0), (x1, y1) in pairwise(points))
        numbers = (self.head_share, *self.head_popularity, self.tail_exponent, *self.time_law)
        wrong: list[tuple[str, object, str]] = []
        if longest < _SMALLEST_MAXIMUM:
            wrong.append(("max_estimate", longest, f"at least {_SMALLEST_MAXIMUM} s"))
        if popular is not None and not _are_others(popular, longest):
            wrong.append(
                ("popular_values", popular, f"{HEAD - 1} different times from 1 s, below the largest")
            )
        if not (all(map(math.isfinite, numbers)) and 0 < self.head_share < 1):
            wrong.append(("head_share and laws", numbers, "finite numbers, head_share between 0 and 1"))
        elif not self.time_law[0] > 0:
            wrong.append(("time_law", self.time_law, "p more than 0"))
        elif not np.all(self._other_shares() > 0):
            wrong.append(("head_popularity", self.head_popularity, "more than 0 at each rank"))
        elif not 0 < self._largest_share() < self.head_share:
            wrong.append(("max_share", self._largest_share(), "between 0 and head_share"))
        if len(points) < 2 or tuple(points[0]) != (0, 0) or not rises:
            wrong.append(("values_by_jobs", points, "points that rise from (0, 0)"))
        return wrong

    def estimates(self, run_time: np.ndarray, streams: Streams) -> np.ndarray:
        """Return an estimate (s, int64) for each run time (s, int64), none of them shorter than it.

        Raises InputError if there are more long run times than long estimates.
        """
        if not len(run_time):
            return np.zeros(0, dtype=np.int64)
        values, jobs = self.distribution(len(run_time), streams("estimate values"))
        pool = np.repeat(values, jobs)[::-1]
        longest_first = np.argsort(-run_time, kind="stable")
        run = run_time[longest_first]
        self._check_fit(run, pool)
        estimates = np.empty(len(run), dtype=np.int64)
        estimates[longest_first] = _deal(run, pool, streams("estimate assignment"))
        return estimates

    def distribution(self, jobs: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw the different estimates of so many jobs, s, rising, and how many jobs give each (int64)."""
        number = self.number_of_values(jobs)
        values, shares = self._head(random)
        rarer = self._rare_values(max(number - HEAD, 0))
        if len(rarer):
            rare = portable.exp(self.tail_exponent * portable.log(HEAD + 1.0 + np.arange(len(rarer))))
            rare = random.permutation(rare / np.cumsum(rare)[-1] * (1.0 - self.head_share))
            values, shares = np.concatenate((values, rarer)), np.concatenate((shares, rare))
        else:
            values, shares = values[:number], shares[:number]
        counts = _whole_jobs(shares / np.cumsum(shares)[-1], jobs)
        rising = np.argsort(values)
        return values[rising], counts[rising]

    def number_of_values(self, jobs: int) -> int:
        """Return how many different estimates so many jobs have."""
        for (x0, y0), (x1, y1) in pairwise(self.values_by_jobs):
            if jobs <= x1:
                halves = 2 * (y1 - y0) * (jobs - x0) // (x1 - x0)
                return min(max(y0 + (halves + 1) // 2, 1), jobs)
        return min(self.values_by_jobs[-1][1], jobs)

    def popular(self) -> np.ndarray:
        """Return the 20 popular values, s: the largest, then the others by length."""
        others = self.popular_values
        if others is None:
            chosen = [value for value in COMMON if value < self.max_estimate]
            for unit in ROUND:
                multiples = range(self.max_estimate // unit * unit, 0, -unit)
                chosen += [value for value in multiples if value not in (self.max_estimate, *chosen)]
            others = tuple(chosen[: HEAD - 1])
        return np.array([self.max_estimate, *sorted(others)], dtype=np.int64)

    def _head(self, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Popular values and their shares, the largest value first, the others by popularity."""
        others, largest = self._other_shares(), self._largest_share()
        others = others * ((self.head_share - largest) / np.cumsum(others)[-1])
        first = int((others > largest).sum())  # so many are more popular than the largest value
        shares = np.insert(others, first, largest)
        rank = _ranks(first + 1, random)
        order = np.concatenate(([0], 1 + np.argsort(rank[1:])))
        return self.popular()[order], shares[rank[order] - 1]

    def _other_shares(self) -> np.ndarray:
        """Shares of ranks 2 to 20, before they are scaled to what the largest value leaves."""
        a, b, c = self.head_popularity
        return (a * portable.exp(b * np.arange(2.0, HEAD + 1.0)) + c) / 100.0

    def _largest_share(self) -> float:
        if self.max_share is not None:
            return self.max_share
        return float(self.head_share - np.cumsum(self._other_shares())[-1])

    def _rare_values(self, number: int) -> np.ndarray:
        """The estimates beyond the popular ones, s, near whole minutes; a few may find no place."""
        p, q = self.time_law
        steepness = p * portable.exp(q * portable.log(np.array([HEAD + number * 1.0])))[0]
        x = np.arange(1.0, number + 1.0) / max(number, 1)
        time = steepness * x / (1.0 + steepness - x) * self.max_estimate
        minutes = np.floor(time / 60.0 + 0.5).astype(np.int64) * 60
        taken, rare = set(self.popular().tolist()), []
        for value in minutes.tolist():
            near = (value + shift for shift in _SHIFTS)
            free = next((v for v in near if 0 < v < self.max_estimate and v not in taken), None)
            if free is not None:
                taken.add(free)
                rare.append(free)
        return np.array(rare, dtype=np.int64)

    def _check_fit(self, run: np.ndarray, pool: np.ndarray) -> None:
        if run[0] > self.max_estimate:
            raise InputError(
                f"a job runs {run[0]} s; estimates allow at most max_estimate = {self.max_estimate} s"
            )
        short = np.flatnonzero(run > pool)
        if len(short):
            least = run[short[0]]
            found = (
                f"{short[0] + 1} jobs run {least} s or longer, {np.count_nonzero(pool >= least)} estimates do"
            )
            raise InputError(f"{found}; allowed: a larger max_estimate or max_share, or shorter jobs")


def _are_others(values: tuple[int, ...], longest: int) -> bool:
    return len(values) == len(set(values)) == HEAD - 1 and all(1 <= value < longest for value in values)


def _ranks(first: int, random: np.random.Generator) -> np.ndarray:
    """Draw the rank in popularity of each popular value, given that of the largest.

    A value takes a rank that one of the logs has for it or for a shorter one; of two drawn, the
    more popular. A rank that no log has further on is taken at the latest where it last occurs.
    """
    last_row = {rank: row for row, ranks in enumerate(POPULARITY) for rank in ranks}
    taken, pool = [first], list(POPULARITY[0])
    for row in range(1, HEAD):
        pool = [rank for rank in (*pool, *POPULARITY[row]) if rank not in taken]
        due = [rank for rank in range(1, HEAD + 1) if rank not in taken and last_row[rank] <= row]
        if due:
            taken.append(due[0])
        else:
            taken.append(min(pool[int(u * len(pool))] for u in random.random(2)))
    return np.array(taken)


def _whole_jobs(shares: np.ndarray, jobs: int) -> np.ndarray:
    """Round shares of the jobs so that they add up and that each value has a job."""
    beyond_first = np.maximum(shares * jobs - 1.0, 0.0)
    upto = np.cumsum(beyond_first)
    if upto[-1] > 0.0:
        upto = upto * ((jobs - len(shares)) / upto[-1])
    whole: np.ndarray = 1 + np.diff(np.rint(upto).astype(np.int64), prepend=0)
    return whole


def _deal(run: np.ndarray, pool: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Give each job, the longest first, any estimate still left that is long enough.

    Both come sorted, longest first; what is left and fits is then always one stretch of the
    pool, from the job's own place on, and a swap keeps it so (Fisher and Yates).
    """
    place = np.arange(len(run))
    fitting = np.searchsorted(-pool, -run, side="right")
    drawn = place + np.floor(random.random(len(run)) * (fitting - place)).astype(np.int64)
    left = pool.tolist()
    for here, there in enumerate(drawn.tolist()):
        left[here], left[there] = left[there], left[here]
    return np.array(left, dtype=np.int64)
