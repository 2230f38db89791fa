"""What the schedule means to each job: its wait, its slowdown, and whatever else the table has."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scheduler_sim.metrics import table
from scheduler_sim.metrics.metric import JobColumns


def job_values(components: pd.DataFrame) -> dict[str, np.ndarray]:
    """Evaluate the metrics of single jobs, job by job.

    Parameters
    ----------
    components : the table of a result, or rows of it; of one that never ran the values mean nothing.

    Returns
    -------
    int64[components] or float64[components] by name, in the order of the table.
    """
    jobs = JobColumns.of(components)
    return {metric.name: metric.of_jobs(jobs) for metric in table.METRICS if metric.of_jobs}
