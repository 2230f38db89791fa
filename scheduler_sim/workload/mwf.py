"""Modular Workload Format: 42 fields a record, separated by semicolons.

Positions are those of the file (the published description leaves the licences, position 26,
without a number). Records of 41 fields lack position 42, those of 40 lack positions 20 and
34; a file may mix them. Number fields hold whole numbers, -1 = unknown; text fields are kept as
they came (-1, NA, no, empty). Lines that start with ``#``, blank lines, and lines that start
with ``;`` and have too few semicolons to be a record are comments, kept with their places.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from scheduler_sim.errors import TraceError
from scheduler_sim.workload.columns import map_text, shared
from scheduler_sim.workload.comments import Comments
from scheduler_sim.workload.fields import MWF_FIELDS, NO_NODES, NO_RUN_TIME
from scheduler_sim.workload.lines import read_blocks
from scheduler_sim.workload.memory import check_memory
from scheduler_sim.workload.mwf_text import is_missing
from scheduler_sim.workload.numbers import integer, parse_integers
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.table import Workload

#: Which 0-based positions a record of that many fields has.
LAYOUTS: dict[int, tuple[int, ...]] = {
    42: tuple(range(42)),
    41: tuple(range(41)),
    40: tuple(position for position in range(42) if position not in (19, 33)),
}
_NUMBERS = [position for position, field in enumerate(MWF_FIELDS) if not field.is_text]
_TEXTS = [position for position, field in enumerate(MWF_FIELDS) if field.is_text]
_ALLOWED_COUNTS = "42, 41 (no position 42) or 40 (no positions 20 and 34), separated by ;"
_LEAST = {
    "listed_nodes": (-1, "1 or more; 0 or -1 = unknown"),
    "listed_time_limit": (-1, "0 or more; -1 = none"),
    "run_time": (-1, "0 or more; -1 = unknown"),
}
_FEWEST_SEMICOLONS = min(LAYOUTS) - 1
_BYTES_A_RECORD = 750  # of memory, from the raw columns to the finished table


def read_mwf(path: str | Path) -> Workload:
    """Read an MWF trace, plain or gzip.

    component_id is position 8 where that is unique over the file; else the job id if every job
    has one component; else the line number, and then dependencies (39) name job ids. The time limit is
    position 6, at least 1 s; -1 stays -1. Records with run time -1 (unknown) or with 0 or -1
    nodes (the D2.2 trace has such) stay in the table, marked in ``skipped``.

    Raises
    ------
    TraceError
        with file, line, field, value and what is allowed.
    """
    name = str(path)
    comments = Comments(name)
    parts: list[_Part] = []
    lines = rows = 0
    for block in read_blocks(path):
        data = _without_comments(block, rows, comments)
        if data:
            part = _parse(data)
            if part is None:
                raise _diagnose(block, lines, name)
            parts.append(part)
            rows += len(part.counts)
            check_memory(rows * _BYTES_A_RECORD, name, f"a trace of more than {rows} records")
        lines += block.count(b"\n")
    if not rows:
        raise TraceError("no records", file=name, allowed="at least one record of 42 fields")
    return _workload(parts, comments, name)


def component_ids(listed: np.ndarray, jobs: np.ndarray, lines: np.ndarray) -> tuple[np.ndarray, str]:
    """Return the component ids, and which column dependencies name."""
    if not (listed == -1).any() and _unique(listed):
        return listed, "component_id"
    if _unique(jobs):
        return jobs, "component_id"
    return lines, "modular_job_id"


def mwf_time_limit(listed: np.ndarray) -> np.ndarray:
    """Return the time limit: position 6, at least 1 s; -1 (none) stays."""
    return np.where(listed < 0, listed, np.maximum(listed, 1))


def mwf_app(listed: str) -> str:
    """Return the application, empty if there is none."""
    return "" if is_missing(listed) else listed


def mwf_constraint(listed: str) -> str:
    """Return the node features asked for, empty if there are none."""
    return "" if is_missing(listed) else listed


def mwf_licences(listed: str) -> str:
    """Return the licences asked for, empty if there are none (``any`` names none)."""
    return "" if is_missing(listed) or listed.strip().lower() == "any" else listed


@dataclass
class _Part:
    """The records of one block: field counts, number columns, encoded text columns."""

    counts: np.ndarray
    numbers: dict[int, np.ndarray]
    texts: dict[int, pa.DictionaryArray]


def _unique(ids: np.ndarray) -> bool:
    return len(pd.unique(ids)) == len(ids)


def is_comment(line: bytes) -> bool:
    """Whether a line is blank or a comment: starts with #, or with ; and is too short for a record."""
    text = line.strip(b" \t\r")
    return (
        not text or text.startswith(b"#") or (text.startswith(b";") and text.count(b";") < _FEWEST_SEMICOLONS)
    )


def _without_comments(block: bytes, rows: int, comments: Comments) -> bytes:
    data = np.frombuffer(block, dtype=np.uint8)
    first = data[np.concatenate([[0], np.flatnonzero(data == ord("\n"))[:-1] + 1])]
    if not np.isin(first, np.frombuffer(b"#; \t\r\n", dtype=np.uint8)).any():
        return block
    kept: list[bytes] = []
    for line in block.split(b"\n")[:-1]:
        if is_comment(line):
            comments.add(rows + len(kept), line)
        else:
            kept.append(line)
    return b"\n".join([*kept, b""]) if kept else b""


def _parse(block: bytes) -> _Part | None:
    """Return the columns of a block of records, None if anything in it is not as it must be."""
    data = np.frombuffer(block, dtype=np.uint8)
    line_ends = np.flatnonzero(data == ord("\n"))
    line_starts = np.concatenate([[0], line_ends[:-1] + 1])
    separators = np.flatnonzero(data == ord(";"))
    before = np.searchsorted(separators, line_ends)
    counts = np.diff(before, prepend=0) + 1
    if not np.isin(counts, list(LAYOUTS)).all():
        return None
    carriage = (line_ends > line_starts) & (data[line_ends - 1] == ord("\r"))
    if np.count_nonzero(data == ord("\r")) != np.count_nonzero(carriage):
        return None
    line_ends = line_ends - carriage
    starts = np.zeros((len(counts), 42), dtype=np.int64)
    ends = np.full((len(counts), 42), -1, dtype=np.int64)  # -1: the record lacks the position
    for count, layout in LAYOUTS.items():
        rows = np.flatnonzero(counts == count)
        if rows.size:
            inner = separators[(before[rows] - (count - 1))[:, None] + np.arange(count - 1)]
            cells = np.ix_(rows, np.array(layout))
            starts[cells] = np.column_stack([line_starts[rows], inner + 1])
            ends[cells] = np.column_stack([inner, line_ends[rows]])
    numbers: dict[int, np.ndarray] = {}
    for position in _NUMBERS:
        values, valid = parse_integers(data, starts[:, position], ends[:, position])
        lacking = ends[:, position] < 0
        if not (valid | lacking).all():
            return None
        values[lacking] = -1
        numbers[position] = values
    ends = np.maximum(ends, starts)
    texts = {p: _texts(data, starts[:, p], ends[:, p]).dictionary_encode() for p in _TEXTS}
    return _Part(counts.astype(np.int8), numbers, texts)


def _texts(data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> pa.BinaryArray:
    widths = ends - starts
    offsets = np.concatenate([[0], np.cumsum(widths)])
    places = np.repeat(starts - offsets[:-1], widths) + np.arange(offsets[-1])
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data[places])]
    return pa.BinaryArray.from_buffers(pa.binary(), len(starts), buffers)


def _workload(parts: list[_Part], comments: Comments, name: str) -> Workload:
    texts = {p: _joined_texts([part.texts.pop(p) for part in parts]) for p in _TEXTS}
    encoding = comments.encoding()
    if encoding == "utf-8" and not all(_is_utf8(words) for _, words in texts.values()):
        encoding = "latin-1"
    header, between = comments.texts(encoding)
    counts = np.concatenate([part.counts for part in parts])
    source = TraceSource(
        format="mwf",
        name=name,
        header=header,
        comments=between,
        field_count=int(counts[0]) if (counts == counts[0]).all() else counts,
        encoding=encoding,
    )
    columns: dict[str, object] = {}
    for position, field in enumerate(MWF_FIELDS):
        if field.is_text:
            codes, words = texts.pop(position)
            decoded = pd.Index([word.decode(encoding) for word in words], dtype=object)
            columns[field.name] = pd.Categorical.from_codes(codes, categories=decoded)
        else:
            columns[field.name] = shared(np.concatenate([part.numbers.pop(position) for part in parts]))
    return _normalised(columns, source)


def _normalised(columns: dict[str, Any], source: TraceSource) -> Workload:
    """Return the workload with the columns that the simulator uses, by rule 12."""
    _refuse_numbers(columns, source)
    ids, named = component_ids(
        columns["listed_component_id"], columns["modular_job_id"], source.lines(len(columns["run_time"]))
    )
    columns["component_id"] = ids
    columns["nodes"] = columns["listed_nodes"]
    columns["time_limit"] = mwf_time_limit(columns["listed_time_limit"])
    columns["app"] = map_text(columns["listed_app"], mwf_app)
    columns["constraint"] = map_text(columns["listed_constraint"], mwf_constraint)
    columns["licences"] = map_text(columns["listed_licences"], mwf_licences)
    unknown = [columns["run_time"] == -1, columns["nodes"] <= 0]
    columns["skipped"] = np.select(unknown, [NO_RUN_TIME, NO_NODES], 0).astype(np.int8)
    return Workload(columns, replace(source, dependencies_name=named))


def _refuse_numbers(columns: dict[str, Any], source: TraceSource) -> None:
    for field in MWF_FIELDS:
        least, allowed = _LEAST.get(field.name, (None, ""))
        wrong = columns[field.name] < least if least is not None else np.False_
        if wrong.any():
            row = int(np.argmax(wrong))
            raise TraceError(
                "value out of range",
                file=source.name,
                line=source.line_of(row),
                field=field.place("mwf"),
                found=int(columns[field.name][row]),
                allowed=allowed,
            )


def _joined_texts(chunks: list[pa.DictionaryArray]) -> tuple[np.ndarray, list[bytes]]:
    joined = pa.chunked_array(chunks).unify_dictionaries().combine_chunks()
    if isinstance(joined, pa.ChunkedArray):
        joined = joined.chunk(0)
    return joined.indices.to_numpy(zero_copy_only=False), joined.dictionary.to_pylist()


def _is_utf8(words: list[bytes]) -> bool:
    try:
        for word in words:
            word.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _diagnose(block: bytes, lines: int, name: str) -> TraceError:
    """Return what is wrong with the first bad line of a block that did not parse."""
    for number, line in enumerate(block.split(b"\n")[:-1], start=lines + 1):
        if is_comment(line):
            continue
        words = line.removesuffix(b"\r").split(b";")
        if b"\r" in line.removesuffix(b"\r"):
            return TraceError("a carriage return within the line", file=name, line=number)
        if len(words) not in LAYOUTS:
            return TraceError(
                "wrong number of fields", file=name, line=number, found=len(words), allowed=_ALLOWED_COUNTS
            )
        for position, word in zip(LAYOUTS[len(words)], words, strict=True):
            if not MWF_FIELDS[position].is_text and integer(word) is None:
                return TraceError(
                    "not a number",
                    file=name,
                    line=number,
                    field=MWF_FIELDS[position].place("mwf"),
                    found=word[:200].decode("utf-8", "backslashreplace"),
                    allowed="an integer within int64; -1 = unknown",
                )
    return TraceError("not an MWF record", file=name, line=lines + 1)
