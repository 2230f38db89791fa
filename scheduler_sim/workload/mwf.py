"""Modular Workload Format: 42 fields a record, separated by semicolons.

Positions are those of the file (the published description leaves the licences, position 26,
without a number). Records of 41 fields lack position 42, those of 40 lack positions 20 and
34; a file may mix them. Number fields hold whole numbers, -1 = unknown; text fields are kept as
they came (-1, NA, no, empty). Lines that start with ``#``, blank lines, and lines that start
with ``;`` and have too few semicolons to be a record are comments, kept with their places.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.errors import TraceError
from scheduler_sim.texts import TextColumn
from scheduler_sim.workload.block_columns import Block, Growing, Texts, parse_block
from scheduler_sim.workload.columns import by_row, is_shared
from scheduler_sim.workload.comments import Comments
from scheduler_sim.workload.fields import MWF_FIELDS, NO_NODES, NO_RUN_TIME
from scheduler_sim.workload.left_out import JobsLeftOut, LeftOut, built
from scheduler_sim.workload.lines import read_blocks
from scheduler_sim.workload.memory import check_memory
from scheduler_sim.workload.mwf_text import is_missing
from scheduler_sim.workload.numbers import integer
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.table import Workload
from scheduler_sim.workload.validation import MAX_WATTS

#: Which 0-based positions a record of that many fields has.
LAYOUTS: dict[int, tuple[int, ...]] = {
    42: tuple(range(42)),
    41: tuple(range(41)),
    40: tuple(position for position in range(42) if position not in (19, 33)),
}
_JOB, _TOTAL = 0, 1  # 0-based positions of the job and of how many components it has
_KINDS = [field.dtype for field in MWF_FIELDS]
_ALLOWED_COUNTS = "42, 41 (no position 42) or 40 (no positions 20 and 34), separated by ;"
_LEAST = {
    "listed_nodes": (-1, "1 or more; 0 or -1 = unknown"),
    "listed_time_limit": (-1, "0 or more; -1 = none"),
    "run_time": (-1, "0 or more; -1 = unknown"),
}
_FEWEST_SEMICOLONS = min(LAYOUTS) - 1
_BYTES_A_RECORD = 500  # of memory, from the raw columns to the finished table


def read_mwf(path: str | Path, left: LeftOut | None = None) -> Workload:
    """Read an MWF trace, plain or packed.

    component_id is position 8 where that is unique over the file; else the job id if every job
    has one component; else the line number, and then dependencies (39) name job ids. The time limit is
    position 6, at least 1 s; -1 stays -1. Records with run time -1 (unknown) or with 0 or -1
    nodes (the D2.2 trace has such) stay in the table, marked in ``skipped``.

    Raises
    ------
    TraceError
        with file, line, field, value and what is allowed; for no line that is left out instead. With a line
        its job is left out.
    """
    name, left = str(path), left or LeftOut()
    jobs = JobsLeftOut()
    records, comments = _read_records(path, name, left, jobs)
    if left.skips and (gone := jobs.rows(records[_JOB], records[_TOTAL])).size:
        if len(gone) == len(records[_JOB]):
            raise left.nothing_left(name)
        left.add_of_jobs(len(gone))
        kept = np.delete(np.arange(len(records[_JOB])), gone)
        records, comments = [column.take(kept) for column in records], comments.without(gone)

    def workload(records: Block, comments: Comments) -> Workload:
        return _workload(records, comments, name, left.notes())

    return built(workload, records, comments, left, records[_JOB])


def component_ids(listed: np.ndarray, jobs: np.ndarray, source: TraceSource) -> tuple[np.ndarray, str]:
    """Return the component ids, and which column dependencies name."""
    if not (listed == -1).any() and _unique(listed):
        return listed, "component_id"
    if _unique(jobs):
        return jobs, "component_id"
    return source.lines(len(jobs)), "modular_job_id"


def mwf_time_limit(listed: np.ndarray) -> np.ndarray:
    """Return the time limit: position 6, at least 1 s; -1 (none) stays."""
    none = listed == 0
    return np.where(none, 1, listed) if none.any() else listed


def mwf_power(listed: np.ndarray) -> np.ndarray:
    """Return the power that was measured, W: position 34; what no power can be says nothing."""
    return np.where((listed < 0) | (listed > MAX_WATTS), -1.0, listed.astype(np.float64))


def mwf_app(listed: str) -> str:
    """Return the application, empty if there is none."""
    return "" if is_missing(listed) else listed


def mwf_constraint(listed: str) -> str:
    """Return the node features asked for, empty if there are none."""
    return "" if is_missing(listed) else listed


def mwf_licences(listed: str) -> str:
    """Return the licences asked for, empty if there are none (``any`` names none)."""
    return "" if is_missing(listed) or listed.strip().lower() == "any" else listed


def _unique(ids: np.ndarray) -> bool:
    return bool((ids[1:] > ids[:-1]).all()) or len(pd.unique(ids)) == len(ids)


def is_comment(line: bytes) -> bool:
    """Whether a line is blank or a comment: starts with #, or with ; and is too short for a record."""
    text = line.strip(b" \t\r")
    return (
        not text or text.startswith(b"#") or (text.startswith(b";") and text.count(b";") < _FEWEST_SEMICOLONS)
    )


def _read_records(path: str | Path, name: str, left: LeftOut, jobs: JobsLeftOut) -> tuple[Block, Comments]:
    """Return the 42 columns of a file as they stand in it, the number of fields behind them; and comments."""
    comments = Comments(name)
    table = Growing([*_KINDS, "int8"])
    rows = 0
    for block in read_blocks(path, left):
        lines = rows + len(comments.found)
        if left.skips:
            block = _readable(block, lines, name, left, jobs)
        part = _parse(block)
        if part is None and (data := _without_comments(block, rows, comments)):
            part = _parse(data) or _parse_mixed(data) or _parse_lines(block, lines, name)
        if part is not None:
            table.add(part)
            rows += len(part[0])
            check_memory(rows * _BYTES_A_RECORD, name, f"a trace of more than {rows} records")
    if not rows:
        if left.total:
            raise left.nothing_left(name)
        raise TraceError("no records", file=name, allowed="at least one record of 42 fields")
    return table.whole(), comments


def _readable(block: bytes, lines: int, name: str, left: LeftOut, jobs: JobsLeftOut) -> bytes:
    """Return a block with an empty line for each that is no record and no comment; counts them."""
    if _parse(block) is not None:
        return block

    def check(line: bytes, number: int) -> None:
        if not is_comment(line):
            try:
                _record(line.removesuffix(b"\r"), number, name)
            except TraceError:
                jobs.add(integer(line.partition(b";")[0]))
                raise

    return left.checked(block, lines + 1, check)


def _without_comments(block: bytes, rows: int, comments: Comments) -> bytes:
    kept: list[bytes] = []
    for line in block.split(b"\n")[:-1]:
        if is_comment(line):
            comments.add(rows + len(kept), line)
        else:
            kept.append(line)
    return b"\n".join([*kept, b""])


def _parse(block: bytes) -> Block | None:
    """Return the columns of a block of records, None if they are of different numbers of fields or worse."""
    if b"\r" in block:
        if block.count(b"\r") != block.count(b"\r\n"):
            return None
        block = block.replace(b"\r\n", b"\n")
    count = block.count(b";", 0, block.index(b"\n")) + 1
    layout = LAYOUTS.get(count, ())
    columns = parse_block(block, ";", [_KINDS[position] for position in layout]) if layout else None
    if columns is None:
        return None
    rows = len(columns[0])
    there = dict(zip(layout, columns, strict=True))
    whole = [there[place] if place in there else _lacking(kind, rows) for place, kind in enumerate(_KINDS)]
    return [*whole, np.broadcast_to(np.int8(count), rows)]


def _lacking(kind: str, rows: int) -> np.ndarray | Texts:
    """Return the column of a position that no record has."""
    return Texts.of([b""] * rows) if kind == "text" else np.broadcast_to(np.int64(-1), rows)


def _parse_mixed(block: bytes) -> Block | None:
    """Return the columns of records of different numbers of fields, None if any is not as it must be."""
    lines = block.split(b"\n")[:-1]
    counts = np.array([line.count(b";") + 1 for line in lines])
    kinds = np.unique(counts)
    if len(kinds) == 1 or not np.isin(kinds, list(LAYOUTS)).all():
        return None
    table = Growing([*_KINDS, "int8"])
    for count in kinds:
        alike = _parse(b"".join(lines[row] + b"\n" for row in np.flatnonzero(counts == count)))
        if alike is None:
            return None
        table.add(alike)
    place = np.argsort(np.argsort(counts, kind="stable"))
    return [column.take(place) for column in table.whole()]


def _parse_lines(block: bytes, lines: int, name: str) -> Block:
    """Return the columns of a block by the plain rules; raises TraceError for the first wrong line."""
    records: list[list[Any]] = []
    for number, line in enumerate(block.split(b"\n")[:-1], start=lines + 1):
        if not is_comment(line):
            records.append(_record(line.removesuffix(b"\r"), number, name))
    return [
        Texts.of(values) if kind == "text" else np.array(values, dtype=kind)
        for kind, values in zip([*_KINDS, "int8"], zip(*records, strict=True), strict=True)
    ]


def _record(line: bytes, number: int, name: str) -> list[Any]:
    """Return what one record says, and its number of fields."""
    if b"\r" in line:
        raise TraceError("a carriage return within the line", file=name, line=number)
    words = line.split(b";")
    if len(words) not in LAYOUTS:
        raise TraceError(
            "wrong number of fields", file=name, line=number, found=len(words), allowed=_ALLOWED_COUNTS
        )
    record: list[Any] = [b"" if kind == "text" else -1 for kind in _KINDS]
    for position, word in zip(LAYOUTS[len(words)], words, strict=True):
        record[position] = word if _KINDS[position] == "text" else integer(word)
        if record[position] is None:
            raise TraceError(
                "not a number",
                file=name,
                line=number,
                field=MWF_FIELDS[position].place("mwf"),
                found=word[:200].decode("utf-8", "backslashreplace"),
                allowed="an integer within int64; -1 = unknown",
            )
    return [*record, len(words)]


def _workload(records: Block, comments: Comments, name: str, notes: tuple[str, ...]) -> Workload:
    counts = records.pop()
    texts = [column for column in records if isinstance(column, Texts)]
    encoding = comments.encoding()
    if encoding == "utf-8" and not all(_is_utf8(text.words) for text in texts):
        encoding = "latin-1"
    header, between = comments.texts(encoding)
    source = TraceSource(
        format="mwf",
        name=name,
        header=header,
        comments=between,
        field_count=int(counts[0]) if is_shared(counts) else counts,
        encoding=encoding,
        notes=notes,
    )
    columns: dict[str, Any] = {}
    for field in MWF_FIELDS:
        column = records.pop(0)
        columns[field.name] = _decoded(column, encoding) if isinstance(column, Texts) else column
    return _normalised(columns, source)


def _decoded(texts: Texts, encoding: str) -> TextColumn:
    return TextColumn(texts.codes, [word.decode(encoding) for word in texts.words])


def _normalised(columns: dict[str, Any], source: TraceSource) -> Workload:
    """Return the workload with the columns that the simulator uses, by rule 12."""
    _refuse_numbers(columns, source)
    ids, named = component_ids(columns["listed_component_id"], columns["modular_job_id"], source)
    columns["component_id"] = ids
    columns["nodes"] = columns["listed_nodes"]
    columns["time_limit"] = by_row(mwf_time_limit, columns["listed_time_limit"])
    columns["measured_power_w"] = by_row(mwf_power, columns["average_power_w"])
    columns["app"] = columns["listed_app"].mapped(mwf_app)
    columns["constraint"] = columns["listed_constraint"].mapped(mwf_constraint)
    columns["licences"] = columns["listed_licences"].mapped(mwf_licences)
    columns["skipped"] = by_row(_skipped, columns["run_time"], columns["nodes"])
    return Workload(columns, replace(source, dependencies_name=named))


def _skipped(run_time: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    codes = np.zeros(len(nodes), dtype=np.int8)
    codes[nodes <= 0] = NO_NODES
    codes[run_time == -1] = NO_RUN_TIME
    return codes


def _refuse_numbers(columns: dict[str, Any], source: TraceSource) -> None:
    for field in MWF_FIELDS:
        least, allowed = _LEAST.get(field.name, (None, ""))
        wrong = columns[field.name] < least if least is not None else np.False_
        if wrong.any():
            row = int(np.argmax(wrong))
            error = TraceError(
                "value out of range",
                file=source.name,
                line=source.line_of(row),
                field=field.place("mwf"),
                found=int(columns[field.name][row]),
                allowed=allowed,
            )
            error.rows = np.flatnonzero(wrong)
            raise error


def _is_utf8(words: list[bytes]) -> bool:
    try:
        for word in words:
            word.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
