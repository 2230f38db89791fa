"""Which of our formats a text is in, by its first lines alone."""

from __future__ import annotations

import json
import re

from scheduler_sim.workload.swf_behind import FIELD_COUNT

PARQUET = b"PAR1"
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_INTEGER = re.compile(rb"\s*-?\d+\s*")
_EVENT = re.compile(rb"\s*-dt\s+\S+\s+-e\s+\S+")


def is_swf_record(line: bytes) -> bool:
    """Whether a line is a record of SWF."""
    fields = line.split()
    return len(fields) >= FIELD_COUNT and all(map(_NUMBER.fullmatch, fields[:FIELD_COUNT]))


def is_mwf_record(line: bytes) -> bool:
    """Whether a line is a record of MWF."""
    from scheduler_sim.workload.mwf import LAYOUTS

    fields = line.split(b";")
    return len(fields) in LAYOUTS and _INTEGER.fullmatch(fields[0]) is not None


def told_by_first_lines(start: bytes) -> str | None:
    """Return the format that the beginning of a file leaves no doubt of, None if it does.

    Tables of others, which need names that can be guessed at, are not looked for. What knows a format is
    imported for a file that may be of it.
    """
    if start.startswith(PARQUET):
        return "parquet"
    start = start.removeprefix(b"\xef\xbb\xbf")
    if start.lstrip().startswith(b"{"):
        return _of_json(start)
    lines = start.splitlines()
    for place, line in enumerate(lines):
        if is_swf_record(line):
            return "swf"
        if line.strip() and not _is_comment(line):
            return _of_line(line, lines[place + 1] if place + 1 < len(lines) else b"")
    return None


def _is_comment(line: bytes) -> bool:
    """Whether a line before all records says nothing; names behind ; may be those of a table with numbers."""
    if line.lstrip().startswith(b";"):
        return b"jobid" not in line.lower()
    return line.startswith((b"#", b"CLUSTER: "))


def _of_line(line: bytes, below: bytes) -> str | None:
    """Return the format that the first line which is no comment, and the one below it, are of."""
    if _EVENT.match(line):
        return "slurm-sim-events"
    if is_mwf_record(line):
        return "mwf"
    from scheduler_sim.workload.sacct_header import header_in
    from scheduler_sim.workload.sacct_lines import has_state, is_row_of_sacct

    header = header_in(line, below)
    if header is None:
        return "sacct" if is_row_of_sacct(line) else None
    all_there = header.has_all_of_sacct() and has_state(below)
    return "sacct" if header.is_spelt_as_sacct() or all_there else None


def _of_json(start: bytes) -> str | None:
    """Return what a text of mappings is: all of sacct in one, or one a line."""
    from scheduler_sim.workload.slurm_json import is_json_of_jobs

    if is_json_of_jobs(start):
        return "sacct"
    first = start.lstrip().split(b"\n", 1)[0]
    try:
        return "jsonl" if isinstance(json.loads(first), dict) else None
    except (ValueError, RecursionError):
        return None
