"""The measures by which runs are compared, over all components or some of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from scheduler_sim.metrics import table
from scheduler_sim.metrics.fairness import overtaken, user_numbers
from scheduler_sim.metrics.metric import JobColumns, Part
from scheduler_sim.metrics.statistics import rounded, summary
from scheduler_sim.metrics.values import job_values
from scheduler_sim.result.columns import NEVER


def measures(components: pd.DataFrame, counted: np.ndarray | None = None) -> dict[str, float]:
    """Measure the components that count; what has nothing to average is NaN.

    Parameters
    ----------
    components : the table of a result.
    counted : bool[components], as from ``trimming.trim``; None for all. A component that does
        not count can still overtake one that does.

    Returns
    -------
    The measures of ``docs/reference/statistics.md``, rounded to 1e-6.
    """
    rows = np.arange(len(components)) if counted is None else np.flatnonzero(counted)
    return Jobs.of(components).measures(rows)


@dataclass(frozen=True)
class Jobs:
    """What the measures need of each component; of one that never ran the values mean nothing."""

    ran: np.ndarray
    values: dict[str, np.ndarray]
    node_seconds: np.ndarray
    users: np.ndarray
    overtaken: np.ndarray

    @classmethod
    def of(cls, components: pd.DataFrame) -> Jobs:
        """Evaluate the table of a result."""
        start, end = components["start_time"].to_numpy(), components["end_time"].to_numpy()
        return cls(
            ran=start != NEVER,
            values=dict(job_values(JobColumns.of(components))),
            node_seconds=components["nodes"].to_numpy() * (end - start),
            users=user_numbers(components["user"]),
            overtaken=overtaken(components),
        )

    def measures(self, rows: np.ndarray) -> dict[str, float]:
        """Measure the components of these row numbers."""
        ran = rows[self.ran[rows]]
        values = {name: of_all[ran] for name, of_all in self.values.items()}
        part = Part(len(rows), values, self.node_seconds[ran], self.users[ran], self.overtaken[ran])
        result: dict[str, float | None] = {}
        for metric in table.METRICS:
            if metric.of_part:
                result[metric.name] = rounded(float(metric.of_part(part)))
            elif metric.of_jobs:
                found = summary(values[metric.name])
                result |= {f"{metric.name}_{statistic}": value for statistic, value in found.items()}
        return {name: np.nan if value is None else float(value) for name, value in result.items()}
