"""Learning when jobs are submitted: the hours of the day, the days of the week, the process."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, get_args

import numpy as np

from scheduler_sim.generation.arrivals import Arrivals, Cycle, Process
from scheduler_sim.generation.cirne import Cirne
from scheduler_sim.generation.fitting.distance import ks_distance
from scheduler_sim.generation.fitting.estimates import Estimate, count_interval
from scheduler_sim.generation.fitting.records import Records
from scheduler_sim.generation.law import gaps_up_to
from scheduler_sim.units import HOUR

_WEEK = 168
_TWO_WEEKS = 14.0


class CycleFit(NamedTuple):
    """A process of submissions and how well the trace keeps to it.

    ``hours`` : int64, each hour of the trace since hour 0 of its clock; ``counts`` and ``expected``
    submissions in it. ``hour_dispersion`` and ``day_dispersion``: variance of the counts of hours
    (days) over what it would be in a Poisson process of that rate. ``distance``: largest difference
    of the gaps' distribution from that of each process. ``unseen``: hours of the day the trace
    does not reach.
    """

    arrivals: Arrivals
    estimates: list[Estimate]
    hours: np.ndarray
    counts: np.ndarray
    expected: np.ndarray
    hour_dispersion: float
    day_dispersion: float
    distance: dict[str, float]
    unseen: int


def fit_arrivals(records: Records) -> CycleFit:
    """Return the daily cycle of highest likelihood, and the process whose gaps are nearer.

    The rate of an hour is that of its hour of day times the weight of its day, for counts of a
    Poisson process. Days have weights if the calendar is known and two weeks are seen.
    Intervals are those of counts with the dispersion that the trace shows, at least 1.
    """
    weekly = records.calendar and records.days >= _TWO_WEEKS
    hours, seen = hours_seen(records.clock)
    counts = np.bincount(records.clock // HOUR - hours[0], minlength=len(hours)).astype(np.float64)
    hour, day = hours % 24, hours // 24 % 7
    rate, weight = _rates(counts, seen, hour, day, weekly)
    expected = rate[hour] * weight[day] * seen
    by_hour = _dispersion(counts, expected, 24 + 6 * weekly)
    date = hours // 24 - hours[0] // 24
    by_day = _dispersion(np.bincount(date, counts), np.bincount(date, expected), 7 if weekly else 1)
    estimates = _estimates("arrivals.hourly", counts, hour, rate, 24, max(by_hour, 1.0))
    if weekly:
        estimates += _estimates("arrivals.weekly", counts, day, weight, 7, max(by_day, 1.0))
    unseen = np.bincount(hour, seen, minlength=24) == 0.0
    cycle = Cycle(
        reference_nodes=records.nodes,
        hourly=tuple(np.where(unseen, counts.sum() / seen.sum(), rate).tolist()),
        weekly=tuple(weight.tolist()) if weekly else (),
    )
    arrivals, distance = _nearer_process(cycle, records)
    return CycleFit(
        arrivals, estimates, hours, counts, expected, by_hour, by_day, distance, int(unseen.sum())
    )


def hours_seen(clock: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the hours (int64, since hour 0 of the clock) of a trace, and how much of each it spans."""
    first, last = int(clock.min()), int(clock.max())
    hours = np.arange(first // HOUR, last // HOUR + 1)
    seen = np.minimum((hours + 1) * HOUR, last) - np.maximum(hours * HOUR, first)
    return hours, seen / HOUR


def _rates(
    counts: np.ndarray, seen: np.ndarray, hour: np.ndarray, day: np.ndarray, weekly: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return rate of each hour of day (jobs/h) and weight of each day (mean 1) of highest likelihood.

    Each is the count over what the other makes of the time seen, in turn, until both hold.
    """
    time = np.bincount(day * 24 + hour, seen, minlength=_WEEK).reshape(7, 24)
    jobs = np.bincount(day * 24 + hour, counts, minlength=_WEEK).reshape(7, 24)
    weight = np.ones(7)
    rate = _ratio(jobs.sum(axis=0), weight @ time)
    for _ in range(100 if weekly else 0):
        weight = _ratio(jobs.sum(axis=1), time @ rate)
        weight /= weight.mean()
        rate = _ratio(jobs.sum(axis=0), weight @ time)
    return rate, weight


def _ratio(jobs: np.ndarray, time: np.ndarray) -> np.ndarray:
    ratio: np.ndarray = np.divide(jobs, time, out=np.zeros_like(jobs), where=time > 0.0)
    return ratio


def _dispersion(counts: np.ndarray, expected: np.ndarray, parameters: int) -> float:
    """Return Pearson's statistic over its degrees of freedom; 1 where none is left."""
    possible = expected > 0.0
    free = int(possible.sum()) - parameters
    if free < 1:
        return 1.0
    return float(((counts - expected)[possible] ** 2 / expected[possible]).sum() / free)


def _estimates(
    name: str, counts: np.ndarray, part: np.ndarray, values: np.ndarray, parts: int, dispersion: float
) -> list[Estimate]:
    jobs = np.bincount(part, counts, minlength=parts)
    low, high = count_interval(jobs, dispersion)
    per_job = _ratio(values, jobs)
    known = jobs > 0
    return [
        Estimate(
            f"{name}[{i}]",
            float(values[i]),
            float(low[i] * per_job[i]),
            float(high[i] * per_job[i]) if known[i] else np.nan,
        )
        for i in range(parts)
    ]


def _nearer_process(cycle: Cycle, records: Records) -> tuple[Arrivals, dict[str, float]]:
    choices = {process: Arrivals(cycle, process) for process in get_args(Process)}
    distance = {}
    for process, arrivals in choices.items():
        law = partial(gaps_up_to, Cirne(arrivals=arrivals), records.nodes)
        distance[process] = ks_distance(records.gaps, law).distance
    return choices[min(distance, key=distance.__getitem__)], distance
