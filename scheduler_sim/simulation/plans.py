"""What ties the components of a result to one another, as the metrics of workflows take it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.engine.rules.calls import WF_API
from scheduler_sim.metrics.ties import DYNAMIC, NO_TIES, Ties
from scheduler_sim.placement.placements import Placements
from scheduler_sim.result.columns import NEVER
from scheduler_sim.simulation.rules.dependencies import Edges
from scheduler_sim.simulation.rules.numbers import Run
from scheduler_sim.simulation.units import by_place
from scheduler_sim.workload.table import Workload


@dataclass(frozen=True)
class Plans:
    """Dependencies and plans, by rows of the core.

    Attributes
    ----------
    edges : what waits for what, and what is tied by DYNAMIC
    offset : int64[n], s from the start of the unit; None where components start each on its own
    appointment : int64[n], when a component was expected, −1 = it never was; None likewise
    """

    edges: Ties
    offset: np.ndarray | None = None
    appointment: np.ndarray | None = None

    def in_file_order(self, order: np.ndarray | None) -> Plans:
        """The same by places in the file: the rows in its ``order``, None = as they are."""
        if order is None:
            return self
        places = np.argsort(order)
        return replace(
            self,
            edges=self.edges._replace(row=places[self.edges.row], after_row=places[self.edges.after_row]),
            offset=None if self.offset is None else self.offset[order],
            appointment=None if self.appointment is None else self.appointment[order],
        )


def plans_of(
    core: FullCore, workload: Workload, placements: Placements, run: Run, edges: Edges, rows: int
) -> Plans:
    """Put together what was planned; ``edges`` with those of the ``rows`` components that were added, too."""
    units, tied = run.units, NO_TIES
    if len(edges.row):
        any_will_do = np.zeros(rows, dtype=np.int64)
        any_will_do[: len(placements.rows)] = workload.columns["dependency_any"][placements.rows]
        never = np.full(len(edges.row), NEVER)
        tied = Ties(*edges, any=any_will_do[edges.row], ready=never)
    if not has(core, "coscheduling"):
        return Plans(tied)
    row, after_row = by_place(workload.tied, workload, placements.rows)
    none = np.zeros(len(row), dtype=np.int64)
    dynamic = Ties(row, after_row, np.full(len(row), DYNAMIC), none, none, none)
    tied = Ties(*(np.concatenate(both) for both in zip(tied, dynamic, strict=True)))
    tied = tied._replace(ready=_ready(core, run.calls, rows)[tied.after_row])
    if not units.members:
        return Plans(tied)
    offset = np.zeros(rows, dtype=np.int64)
    offset[: len(units.offset)] = units.offset
    return Plans(tied, offset, np.asarray(core.coscheduling.member["reserved_from"])[:rows].copy())


def _ready(core: FullCore, calls: list[tuple[int, int, int]], rows: int) -> np.ndarray:
    """int64[rows]: when each made its first call of the workflow API, −1 = never."""
    comp, ready = np.asarray(core.jobs)[:rows], np.full(rows, NEVER)
    for row, kind, after in reversed(calls):
        start, end = int(comp["start"][row]), int(comp["end"][row])
        if kind == WF_API and start >= 0 and start + after < end:
            ready[row] = start + after
    return ready
