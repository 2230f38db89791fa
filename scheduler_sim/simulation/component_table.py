"""The components of a result: what the core knows of each, and the columns that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_sim.engine.core import state as slot
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.placement.placements import Placements
from scheduler_sim.result.columns import CARRIED, NEVER, STATES, Dtype, Further, component_columns
from scheduler_sim.result.table import Deferred
from scheduler_sim.simulation.components import in_cache
from scheduler_sim.simulation.pools import modules_of
from scheduler_sim.system.system import System
from scheduler_sim.texts import TextColumn, is_text_column

OF_TRACE = ("modular_job_id", "component_id", "submit_time")
TEXTS = ("name", "user", "app")
"""Columns of the workload that stand in a result as they are."""

OF_RECORD = ("wait_time", "component_wait_time", "run_time", "components_total")
"""Columns of the workload that say when components started by the trace."""

OF_ARRAY = ("array_job_id", "array_task_id")
"""Columns of the workload that say which task of which array a component is."""

KNOWN = (
    *("module", "nodes", "eligible_time", "start_time", "end_time", "time_limit", "state"),
    "wait_resources",
)
"""Columns that the core knows."""

_STATE_OF = np.array(
    [STATES.index(name if name in STATES else "PENDING") for name in slot.STATE_NAMES], dtype=np.int8
)


class ComponentTable:
    """One row a component, in the order of the file.

    What the core knows is taken down at once, as it may go on; the rest is worked out when it is asked for.

    Attributes
    ----------
    known : the columns that metrics read, and what others follow from
    carried : columns of the trace that none of the workload's are: (name, dtype) of each
    recorded : the recorded waits, int64[rows of the workload], s, -1 = none; None where all are
    arrays : whether some are tasks of arrays
    """

    def __init__(
        self, core: FullCore, workload: Mapping[str, Any], placements: Placements, system: System
    ) -> None:
        self._workload, self._rows = workload, placements.in_file
        self.carried = tuple(
            (name, _dtype_of(workload[name])) for name in workload if name.startswith(CARRIED)
        )
        self.recorded = recorded_waits(workload)
        self.arrays = bool((workload["array_job_id"] >= 0).any())
        known = _known(core, placements)
        if (back := placements.file_order) is not None:
            known = {name: column[back] for name, column in known.items()}
        modules = [module.name for module in system.modules]
        self.known: dict[str, Any] = {
            **known,
            **{name: workload[name][self._rows] for name in OF_TRACE},
            "module": TextColumn(known["module"], modules),
            "state": TextColumn(known["state"], list(STATES)),
        }

    def deferred(self, columns: Mapping[str, Any], further: Further) -> Deferred:
        """Return the table, with further columns at its end."""

        def piece(rows: slice) -> dict[str, Any]:
            return self._columns(rows) | {name: column[rows] for name, column in columns.items()}

        return Deferred(component_columns(further), len(self.known["start_time"]), piece)

    def _columns(self, rows: slice) -> dict[str, Any]:
        """The columns of some rows, by the contract; those of power are not known here."""
        known = {name: column[rows] for name, column in self.known.items()}
        submit, eligible, start, end, resources = (
            known[name]
            for name in ("submit_time", "eligible_time", "start_time", "end_time", "wait_resources")
        )
        started = start != NEVER
        of_trace: Any = self._rows[rows] if isinstance(self._rows, np.ndarray) else rows
        record = (
            {}
            if self.recorded is None
            else {
                "recorded_wait": self.recorded[of_trace],
                "recorded_run_time": np.maximum(self._workload["run_time"][of_trace], NEVER),
            }
        )
        as_they_are = (*TEXTS, *(OF_ARRAY if self.arrays else ()), *(name for name, _ in self.carried))
        return {
            **known,
            **record,
            **{name: self._workload[name][of_trace] for name in as_they_are},
            "frequency_khz": np.full(len(start), NEVER),
            "run_time": np.where(started, end - start, NEVER),
            "wait_dependency": np.where(started, eligible - submit, NEVER),
            "wait_priority": np.where(started, start - eligible - resources, NEVER),
        }


def recorded_waits(workload: Mapping[str, Any]) -> np.ndarray | None:
    """Return the wait of each component by the trace, s, -1 = not recorded; None where none is.

    That of a job is that of its only component: of several it is not known whose it was.
    """
    own, of_job = workload["component_wait_time"], workload["wait_time"]
    if max(own.max(initial=NEVER), of_job.max(initial=NEVER)) == NEVER:
        return None
    alone = np.where(workload["components_total"] <= 1, of_job, NEVER)
    waits = np.maximum(np.where(own >= 0, own, alone), NEVER)
    return waits if (waits[workload["skipped"] == 0] >= 0).any() else None


def _dtype_of(column: Any) -> Dtype:
    if is_text_column(column):
        return "text"
    return "float64" if column.dtype.kind == "f" else "int64"


def _known(core: FullCore, placements: Placements) -> dict[str, np.ndarray]:
    """What the core knows of each component, in the order of its rows; ``module`` and ``state`` as codes."""
    rows = len(placements.rows)
    code = np.int8 if len(core.pools) < np.iinfo(np.int8).max else np.int32
    types = dict.fromkeys(KNOWN, np.int64) | {"module": code, "state": np.int8}
    known = {name: np.empty(rows, dtype=dtype) for name, dtype in types.items()}
    for some in in_cache(rows):
        for name, values in _known_of(core, placements, some).items():
            known[name][some] = values
    asked = {"nodes": placements.asked_nodes, "time_limit": placements.asked_limit}
    return known | {name: same for name, same in asked.items() if np.array_equal(same, known[name])}


def _known_of(core: FullCore, placements: Placements, rows: slice) -> dict[str, np.ndarray]:
    jobs, place = np.asarray(core.jobs)[rows], np.asarray(core.placements)
    started = jobs["start"] != NEVER
    all_did = bool(started.all())
    placed = jobs["placed"] if all_did else np.where(started, jobs["placed"], 0)
    module, nodes, limit = (place[name][placed] for name in ("module", "nodes", "limit"))
    resources = jobs["wait_resources"]
    if not all_did:  # of one that never started, its first placement's; of a rejected one, what it asked for
        able = jobs["first"] < jobs["last"]
        first = place["module"][np.where(able, jobs["first"], 0)]
        module = np.where(started, module, np.where(able, first, placements.asked_module[rows]))
        nodes = np.where(started, nodes, placements.asked_nodes[rows])
        asked = core.orders.columns[1, rows].astype(np.int64)  # 0: by no order, and it was never changed
        asked = np.where(asked > 0, asked, placements.asked_limit[rows])
        limit = np.where(started, limit, asked)
        resources = np.where(started, resources, NEVER)
    if has(core, "holes"):
        module = modules_of(core)[module]
    columns = module, nodes, jobs["eligible"], jobs["start"], jobs["end"], limit, _STATE_OF[jobs["state"]]
    return dict(zip(KNOWN, (*columns, resources), strict=True))
