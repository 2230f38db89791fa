"""Knowing a trace by its content, before a file is replaced by one."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

from scheduler_sim.output.rule import Kind, head, lines_of
from scheduler_sim.workload.fields import FIELDS
from scheduler_sim.workload.first_lines import is_mwf_record, is_swf_record
from scheduler_sim.workload.mwf import is_comment
from scheduler_sim.workload.table_files import METADATA, NEEDED

LOOKED_AT = 100
"""Records at the beginning of a text that must be such."""


def _is_swf(path: Path) -> bool:
    return _has_records(path, lambda line: line.lstrip().startswith(b";"), is_swf_record)


def _is_mwf(path: Path) -> bool:
    return _has_records(path, is_comment, is_mwf_record)


def _has_records(path: Path, is_comment: Callable[[bytes], bool], is_record: Callable[[bytes], bool]) -> bool:
    records = (line for line in lines_of(head(path)) if line.strip() and not is_comment(line))
    looked_at = [is_record(line) for line in islice(records, LOOKED_AT)]
    return bool(looked_at) and all(looked_at)


def _is_csv(path: Path) -> bool:
    first = next(lines_of(head(path)), b"").decode("utf-8-sig", errors="replace")
    return _are_ours(next(csv.reader([first]), []))


def _is_parquet(path: Path) -> bool:
    try:
        schema = parquet.read_schema(path)
        return METADATA in (schema.metadata or {}) or _are_ours(schema.names)
    except (pa.ArrowException, OSError, ValueError):
        return False


def _are_ours(columns: Collection[str]) -> bool:
    return set(NEEDED) <= set(columns) <= set(FIELDS)


TRACES = {
    "swf": Kind("a trace in SWF", _is_swf),
    "mwf": Kind("a trace in MWF", _is_mwf),
    "parquet": Kind("a trace in Parquet", _is_parquet),
    "csv": Kind("a trace in CSV", _is_csv),
}
"""By format; dumps of sacct are read only, and never replaced."""
