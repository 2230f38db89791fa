"""What a format has no place for, said in notes rather than lost in silence."""

from __future__ import annotations

import numpy as np

from scheduler_sim.texts import is_text_column
from scheduler_sim.workload.fields import FIELDS, Field
from scheduler_sim.workload.mwf_text import is_missing
from scheduler_sim.workload.table import Workload

# Written through another column, or not part of a trace.
_CARRIED = {
    "modular_job_id", "component_id", "nodes", "time_limit", "partition", "app", "skipped",
    "listed_component_id", "listed_app", "listed_partition", "listed_constraint", "listed_licences",
}  # fmt: skip
_ONE_A_NODE = ("processes_per_node", "threads_per_process")  # 1 is what a format without them means

_CARRIED_BY_MWF = {"constraint", "licences", "measured_power_w"}


def lost_columns(workload: Workload, target: str, carried: bool = True) -> list[str]:
    """Return a note for each column that says something ``target`` (swf or mwf) cannot carry.

    ``carried`` : whether carried columns are lost.
    """
    notes = []
    for field in FIELDS.values():
        has = field.name in _CARRIED or (target == "mwf" and field.name in _CARRIED_BY_MWF)
        if has or field.position(target) is not None:
            continue
        rows = _rows_that_say_something(workload, field)
        if rows:
            notes.append(f"{field.name}: {target.upper()} has no place for it; {rows} values left out")
    if target == "mwf" and (rows := int(np.count_nonzero(np.mod(workload["measured_power_w"], 1)))):
        notes.append(f"measured_power_w: MWF has whole W; {rows} values rounded")
    if carried and workload.carried_columns:
        names = ", ".join(workload.carried_columns)
        notes.append(f"{target.upper()} has no place for {names[:200]}; left out")
    return notes


def _rows_that_say_something(workload: Workload, field: Field) -> int:
    column = workload.columns[field.name]
    if field.name == "queue":  # carried as the partition where there is no other
        lost = np.asarray(column, dtype=object) != np.asarray(workload.columns["partition"], dtype=object)
        return int(np.count_nonzero(lost & (np.asarray(column, dtype=object) != "")))
    if is_text_column(column):
        says = np.array([not is_missing(text) for text in column.categories], dtype=bool)
        return int(np.count_nonzero(says[column.codes]))
    says = np.asarray(column) != field.default
    if field.name in _ONE_A_NODE:
        says &= np.asarray(column) != 1
    return int(np.count_nonzero(says))


def without_skipped(workload: Workload, notes: list[str]) -> Workload:
    """Leave out skipped records, unless no format reads them as jobs: those of run time -1 (unknown)."""
    dropped = (workload["skipped"] != 0) & (workload["run_time"] != -1)
    if not dropped.any():
        return workload
    notes.append(f"{int(dropped.sum())} records that are not simulated left out")
    return workload.select(~dropped)
