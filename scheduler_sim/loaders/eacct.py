"""What EAR's ``eacct -l -c FILE`` says of jobs: a row for each step of each node, put together to one a job.

A node took what the step of the job's script took on it, which is as long as the job; where there is no such
row, what all its other steps took. The job took what its nodes took.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from scheduler_sim.errors import TraceError
from scheduler_sim.loaders.foreign_table import BadLine, ForeignTable, read_foreign

BATCH_STEPS = ("4294967291", "-5", "sb")
"""How the step of the script is called: Slurm's number without a sign, with one, and as eacct shows it."""

NO_ROW = "not a row of eacct"
_SPELLINGS = {
    "start": ("JOB_START_TIME", "START_TIME"),
    "end": ("JOB_END_TIME", "END_TIME"),
    "seconds": ("TIME_SEC",),
    "watts": ("DC_NODE_POWER_W",),
}
"""Numbers that are needed, as versions of EAR call them."""

_TEXTS = ("JOBID", "STEPID", "NODENAME")
_OF_JOB = ("USERID", "GROUPID", "ACCOUNTID", "JOBNAME")


def read_eacct(path: str | Path) -> ForeignTable:
    """Read what eacct wrote as a table, a row a job. Raises TraceError where a column is missing."""
    table = read_foreign(path, "csv")
    there = {name.upper(): column for name, column in table.columns.items()}
    rows = pd.DataFrame({name: _texts(there, (name,), table.name) for name in _TEXTS})
    for name, spellings in _SPELLINGS.items():
        rows[name] = pd.to_numeric(_texts(there, spellings, table.name), errors="coerce")
    for name in _OF_JOB:
        rows[name] = _texts(there, (name,), table.name) if name in there else ""
    clock = there.get("AVG_CPUFREQ_KHZ")
    rows["khz"] = np.nan if clock is None else pd.to_numeric(pd.Series(clock.to_pylist()), errors="coerce")
    rows["line"] = -1 if table.lines is None else table.lines
    known = np.isfinite(rows[list(_SPELLINGS)].to_numpy(np.float64)).all(axis=1)
    known &= (rows["JOBID"] != "").to_numpy()
    allowed = "a job, its times, s and W as numbers"
    bad = [
        BadLine(table.line_of(row), NO_ROW, str(rows["JOBID"].iloc[row])[:60], allowed)
        for row in np.flatnonzero(~known).tolist()
    ]
    made = _jobs(rows[known])
    first = made.pop("line").to_numpy(np.int64)
    lines = None if table.lines is None else first
    columns = {str(one): pa.array(made[one], from_pandas=True) for one in made}
    return ForeignTable(table.name, "eacct", columns, len(made), lines, [*table.bad, *bad])


def _jobs(rows: pd.DataFrame) -> pd.DataFrame:
    """Put the rows of each job together."""
    rows = rows.assign(joules=rows["watts"] * rows["seconds"], whole=rows["STEPID"].isin(BATCH_STEPS))
    of_node = rows.groupby(["JOBID", "NODENAME"], sort=False)
    rows = rows[rows["whole"] | ~of_node["whole"].transform("any").astype(bool)]
    made = rows.groupby("JOBID", sort=False).agg(
        start=("start", "min"),
        end=("end", "max"),
        nodes=("NODENAME", "nunique"),
        joules=("joules", "sum"),
        khz=("khz", "mean"),
        line=("line", "first"),
        **{one: (one, "first") for one in _OF_JOB},
    )
    return made.assign(khz=made["khz"].round()).reset_index()


def _texts(columns: dict[str, pa.Array], spellings: tuple[str, ...], name: str) -> pd.Series:
    found = next((columns[one] for one in spellings if one in columns), None)
    if found is None:
        known, what = ", ".join(columns)[:400], f"no column {' or '.join(spellings)}"
        raise TraceError(what, file=name, found=known, allowed="what eacct -l -c writes")
    return pd.Series(found.to_pylist(), dtype=object).str.strip()
