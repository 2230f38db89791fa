"""What a fit does not show in its numbers: where the trace leaves the family of models, in sentences."""

from __future__ import annotations

import numpy as np

from scheduler_sim.generation.cirne import Cirne
from scheduler_sim.generation.fitting.cycle_fit import CycleFit
from scheduler_sim.generation.fitting.distance import halves_distance
from scheduler_sim.generation.fitting.records import Records
from scheduler_sim.generation.fitting.size_fit import spearman
from scheduler_sim.generation.fitting.words import percent, spoken
from scheduler_sim.generation.single import SingleTrace

_WORTH_SAYING = 0.05


def notes_of(records: Records, model: Cirne, cycle: CycleFit, drawn: SingleTrace) -> tuple[str, ...]:
    """Return the notes of a fit; ``drawn`` is a trace of the model."""
    found = [
        *_about_records(records),
        *(_about_requests(records, model) if records.requested else ()),
        *_about_arrivals(records, cycle),
        *_about_users(records),
        *_about_halves(records),
        _about_means(records, drawn),
    ]
    return tuple(found)


def _about_records(records: Records) -> list[str]:
    found = []
    without = int((~records.stated).sum())
    if not records.requested:
        found.append(
            f"{percent(without / len(records.stated))} of the jobs state no time limit, so the"
            " requests law is that of the run times, and every job uses all that it asks for."
        )
    elif without:
        found.append(f"{without} jobs state no time limit; they are left out of the time laws.")
    over = int((records.size > records.nodes).sum())
    if over:
        found.append(f"{over} jobs are larger than {records.nodes} nodes; they count as that size.")
    if records.cancelled_running:
        found.append(
            f"{records.cancelled_running} jobs were cancelled while they ran; they count with"
            " the time that they ran."
        )
    return found


def _about_requests(records: Records, model: Cirne) -> list[str]:
    limit, run_time = records.limit[records.stated], records.run_time[records.stated]
    found = []
    values, counts = np.unique(limit, return_counts=True)
    top = np.argsort(-counts, kind="stable")[:10]
    if counts[top[0]] / len(limit) >= _WORTH_SAYING:
        found.append(
            f"Requests are round values: {percent(counts[top[0]] / len(limit))} are exactly"
            f" {spoken(float(values[top[0]]))}, and the {len(top)} commonest of {len(values)}"
            f" values make {percent(counts[top].sum() / len(limit))}; the law has no round"
            " values."
        )
    over = int((run_time > limit).sum())
    if over:
        found.append(
            f"{over} jobs ({percent(over / len(limit))}) ran longer than their limit; they"
            " count as using all of it."
        )
    if model.accuracy.shape >= 1.0:
        found.append(
            f"The shape of accuracy is {model.accuracy.shape:.3g}; exact mode takes shapes below 1 only."
        )
    rho = spearman(records.size[records.stated], limit)
    found.append(f"Spearman's rank correlation of size and request is {rho:.3f}, ties counted by mid-ranks.")
    return found


def _about_arrivals(records: Records, cycle: CycleFit) -> list[str]:
    found = []
    if not records.calendar:
        found.append("The trace names no date; second 0 counts as midnight, and days have no weights.")
    elif not cycle.arrivals.cycle.weekly:
        found.append(f"The trace spans {records.days:.1f} days, less than two weeks: days have no weights.")
    if cycle.unseen:
        found.append(f"{cycle.unseen} hours of the day are not in the trace; they have the mean rate.")
    process = cycle.arrivals.process
    other = "accumulator" if process == "poisson" else "poisson"
    found.append(
        f"Gaps between submissions are nearer to the {process} process (distance "
        f"{cycle.distance[process]:.3f}) than to the {other} ({cycle.distance[other]:.3f})."
    )
    if cycle.hour_dispersion > 1.5 or cycle.day_dispersion > 1.5:
        found.append(
            f"Submissions come in bursts: counts vary {cycle.hour_dispersion:.1f} times"
            f" (hours) and {cycle.day_dispersion:.1f} times (days) as much as those of a"
            " Poisson process with the same cycle."
        )
    return found


def _about_users(records: Records) -> list[str]:
    counts = np.sort(np.bincount(records.user))[::-1]
    counts = counts[counts > 0]
    if len(counts) < 2:
        return []
    half = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2)) + 1
    return [
        f"{half} of {len(counts)} users submit half of the jobs, one of them "
        f"{percent(counts[0] / counts.sum())}; the model has no users, and no repeated jobs."
    ]


def _about_halves(records: Records) -> list[str]:
    middle = records.submit[records.jobs // 2]
    share = float(middle - records.submit[0]) / float(records.submit[-1] - records.submit[0])
    moved = {
        "sizes": halves_distance(records.size),
        "requests": halves_distance(records.limit) if records.requested else 0.0,
        "run times": halves_distance(records.run_time),
    }
    noise = 1.63 / np.sqrt(len(records.size) / 4)  # 1 % point of two samples of half the jobs each
    drifts = [f"{name} by {d:.2f}" for name, d in moved.items() if d > max(noise, _WORTH_SAYING)]
    if abs(share - 0.5) > _WORTH_SAYING:
        drifts.append(f"the first half of the jobs took {percent(share)} of the time")
    return (
        [f"The halves of the trace differ: {', '.join(drifts)}; the laws do not change with time."]
        if drifts
        else []
    )


def _about_means(records: Records, drawn: SingleTrace) -> str:
    """Compare means and load with those of a trace drawn from the laws, correlation and tails included."""
    works = drawn.cancel_lag < 0
    load = _load(records.size @ records.run_time, records.submit, records.nodes)
    by_law = _load(drawn.node_seconds.sum(), drawn.submit_time, records.nodes)
    run_times = spoken(records.run_time.mean()), spoken(drawn.run_time[works].mean())
    return (
        "This trace, and one drawn from the laws with as many jobs: mean size "
        f"{records.size.mean():.1f} and {drawn.nodes[works].mean():.1f} nodes; mean run time "
        f"{run_times[0]} and {run_times[1]}; offered load {load:.2f} and {by_law:.2f}."
    )


def _load(work: float, submit: np.ndarray, nodes: int) -> float:
    return float(work) / (nodes * max(int(submit[-1] - submit[0]), 1))
