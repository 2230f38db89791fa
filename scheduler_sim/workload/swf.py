"""Standard Workload Format: 18 fields a record, comments behind a semicolon.

Fields are separated by blanks or tabs and are whole numbers, except average CPU time
(position 6) and used memory (position 7), which real logs give as decimals too. -1 means
unknown. Lines whose first character is ``;`` and blank lines are comments: they are kept with
their places. Header text is UTF-8, or else Latin-1.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from scheduler_sim.errors import TraceError
from scheduler_sim.workload.columns import shared
from scheduler_sim.workload.comments import Comments
from scheduler_sim.workload.fields import CANCELLED, NO_NODES, NO_RUN_TIME, SWF_FIELDS
from scheduler_sim.workload.lines import read_blocks
from scheduler_sim.workload.memory import check_memory
from scheduler_sim.workload.numbers import decimal, integer, parse_integers
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.table import Workload

FIELD_COUNT = 18
_CANCELLED_STATUS = 5
_DECIMAL = tuple(field.dtype == "float64" for field in SWF_FIELDS)
_BYTES_A_RECORD = 350  # of memory, from the raw columns to the finished table

_IS_BLANK = np.zeros(256, dtype=bool)
_IS_BLANK[[ord(" "), ord("\t"), ord("\r"), ord("\n")]] = True


def read_swf(path: str | Path) -> Workload:
    """Read an SWF trace, plain or gzip.

    nodes = requested processors (8) if above 0, else allocated (5); time limit = requested
    time (9) if above 0, else the run time (4), and at least 1 s. Records that were cancelled
    (status 5) with run time <= 0, with run time < 0, or with nodes <= 0 stay in the table,
    marked in ``skipped``. One node stands for one processor.

    Raises
    ------
    TraceError
        with file, line, field, value and what is allowed.
    """
    name = str(path)
    records = _read_records(path, name)
    encoding = records.comments.encoding()
    header, comments = records.comments.texts(encoding)
    source = TraceSource(
        format="swf", name=name, header=header, comments=comments, field_count=FIELD_COUNT, encoding=encoding
    )
    return Workload(_columns(records, source), source)


@dataclass
class _Records:
    columns: list[np.ndarray]
    comments: Comments


def _read_records(path: str | Path, name: str) -> _Records:
    comments = Comments(name)
    parts: list[list[np.ndarray]] = []
    lines = rows = 0
    for block in read_blocks(path):
        data = block if b";" not in block else _without_comments(block, rows, comments)
        part = _parse(data) if data else None
        if part is None and data:  # trouble, or only blank lines among the records
            data = _without_comments(block, rows, comments) if data is block else data
            part = _parse(data) if data else None
            if part is None and data:
                raise _diagnose(block, lines, name)
        lines += block.count(b"\n")
        if part is not None:
            parts.append(part)
            rows += len(part[0])
            check_memory(rows * _BYTES_A_RECORD, name, f"a trace of more than {rows} records")
    if not rows:
        raise TraceError(
            "no records: nothing but comments", file=name, allowed="at least one record of 18 fields"
        )
    return _Records([_joined(parts, position) for position in range(FIELD_COUNT)], comments)


def _joined(parts: list[list[np.ndarray]], position: int) -> np.ndarray:
    column = np.concatenate([part[position] for part in parts])
    for part in parts:
        part[position] = column[:0]
    return column


def _without_comments(block: bytes, rows: int, comments: Comments) -> bytes:
    kept = []
    for line in block.split(b"\n")[:-1]:
        text = line.strip(b" \t\r")
        if text and not text.startswith(b";"):
            kept.append(line)
        else:
            comments.add(rows + len(kept), line)
    return b"\n".join([*kept, b""])


def _parse(block: bytes) -> list[np.ndarray] | None:
    """Return the 18 columns of a block of records, None if anything in it is not as it must be."""
    data = np.frombuffer(block, dtype=np.uint8)
    blank = _IS_BLANK[data]
    starts, ends = _tokens(blank)
    before_line_end = np.searchsorted(starts, np.flatnonzero(data == ord("\n")))
    if not len(starts) or not (np.diff(before_line_end, prepend=0) == FIELD_COUNT).all():
        return None
    values, valid = parse_integers(data, starts, ends)
    table = values.reshape(-1, FIELD_COUNT)
    columns = [np.ascontiguousarray(table[:, position]) for position in range(FIELD_COUNT)]
    wrong = np.flatnonzero(~valid)
    if not all(_DECIMAL[token % FIELD_COUNT] for token in np.unique(wrong % FIELD_COUNT)):
        return None
    for position in np.flatnonzero(_DECIMAL):
        columns[position] = columns[position].astype(np.float64)
        for token in wrong[wrong % FIELD_COUNT == position]:
            number = decimal(block[starts[token] : ends[token]])
            if number is None:
                return None
            columns[position][token // FIELD_COUNT] = number
    return columns


def _tokens(blank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    edges = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    if not blank[0]:
        edges = np.concatenate([[0], edges])
    return edges[0::2], edges[1::2]


def _columns(records: _Records, source: TraceSource) -> dict[str, object]:
    """Return the columns of the table by rule 11."""
    raw = {field.name: column for field, column in zip(SWF_FIELDS, records.columns, strict=True)}
    records.columns.clear()
    _refuse_below_unknown(raw, source)
    columns: dict[str, object] = {}
    for field in SWF_FIELDS:
        values = raw[field.name]
        columns[field.name] = _numbers_as_text(values) if field.is_text else shared(values)
    nodes = swf_nodes(raw["listed_nodes"], raw["allocated_nodes"])
    run_time, listed = raw["run_time"], raw["listed_time_limit"]
    columns["component_id"] = columns["modular_job_id"]
    columns["nodes"] = nodes
    columns["time_limit"] = swf_time_limit(listed, run_time)
    columns["app"] = columns["listed_app"]
    columns["partition"] = _numbers_as_text(swf_partition(raw["listed_partition"], raw["queue"]))
    columns["status"] = swap_status(raw["status"])
    columns["skipped"] = _skipped(raw["status"], run_time, nodes)
    return columns


def _skipped(status: np.ndarray, run_time: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    cancelled = (status == _CANCELLED_STATUS) & (run_time <= 0)
    codes = np.select([cancelled, run_time < 0, nodes <= 0], [CANCELLED, NO_RUN_TIME, NO_NODES], 0)
    return codes.astype(np.int8)


def swf_nodes(requested: np.ndarray, allocated: np.ndarray) -> np.ndarray:
    """Return the nodes: requested processors (8) if above 0, else allocated (5)."""
    return np.where(requested > 0, requested, allocated)


def swf_time_limit(requested: np.ndarray, run_time: np.ndarray) -> np.ndarray:
    """Return the time limit: requested time (9) if above 0, else the run time (4), at least 1 s."""
    return np.maximum(np.where(requested > 0, requested, run_time), 1)


def swf_partition(partition: np.ndarray, queue: np.ndarray) -> np.ndarray:
    """Return the number that names the way in: the partition (16), else the queue (15)."""
    return np.where(partition == -1, queue, partition)


def swap_status(status: np.ndarray) -> np.ndarray:
    """Return SWF status codes in the sense of MWF or back: 0 and 1 change places."""
    return np.where((status == 0) | (status == 1), 1 - status, status)


def _numbers_as_text(values: np.ndarray) -> pd.Categorical:
    codes, numbers = pd.factorize(values)
    texts = ["" if number == -1 else str(number) for number in numbers]
    return pd.Categorical.from_codes(codes, categories=pd.Index(texts, dtype=object))


def _refuse_below_unknown(raw: dict[str, np.ndarray], source: TraceSource) -> None:
    for field in SWF_FIELDS:
        if field.unit == "nodes":
            wrong = raw[field.name] < -1
            if wrong.any():
                row = int(np.argmax(wrong))
                raise TraceError(
                    "negative number of processors",
                    file=source.name,
                    line=source.line_of(row),
                    field=field.place("swf"),
                    found=int(raw[field.name][row]),
                    allowed="1 or more; 0 or -1 = unknown",
                )


def _diagnose(block: bytes, lines: int, name: str) -> TraceError:
    """Return what is wrong with the first bad line of a block that did not parse."""
    for number, line in enumerate(block.split(b"\n")[:-1], start=lines + 1):
        text = line.strip(b" \t\r")
        if not text or text.startswith(b";"):
            continue
        error = _line_error(text.replace(b"\t", b" ").replace(b"\r", b" ").split(b" "), number, name)
        if error:
            return error
    return TraceError("not an SWF record", file=name, line=lines + 1)


def _line_error(words: list[bytes], line: int, name: str) -> TraceError | None:
    words = [word for word in words if word]
    for field, word in zip(SWF_FIELDS, words, strict=False):
        number = decimal(word) if field.dtype == "float64" else integer(word)
        if number is None:
            semicolons = " (fields are separated by blanks)" if b";" in word else ""
            kind = "a decimal number" if field.dtype == "float64" else "an integer within int64"
            return TraceError(
                f"not a number{semicolons}",
                file=name,
                line=line,
                field=field.place("swf"),
                found=word[:200].decode("utf-8", "backslashreplace"),
                allowed=f"{kind}; -1 = unknown",
            )
    if len(words) != FIELD_COUNT:
        return TraceError(
            "wrong number of fields",
            file=name,
            line=line,
            found=len(words),
            allowed="exactly 18, separated by blanks",
        )
    return None
