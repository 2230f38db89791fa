"""What is what in a ``sacct`` dump: numbers of components, jobs and arrays, and records of the same run."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scheduler_sim.workload.sacct_columns import Columns


@dataclass
class Ids:
    """Numbers of the rows of a dump, int64[rows], as the columns of the workload of these names.

    ``repeated`` (bool[rows]) marks records of a run that another row tells of, too; ``runs_before`` is
    how many runs were followed by another of the same job, and ``unnumbered`` how many tasks had no number.
    """

    component_id: np.ndarray
    modular_job_id: np.ndarray
    components_total: np.ndarray
    array_job_id: np.ndarray
    array_task_id: np.ndarray
    array_limit: np.ndarray
    repeated: np.ndarray
    runs_before: int
    unnumbered: int


def ids_of(columns: Columns, submit: np.ndarray, ended: np.ndarray) -> Ids:
    """Return the numbers of all rows.

    A run is a number and a submission, which Slurm sets anew when it requeues. Of several records
    of a run the last counts, of those that have ended if any has. Of several runs of a job the last
    has its number; the others get free ones, and are no longer tasks of an array, as dependencies
    follow the last.

    Parameters
    ----------
    columns : the dump; submit : int64[rows], s; ended : bool[rows], whether the state is one of an end
    """
    said = columns.job_ids("JobID" if "JobID" in columns else "JobIDRaw")
    number, unnumbered = _numbers(columns, said)
    runs = pd.DataFrame({"number": number, "submit": submit, "ended": ended})
    runs = runs.sort_values(["number", "submit", "ended"], kind="stable")
    again = runs.duplicated(["number", "submit"], keep="last")
    repeated = again.sort_index().to_numpy()
    followed = runs[~again].duplicated("number", keep="last").reindex(runs.index, fill_value=False)
    before = followed.sort_index().to_numpy()

    component = number.copy()
    free = repeated | before
    component[free] = number.max() + 1 + np.arange(np.count_nonzero(free))
    het = said["offset"] >= 0
    leader = np.where(het, said["job"], component)
    lost = het & free
    if lost.any():
        of_run = pd.DataFrame({"job": said["job"], "submit": submit, "component": component})[lost]
        leader[lost] = of_run.groupby(["job", "submit"])["component"].transform("min")
    several = pd.Series(leader).groupby(leader).transform("size").to_numpy()
    of_array = ((said["task"] >= 0) | (said["rest"] != "")) & ~free
    array = np.where(of_array, said["job"], -1)
    return Ids(
        component_id=component,
        modular_job_id=leader,
        components_total=np.where(het, several, 1),
        array_job_id=array,
        array_task_id=np.where(of_array, said["task"], -1),
        array_limit=_array_limit(array, said["rest"]),
        repeated=repeated,
        runs_before=int(np.count_nonzero(before)),
        unnumbered=unnumbered,
    )


def _numbers(columns: Columns, said: dict[str, np.ndarray]) -> tuple[np.ndarray, int]:
    """Return JobIDRaw, or what it would be; free numbers for tasks of arrays without it, and their count."""
    if "JobIDRaw" in columns:
        return columns.job_ids("JobIDRaw")["job"], 0
    number = said["job"] + np.maximum(said["offset"], 0)
    tasks = said["task"] >= 0
    if tasks.any():
        keys = pd.MultiIndex.from_arrays([said["job"][tasks], said["task"][tasks]])
        number[tasks] = number.max() + 1 + pd.factorize(keys)[0]
    return number, int(np.count_nonzero(tasks))


def _array_limit(array: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Return the tasks at once of each array: what stands behind % in ``[5-9%2]`` of its pending tasks."""
    limits = {
        int(array[row]): int(found[1])
        for row in np.flatnonzero(rest != "").tolist()
        if array[row] >= 0 and (found := re.search(r"%([1-9][0-9]{0,8})$", str(rest[row])))
    }
    if not limits:
        return np.full(len(array), -1, dtype=np.int64)
    return pd.Series(array).map(limits).fillna(-1).to_numpy(dtype=np.int64)
