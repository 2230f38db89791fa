"""Philly's job log: a list of jobs in JSON, each with its attempts and the GPUs of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from scheduler_sim.errors import TraceError
from scheduler_sim.loaders.foreign_table import BadLine, ForeignTable, text_of
from scheduler_sim.workload.left_out import LeftOut

NAMES = (
    *("jobid", "submitted_time", "start_time", "run_time", "nodes", "gpus", "user", "vc", "status"),
    "attempts",
)
"""Columns of every job; what else a log says stands behind them. ``attempts`` is how many there were."""

NO_JOB = "not a job of Philly"


def read_philly(path: str | Path, left: LeftOut) -> ForeignTable:
    """Read a job log as a table, a row a job. Raises TraceError for what is no list in JSON."""
    name = str(path)
    try:
        jobs = json.loads(text_of(path, name))
    except (ValueError, RecursionError) as error:
        raise TraceError(f"cannot be read as JSON: {error!s:.200}", file=name) from None
    if not isinstance(jobs, list) or not jobs:
        raise TraceError("no list of jobs", file=name, allowed="a list, as cluster_job_log is")
    rows: list[dict[str, Any]] = []
    bad: list[BadLine] = []
    for job in jobs:
        try:
            rows.append(_row(job))
        except (TypeError, KeyError, ValueError, AttributeError):
            bad.append(
                BadLine(None, NO_JOB, str(job)[:60], "a mapping with jobid, submitted_time and attempts")
            )
    names = dict.fromkeys((*NAMES, *(name for row in rows for name in row)))
    columns = {name: _column([row.get(name) for row in rows]) for name in names}
    return ForeignTable(name, "philly", columns, len(rows), None, bad)


def _row(job: dict[str, Any]) -> dict[str, Any]:
    attempts = [one for one in job["attempts"] if one.get("start_time") not in (None, "None", "")]
    ended = [one for one in attempts if one.get("end_time") not in (None, "None", "")]
    seconds = [_seconds(one["end_time"]) - _seconds(one["start_time"]) for one in ended]
    detail = attempts[-1].get("detail") or [] if attempts else []
    gpus = [len(one.get("gpus") or []) for one in detail]
    return {
        **job,
        **{name: job[name] for name in ("jobid", "submitted_time")},
        **{name: job.get(name) for name in ("user", "vc", "status")},
        "start_time": attempts[0]["start_time"] if attempts else None,
        "run_time": sum(seconds) if ended and len(ended) == len(attempts) else None,
        "nodes": len(detail) or None,
        "gpus": sum(gpus) or None,
        "attempts": len(job["attempts"]),
    }


def _column(values: list[Any]) -> pa.Array:
    """Return values as text; lists and mappings as a column of lists, which is not carried on."""
    if any(isinstance(value, list | dict) for value in values):
        return pa.nulls(len(values), pa.list_(pa.string()))
    return pa.array([_text(value) for value in values], pa.string())


def _seconds(text: str) -> float:
    """Seconds on the clock of the log, which is no hour off within an attempt but twice a year."""
    return float(np.datetime64(pd.Timestamp(text), "ms").astype(np.int64)) / 1000


def _text(value: Any) -> str | None:
    return None if value is None or value == "None" else str(value)
