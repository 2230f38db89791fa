"""Tables of others, by a column map, or by names that leave no doubt."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

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
from scheduler_sim.workload.table import Workload

MOST_SHOWN = 600
"""So many characters of names are shown."""


def read_table(
    path: str | Path, kind: str | None, columns: ColumnMap | str | Path | None, on_error: str
) -> Workload:
    """Read a table of others, of a format, None = as the column map says.

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
    unused = [f"{name[:60]}{_hint(name)}" for name in map(_theirs, workload.carried_columns)]
    told = [f"columns without a meaning here, carried on: {', '.join(unused)[:MOST_SHOWN]}"] if unused else []
    workload.source = replace(workload.source, notes=(note, *told, *workload.source.notes))
    return workload


def _theirs(carried: str) -> str:
    return carried.removeprefix(CARRIED)


def _hint(name: str) -> str:
    """Which of our columns a name may be, spelt wrong; else nothing."""
    near = get_close_matches(name.lower(), list(FIELDS), n=1, cutoff=0.85)
    return did_you_mean(name, list(FIELDS)) if near else ""
