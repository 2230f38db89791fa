"""Reading a trace of any layout: formats of our own, tables by a column map or a guess, named sources."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from scheduler_sim.errors import TraceError
from scheduler_sim.loaders.contents import Told, told_by
from scheduler_sim.loaders.formats import FORMATS, table_kind
from scheduler_sim.workload.left_out import LeftOut
from scheduler_sim.workload.refused import with_way_out
from scheduler_sim.workload.table import Workload
from scheduler_sim.workload.trace_io import NATIVE, read_native
from scheduler_sim.workload.trace_warnings import doubts_of

if TYPE_CHECKING:
    from scheduler_sim.loaders.column_map import ColumnMap

ON_ERROR = ("stop", "skip")
"""What becomes of rows that cannot be read."""


def read_trace(
    path: str | Path,
    format: str | None = None,
    *,
    columns: ColumnMap | str | Path | None = None,
    on_error: str = "stop",
) -> Workload:
    """Read a trace as a :class:`Workload`; its first lines tell the format, or its name, unless it is given.

    Parameters
    ----------
    path : SWF, MWF, a dump of sacct, events of the Slurm simulators, any table as CSV or JSON lines, each
        also packed by gzip or zstd; or Parquet
    format : one of these by name (``swf``, ``mwf``, ``csv``, ``sacct``, ``slurm-sim-events``, ``jsonl``,
        ``parquet``), or a named source such as ``pm100``
    columns : a column map from the columns of a table to ours, or a file with one. Without it, columns are
        found by our names or by other unambiguous names; the notes of the workload list them. With a named
        source it may be partial: it overrides the map of the source
    on_error : ``stop`` at the first row that cannot be read, or ``skip`` such rows, with all components of
        their jobs, and dependencies on missing jobs; they are counted in the notes

    Raises
    ------
    TraceError
        for anything that cannot be read, dependencies included, with the file, line, field, value and what is
        allowed. ConfigError for a map that is wrong.
    """
    checked_on_error(on_error)
    told = Told(format.lower()) if format is not None else None if columns is not None else told_by(path)
    try:
        workload = _read(path, None if told is None else told.kind, columns, on_error)
        if on_error == "skip":
            workload = without_lost_dependencies(workload)
        _refuse_lost_dependencies(workload)
        workload.source = replace(workload.source, notes=(*workload.source.notes, *doubts_of(workload)))
        pa.default_memory_pool().release_unused()  # what Arrow took to read it
        if told is not None and told.note:
            workload.source = replace(workload.source, notes=(told.note, *workload.source.notes))
    except TraceError as error:
        if told is not None and told.note:
            error.args = (f"{error}\n{path}: {told.note}",)
        raise
    except MemoryError:
        raise TraceError("too large for the memory of this machine; split the trace", file=path) from None
    return workload


def _read(
    path: str | Path, kind: str | None, columns: ColumnMap | str | Path | None, on_error: str
) -> Workload:
    table = kind if kind in FORMATS else table_kind(path) if kind is None else None
    if table is not None and columns is None and (ours := _read_ours(path, table, on_error)) is not None:
        return ours
    if table is not None or kind is None:
        found: Workload = _loader("tables.read_table")(path, table, columns, on_error)
        return found
    if columns is not None or kind not in NATIVE:
        known: Workload = _loader("sources.read_source")(path, kind, columns, on_error)
        return known
    return read_native(path, kind, on_error)


def _read_ours(path: str | Path, kind: str, on_error: str) -> Workload | None:
    """Read a table that is ours; None where it is not, or where rows of it may be left out."""
    try:
        ours = kind != "jsonl" and _loader("own_tables.is_ours")(path, kind)
        return read_native(path, kind) if ours else None
    except TraceError:
        if on_error == "stop":
            raise
        return None


def checked_on_error(on_error: str) -> str:
    """Return what becomes of rows that cannot be read. Raises TraceError for an unknown word."""
    if on_error not in ON_ERROR:
        raise TraceError("on_error", found=on_error, allowed=" or ".join(ON_ERROR))
    return on_error


def _refuse_lost_dependencies(workload: Workload) -> None:
    """Raise TraceError, with the way out, for dependencies that lead nowhere."""
    try:
        workload.check_dependencies()
    except TraceError as error:
        if error.rows is None:
            raise
        raise with_way_out(workload, error, "takes such jobs as without dependencies") from None


def without_lost_dependencies(workload: Workload) -> Workload:
    """Return a workload without the dependencies of rows of which some lead nowhere; a note counts them."""
    left = LeftOut(skips=True)
    while True:
        try:
            workload.check_dependencies()
        except TraceError as error:
            if error.rows is None:
                raise
            left.add(error, len(error.rows))
            silent = {name: workload[name] for name in ("dependency_ids", "dependency_kinds")}
            for texts in silent.values():
                texts[error.rows] = ""
            workload = workload.replace(**silent)
        else:
            if not left.total:
                return workload
            notes = left.notes("component", "taken as without dependencies")
            workload.source = replace(workload.source, notes=(*workload.source.notes, *notes))
            return workload


def _loader(home: str) -> Any:
    """What reads tables and sources is imported for those alone."""
    file, _, name = home.rpartition(".")
    return getattr(import_module(f"{__package__}.{file}"), name)
