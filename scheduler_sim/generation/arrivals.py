"""When jobs are submitted: a rate that follows the hours and the days, and a process with that rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import dropwhile
from typing import Literal

import numpy as np

from scheduler_sim.errors import InputError
from scheduler_sim.generation.portable import exponential
from scheduler_sim.generation.single import Streams
from scheduler_sim.units import DAY, HOUR

Process = Literal["accumulator", "poisson"]


@dataclass(frozen=True)
class Cycle:
    """The rate of submissions over the hours of a day and, if wished, the days of a week.

    Attributes
    ----------
    reference_nodes : machine size the rate belongs to; on N nodes it is N / reference_nodes of it.
    polynomial : coefficients, highest power first, of twice the rate (jobs/s) in
        x = time of day / 24 h − ½; or
    hourly : jobs a day in each of the 24 hours of the clock.
    weekly : weights of the days, Monday first, day 0 of the clock being a Monday; their mean
        counts as 1. Empty: every day alike.
    clamp : count a negative rate as 0 (the polynomial of KTH is negative from 04:29 to 05:35;
        the reference lets it take back what had accumulated).
    """

    reference_nodes: int
    polynomial: tuple[float, ...] = ()
    hourly: tuple[float, ...] = ()
    weekly: tuple[float, ...] = ()
    clamp: bool = False

    def at(self, time_of_day: np.ndarray) -> np.ndarray:
        """Return the rate on the reference machine, jobs/s, at seconds since midnight."""
        if self.hourly:
            rate = np.array(self.hourly)[np.minimum(time_of_day // HOUR, 23).astype(np.int64)] / HOUR
        else:
            x = time_of_day / DAY - 0.5
            rate = np.zeros_like(x)
            for coefficient in dropwhile(lambda one: one == 0.0, self.polynomial):
                rate *= x
                rate += coefficient
            rate *= 0.5
        rates: np.ndarray = np.maximum(rate, 0.0) if self.clamp else rate
        return rates

    def accumulated(self, phase: float) -> np.ndarray:
        """Return the jobs due by each second of one period of the cycle.

        Second s = 1, 2, … lies at ``phase`` + s seconds after midnight of day 0; a period is a
        day, or a week where the days differ.
        """
        moment = phase + np.arange(1, DAY + 1)
        day = self.at(np.where(moment >= DAY, moment - DAY, moment))
        if not self.weekly:
            return np.cumsum(day)
        weights = np.array(self.weekly) * 7 / sum(self.weekly)
        date = (moment >= DAY).astype(np.int64)
        return np.cumsum(np.concatenate([day * weights[(date + k) % 7] for k in range(7)]))

    def hour_shares(self) -> np.ndarray:
        """Return the share of submissions in each hour of the day, as a rate that is never negative."""
        rate = np.maximum(self.at(np.arange(DAY) + 0.5), 0.0)
        shares: np.ndarray = rate.reshape(24, HOUR).sum(axis=1) / rate.sum()
        return shares

    def weekday_shares(self) -> np.ndarray:
        """Return the share of submissions on each day of the week, Monday first."""
        return np.array(self.weekly) / sum(self.weekly) if self.weekly else np.full(7, 1 / 7)

    def jobs_per_day(self, nodes: int) -> float:
        """Return the mean number of submissions a day on a machine of some nodes."""
        jobs = self.accumulated(0.0)
        return float(jobs[-1] / (7 if self.weekly else 1) * nodes / self.reference_nodes)


@dataclass(frozen=True)
class Arrivals:
    """A process of submissions with the rate of a cycle.

    Attributes
    ----------
    cycle : the rate.
    process : ``accumulator``, the reference's: a job comes each time the rate has summed up to
        one more job, so that only the phase of the first day is random; or ``poisson``: the same
        rate, with independent exponential amounts between jobs.
    offered_load : if given, the rate is scaled so that the work of the jobs drawn, over nodes ×
        time from first to last submission, is this.
    """

    cycle: Cycle
    process: Process = "accumulator"
    offered_load: float | None = None

    def draw(self, jobs: int, nodes: int, factor: float, work: int, streams: Streams) -> np.ndarray:
        """Draw submit times, s, in order.

        ``factor`` multiplies the rate, unless the load is given; ``work`` is what all jobs
        together do, node-seconds.
        """
        phase = DAY * float(streams("phase").random())
        crossings = Crossings(self.cycle.accumulated(phase))
        amounts = np.arange(1.0, jobs + 1)
        if self.process == "poisson":
            amounts = np.cumsum(exponential(streams("arrivals"), jobs))
        scale = factor * nodes / self.cycle.reference_nodes
        if self.offered_load is not None:
            if not work > 0 or jobs < 2:
                raise InputError(
                    "offered_load: there is no work to spread; allowed: 2 jobs that run, or more"
                )
            scale = _scale_for_span(crossings, amounts, work / (self.offered_load * nodes))
        return int(np.ceil(phase)) + crossings.seconds(amounts / scale)


class Crossings:
    """When a periodic sum reaches amounts for the first time.

    ``due[s − 1]`` is the sum after s seconds of the first period; each period adds ``due[-1]``.
    The sum may fall for a while, as a rate may be negative: the first crossing counts.
    """

    def __init__(self, due: np.ndarray) -> None:
        self.total, self.top, self.period = float(due[-1]), float(due.max()), len(due)
        if not self.total > 0.0:
            raise InputError(
                f"the rate of submissions sums to {self.total:g} jobs over its cycle; allowed: more than 0"
            )
        self._first = np.maximum.accumulate(due)
        self._later = np.maximum(self._first, self.top - self.total)

    def seconds(self, amounts: np.ndarray) -> np.ndarray:
        """Return the second at which each amount (ascending) is reached, int64."""
        periods = np.maximum(np.ceil((amounts - self.top) / self.total), 0.0)
        rest = amounts - periods * self.total
        in_first, in_later = np.searchsorted(self._first, rest), np.searchsorted(self._later, rest)
        return periods.astype(np.int64) * self.period + np.where(periods == 0.0, in_first, in_later) + 1

    def second(self, amount: float) -> int:
        """Return the second at which one amount is reached; of one alone much faster than :meth:`seconds`."""
        periods = max(math.ceil((amount - self.top) / self.total), 0)
        due = self._later if periods else self._first
        return periods * self.period + int(due.searchsorted(amount - periods * self.total)) + 1


def _scale_for_span(crossings: Crossings, amounts: np.ndarray, span: float) -> float:
    """Return the factor of the rate at which first and last submission lie ``span`` s apart."""
    least, most = float(amounts[0]), float(amounts[-1])
    mean = crossings.total / crossings.period
    low, high = 1e-6 * most / mean / span, 1e6 * most / mean / span
    for _ in range(100):
        middle = low + (high - low) / 2 if high < 2 * low else float(np.sqrt(low * high))
        first, last = crossings.second(least / middle), crossings.second(most / middle)
        between = low < middle < high
        low, high = (middle, high) if last - first > span else (low, middle)
        if not between:  # neither moves any more
            break
    return high
