"""A result on disk: all of its files or none, the same bytes for the same tables."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pandas as pd

from scheduler_sim.errors import InputError
from scheduler_sim.output.directory import MARK, is_regular, put_files
from scheduler_sim.output.failure import cannot_write
from scheduler_sim.result.columns import Column, Columns, column_problems, not_known, numbers
from scheduler_sim.result.documents import shape_problem
from scheduler_sim.result.table import Deferred, pieces

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = "manifest.json"
FILES = ("components.parquet", "timeline.parquet", "metrics.json", MANIFEST)
LOG = "run.log"
DECIMALS = 6


def write_result(directory: Path, writers: Mapping[str, Callable[[BinaryIO], None]], *, force: bool) -> None:
    """Write the files of a result into a directory, all or none of them; other files there stay.

    A failure on the way leaves the directory as it was. An older result there is replaced; one
    of its run.log goes if there is none of this one. A directory that holds anything but a result is
    refused without ``force``.
    """
    target = Path(os.path.realpath(directory))
    refuse_foreign(directory, force=force)
    older = stamp(target)
    try:
        put_files(target, writers, last=MANIFEST, gone=(LOG,))
    except OSError as error:
        kept = "nothing was kept" if older is None else "the older result there is kept"
        kept = kept if stamp(target) == older else "what is there is not a whole result"
        raise cannot_write(f"the result to {directory}", error, target, kept) from error


def stamp(directory: Path) -> tuple[int, int] | None:
    """Return what tells a whole result from the one that replaces it; None if there is none."""
    if not all((directory / name).is_file() for name in FILES):
        return None
    found = (directory / MANIFEST).stat()
    return found.st_ino, found.st_mtime_ns


def refuse_foreign(directory: Path, *, force: bool = False) -> None:
    """Raise unless a result may be written here: nothing, an empty directory, a result, with force any.

    A result whose writing was killed is known by the mark that this leaves.
    """
    if not directory.exists():
        return
    if not directory.is_dir():
        raise InputError(f"{directory} is a file; a result needs a directory of its own")
    try:
        found = sorted(entry.name for entry in directory.iterdir())
    except OSError as error:
        raise cannot_write(f"the result to {directory}", error, directory) from error
    if not found or force or MARK in found or all(_has_its_beginning(directory / name) for name in FILES):
        return
    raise InputError(
        f"{directory} holds something that is not a result ({', '.join(found[:3])}"
        f"{', ...' if len(found) > 3 else ''}) and is left alone; allowed: another directory, or --force"
    )


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
    import pyarrow as pa
    import pyarrow.parquet as pq

    problems = column_problems(data, columns) if isinstance(data, pd.DataFrame) else []
    if problems:
        raise ValueError("; ".join(problems))
    kinds = {"text": pa.dictionary(pa.int32(), pa.string()), "int64": pa.int64(), "float64": pa.float64()}
    schema = pa.schema([(column.name, kinds[column.dtype]) for column in columns])
    with pq.ParquetWriter(
        out,
        schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=[column.name for column in columns if column.dtype == "text"],
        column_encoding={c.name: "DELTA_BINARY_PACKED" for c in columns if c.dtype == "int64"},
        write_page_checksum=True,
    ) as writer:
        for piece in pieces(data):
            writer.write_table(_to_arrow(piece, columns, schema))


def read_table(path: Path, columns: Sequence[Column]) -> pd.DataFrame:
    """Read a result table; raises InputError if it is missing, truncated or something else."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    _require(path)
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            _require_columns(file.schema_arrow.empty_table().to_pandas(ignore_metadata=True), columns, path)
            # Column by column: the whole table never stands in memory twice.
            series = {c.name: file.read(columns=[c.name]).column(0).to_pandas() for c in columns}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(
            f"{path}: not a whole parquet file (truncated, or something else): {error}"
        ) from error
    data = pd.DataFrame(series, copy=False)
    _require_columns(data, columns, path)
    return data


def _require_columns(data: pd.DataFrame, columns: Sequence[Column], path: Path) -> None:
    problems = column_problems(data, columns)
    if problems:
        raise InputError(f"{path}: not a table of a result: {'; '.join(problems)}")


def _to_arrow(data: Columns, columns: Sequence[Column], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    rows, arrays = len(data[columns[0].name]), []
    for column in columns:
        if column.dtype == "text":
            arrays.append(_dictionary(data[column.name]))
        elif column.dtype == "float64":
            known = numbers(data, column.name) if column.name in data else not_known(rows)
            arrays.append(pa.array(_rounded(known)))
        else:
            arrays.append(pa.array(numbers(data, column.name).astype(np.int64, copy=False)))
    return pa.table(arrays, schema=schema)


def _dictionary(values: pd.Series | pd.Categorical) -> pa.DictionaryArray:
    """Text as codes into the words in order of first appearance: the same for the same text."""
    import pyarrow as pa

    array = values.array if isinstance(values, pd.Series) else values
    category = array if isinstance(array, pd.Categorical) else pd.Categorical(array)
    codes = np.asarray(category.codes)
    used = pd.unique(codes)
    words = np.append(np.asarray(category.categories, dtype=object), "")  # code -1, missing, is ""
    renumber = np.zeros(len(words), dtype=np.int32)
    renumber[used] = np.arange(len(used), dtype=np.int32)
    return pa.DictionaryArray.from_arrays(
        pa.array(renumber[codes]), pa.array([str(word) for word in words[used]], type=pa.string())
    )


def _rounded(values: np.ndarray) -> np.ndarray:
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
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
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
    if isinstance(value, Mapping):
        return {str(key): plain(item, decimals) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item, decimals) for item in value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item, decimals) for item in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        if not math.isfinite(value):
            return None
        return float(value) if decimals is None else round(float(value), decimals) + 0.0  # no negative zero
    return value if value is None else str(value)


def _require(path: Path) -> None:
    if not path.parent.is_dir():
        raise InputError(f"no result at {path.parent}: there is no such directory")
    if not path.is_file():
        raise InputError(f"{path.parent} is not a whole result: {path.name} is missing")
