"""What the core has written down of its modules: the timeline, column by column."""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.engine.rules.power_saving.state import SWITCHED_COLUMNS

COLUMNS = ("time", "module", "busy", "down", "queued", "queued_nodes")

Written = dict[str, np.ndarray]
"""[rows] by name: time in s, number of the module, nodes or jobs."""


def written_names(core: FullCore) -> tuple[str, ...]:
    """Return the names of the columns that a core writes."""
    held = ("held",) if has(core, "idle_rows") else ()
    return (*COLUMNS, *held, *(SWITCHED_COLUMNS if has(core, "power_saving") else ()))


def written(core: FullCore) -> Written:
    """Return the columns of the timeline as they stand in the core."""
    return {name: _column(core, name)[: core.clock.rows] for name in written_names(core)}


def write(core: FullCore, rows: np.ndarray, at: int) -> None:
    """Write rows of all columns, int64[rows, columns], into the timeline from ``at`` on."""
    for name, values in zip(written_names(core), rows.T, strict=True):
        _column(core, name)[at : at + len(rows)] = values


def own_timeline(core: FullCore) -> FullCore:
    """Return the core with a timeline of its own, as a result may read the one it has."""
    tables = {name: getattr(core, name) for name in ("timeline", "idle_rows") if has(core, name)}
    return core._replace(**{name: table.copy() for name, table in tables.items()})


def longer_timeline(core: FullCore) -> FullCore:
    """Return the core with twice the room for its timeline."""
    parts = [name for name in ("timeline", "idle_rows") if has(core, name)]
    tables = {name: np.asarray(getattr(core, name)) for name in parts}
    longer = {name: np.concatenate((old, np.empty_like(old))) for name, old in tables.items()}
    return core._replace(**longer)


def _column(core: FullCore, name: str) -> np.ndarray:
    return (core.timeline if name in COLUMNS else core.idle_rows)[name]
