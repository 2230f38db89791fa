"""What is measured of a run: the same workflows in all scenarios, however their traces tie them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scheduler_sim import Result
from scheduler_sim.generation.merge import BaseTrace
from scheduler_sim.generation.scenarios import HandOver
from scheduler_sim.metrics.compute import job_metrics
from scheduler_sim.metrics.workflows import overlap_shares, workflow_table

HOUR = 3600.0
PERCENT = 100.0

MEASURES = {
    "normalized_all": "mean normalised run time, jobs outside workflows at 1",
    "normalized": "mean normalised run time of the workflows",
    "normalized_median": "median normalised run time of the workflows",
    "normalized_own": "mean normalised run time of the workflows, by the run times of DEP",
    "normalized_total": "Σ run time / Σ components' run time, of the workflows",
    "wait_h": "mean wait of all jobs (h)",
    "response_h": "mean response of all jobs (h)",
    "slowdown": "mean slowdown of all jobs",
    "slowdown_own": "mean slowdown of all jobs, by the run times of DEP",
    "bounded_slowdown": "mean bounded slowdown of all jobs",
    "whole_wait_h": "mean wait, workflows as wholes beside single jobs (h)",
    "whole_response_h": "mean response, workflows as wholes beside single jobs (h)",
    "whole_slowdown": "mean slowdown, equation 3.8, workflows as wholes beside single jobs",
    "outside_wait_h": "mean wait of jobs outside workflows (h)",
    "workflow_wait_h": "mean wait of workflows for their first start (h)",
    "workflow_response_h": "mean response of workflows (h)",
    "workflow_runtime_h": "mean run time of workflows, first start to last end (h)",
    "workflow_internal_wait_h": "mean internal wait of workflows, equation 3.7 (h)",
    "dependent_wait_h": "mean wait of dependent jobs, submission to start (h)",
    "workflow_slowdown_median": "median slowdown of workflows, equation 3.8",
    "overlapped": "node-seconds of workflows with a normalised run time below 1 (%)",
    "back_to_back": "the same, of exactly 1 (%)",
    "not_overlapped": "the same, above 1 (%)",
    "overlapped_of_all": "as overlapped, in % of the node-seconds of all jobs",
    "time_saved": "Σ max(0, components' run time − run time) / Σ components' run time (%)",
    "idle": "node-seconds held before the data are ready, in % of the workflows' work",
    "components": "jobs in workflows (%)",
    "work": "node-seconds of workflows, in % of those of all jobs, by their own run times",
}
"""What each column of ``runs.csv`` holds, after those that name a run."""


def measured(result: Result, base: BaseTrace, said: HandOver) -> dict[str, float]:
    """Measure a run.

    Parameters
    ----------
    result : of a scenario of ``base``; its components are the rows of the base, in that order.
    said : when components hand over, which says who is in which workflow.

    Returns
    -------
    ``MEASURES``. Nodes held idle are counted in every scenario by the same rule: from the start of
    a consumer to its producer's call, which in ``HET`` comes later, as its producer waits too.
    """
    components = result.components
    tied = components.assign(modular_job_id=said.head + 1)
    edges = _edges(components, base, said)
    table = workflow_table(tied, edges)
    several = table[table["components"] > 1]
    waits = (table["start_time"] - table["submission_time"]) / HOUR
    dependent = components.iloc[np.unique(edges["row"])]
    inside = said.components > 1
    jobs, outside = job_metrics(components), job_metrics(components[~inside])
    own_run = workflow_table(tied.assign(start_time=0, end_time=base.run_time))[
        "components_runtime"
    ].to_numpy()
    response = (components["end_time"] - components["submit_time"]).to_numpy()
    own_work = base.nodes * base.run_time
    work, all_work = several["node_seconds"].sum(), table["node_seconds"].sum()
    run, alone = several["runtime"], several["components_runtime"]
    shares = {name.removesuffix("_share"): share for name, share in overlap_shares(several).items()}
    return {
        "normalized_all": table["normalized_runtime"].mean(),
        "normalized": several["normalized_runtime"].mean(),
        "normalized_median": several["normalized_runtime"].median(),
        "normalized_own": (run / np.maximum(own_run[table["components"].to_numpy() > 1], 1)).mean(),
        "normalized_total": run.sum() / alone.sum(),
        "wait_h": _number(jobs["wait_time"]["mean"]) / HOUR,
        "response_h": _number(jobs["response_time"]["mean"]) / HOUR,
        "slowdown": _number(jobs["slowdown"]["mean"]),
        "slowdown_own": (response / np.maximum(base.run_time, 1)).mean(),
        "bounded_slowdown": _number(jobs["bounded_slowdown"]["mean"]),
        "whole_wait_h": waits.mean(),
        "whole_response_h": table["response_time"].mean() / HOUR,
        "whole_slowdown": table["slowdown"].mean(),
        "outside_wait_h": _number(outside["wait_time"]["mean"]) / HOUR,
        "workflow_wait_h": waits[table["components"] > 1].mean(),
        "workflow_response_h": several["response_time"].mean() / HOUR,
        "workflow_runtime_h": run.mean() / HOUR,
        "workflow_internal_wait_h": several["internal_wait_time"].mean() / HOUR,
        "dependent_wait_h": (dependent["start_time"] - dependent["submit_time"]).mean() / HOUR,
        "workflow_slowdown_median": several["slowdown"].median(),
        **{name: PERCENT * _number(share) for name, share in shares.items()},
        "overlapped_of_all": PERCENT * _number(shares["overlapped"]) * work / all_work,
        "time_saved": PERCENT * np.maximum(alone - run, 0).sum() / alone.sum(),
        "idle": PERCENT * several["held_idle"].sum() / own_work[inside].sum(),
        "components": PERCENT * inside.mean(),
        "work": PERCENT * own_work[inside].sum() / own_work.sum(),
    }


def _edges(components: pd.DataFrame, base: BaseTrace, said: HandOver) -> pd.DataFrame:
    """Say who consumes what whose call makes ready, and when that call came in this run."""
    consumer = np.concatenate([rows for rows, _ in said.producers])
    producer = np.concatenate([rows for _, rows in said.producers])
    start, run = (components[name].to_numpy()[producer] for name in ("start_time", "run_time"))
    waited = run - base.run_time[producer]  # only HET has waiting in its run times
    return pd.DataFrame(
        {"row": consumer, "after_row": producer, "ready": start + waited + said.call[producer]}
    )


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)
