"""Which of our formats a text is in, by its first lines alone."""

from __future__ import annotations

import json
import re

from scheduler_sim.workload.mwf import LAYOUTS
from scheduler_sim.workload.sacct_header import header_in
from scheduler_sim.workload.sacct_json import is_json_of_sacct
from scheduler_sim.workload.sacct_lines import has_state, is_passed_over, is_row_of_sacct
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
    fields = line.split(b";")
    return len(fields) in LAYOUTS and _INTEGER.fullmatch(fields[0]) is not None


def told_by_first_lines(start: bytes) -> str | None:
    """Return the format that the beginning of a file leaves no doubt of, None if it does.

    Tables of others, which need names that can be guessed at, are not looked for.
    """
    if start.startswith(PARQUET):
        return "parquet"
    start = start.removeprefix(b"\xef\xbb\xbf")
    if start.lstrip().startswith(b"{"):
        return _of_json(start)
    lines = start.splitlines()
    for place, line in enumerate(lines):
        below = lines[place + 1] if place + 1 < len(lines) else b""
        if not is_passed_over(line):
            header = header_in(line, below)
            if header is not None and (
                header.is_spelt_as_sacct() or (header.has_all_of_sacct() and has_state(below))
            ):
                return "sacct"
            if not line.lstrip().startswith(b";") or is_mwf_record(line):
                return _of_record(line)
    return None


def _of_json(start: bytes) -> str | None:
    """Return what a text of mappings is: all of sacct in one, or one a line."""
    if is_json_of_sacct(start):
        return "sacct"
    first = start.lstrip().split(b"\n", 1)[0]
    try:
        return "jsonl" if isinstance(json.loads(first), dict) else None
    except (ValueError, RecursionError):
        return None


def _of_record(line: bytes) -> str | None:
    if is_swf_record(line):
        return "swf"
    if is_mwf_record(line):
        return "mwf"
    if _EVENT.match(line):
        return "slurm-sim-events"
    return "sacct" if is_row_of_sacct(line) else None
