"""Which tables are ours: they are read as they are, and nothing that reads others is loaded for them."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

from scheduler_sim.workload.carried import CARRIED
from scheduler_sim.workload.fields import FIELDS
from scheduler_sim.workload.lines import read_blocks
from scheduler_sim.workload.table_files import METADATA


def is_ours(path: str | Path, kind: str) -> bool:
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
