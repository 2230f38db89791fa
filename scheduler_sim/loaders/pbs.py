"""Accounting logs of PBS: records ``date;type;id;key=value ...``, of which those of ends are read."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa

from scheduler_sim.errors import TraceError
from scheduler_sim.loaders.foreign_table import BadLine, ForeignTable, text_of
from scheduler_sim.workload.left_out import LeftOut

NO_RECORD = "not a record of PBS"
_RECORD = re.compile(r"(\d\d/\d\d/\d{4} \d\d:\d\d:\d\d);([A-Za-z]);([^;]*);(.*)", re.DOTALL)
_PAIR = re.compile(r"([A-Za-z_][\w.]*)=(\"[^\"]*\"|'[^']*'|\S*)")
_NUMBER = re.compile(r"(\d+)(?:\[\d*\])?(?:\..*)?")


def read_pbs(path: str | Path, left: LeftOut) -> ForeignTable:
    """Read the E records of a log as a table, a row a job, a column a key. Raises TraceError without any."""
    name = str(path)
    rows: list[dict[str, str]] = []
    lines: list[int] = []
    bad: list[BadLine] = []
    for number, line in enumerate(text_of(path, name, left).decode("utf-8").split("\n"), 1):
        if not line.strip():
            continue
        match = _RECORD.fullmatch(line.rstrip("\r"))
        if match is None:
            bad.append(BadLine(number, NO_RECORD, line[:60], "date;type;id;key=value ..."))
        elif match[2] == "E":
            said = {key: value.strip("\"'") for key, value in _PAIR.findall(match[4])}
            rows.append({"id": _id(match[3]), **said})
            lines.append(number)
    if not rows and not bad:
        raise TraceError("no E record", file=name, allowed="records of jobs that ended")
    names = dict.fromkeys(key for row in rows for key in row)
    columns = {key: pa.array([row.get(key) for row in rows], pa.string()) for key in names}
    return ForeignTable(name, "pbs", columns, len(rows), np.array(lines, dtype=np.int64), bad, left)


def _id(text: str) -> str:
    """The number of a job without its server; a task of an array keeps its brackets, and gets a number."""
    match = _NUMBER.fullmatch(text)
    return match[1] if match and "[" not in text else text
