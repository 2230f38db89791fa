"""What the schedule means to each job: its wait, its slowdown, and whatever else the table has."""

from __future__ import annotations

import numpy as np

from scheduler_sim.metrics import table
from scheduler_sim.metrics.metric import JobColumns


def job_values(jobs: JobColumns) -> dict[str, np.ndarray]:
    """Evaluate the metrics of single jobs, job by job.

    Parameters
    ----------
    jobs : of one that never ran the values mean nothing.

    Returns
    -------
    int64[jobs] or float64[jobs] by name, in the order of the table.
    """
    return {metric.name: metric.of_jobs(jobs) for metric in table.METRICS if metric.of_jobs}
