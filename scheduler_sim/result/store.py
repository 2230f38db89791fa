"""A result on disk: all of its files or none, the same bytes for the same tables."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pandas as pd

from scheduler_sim.arrow_arrays import number_array, text_array
from scheduler_sim.errors import InputError
from scheduler_sim.output.directory import MARK, is_regular, put_files
from scheduler_sim.output.failure import cannot_write
from scheduler_sim.result.columns import Column, Columns, column_problems, not_known, numbers
from scheduler_sim.result.documents import shape_problem
from scheduler_sim.result.table import Deferred, pieces
from scheduler_sim.texts import TextColumn

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

MANIFEST = "manifest.json"
FILES = ("components.parquet", "timeline.parquet", "metrics.json", MANIFEST)
LOST = "runs.parquet"
"""Where some run was lost."""

REPAIRED = "repairs.parquet"
"""Where something was changed in the trace when it was read."""

LOG = "run.log"
DECIMALS = 6
FINER = r"\.\d{%d}|\d[eE]|-0\.0"
"""Found in JSON where a float may be rounded: more digits behind its point, a power of ten, or -0.0."""

SOUGHT = ("component_id", "submit_time", "start_time", "end_time", "time")
"""Columns by which rows are looked for: of each row group the smallest and the largest value are written."""


def write_result(directory: Path, writers: Mapping[str, Callable[[BinaryIO], None]], *, force: bool) -> None:
    """Write the files of a result into a directory, all or none of them; other files there stay.

    A failure on the way leaves the directory as it was. An older result there is replaced; its run.log,
    runs.parquet and repairs.parquet go where this one has none. A directory that holds anything but a result
    is refused without ``force``.
    """
    target = Path(os.path.realpath(directory))
    refuse_foreign(directory, force=force)
    older = stamp(target)
    try:
        put_files(target, writers, last=MANIFEST, gone=(LOST, REPAIRED, LOG))
    except OSError as error:
        kept = "nothing was kept" if older is None else "the older result there is kept"
        kept = kept if stamp(target) == older else "what is there is not a whole result"
        raise cannot_write(f"the result to {directory}", error, target, kept) from error


class OwnDirectory:
    """The files of a result that has a directory of its own."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def stamp(self) -> tuple[int, int] | None:
        """Return what tells the result from one that replaces it."""
        return stamp(self.place)

    def document(self, name: str, shape: Mapping[str, Any]) -> dict[str, Any]:
        """Read ``manifest`` or ``metrics``."""
        return read_document(self.place / f"{name}.json", shape)

    def table(self, name: str, columns: Sequence[Column]) -> pd.DataFrame:
        """Read ``components``, ``timeline`` or ``runs``."""
        return read_table(self.place / f"{name}.parquet", columns)


def stamp(directory: Path) -> tuple[int, int] | None:
    """Return what tells a whole result from the one that replaces it; None if there is none."""
    if not all(os.path.isfile(directory / name) for name in FILES):
        return None
    found = (directory / MANIFEST).stat()
    return found.st_ino, found.st_mtime_ns


def refuse_foreign(directory: Path, *, force: bool = False) -> None:
    """Raise unless a result may be written here: nothing, an empty directory, a result, with force any.

    A result whose writing was killed is known by the mark that this leaves.
    """
    if not os.path.exists(directory):
        return
    if not os.path.isdir(directory):
        raise InputError(f"{directory} is a file; a result needs a directory of its own")
    try:
        found = sorted(entry.name for entry in directory.iterdir())
    except OSError as error:
        raise cannot_write(f"the result to {directory}", error, directory) from error
    if not found or force or MARK in found or all(_has_its_beginning(directory / name) for name in FILES):
        return
    raise InputError(
        f"{directory} contains something that is not a result ({', '.join(found[:3])}"
        f"{', ...' if len(found) > 3 else ''}) and is left alone; allowed: another directory, or --force"
    )


def has_its_end(path: Path) -> bool:
    """Tell whether a file was written to its end: a power cut may leave an empty or a short one."""
    end = b"PAR1" if path.suffix == ".parquet" else b"}\n"
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - len(end), 0))
            return size > 2 * len(end) and file.read() == end
    except OSError:
        return False


def _has_its_beginning(path: Path) -> bool:
    """Tell whether a file begins as that of a result does, or is empty, as a power cut may leave it."""
    try:
        if not is_regular(path):
            return False
        with path.open("rb") as file:
            beginning = file.read(4)
    except OSError:
        return False
    return not beginning or (beginning == b"PAR1" if path.suffix == ".parquet" else beginning[:1] == b"{")


# Tables


def write_table(data: pd.DataFrame | Deferred, columns: Sequence[Column], out: BinaryIO) -> None:
    """Write a result table as parquet: text as dictionaries, floats rounded to 1e-6, no pandas metadata.

    A row group is worked out at a time. Raises ValueError for columns that are not these.
    """
    problems = [] if isinstance(data, Deferred) else column_problems(data, columns)
    if problems:
        raise ValueError("; ".join(problems))
    found = [column.name for column in columns if column.name in SOUGHT]
    with table_writer(out, columns, statistics=found) as writer:
        for piece in pieces(data):
            writer.write_table(_to_arrow(piece, columns, writer.schema))


def table_writer(
    out: BinaryIO, columns: Sequence[Column], *, statistics: list[str], compression: str = "zstd"
) -> pq.ParquetWriter:
    """Return a writer of tables with these columns, none of which lacks a value: what is not known is NaN.

    ``statistics`` : of which columns the smallest and the largest value stand in every row group;
    ``compression`` : zstd, or lz4, which takes less time and a tenth more room.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"text": pa.dictionary(pa.int32(), pa.string()), "int64": pa.int64(), "float64": pa.float64()}
    return pq.ParquetWriter(
        out,
        pa.schema([pa.field(column.name, kinds[column.dtype], nullable=False) for column in columns]),
        compression=compression,
        compression_level=1 if compression == "zstd" else None,
        use_dictionary=[column.name for column in columns if column.dtype == "text"],
        column_encoding={c.name: "DELTA_BINARY_PACKED" for c in columns if c.dtype == "int64"},
        write_page_checksum=True,
        write_statistics=statistics,
    )


def read_table(path: Path, columns: Sequence[Column], rows: range | None = None) -> pd.DataFrame:
    """Read a result table, or some of its rows; raises InputError if it is missing, truncated or other."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    _require(path)
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            _require_columns(file.schema_arrow.empty_table().to_pandas(ignore_metadata=True), columns, path)
            # Column by column: the whole table never stands in memory twice.
            series = {c.name: _column(file, c.name, rows).to_pandas() for c in columns}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(
            f"{path}: not a whole parquet file (truncated, or something else): {error}"
        ) from error
    data = pd.DataFrame(series, copy=False)
    _require_columns(data, columns, path)
    return data


def _column(file: pq.ParquetFile, name: str, rows: range | None) -> pa.ChunkedArray:
    """Read a column, or some of its rows from the groups that have them, text with the words of these."""
    import pyarrow as pa

    if rows is None:
        return file.read(columns=[name]).column(0)
    ends = np.cumsum([file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)])
    first, last = (int(place) for place in np.searchsorted(ends, [rows.start, rows.stop - 1], side="right"))
    groups = list(range(first, min(last + 1, len(ends)))) if len(rows) else []
    before = int(ends[first - 1]) if first else 0
    found = file.read_row_groups(groups, columns=[name]).column(0).slice(rows.start - before, len(rows))
    if len(found) != len(rows):
        raise ValueError(f"rows {rows.start} to {rows.stop} are not all there")
    words = pa.types.is_dictionary(found.type)
    return found.cast(found.type.value_type).dictionary_encode() if words else found


def _require_columns(data: pd.DataFrame, columns: Sequence[Column], path: Path) -> None:
    problems = column_problems(data, columns)
    if problems:
        raise InputError(f"{path}: not a table of a result: {'; '.join(problems)}")


def _to_arrow(data: Columns, columns: Sequence[Column], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    rows, arrays = len(data[columns[0].name]), []
    for column in columns:
        if column.dtype == "text":
            arrays.append(text_array(_in_order(data[column.name])))
        elif column.dtype == "float64":
            known = numbers(data, column.name) if column.name in data else not_known(rows)
            arrays.append(number_array(rounded(known)))
        else:
            arrays.append(number_array(numbers(data, column.name).astype(np.int64, copy=False)))
    return pa.table(arrays, schema=schema)


def _in_order(values: Any) -> TextColumn:
    """Text with its words in order of first appearance, the same for the same text; what is missing is ""."""
    column = TextColumn.of(values)
    words = [str(word) for word in column.categories]
    if len(column) and column.codes.min() < 0:
        words.append("")
        column = TextColumn(np.where(column.codes < 0, len(words) - 1, column.codes), words)
    return column.in_order()


def rounded(values: np.ndarray) -> np.ndarray:
    """Round floats as they are written."""
    return values if np.isnan(values).all() else np.round(values, DECIMALS) + 0.0  # no negative zero


# Documents


def write_document(document: Mapping[str, Any], out: BinaryIO) -> None:
    """Write what was run as JSON, in the order given: floats exactly, for it must be the same when read."""
    _write_json(plain(document), out)


def write_measured(document: Mapping[str, Any], out: BinaryIO) -> None:
    """Write results as JSON, in the order given: floats rounded to 1e-6."""
    _write_json(plain(document, DECIMALS), out)


def _write_json(document: Any, out: BinaryIO) -> None:
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    out.write(f"{text}\n".encode())


def read_document(path: Path, shape: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Read a JSON object; raises InputError if it is missing, truncated, of another shape, or none."""
    _require(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a whole JSON file (truncated, or something else): {error}") from error
    return parsed(text, path, shape)


def spelt(document: Mapping[str, Any], decimals: int | None = None) -> str:
    """Return a document as JSON on one line, its floats rounded to so many decimals, None for not at all."""
    spell = partial(json.dumps, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    with suppress(ValueError, TypeError):  # what is not finite, and keys that are no text, take longer
        text = spell(document, default=plain)
        if decimals is None or not re.search(FINER % (decimals + 1), text):
            return text
    return spell(plain(document, decimals))


def parsed(text: str, path: Path, shape: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the document that a JSON text from a file is; raises InputError as :func:`read_document`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a whole JSON file (truncated, or something else): {error}") from error
    if not isinstance(document, dict):
        raise InputError(f"{path}: not a document of a result: an object is wanted at the top")
    problem = shape_problem(document, shape or {})
    if problem:
        raise InputError(f"{path}: not a document of a result: {problem}")
    return document


def plain(value: Any, decimals: int | None = None) -> Any:
    """Turn numpy scalars, tuples and sets into what JSON knows, NaN and infinities into null.

    Floats are rounded to so many decimals, None for not at all.
    """
    kind = type(value)  # of most values one of JSON's own, which is asked for first
    if value is None or kind is str or kind is int or kind is bool:
        return value
    if kind is float or isinstance(value, (float, np.floating)):
        if not math.isfinite(value):
            return None
        return float(value) if decimals is None else round(float(value), decimals) + 0.0  # no negative zero
    if kind is dict or isinstance(value, Mapping):
        return {str(key): plain(item, decimals) for key, item in value.items()}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item, decimals) for item in value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item, decimals) for item in value]
    return bool(value) if isinstance(value, np.bool_) else str(value)


def _require(path: Path) -> None:
    if not os.path.isdir(path.parent):
        raise InputError(f"no result at {path.parent}: there is no such directory")
    if not os.path.isfile(path):
        raise InputError(f"{path.parent} is not a whole result: {path.name} is missing")
