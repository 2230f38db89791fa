"""A workload as Parquet, which brings it back identical, and as CSV, for other tools.

Both hold the columns that say anything; a column that is absent has its default throughout.
Parquet carries the source (header, comments, field counts) in its schema metadata.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from scheduler_sim.arrow_arrays import number_array, numbers_of, text_array
from scheduler_sim.errors import TraceError, did_you_mean
from scheduler_sim.texts import TextColumn, is_text_column
from scheduler_sim.workload.carried import CARRIED, carried_values, texts_of
from scheduler_sim.workload.fields import FIELDS, Field
from scheduler_sim.workload.lines import MAX_LINE_BYTES, read_blocks
from scheduler_sim.workload.memory import check_memory
from scheduler_sim.workload.numbers import decimal, integer
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.table import Workload

METADATA = b"scheduler_sim.workload"
"""Where Parquet files have the source of a workload."""

NEEDED = ("nodes", "submit_time", "run_time")
_ALWAYS = (*NEEDED, "modular_job_id", "component_id")  # ids that are absent are not -1 but numbers from 1
_WITH_COMMENTS = ("swf", "mwf")
_TEXTS = (*_WITH_COMMENTS, "sacct", "slurm-sim-events")
_FORMAT = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_MOST_FIELDS = 127
_BYTES_A_CELL = 16  # of memory
_BYTES_A_CSV_BYTE = 8


def write_parquet(workload: Workload, out: BinaryIO, name: str) -> list[str]:
    """Write a workload as Parquet; nothing is lost."""
    described = json.dumps(_described(workload.source)).encode()
    table = _arrow(workload).replace_schema_metadata({METADATA: described})
    parquet.write_table(table, out, compression="zstd", store_schema=True)
    return []


def read_parquet(path: str | Path) -> Workload:
    """Read a Parquet workload: ours, or any table with the columns of the field table."""
    name = str(path)
    try:
        with open(path, "rb") as raw:
            file = parquet.ParquetFile(raw, pre_buffer=False)  # which would hold all of it twice
            check_memory(
                file.metadata.num_rows * file.metadata.num_columns * _BYTES_A_CELL, name, "reading it"
            )
            table = file.read()
            table.validate(full=True)
            _ = table.column_names  # raises here if the names are not text
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise TraceError(f"cannot be read as Parquet: {reason}", file=name) from None
    metadata = table.schema.metadata or {}
    plain = TraceSource(format="parquet", name=name)
    source = _source(metadata[METADATA], name, table.num_rows) if METADATA in metadata else plain
    return _workload(table, source, typed=METADATA in metadata)


def write_csv(workload: Workload, out: BinaryIO, name: str) -> list[str]:
    """Write a workload as CSV with a row of column names; return notes.

    Raises TraceError for what no reader of lines takes: a NUL, and more text than a line may have.
    """
    _check_texts(workload, name)
    arrow_csv.write_csv(_arrow(workload, plain=True), out, arrow_csv.WriteOptions(quoting_style="needed"))
    source = workload.source
    notes = []
    lost = len(source.header) + len(source.comments)
    if lost and source.format in _WITH_COMMENTS:
        notes.append(f"{lost} header and comment line{'s' * (lost > 1)} left out")
    elif lost:
        told = ", ".join(line.lstrip("; ") for line in source.header)
        notes.append(f"CSV has no place for the date of second 0: {told}")
    if source.dependencies_name != "component_id":
        notes.append("dependencies name modular jobs, which CSV does not record")
    return notes


def _check_texts(workload: Workload, name: str) -> None:
    longest = 0
    for field in FIELDS.values():
        if not field.is_text:
            continue
        texts = workload.columns[field.name].categories
        for text in texts:
            if "\0" in text:
                raise TraceError(
                    "a text with a NUL cannot be written", file=name, field=field.name, found=text
                )
        longest += max((2 * len(text.encode()) for text in texts), default=0)
    if longest > MAX_LINE_BYTES // 2:
        raise TraceError(
            "the texts are too long to be written",
            file=name,
            found=f"up to {longest:,} bytes a record",
            allowed=f"{MAX_LINE_BYTES // 2:,} bytes",
        )


def read_csv(path: str | Path) -> Workload:
    """Read a CSV workload: a row of column names of the field table, then a row a component."""
    name = str(path)
    data = b"".join(_utf8_blocks(path, name))
    types = {field.name: _arrow_type(field) for field in FIELDS.values()}
    types |= dict.fromkeys((one for one in _header(data) if one.startswith(CARRIED)), pa.string())
    try:
        table = arrow_csv.read_csv(
            io.BytesIO(data),
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types, null_values=[], strings_can_be_null=False, check_utf8=True
            ),
        )
    except (pa.ArrowException, ValueError) as error:
        raise _diagnose(data, name, str(error).partition("\n")[0]) from None
    return _workload(table, TraceSource(format="csv", name=name))


def _header(data: bytes) -> list[str]:
    """The names of the columns of a CSV; none, if its first line is no row."""
    try:
        return next(csv.reader([data[: data.find(b"\n")].decode("utf-8").rstrip("\r")]), [])
    except csv.Error:
        return []


def _utf8_blocks(path: str | Path, name: str) -> Iterator[bytes]:
    lines = size = 0
    for block in read_blocks(path):
        size += len(block)
        check_memory(size * _BYTES_A_CSV_BYTE, name, f"a table of more than {size / 1e6:.0f} MB")
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            line = lines + block.count(b"\n", 0, error.start) + 1
            raise TraceError(
                "not UTF-8 text", file=name, line=line, found=block[error.start : error.end].hex()
            ) from None
        lines += block.count(b"\n")
        yield block


def _arrow(workload: Workload, plain: bool = False) -> pa.Table:
    arrays: dict[str, pa.Array] = {}
    for field in FIELDS.values():
        column = workload.columns[field.name]
        if field.name in _ALWAYS or _says_something(column, field):
            arrays[field.name] = _arrow_array(column, plain)
    for name, values in workload.carried_columns.items():
        arrays[name] = _arrow_array(values, plain)
    return pa.table(arrays)


def _says_something(column: Any, field: Field) -> bool:
    if is_text_column(column):
        return list(column.categories) not in ([], [field.default])
    return bool((np.asarray(column) != field.default).any())


def _arrow_array(column: Any, plain: bool) -> pa.Array:
    if not is_text_column(column):
        return number_array(column)
    texts = text_array(column)
    return texts.cast(pa.string()) if plain else texts


def _arrow_type(field: Field) -> pa.DataType:
    return pa.string() if field.is_text else pa.from_numpy_dtype(np.dtype(field.dtype))


def _workload(table: pa.Table, source: TraceSource, typed: bool = False) -> Workload:
    """Return the workload of a table; ``typed``: text in carried columns is text, even if all are numbers."""
    columns: dict[str, Any] = {}
    carried: dict[str, Any] = {}
    for name, values in zip(table.column_names, table.columns, strict=True):
        if name.startswith("__index_level_"):
            continue
        if name.startswith(CARRIED) and name not in carried:
            carried[name] = _carried(values, name, source.name, typed)
            continue
        if name not in FIELDS:
            raise TraceError(
                f"no such column in a workload{did_you_mean(name, list(FIELDS))}",
                file=source.name,
                found=name,
                allowed="the columns of the reference page on workload fields",
            )
        if name in columns:
            raise TraceError(f"column {name} occurs twice", file=source.name)
        columns[name] = _column(values, FIELDS[name], source.name)
    missing = [name for name in NEEDED if name not in columns]
    if missing:
        raise TraceError(f"the columns {', '.join(missing)} are missing", file=source.name)
    if not table.num_rows:
        raise TraceError("no records", file=source.name, allowed="at least one component")
    return Workload(columns, source, carried=carried)


def _carried(values: pa.ChunkedArray, name: str, file: str, typed: bool) -> Any:
    """A column of others."""
    joined = values.unify_dictionaries().combine_chunks()
    joined = joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined
    is_text = pa.types.is_dictionary(joined.type) or pa.types.is_string(joined.type)
    found = texts_of(joined) if typed and is_text else carried_values(joined)
    if found is None:
        raise TraceError(
            "values of a wrong type", file=file, field=name, found=str(values.type), allowed="numbers or text"
        )
    return found


def _column(values: pa.ChunkedArray, field: Field, name: str) -> Any:
    if values.null_count:
        raise TraceError("missing values", file=name, field=field.name, allowed="a value in every row")
    if not field.is_text:
        kind = values.type
        if not (pa.types.is_integer(kind) or (field.dtype == "float64" and pa.types.is_floating(kind))):
            raise TraceError(
                "values of a wrong type", file=name, field=field.name, found=str(kind), allowed=field.dtype
            )
        return _fitting(numbers_of(values), field, name)
    if not pa.types.is_dictionary(values.type):
        if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
            raise TraceError(
                "values of a wrong type", file=name, field=field.name, found=str(values.type), allowed="text"
            )
        values = values.dictionary_encode()
    joined = values.unify_dictionaries().combine_chunks()
    joined = joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined
    texts = [str(word) for word in joined.dictionary.to_pylist()]
    return TextColumn(numbers_of(joined.indices), texts)


def _fitting(values: np.ndarray, field: Field, name: str) -> np.ndarray:
    if field.dtype == "float64":
        if not np.isfinite(values).all():
            raise TraceError("not a number", file=name, field=field.name, allowed="finite numbers")
        return values
    limits = np.iinfo(field.dtype)
    if len(values) and (values.min() < limits.min or values.max() > limits.max):
        raise TraceError("value out of range", file=name, field=field.name, allowed=field.dtype)
    return values


def _described(source: TraceSource) -> dict[str, Any]:
    counts = source.field_count
    return {
        "format": source.format,
        "name": source.origin or (Path(source.name).name if source.format in _TEXTS else ""),
        "header": source.header,
        "comments": source.comments,
        "field_count": counts if isinstance(counts, int) else _runs(counts),
        "encoding": source.encoding,
        "notes": source.notes,
        "dependencies_name": source.dependencies_name,
        "partial": source.partial,
    }


def _runs(counts: np.ndarray) -> list[list[int]]:
    starts = np.flatnonzero(np.diff(counts, prepend=-1))
    lengths = np.diff(starts, append=len(counts))
    return [[int(count), int(length)] for count, length in zip(counts[starts], lengths, strict=True)]


def _source(text: bytes, name: str, rows: int) -> TraceSource:
    """Read what the metadata say of the source of so many rows; they are as untrusted as the rows."""
    try:
        said = json.loads(text)
        comments = [(int(row), _text(line)) for row, line in said["comments"]]
        if [row for row, _ in comments] != sorted(min(max(row, 0), rows) for row, _ in comments):
            raise ValueError(f"comments stand before rows in their order, 0 to {rows}")
        return TraceSource(
            format=_format(said["format"]),
            name=name,
            origin=_text(said["name"]),
            header=_texts(said["header"]),
            comments=tuple(comments),
            field_count=_field_count(said["field_count"], rows),
            encoding=_one_of(said["encoding"], ("utf-8", "latin-1")),
            notes=_texts(said["notes"]),
            dependencies_name=_one_of(said["dependencies_name"], ("component_id", "modular_job_id")),
            partial=bool(said["partial"]),
        )
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise TraceError(f"the workload metadata cannot be read: {error!s:.200}", file=name) from None


def _field_count(said: Any, rows: int) -> int | np.ndarray:
    """Fields of every record, or runs of (fields, records) that make up so many rows."""
    if isinstance(said, int):
        if not 0 <= said <= _MOST_FIELDS:
            raise ValueError(f"field_count is {said}")
        return said
    counts, lengths = np.array(said, dtype=np.int64).reshape(-1, 2).T
    if (counts < 0).any() or (counts > _MOST_FIELDS).any() or (lengths < 1).any():
        raise ValueError("field_count is no list of fields and records")
    if (lengths > rows).any() or lengths.sum() != rows:
        raise ValueError(f"field_count is of other than {rows} records")
    return np.repeat(counts, lengths).astype(np.int8)


def _text(said: Any) -> str:
    if not isinstance(said, str):
        raise TypeError(f"{said!r:.40} is no text")
    return said


def _texts(said: Any) -> tuple[str, ...]:
    if not isinstance(said, list):
        raise TypeError(f"{said!r:.40} is no list")
    return tuple(map(_text, said))


def _format(said: Any) -> str:
    if not isinstance(said, str) or not _FORMAT.fullmatch(said):
        raise ValueError(f"{said!r:.40} is no name of a format")
    return said


def _one_of(said: Any, words: tuple[str, ...]) -> str:
    if said not in words:
        raise ValueError(f"{said!r:.40} is none of {', '.join(words)}")
    return str(said)


def _diagnose(data: bytes, name: str, reason: str) -> TraceError:
    """Return what is wrong with a CSV that was refused for ``reason``, with its line if it can be found."""
    try:
        rows = csv.reader(io.StringIO(data.decode("utf-8")), strict=True)
        names = next(rows)
        for words in rows:
            if len(words) != len(names) and words:
                return TraceError(
                    "wrong number of fields",
                    file=name,
                    line=rows.line_num,
                    found=len(words),
                    allowed=str(len(names)),
                )
            for column, word in zip(names, words, strict=False):
                field = FIELDS.get(column)
                if field is not None and not field.is_text:
                    number = decimal(word.encode()) if field.dtype == "float64" else integer(word.encode())
                    if number is None:
                        return TraceError(
                            "not a number",
                            file=name,
                            line=rows.line_num,
                            field=column,
                            found=word,
                            allowed=field.dtype,
                        )
    except (UnicodeDecodeError, csv.Error, StopIteration):
        pass
    return TraceError(f"cannot be read as CSV: {reason}", file=name)
