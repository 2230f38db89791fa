"""Traces of Gavel: a job a line, in steps; how many steps a second a type of GPU does stands beside them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from scheduler_sim.errors import TraceError
from scheduler_sim.loaders.foreign_table import BadLine, ForeignTable, text_of
from scheduler_sim.numerals import finite
from scheduler_sim.workload.left_out import LeftOut

FIELDS = (
    *("job_type", "command", "working_directory", "num_steps_arg", "needs_data_dir", "total_steps"),
    *("scale_factor", "priority_weight", "SLO", "arrival_time"),
)
"""Of a line, with a tab between them; ``SLO`` may be missing."""

THROUGHPUTS = "throughputs.json"
NO_JOB = "not a job of Gavel"
_KEY = re.compile(r"\('(.*)', (\d+)\)")


def read_gavel(path: str | Path, left: LeftOut) -> ForeignTable:
    """Read a trace as a table, a row a job. Raises TraceError without throughputs beside it."""
    name = str(path)
    gpu, rates = _throughputs(Path(path).parent / THROUGHPUTS)
    rows: list[dict[str, str | None]] = []
    lines: list[int] = []
    bad: list[BadLine] = []
    for number, line in enumerate(text_of(path, name, left).decode("utf-8").split("\n"), 1):
        if not line.strip():
            continue
        words = line.rstrip("\r").split("\t")
        if len(words) not in (len(FIELDS), len(FIELDS) - 1):
            bad.append(BadLine(number, NO_JOB, line[:60], f"{len(FIELDS)} fields with tabs between them"))
            continue
        names = FIELDS if len(words) == len(FIELDS) else tuple(one for one in FIELDS if one != "SLO")
        row: dict[str, str | None] = dict(zip(names, words, strict=True))
        rate = rates.get((str(row["job_type"]), str(row["scale_factor"])))
        row["run_time"] = _seconds(row["total_steps"], rate)
        if row["run_time"] is None:
            allowed = f"steps, of a type and size that {THROUGHPUTS} has for {gpu}"
            bad.append(BadLine(number, NO_JOB, line[:60], allowed))
            continue
        rows.append(row)
        lines.append(number)
    columns = {key: pa.array([row.get(key) for row in rows], pa.string()) for key in (*FIELDS, "run_time")}
    return ForeignTable(name, "gavel", columns, len(rows), np.array(lines, dtype=np.int64), bad, left)


def _throughputs(path: Path) -> tuple[str, dict[tuple[str, str], float]]:
    """The first type of GPU, and steps a second by type of job and number of GPUs, alone on them."""
    said: Any = None
    try:
        said = json.loads(text_of(path, str(path)))
        gpu = next(iter(said))
        rates = {}
        for key, alone in said[gpu].items():
            if match := _KEY.fullmatch(key):
                rates[match[1], match[2]] = float(alone["null"])
        return gpu, rates
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration, RecursionError) as error:
        allowed = "types of GPUs, in each \"('type of job', number of GPUs)\" with its throughput under null"
        raise TraceError(f"no throughputs: {error!s:.100}", file=path, allowed=allowed) from None


def _seconds(steps: str | None, rate: float | None) -> str | None:
    try:
        return None if not rate or rate <= 0 else str(finite(steps or "") / rate)
    except ValueError:
        return None
