"""Exact mode: Cirne's model draw by draw as the reference generator makes them, job for job the same.

What the reference does not know cannot be exact: :func:`inexact` names it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from scheduler_sim.generation.cirne import Cirne
from scheduler_sim.generation.ranlib import Ranlib
from scheduler_sim.generation.single import SingleTrace
from scheduler_sim.generation.times import LEAST_ACCURACY
from scheduler_sim.units import DAY

_THRESHOLD = 2.0  # the reference's rates are averages over two minutes


def draw_exact(model: Cirne, jobs: int, nodes: int, seed: int) -> SingleTrace:
    """Draw the jobs that the reference generator gives for a seed (its clock, in seconds)."""
    random = Ranlib(seed)
    phase = random.probability()
    drawn = np.array([_job(model, nodes, random) for _ in range(jobs)], dtype=np.int64).reshape(jobs, 4)
    cycle = model.arrivals.cycle
    factor = model.rate_factor * (nodes / cycle.reference_nodes)
    submit = _submit_times(np.array(cycle.polynomial), factor, phase, jobs)
    return SingleTrace(submit, *drawn.T)


def inexact(model: Cirne) -> list[str]:
    """Return the keys of a model that the reference generator does not know, as the recipe names them."""
    arrivals = model.arrivals
    beyond = {
        "arrivals.process": arrivals.process != "accumulator",
        "arrivals.offered_load": arrivals.offered_load is not None,
        "arrivals.hourly": bool(arrivals.cycle.hourly),
        "arrivals.weekly": bool(arrivals.cycle.weekly),
        "arrivals.clamp": arrivals.cycle.clamp,
        "sizes.largest": model.sizes.largest is not None,
        "size_time_correlation": model.size_time_correlation != 0.0,
        "accuracy.shape": not model.accuracy.shape < 1.0,
    }
    return [key for key, is_beyond in beyond.items() if is_beyond]


def _job(model: Cirne, nodes: int, random: Ranlib) -> tuple[int, int, int, int]:
    """Draw size, limit, run time and lag of cancellation, in the order of the reference."""
    size = _size(model, nodes, random)
    limit = _duration(random, model.requests.slope, model.requests.intercept, model.load_multiplier)
    variate = random.gamma(model.accuracy.shape) / (1.0 / model.accuracy.scale)
    run = max(1, math.ceil(limit * min(max(variate, LEAST_ACCURACY), 1.0)))
    cancellations = model.cancellations
    if cancellations.probability > 0.0 and random.probability() <= cancellations.probability:
        return size, limit, run, _duration(random, cancellations.lag.slope, cancellations.lag.intercept, 1.0)
    return size, limit, run, -1


def _size(model: Cirne, nodes: int, random: Ranlib) -> int:
    law = model.sizes
    size: int = max(1, math.ceil(2.0 ** ((random.probability() - law.intercept) / law.slope)))
    if random.probability() <= law.power_of_two:
        size = 2 ** math.ceil(math.log2(size) - 0.5)
    size = min(nodes, size)
    if model.reduction_factor == 2 and size > 1:
        half, odd = divmod(size, 2)
        return half + int(random.probability() > 0.5) if odd else half
    return size


def _duration(random: Ranlib, slope: float, intercept: float, factor: float) -> int:
    seconds: int = max(1, math.ceil(factor * 2.0 ** ((random.probability() - intercept) / slope)))
    return seconds


@njit
def _submit_times(polynomial: np.ndarray, factor: float, phase: float, jobs: int) -> np.ndarray:
    """Step through the seconds, adding up the rate, with the very roundings of the reference."""
    submit = np.empty(jobs, dtype=np.int64)
    day, x, due = 0, phase - 0.5, 0.0
    for job in range(jobs):
        while due < _THRESHOLD:
            x += 1.0 / DAY
            if x > 0.5:
                day += 1
                x -= 1.0
            rate = 0.0
            for coefficient in polynomial:
                rate = rate * x + coefficient
            due += factor * rate
        due -= _THRESHOLD
        submit[job] = math.ceil(DAY * (day + (x + 0.5)))
    return submit
