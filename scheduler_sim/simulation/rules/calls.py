"""Calls of running components."""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.calls import EXTEND_JOB, WF_API
from scheduler_sim.placement.placements import Placements
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.workload.mwf_text import parse_api_calls
from scheduler_sim.workload.table import Workload

KINDS = {"WF_API": WF_API, "EXTEND_JOB": EXTEND_JOB}
"""Calls by their names in traces, in capitals; a number alone is WF_API."""


class Calls(Numbers):
    """Writes the calls of the trace."""

    part = "calls"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = bool(run.calls)

    def room(self, sizes: Sizes) -> int:
        """As many as there are."""
        return len(self.run.calls)

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write them, and which are whose."""
        core.calls[:] = self.run.calls
        of = np.array([row for row, *_ in self.run.calls], dtype=np.int64)
        rows, member = np.arange(jobs.rows.stop), core.coscheduling.member
        member["call"][jobs.rows] = np.searchsorted(of, rows, side="left")
        member["call_last"][jobs.rows] = np.searchsorted(of, rows, side="right")
        return core


def find_calls(workload: Workload, placements: Placements) -> tuple[list[tuple[int, int, int]], int]:
    """Return calls as ``Run`` has them, and how many are of kinds that mean nothing here."""
    texts = workload.columns["api_calls"]
    said = [parse_api_calls(text) for text in texts.categories]
    codes = np.asarray(texts.codes)[placements.rows]
    asks = np.array([bool(calls) for calls in said], dtype=bool)
    found, unknown = [], 0
    for row in np.flatnonzero(asks[codes]) if len(asks) else ():
        for name, seconds in said[codes[row]]:
            kind = KINDS.get(name.upper())
            if kind is None:
                unknown += 1
            else:
                found.append((int(row), kind, int(seconds)))
    return sorted(found, key=lambda call: (call[0], call[2])), unknown
