"""What the schedule means to each job: wait, response, slowdown, bounded slowdown."""

from __future__ import annotations

import numpy as np

BOUND_S = 10
"""Run times below this count as this much in the bounded slowdown."""


def job_values(submit: np.ndarray, start: np.ndarray, end: np.ndarray) -> dict[str, np.ndarray]:
    """Evaluate the formulas of ``docs/reference/metrics.md``, job by job.

    Parameters
    ----------
    submit, start, end : int64[jobs], seconds.

    Returns
    -------
    wait_time and response_time, int64[jobs] in seconds; slowdown and bounded_slowdown, float64[jobs].
    """
    response, run = end - submit, end - start
    return {
        "wait_time": start - submit,
        "response_time": response,
        "slowdown": response / np.maximum(run, 1),
        "bounded_slowdown": np.maximum(1.0, response / np.maximum(run, BOUND_S)),
    }
