"""What the core has written down of its modules: the timeline, column by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.engine.rules.power_saving.state import SWITCHED_COLUMNS
from scheduler_sim.simulation.rules.power_saving import switches

COLUMNS = ("time", "module", "busy", "down", "queued", "queued_nodes")
USED_COLUMNS = ("cores", "memory", "gpus")

Written = dict[str, np.ndarray]
"""[rows] by name: time in s, number of the module, nodes or jobs; parts of nodes as the core counts."""


def written_names(core: FullCore) -> tuple[str, ...]:
    """Return the names of the columns that a core writes."""
    return tuple(name for name, _ in _columns(core))


def written(core: FullCore) -> Written:
    """Return the columns of the timeline as they stand in the core."""
    return {name: table[name][: core.clock.rows] for name, table in _columns(core)}


def write(core: FullCore, rows: np.ndarray, at: int) -> None:
    """Write rows of all columns, int64[rows, columns], into the timeline from ``at`` on."""
    for (name, table), values in zip(_columns(core), rows.T, strict=True):
        table[name][at : at + len(rows)] = values


def own_timeline(core: FullCore) -> FullCore:
    """Return the core with a timeline of its own, as a result may read the one it has."""
    return _changed(core, lambda table: table.copy())


def longer_timeline(core: FullCore) -> FullCore:
    """Return the core with twice the room for its timeline."""
    return _changed(core, lambda table: np.concatenate((table, np.empty_like(table))))


def _columns(core: FullCore) -> list[tuple[str, Any]]:
    """The columns that a core writes, each with its table."""
    columns: list[tuple[str, Any]] = [(name, core.timeline) for name in COLUMNS]
    if has(core, "idle_rows"):
        switched = () if switches(core) is None else SWITCHED_COLUMNS
        columns += [(name, core.idle_rows) for name in ("held", *switched)]
    if has(core, "shared_nodes"):
        columns += [(name, core.shared_nodes.rows) for name in USED_COLUMNS]
    return columns


def _changed(core: FullCore, change: Callable[[np.ndarray], Any]) -> FullCore:
    """Return the core with other tables for its timeline."""
    names = [name for name in ("timeline", "idle_rows") if has(core, name)]
    core = core._replace(**{name: change(np.asarray(getattr(core, name))) for name in names})
    if has(core, "shared_nodes"):
        rows = change(np.asarray(core.shared_nodes.rows))
        core = core._replace(shared_nodes=core.shared_nodes._replace(rows=rows))
    return core
