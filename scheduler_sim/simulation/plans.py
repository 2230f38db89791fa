"""What ties the components of a result to one another, as the metrics of workflows take it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.engine.rules.calls import WF_API
from scheduler_sim.metrics.ties import DYNAMIC
from scheduler_sim.placement.placements import Placements
from scheduler_sim.result.columns import NEVER
from scheduler_sim.simulation.rules.numbers import Run
from scheduler_sim.simulation.units import by_place
from scheduler_sim.workload.table import Workload


@dataclass(frozen=True)
class Plans:
    """Dependencies and plans, by rows of the core.

    Attributes
    ----------
    edges : row, after_row, kind, delay (s), any, ready (the instant of the producer's call, −1 = none)
    offset : int64[n], s from the start of the unit; None where components start each on its own
    appointment : int64[n], when a component was expected, −1 = it never was; None likewise
    """

    edges: pd.DataFrame
    offset: np.ndarray | None = None
    appointment: np.ndarray | None = None

    def in_file_order(self, places: np.ndarray | None) -> Plans:
        """The same by places in the file: ``places`` of each row, None = as they are."""
        if places is None:
            return self
        edges = self.edges.assign(row=places[self.edges["row"]], after_row=places[self.edges["after_row"]])
        back = np.argsort(places)
        return replace(
            self,
            edges=edges,
            offset=None if self.offset is None else self.offset[back],
            appointment=None if self.appointment is None else self.appointment[back],
        )


def plans_of(
    core: FullCore, workload: Workload, placements: Placements, run: Run, edges: pd.DataFrame, rows: int
) -> Plans:
    """Put together what was planned; ``edges`` with those of the ``rows`` components that were added, too."""
    units = run.units
    any_will_do = np.zeros(rows, dtype=np.int64)
    any_will_do[: len(placements.rows)] = workload.table["dependency_any"].to_numpy()[placements.rows]
    edges = edges.assign(any=any_will_do[edges["row"]])
    if not has(core, "coscheduling"):
        return Plans(edges.assign(ready=NEVER))
    ties = by_place(workload.ties(), workload, placements.rows)
    tied = ties.assign(kind=DYNAMIC, delay=0, any=0)
    edges = pd.concat([edges, tied], ignore_index=True)
    edges = edges.assign(ready=_ready(core, run.calls, rows)[edges["after_row"]])
    if not units.members:
        return Plans(edges)
    offset = np.zeros(rows, dtype=np.int64)
    offset[: len(units.offset)] = units.offset
    return Plans(edges, offset, np.asarray(core.coscheduling.member["reserved_from"])[:rows].copy())


def _ready(core: FullCore, calls: list[tuple[int, int, int]], rows: int) -> np.ndarray:
    """int64[rows]: when each made its first call of the workflow API, −1 = never."""
    comp, ready = np.asarray(core.jobs)[:rows], np.full(rows, NEVER)
    for row, kind, after in reversed(calls):
        start, end = int(comp["start"][row]), int(comp["end"][row])
        if kind == WF_API and start >= 0 and start + after < end:
            ready[row] = start + after
    return ready
