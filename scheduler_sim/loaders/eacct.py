"""What EAR's ``eacct -l -c FILE`` says of jobs: a row for each step of each node, put together to one a job.

A node took what the step of the job's script took on it, which is as long as the job; where nobody measured
that, what all its other steps took. The job took what its nodes took, if each of them was measured. Of a step
that EAR's library did not see, the daemon of the node may know.

Of all other columns a job has what its rows agree on, else the mean of numbers, and each different text once;
so of ids, which are names.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as compute

from scheduler_sim.errors import TraceError
from scheduler_sim.loaders.foreign_table import BadLine, ForeignTable, read_foreign
from scheduler_sim.loaders.values import NOTHING
from scheduler_sim.workload.left_out import LeftOut

BATCH_STEPS = ("4294967291", "-5", "sb")
"""How the step of the script is called: Slurm's number without a sign, with one, and as eacct shows it."""

MANAGER_W, MANAGER_S = "NODEMGR_DC_NODE_POWER_W", "NODEMGR_TIME_SEC"
"""What the daemon of a node measured."""

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
_MAY_BE = (MANAGER_W, MANAGER_S, "AVG_CPUFREQ_KHZ")
_TAKEN = {"JOBID", *(one for spellings in _SPELLINGS.values() for one in spellings), *_OF_JOB, *_MAY_BE}
_MOST_TEXTS = 100
"""So many different texts of a job are carried on, such as names of nodes."""


def read_eacct(path: str | Path, left: LeftOut) -> ForeignTable:
    """Read what eacct wrote as a table, a row a job. Raises TraceError where a column is missing."""
    table = read_foreign(path, "csv", on_error="skip" if left.skips else "stop")
    there = {name.upper(): column for name, column in table.columns.items()}
    rows = pd.DataFrame({name: _texts(there, (name,), table.name) for name in _TEXTS})
    for name, spellings in _SPELLINGS.items():
        rows[name] = pd.to_numeric(_texts(there, spellings, table.name), errors="coerce")
    for name in _OF_JOB:
        rows[name] = _texts(there, (name,), table.name) if name in there else ""
    for name in _MAY_BE:
        rows[name] = (
            pd.to_numeric(_texts(there, (name,), table.name), errors="coerce") if name in there else np.nan
        )
    others = [name for name in there if name not in _TAKEN]
    rows = rows.assign(**{name: _texts(there, (name,), table.name) for name in others})
    rows["line"] = -1 if table.lines is None else table.lines
    known = np.isfinite(rows[list(_SPELLINGS)].to_numpy(np.float64)).all(axis=1)
    known &= (rows["JOBID"] != "").to_numpy()
    allowed = "a job, its times, s and W as numbers"
    bad = [
        BadLine(table.line_of(row), NO_ROW, str(rows["JOBID"].iloc[row])[:60], allowed)
        for row in np.flatnonzero(~known).tolist()
    ]
    is_whole = ~rows["JOBID"].isin(rows["JOBID"][~known]).to_numpy()
    table.left.add_of_jobs(int((known & ~is_whole).sum()))
    rows = rows[known & is_whole]
    made = _jobs(rows)
    made = made.assign(**{name: _of_all(rows[name], rows["JOBID"]) for name in others}).reset_index()
    first = made.pop("line").to_numpy(np.int64)
    lines = None if table.lines is None else first
    columns = {str(one): pa.array(made[one], from_pandas=True) for one in made}
    return ForeignTable(table.name, "eacct", columns, len(made), lines, [*table.bad, *bad], table.left)


def _jobs(rows: pd.DataFrame) -> pd.DataFrame:
    """Put the rows of each job together."""
    by_library, by_daemon = rows["watts"] * rows["seconds"], rows[MANAGER_W] * rows[MANAGER_S]
    rows = rows.assign(joules=by_library.where(by_library > 0, by_daemon.fillna(0)))
    rows["whole"] = rows["STEPID"].isin(BATCH_STEPS) & (rows["joules"] > 0)
    of_node = rows.groupby(["JOBID", "NODENAME"], sort=False)
    counts = rows["whole"] | ~of_node["whole"].transform("any").astype(bool)
    nodes = rows[counts].groupby(["JOBID", "NODENAME"], sort=False)["joules"].sum()
    of_job = nodes.groupby("JOBID", sort=False)
    made = rows.groupby("JOBID", sort=False).agg(
        start=("start", "min"),
        end=("end", "max"),
        khz=("AVG_CPUFREQ_KHZ", "mean"),
        line=("line", "first"),
        **{one: (one, "first") for one in _OF_JOB},
    )
    joules = of_job.sum().where(of_job.min() > 0)
    return made.assign(nodes=of_job.size(), joules=joules, khz=made["khz"].round())


def _of_all(said: pd.Series, job: pd.Series) -> pd.Series:
    """Put together what the rows of each job say in a column: numbers, or texts with commas between them."""
    silent = said.isin([word for word in said.unique() if word.lower() in NOTHING])
    numbers = pd.to_numeric(said.mask(silent), errors="coerce")
    if (numbers.notna() | silent).all() and not str(said.name).endswith("ID"):
        by_job = numbers.groupby(job, sort=False)
        least = by_job.min()
        mean: pd.Series = least.where(least == by_job.max(), by_job.mean())
        is_whole = bool((mean % 1 == 0).all() and (mean.abs() < 2**53).all())
        return mean.astype(np.int64 if is_whole else np.float64)
    pairs = pd.DataFrame({"job": job, "text": said.mask(silent, "")}).drop_duplicates()
    pairs = pairs[(pairs["text"] != "") | ~pairs["job"].duplicated(keep=False)]
    texts: dict[str, list[str]] = {}
    for one, text in zip(pairs["job"], pairs["text"], strict=True):
        texts.setdefault(one, []).append(text)
    return pd.Series({one: _listed(of_job) for one, of_job in texts.items()}, dtype=object)


def _listed(texts: list[str]) -> str:
    more = f" and {len(texts) - _MOST_TEXTS} more" if len(texts) > _MOST_TEXTS else ""
    return ",".join(texts[:_MOST_TEXTS]) + more


def _texts(columns: dict[str, pa.Array], spellings: tuple[str, ...], name: str) -> pd.Series:
    found = next((columns[one] for one in spellings if one in columns), None)
    if found is None:
        known, what = ", ".join(columns)[:400], f"no column {' or '.join(spellings)}"
        raise TraceError(what, file=name, found=known, allowed="what eacct -l -c writes")
    return pd.Series(compute.utf8_trim_whitespace(found).to_pylist(), dtype=object)
