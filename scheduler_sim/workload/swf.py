"""Standard Workload Format: 18 fields a record, comments behind a semicolon.

Fields are separated by blanks or tabs and are whole numbers, except average CPU time
(position 6) and used memory (position 7), which real logs give as decimals too. -1 means
unknown. Where others have decimals, submissions are rounded down, all else up, and a note says how many.
Fields behind the 18th, numbers or text, are carried on; records may differ in how many they have.
Lines whose first character is ``;`` and blank lines are comments: they are kept with
their places. Header text is UTF-8, or else Latin-1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from scheduler_sim.errors import TraceError
from scheduler_sim.texts import TextColumn
from scheduler_sim.workload.block_columns import Block, Growing, parse_block
from scheduler_sim.workload.columns import by_row, is_shared, once
from scheduler_sim.workload.comments import Comments
from scheduler_sim.workload.fields import CANCELLED, NO_NODES, NO_RUN_TIME, PARTIAL, SWF_FIELDS
from scheduler_sim.workload.left_out import LeftOut, built
from scheduler_sim.workload.lines import MAX_LINE_BYTES, read_blocks
from scheduler_sim.workload.memory import check_memory
from scheduler_sim.workload.numbers import decimal, integer
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.swf_behind import (
    FIELD_COUNT,
    MOST_FIELDS,
    Behind,
    carried_behind,
    cut,
    notes_on,
    words_in,
)
from scheduler_sim.workload.table import Workload

_ROUNDED_DOWN = "submit_time"
_EXACT = 2.0**53
_CANCELLED_STATUS = 5
_PARTIAL = (2, 3, 4)
"""Status of a part of a job that was stopped: to be continued, the last and good, the last and failed."""
_BYTES_A_RECORD = 250  # of memory, from the raw columns to the finished table
_BYTES_A_FIELD_BEHIND = 20

_KINDS = ["float64" if field.dtype == "float64" else "int64" for field in SWF_FIELDS]
_BLANKS = b" \t\r"
_AS_BLANK = bytes.maketrans(_BLANKS, b"   ")
_LINE_END = np.uint8(ord("\n"))


def read_swf(path: str | Path, left: LeftOut | None = None) -> Workload:
    """Read an SWF trace, plain or packed.

    nodes = requested processors (8) if above 0, else allocated (5); time limit = requested
    time (9) if above 0, else the run time (4), and at least 1 s. Records that were cancelled
    (status 5) with run time <= 0, with run time < 0, or with nodes <= 0 stay in the table,
    marked in ``skipped``, as do partial executions (status 2 to 4) of jobs that have a line for all of
    them. One node stands for one processor.

    Raises
    ------
    TraceError
        with file, line, field, value and what is allowed; for no line that is left out instead.
    """
    name, left = str(path), left or LeftOut()
    numbers, found, rounded = _read_records(path, name, left)

    def workload(numbers: Block, found: Comments) -> Workload:
        return _workload(numbers, found, (*_notes(rounded), *notes_on(*_behind(numbers)), *left.notes()))

    return built(workload, numbers, found, left)


def _workload(numbers: Block, found: Comments, notes: tuple[str, ...]) -> Workload:
    counts, behind = _behind(numbers)
    encoding = found.encoding(words_in(behind))
    header, comments = found.texts(encoding)
    alike = bool((counts == counts[0]).all())
    source = TraceSource(
        format="swf",
        name=found.name,
        header=header,
        comments=comments,
        field_count=int(counts[0]) if alike else counts,
        encoding=encoding,
        notes=notes,
    )
    columns, partial = _columns(numbers[:FIELD_COUNT], source)
    if partial:
        source = replace(source, notes=(*source.notes, partial))
    return Workload(columns, source, carried=carried_behind(behind, encoding))


def _behind(numbers: Block) -> tuple[np.ndarray, list[Any]]:
    """Return how many fields each record has, and the columns behind the 18th."""
    return numbers[FIELD_COUNT], numbers[FIELD_COUNT + 1 :]


def _notes(rounded: np.ndarray) -> Iterator[str]:
    """Yield how many values were rounded, by field."""
    for field, count in zip(SWF_FIELDS, rounded.tolist(), strict=True):
        if count:
            way = "down" if field.name == _ROUNDED_DOWN else "up"
            yield f"field {field.place('swf')}: {count:,} values rounded {way} to whole numbers"


def _read_records(path: str | Path, name: str, left: LeftOut) -> tuple[Block, Comments, np.ndarray]:
    """Return the columns of a file as they stand in it, its comments, and how many of each were rounded.

    Behind the first 18 columns stands how many fields each record has, then what is behind its 18th.
    """
    comments, table, behind = Comments(name), Growing(_KINDS), Behind()
    rounded, rows = np.zeros(FIELD_COUNT, dtype=np.int64), 0
    for block in read_blocks(path, left):
        lines = rows + len(comments.found)
        if left.skips:
            block = _readable(block, lines, name, left)
        data = block if b";" not in block else _without_comments(block, rows, comments)
        if not data:
            continue
        part = _parse(data, _kinds(data))
        if part is None and data is block and (data := _without_comments(block, rows, comments)):
            part = _parse(data, _kinds(data))
        if part is None and data:
            part = _parse_decimals(data, _kinds(data), rounded)
        if part is not None:
            counts, more = np.full(len(part[0]), len(part), dtype=np.int8), part[FIELD_COUNT:]
        elif data:
            part, counts, more = _parse_cut(data, block, lines, name, rounded)
        if part is not None:
            table.add(part[:FIELD_COUNT])
            behind.add(counts, more)
            rows += len(counts)
            bytes_each = _BYTES_A_RECORD + _BYTES_A_FIELD_BEHIND * (behind.width - FIELD_COUNT)
            check_memory(rows * bytes_each, name, f"a trace of more than {rows} records")
    if not rows:
        if left.total:
            raise left.nothing_left(name)
        raise TraceError(
            "no records: nothing but comments", file=name, allowed="at least one record of 18 fields"
        )
    return [*table.whole(), *behind.whole()], comments, rounded


def _kinds(data: bytes) -> list[str]:
    """Return the kinds of the fields of records as wide as the first, with numbers behind the 18th."""
    first = data[: MAX_LINE_BYTES + 1].lstrip().split(b"\n", 1)[0]
    return [*_KINDS, *["float64"] * (min(len(first.split()), MOST_FIELDS) - FIELD_COUNT)]


def _without_comments(block: bytes, rows: int, comments: Comments) -> bytes:
    kept = []
    for line in block.split(b"\n")[:-1]:
        text = line.strip(_BLANKS)
        if text and not text.startswith(b";"):
            kept.append(line)
        else:
            comments.add(rows + len(kept), line)
    return b"\n".join([*kept, b""])


def _readable(block: bytes, lines: int, name: str, left: LeftOut) -> bytes:
    """Return a block with an empty line for each that is no record and no comment; counts them."""
    data = block if b";" not in block else _without_comments(block, 0, Comments(name))
    if not data or _parse(data, _kinds(data)) is not None:
        return block
    uncounted = np.zeros(FIELD_COUNT, dtype=np.int64)

    def check(line: bytes, number: int) -> None:
        if line.strip(_BLANKS) and not line.strip(_BLANKS).startswith(b";"):
            _record(_words(line), number, name, uncounted)

    return left.checked(block, lines + 1, check)


def _words(line: bytes) -> list[bytes]:
    return [word for word in line.translate(_AS_BLANK).split(b" ") if word]


def _parse(block: bytes, kinds: list[str]) -> Block | None:
    """Return the columns of a block of records, None if anything in it is not as it must be."""
    return parse_block(block, " ", kinds) or parse_block(_single_blanks(block), " ", kinds)


def _parse_decimals(block: bytes, kinds: list[str], rounded: np.ndarray) -> Block | None:
    """Return the columns of a block with decimals where whole numbers belong, rounded; counts them."""
    found = _parse(block, ["float64"] * len(kinds))
    if found is None or any((np.abs(once(values)) >= _EXACT).any() for values in found):
        return None
    for place, (field, kind) in enumerate(zip(SWF_FIELDS, _KINDS, strict=True)):
        if kind == "int64":
            values = found[place]
            rounded[place] += np.count_nonzero(values != np.rint(values))
            toward = np.floor if field.name == _ROUNDED_DOWN else np.ceil
            found[place] = by_row(lambda some, toward=toward: toward(some).astype(np.int64), values)
    return found


def _single_blanks(block: bytes) -> bytes:
    """Return lines with one blank between their words, and none around them."""
    text = np.frombuffer(block, dtype=np.uint8)
    spare = _is_blank(text)
    spare[:-1] &= spare[1:] | (text[1:] == _LINE_END)
    text = text[~spare]
    first = np.append(_LINE_END, text[:-1]) == _LINE_END
    single: bytes = text[~(first & _is_blank(text))].tobytes()
    return single.translate(_AS_BLANK) if b"\t" in single or b"\r" in single else single


def _is_blank(text: np.ndarray) -> np.ndarray:
    blank: np.ndarray = (text == _BLANKS[0]) | (text == _BLANKS[1]) | (text == _BLANKS[2])
    return blank


def _parse_cut(
    data: bytes, block: bytes, lines: int, name: str, rounded: np.ndarray
) -> tuple[Block, np.ndarray, list[Any]]:
    """Return the first 18 columns of records that differ, how many fields each has, and the columns behind.

    ``data`` is a block without its comments. Raises TraceError for the first wrong line.
    """
    records = [_words(line) for line in data.split(b"\n")[:-1]]
    if not all(FIELD_COUNT <= len(words) <= MOST_FIELDS for words in records):
        _parse_lines(block, lines, name, rounded)  # which says where
    first, counts, more = cut(records)
    found = _parse(first, _KINDS) or _parse_decimals(first, _KINDS, rounded)
    return found or _parse_lines(block, lines, name, rounded), counts, more


def _parse_lines(block: bytes, lines: int, name: str, rounded: np.ndarray) -> Block:
    """Return the first 18 columns of a block by the plain rules; TraceError for the first wrong line."""
    records = []
    for number, line in enumerate(block.split(b"\n")[:-1], start=lines + 1):
        if line.strip(_BLANKS) and not line.strip(_BLANKS).startswith(b";"):
            records.append(_record(_words(line), number, name, rounded))
    return [
        np.array(values, dtype=kind) for values, kind in zip(zip(*records, strict=True), _KINDS, strict=True)
    ]


def _columns(numbers: list[np.ndarray], source: TraceSource) -> tuple[dict[str, object], str]:
    """Return the columns of the table by rule 11, and what there is to say of partial executions."""
    raw = {field.name: column for field, column in zip(SWF_FIELDS, numbers, strict=True)}
    _refuse_below_unknown(raw, source)
    columns: dict[str, object] = {
        field.name: _numbers_as_text(raw[field.name]) if field.is_text else raw[field.name]
        for field in SWF_FIELDS
    }
    nodes = by_row(swf_nodes, raw["listed_nodes"], raw["allocated_nodes"])
    run_time, status = raw["run_time"], raw["status"]
    columns["component_id"] = columns["modular_job_id"]
    columns["nodes"] = nodes
    columns["time_limit"] = by_row(swf_time_limit, raw["listed_time_limit"], run_time)
    columns["app"] = columns["listed_app"]
    columns["partition"] = _numbers_as_text(by_row(swf_partition, raw["listed_partition"], raw["queue"]))
    columns["status"] = by_row(swap_status, status)
    skipped, told = by_row(_skipped, status, run_time, nodes), ""
    if np.isin(once(status), _PARTIAL).any():
        skipped, told = _without_parts(raw, np.array(skipped))
    columns["skipped"] = skipped
    return columns, told


def _without_parts(raw: dict[str, np.ndarray], skipped: np.ndarray) -> tuple[np.ndarray, str]:
    """Mark partial executions of jobs that have a line for the whole; say what becomes of all others.

    Those are jobs of their own, as nothing else tells of them; without a submit time they cannot be.
    """
    part = np.isin(raw["status"], _PARTIAL)
    of_whole = part & np.isin(raw["modular_job_id"], raw["modular_job_id"][~part])
    alone = part & ~of_whole
    undated = alone & (raw["submit_time"] < 0)
    skipped[of_whole | undated] = PARTIAL
    if not alone.any():
        return skipped, ""
    count = int(alone.sum())
    parts = f"{count:,} partial execution{'s' * (count > 1)} (status 2 to 4)"
    told = f"{parts} of jobs without a line of status 0 or 1, each taken as a job of its own"
    if undated.any():
        told += f"; {int(undated.sum()):,} of them left out, as they have no submit time"
    return skipped, told


def _skipped(status: np.ndarray, run_time: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    codes = np.zeros(len(nodes), dtype=np.int8)
    codes[nodes <= 0] = NO_NODES
    codes[run_time < 0] = NO_RUN_TIME
    codes[(status == _CANCELLED_STATUS) & (run_time <= 0)] = CANCELLED
    return codes


def swf_nodes(requested: np.ndarray, allocated: np.ndarray) -> np.ndarray:
    """Return the nodes: requested processors (8) if above 0, else allocated (5)."""
    said = requested > 0
    return requested if said.all() else np.where(said, requested, allocated)


def swf_time_limit(requested: np.ndarray, run_time: np.ndarray) -> np.ndarray:
    """Return the time limit: requested time (9) if above 0, else the run time (4), at least 1 s."""
    said = requested > 0
    return requested if said.all() else np.maximum(np.where(said, requested, run_time), 1)


def swf_partition(partition: np.ndarray, queue: np.ndarray) -> np.ndarray:
    """Return the number that names the way in: the partition (16), else the queue (15)."""
    return np.where(partition == -1, queue, partition)


def swap_status(status: np.ndarray) -> np.ndarray:
    """Return SWF status codes in the sense of MWF or back: 0 and 1 change places."""
    return np.where((status == 0) | (status == 1), 1 - status, status)


def _numbers_as_text(values: np.ndarray) -> TextColumn | str:
    if is_shared(values):
        return _as_text(values[0])
    numbers, codes = np.unique(values, return_inverse=True)
    return TextColumn(codes, [_as_text(number) for number in numbers])


def _as_text(number: int) -> str:
    return "" if number == -1 else str(number)


def _refuse_below_unknown(raw: dict[str, np.ndarray], source: TraceSource) -> None:
    for field in SWF_FIELDS:
        if field.unit == "nodes":
            wrong = raw[field.name] < -1
            if wrong.any():
                row = int(np.argmax(wrong))
                error = TraceError(
                    "negative number of processors",
                    file=source.name,
                    line=source.line_of(row),
                    field=field.place("swf"),
                    found=int(raw[field.name][row]),
                    allowed="1 or more; 0 or -1 = unknown",
                )
                error.rows = np.flatnonzero(wrong)
                raise error


def _whole(word: bytes, place: int, rounded: np.ndarray) -> int | None:
    """Return the whole number that a word is, a decimal one rounded and counted; None if it is none."""
    number = integer(word)
    if number is None and (value := decimal(word)) is not None and abs(value) < _EXACT and b"." in word:
        number = math.floor(value) if SWF_FIELDS[place].name == _ROUNDED_DOWN else math.ceil(value)
        rounded[place] += number != value
    return number


def _record(words: list[bytes], line: int, name: str, rounded: np.ndarray) -> list[int | float]:
    """Return the 18 numbers of one record; decimals where whole numbers belong are rounded, and counted."""
    numbers: list[int | float] = []
    if len(words) > 1 and not any(decimal(word) is not None for word in words):
        raise TraceError(
            "words, not a record of numbers",
            file=name,
            line=line,
            found=b" ".join(words)[:200].decode("utf-8", "backslashreplace"),
            allowed="records; a line of names or text begins with ;",
        )
    for place, word in enumerate(words[:FIELD_COUNT]):
        is_whole = _KINDS[place] == "int64"
        number = _whole(word, place, rounded) if is_whole else decimal(word)
        if number is None:
            semicolons = " (fields are separated by blanks)" if b";" in word else ""
            allowed = "an integer within int64" if is_whole else "a decimal number"
            raise TraceError(
                f"not a number{semicolons}",
                file=name,
                line=line,
                field=SWF_FIELDS[place].place("swf"),
                found=word[:200].decode("utf-8", "backslashreplace"),
                allowed=f"{allowed}; -1 = unknown",
            )
        numbers.append(number)
    if not FIELD_COUNT <= len(words) <= MOST_FIELDS:
        raise TraceError(
            "wrong number of fields",
            file=name,
            line=line,
            found=len(words),
            allowed=f"{FIELD_COUNT}, or up to {MOST_FIELDS}, separated by blanks; -1 for what is not known",
        )
    return numbers
