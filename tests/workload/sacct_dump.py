"""Dumps of sacct for tests: a plain job, with some columns changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.workload.records import write

#: Job 7 of ada: 2 nodes for 60 s, from 10:00:30 to 10:01:30 on 2 March 2026, submitted 30 s before.
JOB = {
    "JobID": "7",
    "JobIDRaw": "7",
    "JobName": "cfd",
    "User": "ada",
    "Account": "fluids",
    "QOS": "normal",
    "Partition": "batch",
    "State": "COMPLETED",
    "Submit": "2026-03-02T10:00:00",
    "Eligible": "2026-03-02T10:00:00",
    "Start": "2026-03-02T10:00:30",
    "End": "2026-03-02T10:01:30",
    "ElapsedRaw": "60",
    "Timelimit": "01:00:00",
    "NNodes": "2",
    "NCPUS": "96",
    "ExitCode": "0:0",
}
#: 10:00:00 on the clock of a trace whose first day is the day of the job.
TEN = 36_000


def lines(*jobs: Mapping[str, object], without: Iterable[str] = ()) -> list[str]:
    """Return header and rows: each job is the plain one with its changes; all have the columns of all."""
    names = [
        name for name in dict.fromkeys([*JOB, *(key for job in jobs for key in job)]) if name not in without
    ]
    rows = [{**dict.fromkeys(names, ""), **JOB, **job} for job in jobs]
    return ["|".join(names), *("|".join(str(row[name]) for name in names) for row in rows)]


def dump(path: Path, *jobs: Mapping[str, object], without: Iterable[str] = ()) -> Path:
    """Write such a dump."""
    return write(path / "dump.sacct", lines(*jobs, without=without))
