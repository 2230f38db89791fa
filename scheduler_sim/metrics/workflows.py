"""Metrics of workflows: those of DEEP-EST deliverable D2.3, section 3.4, and what it cost to wait.

A workflow is a heterogeneous job or a set of components connected by dependencies; a
component that is tied to no other is a workflow of one, as in D2.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.metrics.critical_path import ideal_ends
from scheduler_sim.metrics.metric import SUMMARY
from scheduler_sim.metrics.statistics import ratio, summary
from scheduler_sim.metrics.table import of_block
from scheduler_sim.metrics.ties import connected, ties
from scheduler_sim.result.columns import NEVER


def workflow_table(
    components: pd.DataFrame,
    edges: pd.DataFrame | None = None,
    *,
    offset: np.ndarray | None = None,
    appointment: np.ndarray | None = None,
) -> pd.DataFrame:
    """Evaluate the metrics of workflows for every one of which all components ran.

    Parameters
    ----------
    components : the table of a result.
    edges : int64 columns row and after_row, row numbers in ``components``: ``row`` waited
        for ``after_row``; optional columns kind, delay, any and ready as
        :func:`scheduler_sim.metrics.ties.ties` reads them. None for no dependencies.
    offset : int64[components], s from the start of the unit it is planned with; None where
        components are planned one by one.
    appointment : int64[components], when it was to start, set as its unit started;
        −1 = it had none; None for none at all.

    Returns
    -------
    One row a workflow, in the order of their first components; the metrics that are
    summed up over workflows, how many ``appointments`` its components had, how many of them were
    ``late``, and how many ``components`` it has.
    """
    labels = workflow_labels(components["modular_job_id"].to_numpy(), edges)
    return _evaluate(components, edges, labels, offset, appointment)


def workflow_metrics(
    components: pd.DataFrame,
    edges: pd.DataFrame | None = None,
    *,
    offset: np.ndarray | None = None,
    appointment: np.ndarray | None = None,
) -> dict[str, Any]:
    """Sum up the workflows as ``metrics.json`` does; parameters as of :func:`workflow_table`.

    The values directly inside cover workflows of more than one component;
    ``with_single_components`` covers all, every untied component being a workflow of one.
    """
    labels = workflow_labels(components["modular_job_id"].to_numpy(), edges)
    sizes = np.bincount(labels) if len(labels) else np.zeros(0, dtype=np.int64)
    table = _evaluate(components, edges, labels, offset, appointment)
    several = table[table["components"].to_numpy() > 1]
    result = _summed_up(several, workflows=int(np.count_nonzero(sizes > 1)))
    result["with_single_components"] = _summed_up(table, workflows=int(np.count_nonzero(sizes > 0)))
    return result


def workflow_labels(modular_job_id: np.ndarray, edges: pd.DataFrame | None = None) -> np.ndarray:
    """Number the workflows from 0 in the order of their first components.

    Returns
    -------
    int64[components] : the workflow each component belongs to.
    """
    jobs, ids = pd.factorize(modular_job_id)
    if edges is None or len(edges) == 0:
        return jobs
    roots = connected(len(ids), jobs[edges["row"].to_numpy()], jobs[edges["after_row"].to_numpy()])
    return pd.factorize(roots[jobs])[0]


def overlap_shares(table: pd.DataFrame) -> dict[str, float | None]:
    """Share out the node-seconds of workflows by their normalised run time, as D2.3's Figures 16 d and 17 d.

    Below 1 a workflow is ``overlapped``, above 1 ``not_overlapped``, at 1 ``back_to_back``:
    gaps and overlaps, if any, make up for each other.

    Parameters
    ----------
    table : what :func:`workflow_table` returns.

    Returns
    -------
    Three shares of 1 in all; None without node-seconds.
    """
    work, total = table["node_seconds"].to_numpy(), int(table["node_seconds"].sum())
    gained = table["components_runtime"].to_numpy() - table["runtime"].to_numpy()  # 0 s of work weigh nothing
    kinds = {"overlapped": gained > 0, "back_to_back": gained == 0, "not_overlapped": gained < 0}
    return {f"{name}_share": ratio(int(work[rows].sum()), total) for name, rows in kinds.items()}


@dataclass(frozen=True, slots=True)
class _Groups:
    """The components of each workflow: ``first`` of each in ``order``; None where all are their own."""

    order: np.ndarray | None
    first: np.ndarray

    @classmethod
    def of(cls, labels: np.ndarray) -> _Groups:
        count = int(labels.max()) + 1 if len(labels) else 0
        if count == len(labels):
            return cls(None, labels)
        order = np.argsort(labels, kind="stable")
        return cls(order, np.searchsorted(labels[order], np.arange(count)))

    def over(self, rule: np.ufunc, values: np.ndarray) -> np.ndarray:
        """Reduce the values of each workflow to one."""
        return values if self.order is None else rule.reduceat(values[self.order], self.first)


def _evaluate(
    components: pd.DataFrame,
    edges: pd.DataFrame | None,
    labels: np.ndarray,
    offset: np.ndarray | None,
    appointment: np.ndarray | None,
) -> pd.DataFrame:
    submit, start, end = (components[f"{name}_time"].to_numpy() for name in ("submit", "start", "end"))
    nodes = components["nodes"].to_numpy()
    late_by = _late_by(start, appointment)
    groups = _Groups.of(labels)
    ran = groups.over(np.logical_and, start != NEVER)

    def over(rule: np.ufunc, values: np.ndarray) -> np.ndarray:
        totals: np.ndarray = groups.over(rule, values)[ran]
        return totals

    def total(values: np.ndarray) -> np.ndarray:
        return over(np.add, values)

    first_submit, first_start = over(np.minimum, submit), over(np.minimum, start)
    last_end, run = over(np.maximum, end), total(end - start)
    critical_path = over(np.maximum, ideal_ends(components, edges, offset))
    return pd.DataFrame(
        {
            "start_time": first_start,
            "submission_time": first_submit,
            "end_time": last_end,
            "runtime": last_end - first_start,
            "response_time": last_end - first_submit,
            "components_runtime": run,
            "internal_wait_time": total(_internal_wait(start, end, edges)),
            "slowdown": (last_end - first_submit) / np.maximum(run, 1),
            "normalized_runtime": (last_end - first_start) / np.maximum(run, 1),
            "node_seconds": total(nodes * (end - start)),
            "critical_path": critical_path,
            "stretch": (last_end - first_submit) / np.maximum(critical_path, 1),
            "held_idle": total(nodes * _idle_after_start(start, end, edges)),
            "held_late": total(nodes * late_by),
            "lateness": total(late_by),
            "appointments": total(_had(appointment, len(start))),
            "late": total((late_by > 0).astype(np.int64)),
            "components": total(np.ones(len(start), dtype=np.int64)),
        },
        copy=False,
    )


def _internal_wait(start: np.ndarray, end: np.ndarray, edges: pd.DataFrame | None) -> np.ndarray:
    """Equation 3.7, component by component; 0 for one without predecessors."""
    if edges is None or len(edges) == 0:
        return np.zeros(len(start), dtype=np.int64)
    latest_end = np.full(len(start), np.iinfo(np.int64).max)
    row, after_row = edges["row"].to_numpy(), edges["after_row"].to_numpy()
    latest_end[row] = np.iinfo(np.int64).min
    np.maximum.at(latest_end, row, end[after_row])
    has_waited = start > latest_end
    wait = np.zeros(len(start), dtype=np.int64)
    wait[has_waited] = start[has_waited] - latest_end[has_waited]
    return wait


def _idle_after_start(start: np.ndarray, end: np.ndarray, edges: pd.DataFrame | None) -> np.ndarray:
    """Seconds each component ran before the last of its data was ready; 0 where that is not known."""
    tied = ties(edges)
    last_ready = start.copy()
    np.maximum.at(last_ready, tied["row"], tied["ready"])
    idle: np.ndarray = np.minimum(last_ready, end) - start
    return idle


def _late_by(start: np.ndarray, appointment: np.ndarray | None) -> np.ndarray:
    """Seconds each component started after its appointment; 0 for one without."""
    if appointment is None:
        return np.zeros(len(start), dtype=np.int64)
    return np.where(appointment != NEVER, np.maximum(start - appointment, 0), 0)


def _had(appointment: np.ndarray | None, rows: int) -> np.ndarray:
    """1 for a component with an appointment, else 0."""
    return np.zeros(rows, dtype=np.int64) if appointment is None else (appointment != NEVER).astype(np.int64)


def _summed_up(table: pd.DataFrame, workflows: int) -> dict[str, Any]:
    """Count the workflows, those that ran whole, their components, and sum up each metric over them."""
    result: dict[str, Any] = {
        "workflows": workflows,
        "complete": len(table),
        "components": int(table["components"].sum()),
        "appointments": int(table["appointments"].sum()),
        "late": int(table["late"].sum()),
    }
    for metric in of_block("workflow"):
        if metric.by == SUMMARY:
            result[metric.name] = summary(table[metric.name].to_numpy())
    return result | overlap_shares(table)
