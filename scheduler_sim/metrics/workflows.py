"""Metrics of workflows: those of DEEP-EST deliverable D2.3, section 3.4, and what it cost to wait.

A workflow is a heterogeneous job or a set of components connected by dependencies; a
component that is tied to no other is a workflow of one, as in D2.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.arrays import renumbered
from scheduler_sim.metrics.critical_path import ideal_ends
from scheduler_sim.metrics.metric import SUMMARY, JobColumns
from scheduler_sim.metrics.statistics import Summaries, ascend, ratio
from scheduler_sim.metrics.table import of_block
from scheduler_sim.metrics.ties import Edges, Ties, connected, ties
from scheduler_sim.result.columns import NEVER, Columns, numbers


def workflow_table(
    components: Columns,
    edges: Edges = None,
    *,
    offset: np.ndarray | None = None,
    appointment: np.ndarray | None = None,
) -> pd.DataFrame:
    """Evaluate the metrics of workflows for every one of which all components ran.

    Parameters
    ----------
    components : the table of a result.
    edges : dependencies, row numbers in ``components``, as :class:`scheduler_sim.metrics.ties.Ties` has
        them, or a table of which ``row`` and ``after_row`` are enough. None for no dependencies.
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
    tied = ties(edges)
    labels = workflow_labels(numbers(components, "modular_job_id"), tied)
    return pd.DataFrame(_evaluate(components, tied, labels, offset, appointment))


def workflow_metrics(
    components: Columns,
    edges: Edges = None,
    *,
    offset: np.ndarray | None = None,
    appointment: np.ndarray | None = None,
    ran: JobColumns | None = None,
    summaries: Summaries | None = None,
) -> dict[str, Any]:
    """Sum up the workflows as ``metrics.json`` does; parameters as of :func:`workflow_table`.

    ``ran`` : the components that ran, and ``summaries`` of their columns, where they are known.

    The values directly inside cover workflows of more than one component;
    ``with_single_components`` covers all, every untied component being a workflow of one.
    """
    tied, ids = ties(edges), numbers(components, "modular_job_id")
    summaries = summaries or Summaries()
    if not len(tied.row) and offset is None and appointment is None and ascend(ids):
        table = _untied(ran or JobColumns.of(components, numbers(components, "start_time") != NEVER))
        workflows, with_several = len(ids), 0
        several = np.zeros(0, dtype=np.int64)
    else:
        labels = workflow_labels(ids, tied)
        sizes = np.bincount(labels, minlength=1)
        table = _evaluate(components, tied, labels, offset, appointment)
        workflows, with_several = int(np.count_nonzero(sizes)), int(np.count_nonzero(sizes > 1))
        several = np.flatnonzero(table["components"] > 1)
    result = _summed_up({name: values[several] for name, values in table.items()}, summaries, with_several)
    result["with_single_components"] = _summed_up(table, summaries, workflows)
    return result


def workflow_labels(modular_job_id: np.ndarray, edges: Edges = None) -> np.ndarray:
    """Number the workflows from 0 in the order of their first components.

    Returns
    -------
    int64[components] : the workflow each component belongs to.
    """
    tied = ties(edges)
    if ascend(modular_job_id):
        jobs, count = np.arange(len(modular_job_id)), len(modular_job_id)
    else:
        jobs, ids = pd.factorize(modular_job_id)
        count = len(ids)
    if not len(tied.row):
        return jobs
    roots = connected(count, jobs[tied.row], jobs[tied.after_row])
    return renumbered(roots[jobs], count)[0].astype(np.int64)


def overlap_shares(table: Columns) -> dict[str, float | None]:
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
    work, total = numbers(table, "node_seconds"), int(table["node_seconds"].sum())
    gained = numbers(table, "components_runtime") - numbers(table, "runtime")  # 0 s of work weigh nothing
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
    components: Columns,
    tied: Ties,
    labels: np.ndarray,
    offset: np.ndarray | None,
    appointment: np.ndarray | None,
) -> dict[str, np.ndarray]:
    groups = _Groups.of(labels)
    submit, start, end = (numbers(components, f"{name}_time") for name in ("submit", "start", "end"))
    nodes = numbers(components, "nodes")
    late_by = _late_by(start, appointment)
    ran = groups.over(np.logical_and, start != NEVER)
    every = bool(ran.all())

    def over(rule: np.ufunc, values: np.ndarray) -> np.ndarray:
        totals = groups.over(rule, values)
        return totals if every else totals[ran]

    def total(values: np.ndarray) -> np.ndarray:
        return over(np.add, values)

    first_submit, first_start = over(np.minimum, submit), over(np.minimum, start)
    last_end, run = over(np.maximum, end), total(end - start)
    runtime, response = last_end - first_start, last_end - first_submit
    critical_path = over(np.maximum, ideal_ends(components, tied, offset))
    return {
        "start_time": first_start,
        "submission_time": first_submit,
        "end_time": last_end,
        "runtime": runtime,
        "response_time": response,
        "components_runtime": run,
        "internal_wait_time": total(_internal_wait(start, end, tied)),
        "slowdown": response / np.maximum(run, 1),
        "normalized_runtime": runtime / np.maximum(run, 1),
        "node_seconds": total(nodes * (end - start)),
        "critical_path": critical_path,
        "stretch": response / np.maximum(critical_path, 1),
        "held_idle": total(nodes * _idle_after_start(start, end, tied)),
        "held_late": total(nodes * late_by),
        "lateness": total(late_by),
        "appointments": total(_had(appointment, len(start))),
        "late": total((late_by > 0).astype(np.int64)),
        "components": total(np.ones(len(start), dtype=np.int64)),
    }


def _untied(jobs: JobColumns) -> dict[str, np.ndarray]:
    """Evaluate components that nothing ties to others: each is a workflow of one."""
    none, one = (np.broadcast_to(np.int64(number), jobs.start.shape) for number in (0, 1))
    return {
        "start_time": jobs.start,
        "submission_time": jobs.submit,
        "end_time": jobs.end,
        "runtime": jobs.run,
        "response_time": jobs.response,
        "components_runtime": jobs.run,
        "internal_wait_time": none,
        "slowdown": jobs.slowdown,
        "normalized_runtime": jobs.run / np.maximum(jobs.run, 1),
        "node_seconds": jobs.nodes * jobs.run,
        "critical_path": jobs.run,
        "stretch": jobs.slowdown,
        **dict.fromkeys(("held_idle", "held_late", "lateness", "appointments", "late"), none),
        "components": one,
    }


def _internal_wait(start: np.ndarray, end: np.ndarray, tied: Ties) -> np.ndarray:
    """Equation 3.7, component by component; 0 for one without predecessors."""
    if not len(tied.row):
        return np.zeros(len(start), dtype=np.int64)
    latest_end = np.full(len(start), np.iinfo(np.int64).max)
    row, after_row = tied.row, tied.after_row
    latest_end[row] = np.iinfo(np.int64).min
    np.maximum.at(latest_end, row, end[after_row])
    has_waited = start > latest_end
    wait = np.zeros(len(start), dtype=np.int64)
    wait[has_waited] = start[has_waited] - latest_end[has_waited]
    return wait


def _idle_after_start(start: np.ndarray, end: np.ndarray, tied: Ties) -> np.ndarray:
    """Seconds each component ran before the last of its data was ready; 0 where that is not known."""
    if not len(tied.row):
        return np.zeros(len(start), dtype=np.int64)
    last_ready = start.copy()
    np.maximum.at(last_ready, tied.row, tied.ready)
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


def _summed_up(table: dict[str, np.ndarray], summaries: Summaries, workflows: int) -> dict[str, Any]:
    """Count the workflows, those that ran whole, their components, and sum up each metric over them."""
    result: dict[str, Any] = {
        "workflows": workflows,
        "complete": len(table["components"]),
        "components": int(table["components"].sum()),
        "appointments": int(table["appointments"].sum()),
        "late": int(table["late"].sum()),
    }
    for metric in of_block("workflow"):
        if metric.by == SUMMARY:
            result[metric.name] = summaries.of(table[metric.name])
    return result | overlap_shares(table)
