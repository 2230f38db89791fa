"""All the numbers of ``metrics.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_sim.metrics import table
from scheduler_sim.metrics.load import overloads
from scheduler_sim.metrics.lost import lost_of
from scheduler_sim.metrics.metric import JobColumns, Run
from scheduler_sim.metrics.sharing import cores_had_twice, sharing_of
from scheduler_sim.metrics.statistics import Summaries
from scheduler_sim.metrics.suspended import suspended_of
from scheduler_sim.metrics.ties import Edges
from scheduler_sim.metrics.topology import topology_of
from scheduler_sim.metrics.utilization import energy_of
from scheduler_sim.metrics.values import job_values
from scheduler_sim.metrics.workflows import workflow_metrics
from scheduler_sim.result.columns import NEVER, Columns, numbers, rows_named


def compute(
    components: Columns,
    timeline: Columns,
    *,
    modules: Mapping[str, int],
    edges: Edges = None,
    offset: np.ndarray | None = None,
    appointment: np.ndarray | None = None,
    counts: Mapping[str, Any] | None = None,
    energy: Mapping[str, Any] | None = None,
    warnings: Sequence[str] = (),
    shared: Mapping[str, Mapping[str, float]] | None = None,
    system: Mapping[str, Any] | None = None,
    runs: Columns | None = None,
    leaves: Mapping[str, Sequence[int]] | None = None,
) -> dict[str, Any]:
    """Compute the metrics of a schedule; what has nothing to average is None.

    Parameters
    ----------
    components, timeline : the tables of a result, or their columns; of components those of power and energy
        may be missing where there is no energy model, of the timeline its rows of ``total``.
    modules : nodes of each module.
    edges, offset, appointment : dependencies between components, and what was planned for
        them, as :func:`scheduler_sim.metrics.workflows.workflow_table` takes them; None for none.
    counts : what only the reader of the trace knows: skipped, not_honoured.
    energy : what an energy model has accounted for beyond the tables; None without.
    shared : of modules whose nodes jobs share, what there is in all of cores, memory (KB) and GPUs.
    system : keys of the system; only where jobs share nodes.
    runs : of components that lost some; None where none did.
    leaves : nodes of each leaf switch, by module, on a system with a topology.
    warnings : what a reader of the numbers should know first, beside what they tell themselves.

    Returns
    -------
    The keys and formulas of ``docs/reference/metrics.md``; floats rounded to 1e-6.
    """
    run = Run(components, timeline, modules, shared or {}, system or {}, counts or {}, runs, leaves or {})
    summaries = Summaries()
    of_jobs = _summed_up(run.jobs, summaries)
    found: dict[str, Any] = {
        metric.name: metric.of_run(run) if metric.of_run else of_jobs[metric.name]
        for metric in table.METRICS
        if metric.of_run or metric.of_jobs
    }
    return {
        **found,
        "workflow": workflow_metrics(
            components,
            edges,
            offset=offset,
            appointment=appointment,
            ran=run.jobs,
            summaries=summaries,
        ),
        "energy": energy_of(run, energy),
        **({"sharing": sharing_of(run)} if run.shared else {}),
        **({"lost": lost_of(run)} if run.runs is not None else {}),
        **({"suspended": suspended_of(run)} if "suspended" in run.components else {}),
        **({"topology": topology_of(run)} if run.leaves else {}),
        "counts": state_counts(components, counts or {}),
        "warnings": [*overloads(found["offered_load"]), *cores_had_twice(run), *warnings],
    }


def job_metrics(components: Columns) -> dict[str, Any]:
    """Sum up the metrics of single jobs over the components that ran."""
    ran = numbers(components, "start_time") != NEVER
    return _summed_up(JobColumns.of(components, ran), Summaries())


def _summed_up(ran: JobColumns, summaries: Summaries) -> dict[str, Any]:
    return {name: summaries.of(values) for name, values in job_values(ran)}


def state_counts(components: Columns, counts: Mapping[str, Any]) -> dict[str, Any]:
    """Count what did not run as asked; ``counts`` adds what happened before the simulation."""
    by_state = {
        name: int(np.count_nonzero(rows_named(components["state"], state)))
        for name, state in (
            ("completed", "COMPLETED"),
            ("rejected", "REJECTED"),
            ("timed_out", "TIMEOUT"),
            ("failed", "FAILED"),
            ("cancelled", "CANCELLED"),
            ("pending", "PENDING"),
            ("preempted", "PREEMPTED"),
        )
    }
    if not by_state["preempted"]:
        del by_state["preempted"]
    return {"skipped": 0, **by_state, "not_honoured": {}} | dict(counts) | by_state
