"""Named sources: public data of a known layout, each a column map that ships, and code where it takes more.

Other packages add theirs as entry points of the group ``scheduler_sim.loaders``: a function of a path and of
``stop`` or ``skip`` that returns a :class:`~scheduler_sim.workload.table.Workload`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources import as_file, files
from pathlib import Path

from scheduler_sim.errors import TraceError, did_you_mean
from scheduler_sim.loaders.column_map import NEEDED, ColumnMap
from scheduler_sim.loaders.foreign_table import ForeignTable, read_foreign
from scheduler_sim.loaders.formats import table_kind
from scheduler_sim.loaders.frontier import read_frontier
from scheduler_sim.loaders.mapped import mapped
from scheduler_sim.workload.left_out import LeftOut
from scheduler_sim.workload.table import Workload
from scheduler_sim.workload.trace_io import NATIVE

FRONTIER = "frontier"
"""Published as SWF with fields of its own, which any SWF may have."""

GROUP = "scheduler_sim.loaders"
MAPS = ("pm100", "fdata", "alcf", "helios", "pai", "openb", "philly", "gavel", "pbs", "eacct")
"""Sources that ship, each with its map in ``loaders/sources``."""

_TABLES = {
    "philly": "philly.read_philly",
    "gavel": "gavel.read_gavel",
    "pbs": "pbs.read_pbs",
    "eacct": "eacct.read_eacct",
}
"""Those whose layout is no table: what makes one of it."""

Loader = Callable[[str | Path, str], Workload]


def source_names() -> tuple[str, ...]:
    """Return the sources that ship, and those that other packages add."""
    added = sorted({point.name for point in entry_points(group=GROUP)} - set(MAPS))
    return (*MAPS, FRONTIER, *added)


@cache
def source_map(name: str) -> ColumnMap:
    """Return the column map of a source that ships."""
    with as_file(files("scheduler_sim.loaders").joinpath("sources", f"{name}.yaml")) as path:
        return replace(ColumnMap.from_yaml(path), file=None, lines={})


def read_source(
    path: str | Path, name: str, columns: ColumnMap | str | Path | None = None, on_error: str = "stop"
) -> Workload:
    """Read a file of a named source, with a column map laid over its own if there is one.

    Raises TraceError for what cannot be read, ConfigError for a map that is wrong.
    """
    known = source_names()
    if columns is not None and name not in MAPS and name in (*NATIVE, *known):
        allowed = f"one for a table, or beside {', '.join(MAPS)}"
        raise TraceError("a column map for a format that has fixed columns", found=name, allowed=allowed)
    if name not in known:
        hint = did_you_mean(name, known)
        allowed = f"{', '.join(NATIVE)}, jsonl, or a source: {', '.join(known)}"
        raise TraceError(f"unknown trace format{hint}", file=path, found=name, allowed=allowed)
    if name == FRONTIER:
        return read_frontier(path, on_error)
    if name not in MAPS:
        return _added(name)(path, on_error)
    base = source_map(name)
    how = base if columns is None else laid_over(columns, base)
    if name in _TABLES:
        for key, said in (("format", how.format), ("separator", how.separator)):
            if said is not None:
                allowed = f"none beside --from {name}, which knows its layout"
                raise TraceError(f"{key} of a column map", file=how.file, found=said, allowed=allowed)
        home, _, function = _TABLES[name].partition(".")
        table: ForeignTable = getattr(import_module(f"{__package__}.{home}"), function)(
            path, LeftOut(skips=on_error == "skip")
        )
    else:
        kind = table_kind(path) or how.format
        if kind is None:
            raise TraceError("unknown format of a table", file=path, allowed=".csv, .parquet, .jsonl")
        table = read_foreign(path, kind, how.separator, on_error, how.names)
    workload = mapped(table, how, name, on_error)
    if columns is not None:
        said = "; ".join(_changes(how, base)) or "no changes"
        note = f"{how.file or 'a column map'} over {name}: {said}"
        workload.source = replace(workload.source, notes=(note, *workload.source.notes))
    return workload


def likely_source(names: Collection[str]) -> str | None:
    """Return the source whose columns these are, None if they are no one's.

    All are there without which nothing can be done, and four in five of the others.
    """
    for source in MAPS:
        how, there = source_map(source), set(names)
        needed = {name for ours, entry in how.columns.items() if ours in NEEDED for name in entry.names}
        if source not in _TABLES and needed <= there and len(there & set(how.names)) >= 0.8 * len(how.names):
            return source
    return None


def laid_over(columns: ColumnMap | str | Path, base: ColumnMap) -> ColumnMap:
    """Return the map of a source with another one over it. Raises ConfigError for one that is wrong."""
    return columns.over(base) if isinstance(columns, ColumnMap) else ColumnMap.from_yaml(columns, base)


def _changes(how: ColumnMap, base: ColumnMap) -> Iterator[str]:
    """Yield what is not as the source has it, and what it was there."""
    if how.zone != base.zone:
        yield f"time_zone = {how.zone}"
    if how.leave_out != base.leave_out:
        yield f"without {', '.join(how.leave_out)}"
    for name in {**base.columns, **how.columns}:
        before, now = base.columns.get(name), how.columns.get(name)
        if before != now:
            instead = f" in place of {before}" if before is not None else ""
            yield f"{name} = {now or 'end_time - start_time'}{instead}"


def _added(name: str) -> Loader:
    loader: Loader = next(iter(entry_points(group=GROUP, name=name))).load()
    return loader
