"""The timeline of a result, from the rows that the core wrote of its modules."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.energy.accounting import MILLI
from scheduler_sim.engine.rules.power_saving.state import SWITCHED_COLUMNS
from scheduler_sim.result.columns import SWITCHED, TOTAL, Further, timeline_columns
from scheduler_sim.result.table import Deferred
from scheduler_sim.simulation.written import Written
from scheduler_sim.system.node_resources import ENOUGH, THOUSANDTHS
from scheduler_sim.system.system import System
from scheduler_sim.texts import TextColumn

NAMES = {
    "busy": "nodes_busy",
    "held": "nodes_reserved_idle",
    "down": "nodes_down",
    "queued": "queue_components",
    "queued_nodes": "queue_nodes",
    **dict(zip(SWITCHED_COLUMNS, (column.name for column in SWITCHED), strict=True)),
}
"""Columns of the timeline by those of the core."""

THOUSANDTHS_OF = {"cores": "cores_busy", "gpus": "gpus_busy"}
"""Those that the core counts in thousandths."""

OF_PARTS = ("cores", "memory", "gpus")
"""What the core counts of nodes that it tells apart: the table has it where jobs share them."""


class TimelineTable:
    """Rows of each module, and of the total over them, in order of time.

    Parameters
    ----------
    rows : what the core wrote; milliwatts : the power at each of them, where it is known
    """

    def __init__(
        self, rows: Written, milliwatts: np.ndarray | None, system: System, further: Further
    ) -> None:
        self.further = further
        self._names = [*(module.name for module in system.modules), TOTAL]
        self._rows = _that_differ(rows if milliwatts is None else {**rows, "milliwatts": milliwatts}, further)

    @property
    def of_modules(self) -> dict[str, Any]:
        """The rows of the modules alone, for metrics: what these look at."""
        if self.further.shared:
            return self._described(self._rows)
        time, module, down = (self._rows[name] for name in ("time", "module", "down"))
        return {"time": time, "module": TextColumn(module, self._names), "nodes_down": down}

    def deferred(self) -> Deferred:
        """Return the table."""
        described = timeline_columns(self.further)
        if len(self._names) == 2:
            return Deferred(described, 2 * len(self._rows["time"]), self._of_one)
        columns = self._of_several()
        return Deferred(
            described,
            len(columns["time"]),
            lambda rows: self._described({name: column[rows] for name, column in columns.items()}),
        )

    def _of_one(self, rows: slice) -> dict[str, Any]:
        """Some rows where there is one module: each row is that of the module, then that of the total."""
        first, last = rows.start // 2, (rows.stop + 1) // 2
        here = slice(rows.start - 2 * first, rows.stop - 2 * first)
        columns = {name: np.repeat(column[first:last], 2)[here] for name, column in self._rows.items()}
        columns["module"] = np.tile(np.array([0, 1], dtype=np.int8), last - first)[here]
        return self._described(columns)

    def _of_several(self) -> Written:
        """All rows, those of the total behind those of the modules at each instant."""
        time, module, *columns = self._rows.values()
        modules, values = len(self._names) - 1, np.column_stack(columns)
        total_time, total = _totals(time, module, values, modules)
        place = np.argsort(np.concatenate((time, total_time)), kind="stable")
        joined = np.concatenate((values, total))[place]
        return {
            "time": np.concatenate((time, total_time))[place],
            "module": np.concatenate((module, np.full(len(total_time), modules, dtype=module.dtype)))[place],
            **dict(zip(list(self._rows)[2:], joined.T, strict=True)),
        }

    def _described(self, columns: Written) -> dict[str, Any]:
        """The columns of the contract."""
        time, milliwatts = columns["time"], columns.get("milliwatts")
        return {
            "nodes_reserved_idle": np.zeros(len(time), dtype=np.int64),
            **{theirs: columns[ours] for ours, theirs in NAMES.items() if ours in columns},
            **({"memory_busy_kb": columns["memory"]} if "memory" in columns else {}),
            "time": time,
            "module": TextColumn(columns["module"], self._names),
            **{
                theirs: columns[ours] / THOUSANDTHS
                for ours, theirs in THOUSANDTHS_OF.items()
                if ours in columns
            },
            **({} if milliwatts is None else {"power_w": milliwatts / MILLI}),
        }


def _that_differ(rows: Written, further: Further) -> Written:
    """Return the rows of each module in which something differs that the table has, from the one before."""
    if "memory" not in rows:
        return rows
    shown = {name: column for name, column in rows.items() if further.shared or name not in OF_PARTS}
    if further.shared:
        shown["memory"] = rows["memory"] % ENOUGH  # of a node that does not say how much it has
    time, module, *columns = shown.values()
    values, kept = np.column_stack(columns), np.ones(len(time), dtype=bool)
    for one in np.unique(module):
        own = np.flatnonzero(module == one)
        kept[own[1:]] = (np.diff(values[own], axis=0) != 0).any(axis=1)
    return shown if kept.all() else {name: column[kept] for name, column in shown.items()}


def _totals(time: np.ndarray, module: np.ndarray, values: np.ndarray, modules: int) -> tuple[Any, Any]:
    """Sum over the modules at each instant; instants at which the sums do not change are left out."""
    change = np.empty_like(values)
    for i in range(modules):
        own = module == i
        change[own] = np.diff(values[own], axis=0, prepend=np.zeros((1, values.shape[1]), dtype=np.int64))
    instants, first = np.unique(time, return_index=True)
    sums = np.cumsum(np.add.reduceat(change, first), axis=0) if len(first) else values[:0]
    differs = np.ones(len(sums), dtype=bool)
    differs[1:] = (np.diff(sums, axis=0) != 0).any(axis=1)
    return instants[differs], sums[differs]
