"""Metrics of workflows: equations 3.1 to 3.9 of DEEP-EST deliverable D2.3, section 3.4.1.

A workflow is a heterogeneous job or a set of components connected by dependencies; a
component that is tied to no other is a workflow of one, as in D2.3.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from scheduler_sim.metrics.statistics import summary
from scheduler_sim.result.columns import NEVER

EQUATIONS = (
    ("start_time", "s", "3.1", "smallest start time of its components"),
    ("submission_time", "s", "3.2", "smallest submit time of its components"),
    ("end_time", "s", "3.3", "largest end time of its components"),
    ("runtime", "s", "3.4", "end_time − start_time"),
    ("response_time", "s", "3.5", "end_time − submission_time"),
    ("components_runtime", "s", "3.6", "sum of the run times of its components"),
    (
        "internal_wait_time",
        "s",
        "3.7",
        "sum over components with predecessors of max(0, start − latest end of its predecessors)",
    ),
    ("slowdown", "", "3.8", "response_time / max(components_runtime, 1)"),
    ("normalized_runtime", "", "3.9", "runtime / max(components_runtime, 1)"),
)
"""Name, unit, equation and formula of each metric of a workflow."""


def workflow_table(components: pd.DataFrame, edges: pd.DataFrame | None = None) -> pd.DataFrame:
    """Evaluate equations 3.1 to 3.9 for every workflow of which all components ran.

    Parameters
    ----------
    components : the table of a result.
    edges : int64 columns row and after_row, row numbers in ``components``: ``row`` waited
        for ``after_row``. None for no dependencies.

    Returns
    -------
    One row a workflow, in the order of their first components; the columns of
    ``EQUATIONS`` and ``components``, how many it has.
    """
    labels = workflow_labels(components["modular_job_id"].to_numpy(), edges)
    return _evaluate(components, edges, labels)


def workflow_metrics(components: pd.DataFrame, edges: pd.DataFrame | None = None) -> dict:
    """Sum up the workflows as ``metrics.json`` does.

    The values directly inside cover workflows of more than one component;
    ``with_single_components`` covers all, every untied component being a workflow of one.
    """
    labels = workflow_labels(components["modular_job_id"].to_numpy(), edges)
    sizes = np.bincount(labels) if len(labels) else np.zeros(0, dtype=np.int64)
    table = _evaluate(components, edges, labels)
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
    roots = _connected(len(ids), jobs[edges["row"].to_numpy()], jobs[edges["after_row"].to_numpy()])
    return pd.factorize(roots[jobs])[0]


def _connected(count: int, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Give each of ``count`` things the smallest number it is connected with, by hooking and halving."""
    root = np.arange(count)
    while True:
        smaller = np.minimum(root[one], root[other])
        larger = np.maximum(root[one], root[other])
        if (smaller == larger).all():
            return root
        np.minimum.at(root, larger, smaller)
        while True:  # every path ends at its root after as many halvings as its length has bits
            halved = root[root]
            if (halved == root).all():
                break
            root = halved


def _evaluate(components: pd.DataFrame, edges: pd.DataFrame | None, labels: np.ndarray) -> pd.DataFrame:
    submit, start, end = (components[f"{name}_time"].to_numpy() for name in ("submit", "start", "end"))
    count = int(labels.max()) + 1 if len(labels) else 0
    internal_wait = _internal_wait(start, end, edges)
    run = end - start
    if count == len(labels):  # untied components only: each is its own workflow already
        size = np.ones(count, dtype=np.int64)
        ran = start != NEVER
    else:
        order = np.argsort(labels, kind="stable")
        first = np.searchsorted(labels[order], np.arange(count))
        ran = np.logical_and.reduceat(start[order] != NEVER, first)
        size = np.diff(np.append(first, len(labels)))
        submit = np.minimum.reduceat(submit[order], first)
        start = np.minimum.reduceat(start[order], first)
        end = np.maximum.reduceat(end[order], first)
        run = np.add.reduceat(run[order], first)
        internal_wait = np.add.reduceat(internal_wait[order], first)
    size, submit, start, end, run, internal_wait = (
        column[ran] for column in (size, submit, start, end, run, internal_wait)
    )
    return pd.DataFrame(
        {
            "start_time": start,
            "submission_time": submit,
            "end_time": end,
            "runtime": end - start,
            "response_time": end - submit,
            "components_runtime": run,
            "internal_wait_time": internal_wait,
            "slowdown": (end - submit) / np.maximum(run, 1),
            "normalized_runtime": (end - start) / np.maximum(run, 1),
            "components": size,
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


def _summed_up(table: pd.DataFrame, workflows: int) -> dict:
    """Count the workflows, those that ran whole, their components, and sum up each equation over them."""
    result: dict = {
        "workflows": workflows,
        "complete": len(table),
        "components": int(table["components"].sum()),
    }
    for name, *_ in EQUATIONS:
        result[name] = summary(table[name].to_numpy())
    return result
