"""Which component somebody means: by its id, or as Slurm writes tasks of arrays and parts of jobs."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from scheduler_sim.errors import InputError
from scheduler_sim.report.module_view import ints
from scheduler_sim.report.wording import listing, plain

NEAR_IDS = 5
_WRITTEN = re.compile(r"([0-9]{1,18})(?:_([0-9]{1,18})|\+([0-9]{1,6}))?")


def row_named(table: pd.DataFrame, component: int | str) -> int:
    """Return the row of a component of a result: 301, 30_1 (task 1 of array 30), 40+1 (the second of job 40).

    Raises InputError where there is none, with what is near.
    """
    match = _WRITTEN.fullmatch(str(component).strip())
    if match is None:
        raise InputError(
            f"component {plain(str(component))!r} is not a number, nor 30_1 or 40+1 as Slurm writes tasks of"
            f" arrays and components of jobs; {_some_ids(ints(table, 'component_id'))}"
        )
    number, task, offset = (None if part is None else int(part) for part in match.groups())
    assert number is not None
    if task is not None:
        return _task(table, number, task)
    return _component(table, number) if offset is None else _of_job(table, number, offset)


def _component(table: pd.DataFrame, wanted: int) -> int:
    ids = ints(table, "component_id")
    rows = np.flatnonzero(ids == wanted)
    if len(rows):
        return int(rows[0])
    if "array_job_id" in table and (tasks := ints(table, "array_job_id") == wanted).any():
        first = np.sort(ints(table, "array_task_id")[tasks])[:NEAR_IDS].tolist()
        near = listing(f"{wanted}_{task}" for task in first)
        more = _more(int(tasks.sum()))
        raise InputError(f"{wanted} is an array, not a component; its tasks are {near}{more}")
    members = ids[ints(table, "modular_job_id") == wanted]
    if len(members):
        raise InputError(
            f"{wanted} is a job, not a component; its components are {listing(members[:NEAR_IDS].tolist())}"
            + _more(len(members))
        )
    distance = np.abs(ids.astype(np.float64) - wanted)
    near = np.unique(ids[np.argsort(distance, kind="stable")[:NEAR_IDS]]).tolist()
    raise InputError(
        f"no component {wanted} in this result"
        + (f"; the nearest ids are {listing(near)} ({_some_ids(ids)})" if near else ", which is empty")
    )


def _task(table: pd.DataFrame, array: int, task: int) -> int:
    if "array_job_id" not in table:
        near = _some_ids(ints(table, "component_id"))
        raise InputError(f"no task {array}_{task}: this result has no tasks of arrays; {near}")
    of_array = ints(table, "array_job_id") == array
    rows = np.flatnonzero(of_array & (ints(table, "array_task_id") == task))
    if len(rows):
        return int(rows[0])
    if not of_array.any():
        arrays = np.unique(ints(table, "array_job_id")[ints(table, "array_job_id") >= 0])
        near = listing(arrays[:NEAR_IDS].tolist())
        raise InputError(f"no array {array} in this result; its arrays are {near}{_more(len(arrays))}")
    tasks = ints(table, "array_task_id")[of_array]
    near = listing(np.sort(tasks)[:NEAR_IDS].tolist())
    raise InputError(f"no task {task} in array {array}; its tasks are {near}{_more(len(tasks))}")


def _of_job(table: pd.DataFrame, job: int, offset: int) -> int:
    rows = np.flatnonzero(ints(table, "modular_job_id") == job)
    if offset >= len(rows):
        has = f"{len(rows):,} component{'s' * (len(rows) != 1)}"
        raise InputError(f"no component {job}+{offset}: job {job} has {has} in this result")
    ids = ints(table, "component_id")[rows]
    return int(rows[np.argsort(ids, kind="stable")[offset]])


def _more(count: int) -> str:
    return f" and {count - NEAR_IDS:,} more" if count > NEAR_IDS else ""


def _some_ids(ids: np.ndarray) -> str:
    return f"ids run from {ids.min()} to {ids.max()}" if len(ids) else "the result is empty"
