"""Tables: ours as they are, others by a column map, or by names that leave no doubt."""

from __future__ import annotations

import csv
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

from scheduler_sim.errors import TraceError, did_you_mean
from scheduler_sim.loaders.column_map import ColumnMap
from scheduler_sim.loaders.dirt import refuse_without_rows
from scheduler_sim.loaders.foreign_table import read_foreign
from scheduler_sim.loaders.formats import FORMATS
from scheduler_sim.loaders.guess import guessed
from scheduler_sim.loaders.mapped import mapped
from scheduler_sim.loaders.sources import likely_source
from scheduler_sim.workload.carried import CARRIED
from scheduler_sim.workload.fields import FIELDS
from scheduler_sim.workload.lines import read_blocks
from scheduler_sim.workload.table import Workload
from scheduler_sim.workload.table_files import METADATA
from scheduler_sim.workload.trace_io import read_native


def read_table(
    path: str | Path, kind: str | None, columns: ColumnMap | str | Path | None, on_error: str
) -> Workload:
    """Read a table of a format, None = as the column map says.

    Raises TraceError for what cannot be read, ConfigError for a map that is wrong.
    """
    if columns is not None:
        how = columns if isinstance(columns, ColumnMap) else ColumnMap.from_yaml(columns)
        kind = kind or how.format
        if kind is None:
            allowed = f"{', '.join(FORMATS)}, by its name, by format in the map, or with --from; or a source"
            raise TraceError(
                "a column map for a file that is not known as a table", file=path, allowed=allowed
            )
        return mapped(read_foreign(path, kind, how.separator, on_error, how.names), how, kind, on_error)
    assert kind is not None
    try:
        if kind != "jsonl" and _is_ours(path, kind):
            return read_native(path, kind)
    except TraceError:
        if on_error == "stop":
            raise
    table = read_foreign(path, kind, on_error=on_error)
    refuse_without_rows(table, on_error)
    likely = likely_source(table.columns)
    how = guessed(list(table.columns), table.name, likely)
    workload = mapped(table, how, kind, on_error)
    note = f"columns by their names: {', '.join(how.said())}; a column map says otherwise"
    if likely is not None:
        note = (
            f"these are the columns of {likely}: --from {likely} gives the meaning and unit of each; {note}"
        )
    near = [
        f"column {name} is carried on{did_you_mean(name, list(FIELDS))}" for name in _nearly_ours(workload)
    ]
    workload.source = replace(workload.source, notes=(note, *near, *workload.source.notes))
    return workload


def _nearly_ours(workload: Workload) -> list[str]:
    """Carried columns that may be ours, spelt wrong."""
    names = [str(name).removeprefix(CARRIED) for name in workload.carried]
    return [name for name in names if get_close_matches(name.lower(), list(FIELDS), n=1, cutoff=0.85)]


def _is_ours(path: str | Path, kind: str) -> bool:
    """Whether a table has no columns but ours and carried ones, with values as we write them.

    What is no table at all is left to the reader of ours, which says what is wrong.
    """
    if kind == "parquet":
        try:
            schema = parquet.read_schema(path)
        except (pa.ArrowException, OSError, ValueError):
            return True
        if METADATA in (schema.metadata or {}):
            return True
        return _are_ours(schema.names) and all(_is_as_ours(schema.field(name)) for name in schema.names)
    block = next(iter(read_blocks(path)), b"")
    lines = block.decode("utf-8", "replace").split("\n")[:2]
    try:
        rows = list(csv.reader(line.rstrip("\r") for line in lines))
    except csv.Error:
        return True
    if not rows or not _are_ours(rows[0]):
        return not rows
    numbers = {name for name, field in FIELDS.items() if field.dtype.startswith("int")}
    first = zip(rows[0], rows[1], strict=False) if len(rows) > 1 else ()
    return not any(name in numbers and _is_of_others(word) for name, word in first)


def _are_ours(names: list[str]) -> bool:
    own = {name for name in names if not name.startswith((CARRIED, "__index_level_"))}
    return bool(own) and own <= set(FIELDS)


def _is_as_ours(field: pa.Field) -> bool:
    """Whether a column has not a type that stands for moments or for numbers with missing ones."""
    known = FIELDS.get(field.name)
    if known is None or known.is_text or known.dtype == "float64":
        return True
    return not (
        pa.types.is_floating(field.type) or pa.types.is_temporal(field.type) or pa.types.is_string(field.type)
    )


def _is_of_others(word: str) -> bool:
    """Whether a number or a moment is written as we do not write them: 2.0, or a date."""
    return "." in word or ":" in word or "-" in word[1:]
