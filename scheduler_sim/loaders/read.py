"""Reading a trace of any layout: formats of our own, tables by a column map or a guess, named sources."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

from scheduler_sim.errors import TraceError
from scheduler_sim.loaders.column_map import ColumnMap
from scheduler_sim.loaders.dirt import ON_ERROR
from scheduler_sim.loaders.foreign_table import FORMATS, kind_of, read_foreign
from scheduler_sim.loaders.guess import guessed
from scheduler_sim.loaders.mapped import described, mapped
from scheduler_sim.loaders.sources import read_source, source_names
from scheduler_sim.workload.carried import CARRIED
from scheduler_sim.workload.fields import FIELDS
from scheduler_sim.workload.lines import read_blocks
from scheduler_sim.workload.numbers import integer
from scheduler_sim.workload.table import Workload
from scheduler_sim.workload.table_files import METADATA, NEEDED
from scheduler_sim.workload.trace_io import read_native


def read_trace(
    path: str | Path,
    format: str | None = None,
    *,
    columns: ColumnMap | str | Path | None = None,
    on_error: str = "stop",
) -> Workload:
    """Read a trace as a :class:`Workload`; the suffix tells the format unless it is given.

    Parameters
    ----------
    path : ``.swf``, ``.mwf``, a dump of sacct as ``.sacct``, ``.psv`` or ``.txt``, events of the Slurm
        simulators as ``.events``; any table as ``.csv``, ``.tsv``, ``.jsonl`` or ``.ndjson``, each also
        ``.gz`` or ``.zst``; or ``.parquet``
    format : one of these by name (``swf``, ``mwf``, ``csv``, ``sacct``, ``slurm-sim-events``, ``jsonl``,
        ``parquet``), or a named source such as ``pm100``
    columns : which columns of a table are which of ours: a map, or a file with one. Without, columns that are
        called as ours are ours, others go by names that leave no doubt; the notes of the workload say which
    on_error : ``stop`` at the first row that cannot be read, or ``skip`` such rows, of tables and named
        sources alone; they are counted in the notes

    Raises
    ------
    TraceError
        for anything that cannot be read, dependencies included, with the file, line, field, value and what is
        allowed. ConfigError for a map that is wrong.
    """
    if on_error not in ON_ERROR:
        raise TraceError("on_error", found=on_error, allowed=" or ".join(ON_ERROR))
    kind = None if format is None else format.lower()
    try:
        workload = _read(path, kind, columns, on_error)
        workload.dependencies()
        pa.default_memory_pool().release_unused()  # what Arrow took to read it
    except MemoryError:
        raise TraceError("too large for the memory of this machine; split the trace", file=path) from None
    return workload


def _read(
    path: str | Path, kind: str | None, columns: ColumnMap | str | Path | None, on_error: str
) -> Workload:
    if kind in source_names():
        if columns is not None:
            raise TraceError(f"a column map beside the source {kind}", file=path, allowed="one of them")
        return read_source(path, str(kind), on_error)
    table_kind = kind if kind in FORMATS else (kind_of(path) if kind is None else None)
    if columns is not None:
        how = columns if isinstance(columns, ColumnMap) else ColumnMap.from_yaml(columns)
        table_kind = table_kind or how.format
        if table_kind is None:
            raise TraceError("no table, but a column map for it", file=path, allowed=", ".join(FORMATS))
        return mapped(read_foreign(path, table_kind, how.separator), how, table_kind, on_error)
    if table_kind is None or (table_kind != "jsonl" and _is_ours(path, table_kind)):
        if on_error != "stop":
            raise TraceError(
                "rows that cannot be read are not skipped in this format",
                file=path,
                found=on_error,
                allowed="stop",
            )
        return read_native(path, kind)
    table = read_foreign(path, table_kind)
    how = guessed(list(table.columns), table.name)
    workload = mapped(table, how, table_kind, on_error)
    note = f"columns by their names: {', '.join(described(how))}; --columns MAP.yaml says otherwise"
    workload.source = replace(workload.source, notes=(note, *workload.source.notes))
    return workload


def _is_ours(path: str | Path, kind: str) -> bool:
    """Whether a table has no columns but ours, and carried ones, and seconds as we write them."""
    if kind == "parquet":
        try:
            schema = parquet.read_schema(path)
        except (pa.ArrowException, OSError, ValueError):
            return True  # its reader says what is wrong
        whole = all(pa.types.is_integer(schema.field(name).type) for name in NEEDED if name in schema.names)
        return METADATA in (schema.metadata or {}) or (whole and _are_ours(schema.names))
    block = next(iter(read_blocks(path)), b"")
    lines = block.decode("utf-8", "replace").split("\n")
    rows = list(csv.reader(lines[:2]))
    if len(rows) < 2 or not _are_ours(rows[0]):
        return len(rows) < 2
    first = dict(zip(rows[0], rows[1], strict=False))
    return all(integer(first.get(name, "").encode()) is not None for name in NEEDED if name in first)


def _are_ours(names: list[str]) -> bool:
    own = {name for name in names if not name.startswith((CARRIED, "__index_level_"))}
    return set(NEEDED) <= own <= set(FIELDS)
