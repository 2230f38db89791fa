"""What a careful person would ask about a trace before trusting results on it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from scheduler_sim.units import HOUR
from scheduler_sim.workload.fields import PARTIAL
from scheduler_sim.workload.table import Workload

CLOCK_JUMP = (
    "submitted an hour or more before the record above, in a log that is otherwise in order: a clock jumped"
)
SAME_ID = "with a component id that occurred before"
"""What nothing is changed of, and everybody should know."""

_IN_ORDER = 0.01
"""Of the steps from one record to the next, so many may go back in a log that is in order."""


def warnings_of(workload: Workload, nodes: int | None) -> tuple[str, ...]:
    """Return one sentence for each oddity found, with the first line or row it concerns."""
    return tuple(dict.fromkeys(_warnings(workload, nodes)))


def doubts_of(workload: Workload) -> tuple[str, ...]:
    """Return a sentence on each of ``CLOCK_JUMP`` and ``SAME_ID``, where the notes have none on it yet."""
    columns = workload.columns
    whole = columns["skipped"] != PARTIAL
    again = np.zeros(len(whole), dtype=bool)
    again[whole] = _again(columns["component_id"][whole])
    rows = {CLOCK_JUMP: clock_jumps(columns["submit_time"]), SAME_ID: again}
    told = "\n".join(workload.source.notes)
    new = ((what, where) for what, where in rows.items() if what not in told)
    return tuple(said for what, where in new for said in _rows(workload, where, what))


def clock_jumps(submit: np.ndarray) -> np.ndarray:
    """Tell which submissions (int64[n], s, in the order of the log) are an hour or more before the one above.

    None is where more than a hundredth of all steps go back: such a log is in another order, or is short.
    """
    jumps = np.zeros(len(submit), dtype=bool)
    if (submit[1:] >= submit[:-1]).all():
        return jumps
    known = np.flatnonzero(submit >= 0)
    steps = np.diff(submit[known])
    if np.count_nonzero(steps < 0) <= _IN_ORDER * len(steps):
        jumps[known[1:]] = steps <= -HOUR
    return jumps


def _again(ids: np.ndarray) -> np.ndarray:
    if (ids[1:] > ids[:-1]).all():
        return np.zeros(len(ids), dtype=bool)
    again: np.ndarray = pd.Series(ids).duplicated().to_numpy()
    return again


def _warnings(workload: Workload, nodes: int | None) -> Iterator[str]:
    live = workload.columns["skipped"] == 0
    submit, run, limit, size, listed = (
        workload.columns[name]
        for name in ("submit_time", "run_time", "time_limit", "nodes", "listed_time_limit")
    )
    if not live.any():
        yield "no record is simulated"
        return
    earlier = np.zeros(len(live), dtype=bool)
    rows = np.flatnonzero(live)
    earlier[rows[1:]] = np.diff(submit[rows]) < 0
    yield from _rows(
        workload, earlier, "submitted before the record above (the simulation sorts by submit time)"
    )
    yield from _rows(workload, live & (run == 0), "with a run time of 0")
    yield from _rows(
        workload, live & (limit > 0) & (limit < run), "run longer than their limit and will be killed"
    )
    if nodes is not None:
        yield from _rows(workload, live & (size > nodes), f"larger than the machine of {nodes} nodes")
    if workload.source.format == "swf":
        unlimited = live & (listed <= 0)
        if unlimited[live].all():
            yield "no record has a requested time: run times serve as limits, so estimates are perfect"
        else:
            yield from _rows(workload, unlimited, "without a requested time (the run time is used)")
    elif (limit[live] == -1).all():
        yield "no component has a time limit: MaxTime of the partition, else the run time is used"
    yield from doubts_of(workload)
    yield from _short_jobs(workload, live)
    yield from workload.source.notes


def _short_jobs(workload: Workload, live: np.ndarray) -> Iterator[str]:
    """Modular jobs with more or fewer components in the trace than they say they have."""
    total = workload.columns["components_total"]
    if workload.source.format == "swf" or not (total[live] > 1).any():
        return
    _, job, members = np.unique(workload.columns["modular_job_id"], return_inverse=True, return_counts=True)
    present = members[job]
    yield from _rows(
        workload, live & (total > 0) & (present != total), "of a job that states another number of components"
    )


def _rows(workload: Workload, concerned: np.ndarray, what: str) -> Iterator[str]:
    count = int(np.count_nonzero(concerned))
    if count:
        row = int(np.argmax(concerned))
        line = workload.source.line_of(row)
        place = f"line {line}" if line is not None else f"row {row}"
        yield f"{count} record{'s' * (count > 1)} {what}, first at {place}"
