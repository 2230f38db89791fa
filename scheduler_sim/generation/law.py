"""What a model expects of a trace: its laws as the curves that are drawn of traces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduler_sim.generation.arrivals import Crossings
from scheduler_sim.generation.cirne import Cirne
from scheduler_sim.units import DAY
from scheduler_sim.workload.curves import Cdf, TraceCurves

_LIMITS = (np.arange(400) + 0.5) / 400  # quantiles of the time limits that run times are averaged over
_MOMENTS = 2000  # moments of a cycle that gaps of a Poisson process are averaged over
_GAPS = 20_000  # gaps of the accumulator
_POINTS = 300


def law_curves(model: Cirne, nodes: int, name: str) -> TraceCurves:
    """Return what a model expects of a trace of a module of some nodes; what has no law is None.

    Hours and days of a week are those of the cycle, day 0 being a Monday; the gaps between
    submissions are those of :func:`gaps_up_to`.
    """
    return mixed_law([(model, nodes, 1)], name)


def mixed_law(parts: Sequence[tuple[Cirne, int, int]], name: str) -> TraceCurves:
    """Return what models expect of the trace that their traces are merged into.

    Parameters
    ----------
    parts : model, nodes of its module, and jobs, which are its weight
    name : of the curves

    Gaps between submissions have no law here unless there is one part alone.
    """
    jobs = np.array([part[2] for part in parts], dtype=np.float64)
    weights = jobs / jobs.sum()
    cycles = [model.arrivals.cycle for model, _, _ in parts]
    sizes = _sizes(max(len(model.sizes.pmf(n, model.reduction_factor)) for model, n, _ in parts) - 1)
    seconds = _seconds([model for model, _, _ in parts])
    fraction = np.unique(
        np.concatenate([np.geomspace(1e-5, 0.01, 60), np.linspace(0.01, 1, 200), [1 - 1e-6]])
    )
    models = [model for model, _, _ in parts]
    return TraceCurves(
        name=name,
        nodes=sum(n for _, n, _ in parts),
        hour_shares=_mean(weights, [cycle.hour_shares() for cycle in cycles]),
        weekday_shares=_mean(weights, [cycle.weekday_shares() for cycle in cycles]),
        calendar=True,
        sizes=Cdf(sizes, _mean(weights, [sizes_up_to(model, n, sizes) for model, n, _ in parts])),
        time_limits=Cdf(seconds, _mean(weights, [limits_up_to(model, seconds) for model in models])),
        run_times=Cdf(seconds, _mean(weights, [run_times_up_to(model, seconds) for model in models])),
        accuracy=Cdf(fraction, _mean(weights, [accuracies_up_to(model, fraction) for model in models])),
        inter_arrivals=_gaps(*parts[0][:2]) if len(parts) == 1 else None,
    )


def sizes_up_to(model: Cirne, nodes: int, size: np.ndarray) -> np.ndarray:
    """Return the share of jobs of at most ``size`` nodes (int64, 0 or more)."""
    share = np.cumsum(model.sizes.pmf(nodes, model.reduction_factor))
    shares: np.ndarray = share[np.minimum(size, len(share) - 1)] / share[-1]
    return shares


def limits_up_to(model: Cirne, seconds: np.ndarray) -> np.ndarray:
    """Return the share of time limits of at most ``seconds`` (int64, 0 or more)."""
    return np.where(seconds < 1, 0.0, model.requests.cdf(np.maximum(seconds, 1), model.load_multiplier))


def run_times_up_to(model: Cirne, seconds: np.ndarray) -> np.ndarray:
    """Return the share of run times of at most ``seconds`` (int64, 0 or more).

    A run time is ⌈R α⌉, so that it is at most t where α ≤ t/R: the law of the accuracy α at t/R,
    averaged over quantiles of the time limit R.
    """
    limits = model.requests.at(_LIMITS, model.load_multiplier)
    shares: np.ndarray = model.accuracy.cdf(np.divide.outer(seconds, limits)).mean(axis=1)
    return shares


def accuracies_up_to(model: Cirne, fraction: np.ndarray) -> np.ndarray:
    """Return the share of jobs whose run time is at most that fraction of their time limit.

    Run times are whole seconds: those up to x R are those up to ⌊x R⌋.
    """
    limits = model.requests.at(_LIMITS, model.load_multiplier)
    whole = np.floor(np.multiply.outer(fraction, limits) + 1e-7)
    shares: np.ndarray = model.accuracy.cdf(whole / limits).mean(axis=1)
    return shares


def gaps_up_to(model: Cirne, nodes: int, seconds: np.ndarray) -> np.ndarray:
    """Return the share of gaps between submissions of at most ``seconds`` (int64, 0 or more).

    The accumulator's are those between equally spaced amounts of the rate summed up over a period
    of the cycle; those of a Poisson process are exponential in that sum, from the second in
    which the first of two jobs came, averaged over the seconds by their rate.
    """
    arrivals, scale = model.arrivals, rate_scale(model, nodes)
    due = arrivals.cycle.accumulated(0.0)
    if arrivals.process == "accumulator":
        gaps = np.sort(_accumulator_gaps(due, scale))
        return np.searchsorted(gaps, seconds, side="right") / len(gaps)
    return _poisson_gaps_up_to(due, scale, seconds)


def rate_scale(model: Cirne, nodes: int) -> float:
    """Return what the rate of the cycle is multiplied by on a module of some nodes.

    Where the offered load is given, it is the scale at which the laws offer it.
    """
    arrivals = model.arrivals
    if arrivals.offered_load is None:
        return model.rate_factor * nodes / arrivals.cycle.reference_nodes
    work = model.mean_work(nodes)
    wanted = arrivals.offered_load * nodes * DAY / (work * (1.0 - model.cancellations.probability))
    return wanted / arrivals.cycle.jobs_per_day(arrivals.cycle.reference_nodes)


def _accumulator_gaps(due: np.ndarray, scale: float) -> np.ndarray:
    first = due[-1] * (1.0 + (np.arange(_GAPS) + 0.5) / _GAPS)
    crossings = Crossings(due)
    gaps: np.ndarray = crossings.seconds(first + 1.0 / scale) - crossings.seconds(first)
    return gaps


def _poisson_gaps_up_to(due: np.ndarray, scale: float, seconds: np.ndarray) -> np.ndarray:
    """Average 1 − e^−(jobs due in the gap) over the first jobs, uniform within what their second brings."""
    period, total = len(due), float(due[-1])
    highest = np.maximum(np.maximum.accumulate(due), due.max() - total)  # of any period but the first
    brought = scale * np.diff(highest, prepend=highest[-1] - total)
    moment = np.unique(np.linspace(0, period - 1, _MOMENTS).astype(np.int64))
    moment = moment[brought[moment] > 0.0]
    rest = -np.expm1(-brought[moment]) / brought[moment]
    share = np.empty(len(seconds))
    for i, gap in enumerate(np.asarray(seconds).tolist()):
        later = moment + gap
        jobs = scale * (highest[later % period] + total * (later // period) - highest[moment])
        share[i] = 1.0 - np.average(np.exp(-jobs) * rest, weights=brought[moment])
    return share


def _gaps(model: Cirne, nodes: int) -> Cdf:
    """Return the gaps at seconds that reach as far as one in a million."""
    cycle = model.arrivals.cycle
    mean = DAY / (cycle.jobs_per_day(cycle.reference_nodes) * rate_scale(model, nodes))
    grid = np.unique(np.geomspace(1, max(100.0 * mean, 4.0 * DAY), 2 * _POINTS).astype(np.int64))
    seconds = np.concatenate([[0], grid])
    share = gaps_up_to(model, nodes, seconds)
    last = int(np.searchsorted(share, 1.0 - 1e-6)) + 1
    return Cdf(seconds[:last], share[:last])


def _sizes(largest: int) -> np.ndarray:
    """Return all sizes, or, of very many, enough to draw and those around powers of two."""
    if largest <= 10 * _POINTS:
        return np.arange(1, largest + 1)
    powers = 2 ** np.arange(int(np.log2(largest)) + 1)
    grid = np.geomspace(1, largest, 4 * _POINTS).astype(np.int64)
    return np.unique(np.concatenate([grid, powers, powers[1:] - 1, [largest]]))


def _seconds(models: Sequence[Cirne]) -> np.ndarray:
    longest = max(int(model.requests.at(np.array([1.0]), model.load_multiplier)[0]) for model in models)
    ends = [model.requests.at(np.array([0.0, 1.0]), model.load_multiplier) for model in models]
    return np.unique(np.concatenate([np.geomspace(1, longest, _POINTS).astype(np.int64), *ends]))


def _mean(weights: np.ndarray, curves: Sequence[np.ndarray]) -> np.ndarray:
    return np.average(curves, axis=0, weights=weights)
