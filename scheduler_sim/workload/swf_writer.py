"""Writing a workload as SWF, and what of it SWF cannot say."""

from __future__ import annotations

import re
from typing import Any, BinaryIO

import numpy as np

from scheduler_sim.errors import TraceError
from scheduler_sim.texts import TextColumn, is_text_column
from scheduler_sim.workload.fields import SWF_FIELDS
from scheduler_sim.workload.lossy import lost_columns, without_skipped
from scheduler_sim.workload.mwf_text import is_missing
from scheduler_sim.workload.record_lines import encoding_for, lines_by_kind, lines_of, write_records
from scheduler_sim.workload.swf import swap_status, swf_nodes, swf_partition, swf_time_limit
from scheduler_sim.workload.swf_behind import FIELD_COUNT, behind_of
from scheduler_sim.workload.table import Workload

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")


def write_swf(workload: Workload, out: BinaryIO, name: str) -> list[str]:
    """Write a workload as SWF, one blank between fields; return notes on what was lost.

    What came from SWF goes back as it was: header, comments, skipped records, requested
    values, fields behind the 18th. From elsewhere: position 1 is the component id; nodes become
    requested processors (8) unless they are known as allocated (5); partitions, users, groups and
    applications with names are numbered in order of appearance, and the header says which is which; status 0
    and 1 change places; skipped records are left out unless their run time is -1; a time limit
    of -1 stays -1, which SWF reads as the run time.
    """
    counts, behind = behind_of(workload)
    notes = lost_columns(workload, "swf", carried=not behind)
    if workload.source.format != "swf":
        workload = without_skipped(workload, notes)
    source, table = workload.source, workload.columns
    raw = {field.name: table[field.name] for field in SWF_FIELDS}
    numbers = {name: np.asarray(column) for name, column in raw.items() if not is_text_column(column)}
    nodes, limit = (np.asarray(table[name]) for name in ("nodes", "time_limit"))
    numbers["modular_job_id"] = np.asarray(table["component_id"])
    said = swf_nodes(numbers["listed_nodes"], numbers["allocated_nodes"])
    numbers["listed_nodes"] = np.where(said == nodes, numbers["listed_nodes"], nodes)
    said = swf_time_limit(numbers["listed_time_limit"], numbers["run_time"])
    numbers["listed_time_limit"] = np.where(said == limit, numbers["listed_time_limit"], limit)
    numbers["status"] = swap_status(numbers["status"])

    names: list[str] = []
    for name, label in (("user", "User"), ("group", "Group"), ("queue", "Queue")):
        numbers[name] = _numbered(raw[name], label, names)
    numbers["listed_app"] = _numbered(table["app"], "Application", names)
    partition = _numbered(table["partition"], "Partition", names)
    listed = _numbered(raw["listed_partition"], "Partition", names)
    said = swf_partition(listed, numbers["queue"])
    numbers["listed_partition"] = np.where(said == partition, listed, partition)

    if names:
        notes.append(f"{len(names)} names became numbers; the header says which")
    header, comments = _header(workload, names, notes)
    words = (word for one in behind if is_text_column(one) for word in one.categories)
    encoding = encoding_for(source.encoding, [*header, *(text for _, text in comments), *words], name)
    columns: list[Any] = [*(numbers[field.name] for field in SWF_FIELDS), *behind]
    made = {
        count: lines_of(columns[:count], " ", encoding)
        for count in np.unique(counts).tolist() or [FIELD_COUNT]
    }
    write_records(out, name, header, comments, lines_by_kind(counts, made), len(workload), encoding)
    return notes


def _header(
    workload: Workload, names: list[str], notes: list[str]
) -> tuple[list[str], list[tuple[int, str]]]:
    source = workload.source
    if source.format == "swf":
        header, comments = list(source.header), list(source.comments)
    else:
        count = len(workload)
        header = [
            "; Version: 2.2",
            f"; MaxJobs: {count}",
            f"; MaxRecords: {count}",
            *map(_as_comment, source.header),
        ]
        comments = [(row, _as_comment(line)) for row, line in source.comments]
    for line in (*header, *(line for _, line in comments)):
        if line.strip() and not line.strip(" \t").startswith(";"):
            raise TraceError("a header line of SWF must start with ;", found=line)
    return [*header, *(f"; {name}" for name in names)], comments


def _as_comment(line: str) -> str:
    return f";{line.strip().lstrip('#;')}" if line.strip() else line


def _numbered(column: TextColumn, label: str, names: list[str]) -> np.ndarray:
    """Return numbers for texts: missing is -1, numbers stay, names get the next free number."""
    texts = list(column.categories)
    numbers = {
        text: -1 if is_missing(text) else int(text) for text in texts if is_missing(text) or _is_number(text)
    }
    free, taken = 1, set(numbers.values())
    for text in texts:
        if text not in numbers:
            while free in taken:
                free += 1
            numbers[text] = free
            taken.add(free)
            names.append(f"{label}: {free} {text}")
    numbered: np.ndarray = np.array([numbers[text] for text in texts], dtype=np.int64)[column.codes]
    return numbered


def _is_number(text: str) -> bool:
    return bool(_INTEGER.fullmatch(text))
