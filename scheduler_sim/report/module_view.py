"""One module during one span of time: what ran, what waited, what was idle."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.report.leaf_order import IN_ORDER
from scheduler_sim.report.queue_order import QueueOrder
from scheduler_sim.result.columns import rows_named
from scheduler_sim.result.steps import Steps, value_at

if TYPE_CHECKING:
    import pandas as pd

    from scheduler_sim.result.result import Result


NEVER = np.iinfo(np.int64).max // 4
"""The time of what never happened, later than everything and safe to add to."""

ALIKE = "Nodes of {} are all alike: their numbers are given out after the run, the lowest free ones first."
BESIDE = (
    "Where jobs share nodes, each is as high in the row of its node as its share of the cores; which cores it"
    " had is not simulated."
)


def module_sizes(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return the nodes of each module as the manifest states them."""
    modules = manifest.get("modules") or (manifest.get("system") or {}).get("modules") or {}
    if isinstance(modules, Mapping):
        return {
            str(name): int(entry["nodes"] if isinstance(entry, Mapping) else entry)
            for name, entry in modules.items()
        }
    return {str(entry["name"]): int(entry["nodes"]) for entry in modules}


def unix_start(manifest: Mapping[str, Any]) -> int | None:
    """Return the Unix time at which the trace's clock is 0 (s); None where none after 1970 is stated."""
    stated = (manifest.get("trace") or {}).get("unix_start_time")
    return stated if isinstance(stated, int) and stated > 0 else None


def shared_modules(manifest: Mapping[str, Any]) -> set[str]:
    """Return the modules whose nodes jobs share."""
    described = (manifest.get("system") or {}).get("modules") or []
    return {str(one["name"]) for one in described if one.get("shared")} & set(told_apart(manifest))


def told_apart(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the modules of which the result knows which nodes components had, and what these have in all."""
    found: Mapping[str, Any] = manifest.get("shared_nodes") or {}
    return found


def rows_in_words(manifest: Mapping[str, Any], names: Collection[str]) -> list[str]:
    """Say what a reader must know of the rows of nodes of some modules."""
    on_leaves = set(manifest.get("topology") or {})
    counted = [name for name in names if name not in told_apart(manifest) and name not in on_leaves]
    lines = [BESIDE] if shared_modules(manifest).intersection(names) else []
    lines += [IN_ORDER] if on_leaves.intersection(names) else []
    return [*lines, ALIKE.format("other modules" if lines else "a module")] if counted else lines


def ints(table: pd.DataFrame, column: str) -> Ints:
    """Return a column as int64."""
    return table[column].to_numpy(dtype=np.int64)


@dataclass(frozen=True)
class ModuleView:
    """The components of one module that touch a span of time, by position.

    Attributes
    ----------
    name, capacity : the module and its nodes
    first, last : seconds, the span
    row : int64[n], row in the result's components
    nodes : int64[n]; submit, eligible, start, end, limit, leave : int64[n], seconds;
        ``leave`` is when it left the queue, ``NEVER`` stands for what did not happen
    busy, down : nodes over time, as recorded in the timeline
    able : nodes over time that have what one component asks for, where jobs share nodes; else None
    """

    name: str
    capacity: int
    first: int
    last: int
    row: Ints
    nodes: Ints
    submit: Ints
    eligible: Ints
    start: Ints
    end: Ints
    limit: Ints
    leave: Ints
    busy: Steps
    down: Steps
    able: Steps | None = None

    @classmethod
    def of(cls, result: Result, module: str, first: int, last: int) -> ModuleView:
        """Cut out what was running or waiting in ``module`` from ``first`` to ``last``."""
        table = result.components
        start, end = ints(table, "start_time"), ints(table, "end_time")
        eligible = ints(table, "eligible_time")
        start = np.where(start < 0, NEVER, start)
        left = np.where(start == NEVER, np.where(end < 0, NEVER, end), start)
        over = np.where(end < 0, NEVER, end)
        waits = (eligible >= 0) & (eligible <= last) & (left >= first)
        runs = (start <= last) & (over >= first)
        here = rows_named(table["module"], module) & ~rows_named(table["state"], "REJECTED")
        rows = np.flatnonzero(here & (waits | runs))
        steps = result.timeline
        own = rows_named(steps["module"], module)
        time = ints(steps, "time")[own]
        return cls(
            name=module,
            capacity=module_sizes(result.manifest)[module],
            first=first,
            last=last,
            row=rows,
            nodes=ints(table, "nodes")[rows],
            submit=ints(table, "submit_time")[rows],
            eligible=np.where(eligible < 0, NEVER, eligible)[rows],
            start=start[rows],
            end=over[rows],
            limit=ints(table, "time_limit")[rows],
            leave=left[rows],
            busy=(time, ints(steps, "nodes_busy")[own]),
            down=(time, ints(steps, "nodes_down")[own]),
        )

    def queue_order(self, name: str, first_submit: int) -> QueueOrder:
        """Return a built-in order over the components of this view."""
        return QueueOrder(name, self.limit, self.nodes, self.submit, self.row, first_submit)

    def position(self, row: int) -> int:
        """Return where a row of the result stands in this view."""
        return int(np.flatnonzero(self.row == row)[0])

    def instants(self) -> Ints:
        """Return every instant of the span, before its last, at which anything changed here."""
        until = max(self.last, self.first + 1)
        parts = [np.array([self.first], dtype=np.int64)]
        for times in (self.eligible, self.start, self.end, self.busy[0]):
            parts.append(times[(times >= self.first) & (times < until)])
        moments = np.sort(np.concatenate(parts))
        changes: Ints = moments[np.append(True, moments[1:] != moments[:-1])]
        return changes

    def idle(self, moments: Any) -> Any:
        """Return the idle nodes in service after the pass of each moment, or those that are ``able``."""
        if self.able is not None:
            return value_at(self.able, moments)
        return self.capacity - value_at(self.busy, moments) - value_at(self.down, moments)

    def running(self, moment: int) -> Ints:
        """Return the positions of what runs after the pass of ``moment``."""
        return np.flatnonzero((self.start <= moment) & (moment < self.end))

    def waiting(self, moment: int) -> Ints:
        """Return the positions of what waits after the pass of ``moment``."""
        return np.flatnonzero((self.eligible <= moment) & (moment < self.leave))

    def planned_end(self, of: Ints, moment: int) -> Ints:
        """Return when the scheduler at ``moment`` expects running components to end."""
        ends: Ints = np.maximum(self.start[of] + self.limit[of], moment + 1)
        return ends

    def cut(self, first: int, last: int) -> ModuleView:
        """Return the view of a shorter span, so that looking at many moments of it is cheap."""
        keep = (self.start <= last) & (self.end >= first)
        keep |= (self.eligible <= last) & (self.leave >= first)
        columns = ("row", "nodes", "submit", "eligible", "start", "end", "limit", "leave")
        parts = {column: getattr(self, column)[keep] for column in columns}
        return ModuleView(
            name=self.name, capacity=self.capacity, first=first, last=last, busy=self.busy,
            down=self.down, able=self.able, **parts,
        )  # fmt: skip
