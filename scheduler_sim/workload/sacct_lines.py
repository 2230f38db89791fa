"""The lines of a ``sacct --parsable2`` dump: which column is where, and rows that are whole again.

``sacct`` does not escape the separator. A row with too many fields is put together again where
only one of the columns that hold free text can have the separator in it; else it is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np

from scheduler_sim.errors import TraceError
from scheduler_sim.workload.left_out import JobsLeftOut, LeftOut
from scheduler_sim.workload.lines import read_blocks

_SEPARATOR = b"|"
_IDS = ("jobid", "jobidraw")
#: Columns in which people, or Slurm itself (features joined by or), write the separator.
FREE_TEXT = (
    "jobname", "constraints", "comment", "admincomment", "systemcomment", "submitline", "workdir", "extra",
    "licenses", "stdin", "stdout", "stderr",
)  # fmt: skip
#: Stands for a separator within a text until the columns are apart (ASCII's own unit separator).
INNER = "\x1f"
_HET = re.compile(rb"(\d{1,15})\+\d{1,6}$")
_NAME, _COUNT, _TIME = (
    rb"\S*",
    rb"(\d+(\.\d+)?[KM]?)?",
    rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|\d+|Unknown|None)?",
)
_LIMIT = rb"([\d:.-]+|UNLIMITED|Partition_Limit|NOT_SET|INVALID|Unknown)?"
#: What the other columns look like; a guess at where a separator belongs must leave them so.
_LOOKS: dict[str, re.Pattern[bytes]] = {
    column: re.compile(look)
    for columns, look in {
        _IDS: rb"\d+[\d_+.a-z\[\],%-]*",
        ("submit", "eligible", "start", "end"): _TIME,
        ("state",): rb"[A-Z_]{6,}.*",
        ("exitcode", "derivedexitcode"): rb"(\d+:\d+)?",
        ("elapsed", "timelimit", "timelimitraw"): _LIMIT,
        ("elapsedraw", "priority", "restarts"): rb"\d*",
        ("allocnodes", "nnodes", "reqnodes", "ncpus", "reqcpus", "alloccpus"): _COUNT,
        ("reqtres", "alloctres"): rb"([^=,\s]+=[^=,\s]+,?)*",
        ("user", "account", "qos", "partition", "group", "reservation"): _NAME,
        ("dependency",): rb"[a-z0-9:_+*,?()]*",
    }.items()
    for column in columns
}


def is_header(line: bytes) -> bool:
    """Whether a line names the columns of a dump: a job id among two or more names between ``|``."""
    names = line.strip().lower().split(_SEPARATOR)
    return len(names) > 1 and any(name.encode() in names for name in _IDS)


def has_header(path: str | Path) -> bool:
    """Whether the first line of a file that is no comment is a header. Errors are left to the reader."""
    try:
        block = next(iter(read_blocks(path)))
    except (TraceError, StopIteration):
        return False
    lines = (line for line in block.split(b"\n") if not _is_passed_over(line))
    return is_header(next(lines, b""))


def _is_passed_over(line: bytes) -> bool:
    """Whether a line before the header says nothing of jobs; with -M Slurm names the cluster there."""
    return not line.strip() or line.startswith((b"#", b"CLUSTER: "))


@dataclass
class Dump:
    """A dump as rows that all have one field for each column.

    Parameters
    ----------
    columns : names in small letters, in order; comments : lines before the header
    rows : the rows, each with its line end; numbers : int64[rows], 1-based line of each
    steps : rows of job steps, which are left out; repaired : rows put together again
    jobs : heterogeneous jobs of which a line is left out that cannot be read
    """

    columns: list[str]
    comments: list[bytes]
    rows: bytes = b""
    numbers: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    steps: int = 0
    repaired: int = 0
    jobs: JobsLeftOut = field(default_factory=JobsLeftOut)


def read_dump(
    path: str | Path, name: str, left: LeftOut, called: Mapping[str, str] = MappingProxyType({})
) -> Dump:
    """Read a dump, plain or packed; raises TraceError for a row whose fields are not those of the header.

    Unless such rows are left out. Blank lines, and the header where files were joined, are passed over.
    ``called`` : columns that another command calls otherwise, by its names.
    """
    dump: Dump | None = None
    parts: list[bytes] = []
    numbers: list[np.ndarray] = []
    header = b""
    first = 1
    for block in read_blocks(path, left):
        after = first + block.count(b"\n")
        if dump is None:
            comments, header, block = _head(block, name)
            first = after - block.count(b"\n")
            names = _names(header, name, first - 1)
            dump = Dump([called.get(column, column) for column in names], comments)
        if block:
            rows, at = _whole(block, first, dump, header, name, left)
            parts.append(rows)
            numbers.append(at)
        first = after
    if dump is not None and left.total and not any(parts):
        raise left.nothing_left(name)
    if dump is None or not any(parts):
        raise TraceError("no records: nothing but a header", file=name, allowed="at least one job")
    dump.rows, dump.numbers = b"".join(parts), np.concatenate(numbers)
    return dump


def _head(block: bytes, name: str) -> tuple[list[bytes], bytes, bytes]:
    """Return the comments, the header, and what is left of the first block."""
    lines = block.split(b"\n")
    for place, line in enumerate(lines):
        if _is_passed_over(line):
            continue
        if is_header(line):
            return lines[:place], line.rstrip(b"\r"), b"\n".join(lines[place + 1 :])
        break
    raise TraceError(
        "no header of sacct",
        file=name,
        line=min(place + 1, len(lines)),
        found=line[:200].decode("utf-8", "backslashreplace"),
        allowed="names of columns between |, JobID or JobIDRaw among them, as sacct --parsable2 prints",
    )


def _names(header: bytes, name: str, line: int) -> list[str]:
    names = [part.strip().lower() for part in header.decode("utf-8", "backslashreplace").split("|")]
    if names[-1] == "":  # sacct --parsable ends each line with a separator
        names[-1] = "(end)"
    twice = next((column for column in names if names.count(column) > 1), None)
    if twice is not None:
        raise TraceError(f"column {twice} occurs twice", file=name, line=line)
    return names


def _whole(
    block: bytes, first: int, dump: Dump, header: bytes, name: str, left: LeftOut
) -> tuple[bytes, np.ndarray]:
    """Return the jobs of a block as rows with a field for each column, and their line numbers."""
    data = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    before = np.searchsorted(np.flatnonzero(data == ord("|")), ends)
    fields = np.diff(before, prepend=0) + 1
    odd = set(np.flatnonzero(fields != len(dump.columns)).tolist())
    lines = block.split(b"\n")[:-1]
    job = min(dump.columns.index(column) for column in _IDS if column in dump.columns)
    named = dump.columns.index("jobid") if "jobid" in dump.columns else job
    kept, at = [], []
    for i, line in enumerate(lines):
        if i in odd or b"\r" in line:
            if not line.strip():
                continue
            try:
                line = _mended(line, dump, first + i, name)
            except TraceError as error:
                if not left.skips:
                    raise
                left.add(error)
                dump.jobs.add(het_job(line.split(_SEPARATOR)[named : named + 1]))
                continue
            dump.repaired += i in odd
        if b"." in line.split(_SEPARATOR, job + 1)[job].partition(b"[")[0]:
            dump.steps += 1
        elif line != header:
            kept.append(line)
            at.append(first + i)
    return b"".join(line + b"\n" for line in kept), np.array(at, dtype=np.int64)


def het_job(job_id: list[bytes]) -> int | None:
    """Return the heterogeneous job that an id (at most one) is of, None if it is of none."""
    match = _HET.match(job_id[0]) if job_id else None
    return int(match[1]) if match else None


def _mended(line: bytes, dump: Dump, number: int, name: str) -> bytes:
    line = line.removesuffix(b"\r")
    if line.count(_SEPARATOR) + 1 != len(dump.columns):
        line = _repaired(line, dump, number, name)
    if b"\r" in line:
        raise TraceError("a carriage return within the line", file=name, line=number)
    return line


def _repaired(line: bytes, dump: Dump, number: int, name: str) -> bytes:
    """Return a row with ``INNER`` for each separator within a text. Raises TraceError if unsure where."""
    columns, words = dump.columns, line.split(_SEPARATOR)
    extra = len(words) - len(columns)
    fitting = []
    for place, column in enumerate(columns):
        if extra > 0 and column in FREE_TEXT:
            last = place + extra + 1
            joined = [*words[:place], INNER.encode().join(words[place:last]), *words[last:]]
            if all(_LOOKS[c].fullmatch(w) for c, w in zip(columns, joined, strict=True) if c in _LOOKS):
                fitting.append(joined)
    if len(fitting) == 1:
        return _SEPARATOR.join(fitting[0])
    raise TraceError(
        "too few fields" if extra < 0 else "too many fields: a text may hold the separator |",
        file=name,
        line=number,
        found=len(words),
        allowed=f"{len(columns)}, as the header has; leave columns of free text out of --format",
    )
