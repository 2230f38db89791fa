"""Repairs of what cannot have been so: each is named, counted and listed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.workload.fields import CANCELLED, NO_NODES, NO_RUN_TIME
from scheduler_sim.workload.table import REPAIRS

_CANCELLED_STATUS = 5
LIMIT_BELOW_RUN_TIME = "limit below run time"
END_BEFORE_START = "end before start"
NEGATIVE_RUN_TIME = "negative run time"
START_BEFORE_SUBMISSION = "start before submission"
DUPLICATE_ID = "duplicate id"

DONE: dict[str, tuple[str, str]] = {
    LIMIT_BELOW_RUN_TIME: ("time_limit", "the limit is the run time"),
    END_BEFORE_START: ("run_time", "the run time is not known, and the job is not simulated"),
    NEGATIVE_RUN_TIME: ("run_time", "the run time is not known, and the job is not simulated"),
    START_BEFORE_SUBMISSION: ("submit_time", "it was submitted when it started"),
    DUPLICATE_ID: ("component_id", "later ones have numbers of their own"),
}
"""Kinds of repairs: the column that is changed, and what is done."""


@dataclass
class Repairs:
    """What was changed, row by row."""

    parts: list[pd.DataFrame] = field(default_factory=list)

    def change(self, kind: str, column: np.ndarray, where: np.ndarray, made: Any) -> np.ndarray:
        """Return a column with other values in some rows (bool[rows]), and write down what was changed."""
        if not where.any():
            return column
        changed = column.copy()
        changed[where] = made[where] if isinstance(made, np.ndarray) else made
        rows = np.flatnonzero(where)
        found = {
            "row": rows,
            "kind": kind,
            "field": DONE[kind][0],
            "found": column[rows],
            "made": changed[rows],
        }
        self.parts.append(pd.DataFrame(found))
        return changed

    def table(self, ids: np.ndarray | None, lines: np.ndarray | None) -> pd.DataFrame:
        """Return all changes, by row; columns as in ``workload.table.REPAIRS``."""
        if not self.parts:
            return pd.DataFrame(columns=list(REPAIRS))
        joined = pd.concat(self.parts, ignore_index=True).sort_values(["row", "field"], kind="stable")
        rows = joined["row"].to_numpy()
        joined["component_id"] = rows + 1 if ids is None else ids[rows]
        joined["line"] = -1 if lines is None else lines[rows]
        return joined[list(REPAIRS)].reset_index(drop=True)

    def notes(self) -> tuple[str, ...]:
        """Return a sentence for each kind of repair."""
        counts: Counter[str] = Counter()
        for part in self.parts:
            counts[str(part["kind"].iloc[0])] += len(part)
        return tuple(f"repaired: {count:,} x {kind} ({DONE[kind][1]})" for kind, count in counts.items())


def repaired(repairs: Repairs, columns: dict[str, Any], below_0: str = NEGATIVE_RUN_TIME) -> dict[str, Any]:
    """Return the columns of a workload, of what rows say: repaired, with what follows from it.

    ``below_0`` : how run times below 0 came about.
    """
    found = dict(columns)
    start, _ = found.pop("start_time", None), found.pop("end_time", None)
    run = found["run_time"]
    found["run_time"] = repairs.change(below_0, run, run < -1, -1)
    if start is not None:
        found["submit_time"] = _submissions_repaired(repairs, found["submit_time"], start)
        found.setdefault("wait_time", np.where(start >= 0, start - found["submit_time"], -1))
    if "time_limit" in found:
        limit = np.where(found["time_limit"] == 0, -1, found["time_limit"])
        found["listed_time_limit"] = limit
        found["time_limit"] = _limits_repaired(repairs, limit, found["run_time"])
    if "component_id" not in found and "modular_job_id" in found:
        found["component_id"] = found.pop("modular_job_id")
    if "component_id" in found:
        found["component_id"] = _ids_repaired(repairs, found["component_id"])
    found["skipped"] = _skipped(found)
    return found


def _skipped(columns: dict[str, Any]) -> np.ndarray:
    run, status = (
        columns["run_time"],
        columns.get("status", np.zeros(len(columns["run_time"]), dtype=np.int64)),
    )
    codes = np.zeros(len(run), dtype=np.int8)
    codes[columns["nodes"] <= 0] = NO_NODES
    codes[run < 0] = NO_RUN_TIME
    codes[(status == _CANCELLED_STATUS) & (run <= 0)] = CANCELLED
    return codes


def _limits_repaired(repairs: Repairs, limit: np.ndarray, run: np.ndarray) -> np.ndarray:
    """A job that ran for so long had a limit that let it."""
    return repairs.change(LIMIT_BELOW_RUN_TIME, limit, (limit >= 0) & (limit < run), np.maximum(run, 1))


def _submissions_repaired(repairs: Repairs, submit: np.ndarray, start: np.ndarray) -> np.ndarray:
    """A clock that was set back lets a job start before its submission."""
    return repairs.change(START_BEFORE_SUBMISSION, submit, (start >= 0) & (start < submit), start)


def _ids_repaired(repairs: Repairs, ids: np.ndarray) -> np.ndarray:
    """The first of each id keeps it; the others get the numbers above the highest."""
    again = pd.Series(ids).duplicated().to_numpy()
    free = ids.max(initial=0) + np.cumsum(again)
    return repairs.change(DUPLICATE_ID, ids, again, free)
