"""The formulas of the metrics that are functions of columns, by the name of their row in ``metrics.csv``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scheduler_sim.metrics.fairness import gini, jain, max_over_mean
from scheduler_sim.metrics.load import offered_load
from scheduler_sim.metrics.metric import JobColumns, Part, Run, Value
from scheduler_sim.metrics.statistics import distinct, weighted_mean
from scheduler_sim.metrics.utilization import makespan, utilization
from scheduler_sim.result.columns import numbers

OF_JOBS: dict[str, Callable[[JobColumns], np.ndarray]] = {
    "wait_time": lambda job: job.start - job.submit,
    "response_time": lambda job: job.response,
    "slowdown": lambda job: job.slowdown,
    "bounded_slowdown": lambda job: np.maximum(1.0, job.response / np.maximum(job.run, 10)),
}
"""Job by job; summed up over those that ran."""

OF_PART: dict[str, Callable[[Part], float]] = {
    "jobs": lambda part: part.jobs,
    "ran": lambda part: part.ran,
    "wait_time_weighted": lambda part: weighted_mean(part.values["wait_time"], part.node_seconds),
    "users": lambda part: len(part.by_user("wait_time")),
    "user_slowdown_jain": lambda part: jain(part.by_user("bounded_slowdown")),
    "user_slowdown_gini": lambda part: gini(part.by_user("bounded_slowdown")),
    "user_wait_max_over_mean": lambda part: max_over_mean(part.by_user("wait_time")),
    "overtaken_share": lambda part: float(part.overtaken.mean()) if part.ran else np.nan,
}
"""Of components that are measured together; NaN if there is nothing to divide by."""

OF_RUN: dict[str, Callable[[Run], Value]] = {
    "jobs": lambda run: len(run.components["state"]),
    "modular_jobs": lambda run: distinct(numbers(run.components, "modular_job_id")),
    "makespan": makespan,
    "utilization": utilization,
    "offered_load": offered_load,
}
"""Of a whole run, as it stands in ``metrics.json``."""
