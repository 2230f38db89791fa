"""The measures by which runs are compared, over all components or some of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from scheduler_sim.metrics.fairness import (
    gini,
    jain,
    max_over_mean,
    overtaken,
    user_means,
    user_numbers,
)
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
        submit, start, end = (components[f"{name}_time"].to_numpy() for name in ("submit", "start", "end"))
        return cls(
            ran=start != NEVER,
            values=job_values(submit, start, end),
            node_seconds=components["nodes"].to_numpy() * (end - start),
            users=user_numbers(components["user"]),
            overtaken=overtaken(components),
        )

    def measures(self, rows: np.ndarray) -> dict[str, float]:
        """Measure the components of these row numbers."""
        ran = rows[self.ran[rows]]
        result: dict[str, float | None] = {"jobs": len(rows), "ran": len(ran)}
        for name, values in self.values.items():
            for statistic, value in summary(values[ran]).items():
                result[f"{name}_{statistic}"] = value
        result["wait_time_weighted"] = self._weighted_wait(ran)
        result |= self._fairness(ran)
        return {name: np.nan if value is None else float(value) for name, value in result.items()}

    def _weighted_wait(self, ran: np.ndarray) -> float | None:
        """Mean wait of a node-hour: Σ nodes·run·wait / Σ nodes·run, in seconds."""
        weights = self.node_seconds[ran].astype(np.float64)
        total = float(weights.sum())
        return rounded(float((weights * self.values["wait_time"][ran]).sum()) / total) if total > 0 else None

    def _fairness(self, ran: np.ndarray) -> dict[str, float | None]:
        users = self.users[ran]
        slowdowns = user_means(self.values["bounded_slowdown"][ran], users)
        waits = user_means(self.values["wait_time"][ran], users)
        return {
            "users": len(slowdowns),
            "user_slowdown_jain": rounded(jain(slowdowns)),
            "user_slowdown_gini": rounded(gini(slowdowns)),
            "user_wait_max_over_mean": rounded(max_over_mean(waits)),
            "overtaken_share": rounded(float(self.overtaken[ran].mean())) if len(ran) else None,
        }
