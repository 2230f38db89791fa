"""Tables of others as they are: CSV, Parquet, JSON lines, column by column, nothing believed yet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.json as arrow_json
import pyarrow.parquet as parquet

from scheduler_sim.errors import TraceError
from scheduler_sim.workload.left_out import LeftOut
from scheduler_sim.workload.lines import read_blocks
from scheduler_sim.workload.memory import check_memory

SEPARATORS = ",;\t|"
"""Of CSV: the one that the header has most of, unless a column map says which."""

_BYTES_A_CELL = 64
_DEEPEST = 4  # mappings within one another in JSON

WRONG_COUNT = "wrong number of fields"
NO_JSON = "not a JSON object"


@dataclass(frozen=True)
class BadLine:
    """A line that is no row: its number (None: not known), what is wrong, what was found."""

    line: int | None
    kind: str
    found: str
    allowed: str = ""


@dataclass(frozen=True)
class ForeignTable:
    """A table of others.

    Attributes
    ----------
    name : of the file; kind : csv, parquet or jsonl
    columns : by their names, as Arrow has them: those of a CSV are text
    rows : how many rows there are; lines : int64[rows], 1-based, None where rows are no lines
    bad : lines that are no rows; left : those that are no text, where lines may be left out
    """

    name: str
    kind: str
    columns: dict[str, pa.Array]
    rows: int
    lines: np.ndarray | None = None
    bad: list[BadLine] = field(default_factory=list)
    left: LeftOut = field(default_factory=LeftOut)

    def line_of(self, row: int) -> int | None:
        """Return the 1-based line of a row, None if it is in none."""
        return None if self.lines is None else int(self.lines[row])


def read_foreign(
    path: str | Path,
    kind: str,
    separator: str | None = None,
    on_error: str = "stop",
    lists: Container[str] = (),
) -> ForeignTable:
    """Read a table; lines that are no rows are kept aside. Raises TraceError for what is no table at all.

    ``lists`` : columns of which lists are wanted; of Parquet, others are there as if they said nothing.
    """
    name, left = str(path), LeftOut(skips=on_error == "skip")
    if kind == "parquet":
        table = _read_parquet(path, name, lists)
    else:
        table = _READERS[kind](path, name, separator, left)
    if not table.rows and left.total:
        raise left.nothing_left(name)
    if not table.rows and not table.bad:
        raise TraceError("no records", file=name, allowed="at least one row")
    return table


# -- CSV


def _read_csv(path: str | Path, name: str, separator: str | None, left: LeftOut) -> ForeignTable:
    data = text_of(path, name, left)
    head = data[: data.find(b"\n")].decode("utf-8").rstrip("\r")
    separator = separator or max(SEPARATORS, key=head.count)
    try:
        names = _names(next(csv.reader([head], delimiter=separator), []), name)
    except csv.Error as error:
        raise TraceError(f"cannot be read as CSV: {error}", file=name, line=1) from None
    bad: list[BadLine] = []

    def keep(row: arrow_csv.InvalidRow) -> str:
        found = f"{row.actual_columns}: {row.text[:60]}"
        bad.append(BadLine(row.number, WRONG_COUNT, found, str(row.expected_columns)))
        return "skip"

    try:
        table = arrow_csv.read_csv(
            io.BytesIO(data),
            read_options=arrow_csv.ReadOptions(column_names=names, skip_rows=1, use_threads=False),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator,
                newlines_in_values=True,
                invalid_row_handler=keep,
                ignore_empty_lines=True,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, check_utf8=True
            ),
        )
    except (pa.ArrowException, ValueError) as error:
        raise TraceError(f"cannot be read as CSV: {str(error).partition(chr(10))[0]}", file=name) from None
    lines = _lines_of(data, table.num_rows, bad)
    columns = {column: whole(values) for column, values in zip(names, table.columns, strict=True)}
    return ForeignTable(name, "csv", columns, table.num_rows, lines, bad, left)


def text_of(path: str | Path, name: str, left: LeftOut | None = None) -> bytes:
    """Return the text of a file, unpacked. Raises TraceError for what is no UTF-8 text.

    Where lines may be left out, such lines are empty ones instead.
    """
    blocks, size, lines = [], 0, 0
    for block in read_blocks(path, left):
        size += len(block)
        check_memory(size * 8, name, f"a table of more than {size / 1e6:.0f} MB")
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            if left is None or not left.skips:
                raise _no_utf8(block, lines, error, name) from None
            block = left.checked(block, lines + 1, partial(_check_utf8, name))
        lines += block.count(b"\n")
        blocks.append(block)
    return b"".join(blocks)


def _check_utf8(name: str, line: bytes, number: int) -> None:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _no_utf8(line, number - 1, error, name) from None


def _no_utf8(text: bytes, lines: int, error: UnicodeDecodeError, name: str) -> TraceError:
    line = lines + text.count(b"\n", 0, error.start) + 1
    found = text[error.start : error.end].hex()
    return TraceError("not UTF-8 text", file=name, line=line, found=found)


def _names(found: list[str], name: str) -> list[str]:
    names = [word.strip() for word in found]
    if not any(names):
        raise TraceError("no names of columns", file=name, line=1, allowed="a row of names, then a row a job")
    names = [word or f"column_{i}" for i, word in enumerate(names, 1)]
    twice = next((word for word in names if names.count(word) > 1), None)
    if twice is not None:
        raise TraceError(f"column {twice[:60]!r} occurs twice", file=name, line=1)
    return names


def _lines_of(data: bytes, rows: int, bad: list[BadLine]) -> np.ndarray | None:
    """The line of each row, unless a text runs over several lines."""
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n"))
    starts = np.append(0, ends[:-1] + 1)
    text = np.frombuffer(data, dtype=np.uint8)
    empty = (ends == starts) | ((ends == starts + 1) & (text[starts] == ord("\r")))
    numbers = np.flatnonzero(~empty)[1:] + 1
    if len(numbers) != rows + len(bad):
        return None
    if not bad:
        return numbers
    wrong = np.array([one.line or 0 for one in bad]) - 2  # rows are counted from 1, the header among them
    if wrong.min() < 0 or wrong.max() >= len(numbers):
        return None
    for i, place in enumerate(wrong.tolist()):
        bad[i] = BadLine(int(numbers[place]), bad[i].kind, bad[i].found, bad[i].allowed)
    return np.delete(numbers, wrong)


# -- Parquet


def _read_parquet(path: str | Path, name: str, lists: Container[str]) -> ForeignTable:
    try:
        with open(path, "rb") as raw:
            file = parquet.ParquetFile(raw, pre_buffer=False)
            meta = file.metadata
            fields = list(file.schema_arrow)
            names = [field.name for field in fields]
            unread = {one.name for one in fields if pa.types.is_nested(one.type) and one.name not in lists}
            size = max(meta.num_rows * meta.num_columns * _BYTES_A_CELL, 2 * _bytes_of(meta, unread))
            check_memory(size, name, "reading it")
            table = file.read([one for one in dict.fromkeys(names) if one not in unread])
            table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise TraceError(f"cannot be read as Parquet: {reason}", file=name) from None
    twice = next((word for word in names if names.count(word) > 1), None)
    if twice is not None:
        raise TraceError(f"column {twice[:60]!r} occurs twice", file=name)
    rows = table.num_rows if table.num_columns else meta.num_rows
    columns = {
        one.name: pa.nulls(rows, one.type) if one.name in unread else whole(table.column(one.name))
        for one in fields
        if not one.name.startswith("__index_level_")
    }
    return ForeignTable(name, "parquet", columns, rows)


def _bytes_of(meta: parquet.FileMetaData, unread: Container[str]) -> int:
    """Return how many bytes the columns hold that are read."""
    groups = (meta.row_group(i) for i in range(meta.num_row_groups))
    columns = (group.column(i) for group in groups for i in range(group.num_columns))
    return sum(
        one.total_uncompressed_size for one in columns if one.path_in_schema.split(".")[0] not in unread
    )


# -- JSON lines


def _read_jsonl(path: str | Path, name: str, separator: str | None, left: LeftOut) -> ForeignTable:
    data = text_of(path, name, left)
    numbers = np.array([i for i, line in enumerate(data.split(b"\n"), 1) if line.strip()], dtype=np.int64)
    try:
        table = arrow_json.read_json(io.BytesIO(data), read_options=arrow_json.ReadOptions(use_threads=False))
        flat = dict(_flat(zip(table.column_names, table.columns, strict=True)))
        if table.num_rows == len(numbers):
            return ForeignTable(name, "jsonl", flat, table.num_rows, numbers, [], left)
    except (pa.ArrowException, ValueError):
        pass  # a line is none, or values of one name differ in type: line by line, then
    return _line_by_line(data, name, left)


def _flat(columns: Any, depth: int = 0) -> Iterator[tuple[str, pa.Array]]:
    """Columns, those within a mapping as ``outer.inner``."""
    for name, values in columns:
        values = whole(values)
        if pa.types.is_struct(values.type) and depth < _DEEPEST:
            inner = ((f"{name}.{part.name}", values.field(i)) for i, part in enumerate(values.type))
            yield from _flat(inner, depth + 1)
        else:
            yield name, values


def _line_by_line(data: bytes, name: str, left: LeftOut) -> ForeignTable:
    rows: list[dict[str, str | None]] = []
    lines: list[int] = []
    bad: list[BadLine] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            said = json.loads(line)
            if not isinstance(said, dict):
                raise ValueError("not an object")
        except (ValueError, RecursionError):
            found = line[:60].decode("utf-8", "backslashreplace")
            bad.append(BadLine(number, NO_JSON, found, "a JSON object a line"))
            continue
        rows.append({key: _as_text(value) for key, value in _items(said)})
        lines.append(number)
    names = dict.fromkeys(key for row in rows for key in row)
    columns = {key: pa.array([row.get(key) for row in rows], pa.string()) for key in names}
    return ForeignTable(name, "jsonl", columns, len(rows), np.array(lines, dtype=np.int64), bad, left)


def _items(said: dict[str, Any], before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for key, value in said.items():
        if isinstance(value, dict) and depth < _DEEPEST:
            yield from _items(value, f"{before}{key}.", depth + 1)
        else:
            yield before + key, value


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def whole(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece."""
    if isinstance(values, pa.ChunkedArray):
        joined = values.combine_chunks()
        return joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined
    return values


_READERS = {"csv": _read_csv, "jsonl": _read_jsonl}
