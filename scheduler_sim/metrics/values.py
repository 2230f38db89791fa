"""What the schedule means to each job: its wait, its slowdown, and whatever else the table has."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scheduler_sim.metrics import table
from scheduler_sim.metrics.metric import JobColumns


def job_values(jobs: JobColumns) -> Iterator[tuple[str, np.ndarray]]:
    """Evaluate the metrics of single jobs, job by job, one metric after the other.

    Parameters
    ----------
    jobs : of one that never ran the values mean nothing.

    Yields
    ------
    Each name and int64[jobs] or float64[jobs], in the order of the table.
    """
    return ((metric.name, metric.of_jobs(jobs)) for metric in table.METRICS if metric.of_jobs)
