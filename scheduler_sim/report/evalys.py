"""The jobs of a run as evalys reads them: the jobs.csv of Batsim, a row for each component that ran.

Nodes are numbered from 0 on through all modules, in the order of the system. Of modules whose nodes jobs
share the result has which each had; of others all nodes are alike, and numbers are given out after the
run, as for pictures (``node_numbers``).
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np
import pandas as pd

from scheduler_sim.report.module_view import module_sizes
from scheduler_sim.report.wording import no_formula
from scheduler_sim.result.columns import NEVER
from scheduler_sim.result.nodes import NodeRuns, node_numbers
from scheduler_sim.result.result import Result

SUFFIX = ".evalys.csv"
"""Ends the names of such files."""

COLUMNS = (
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
    "metadata",
)

FINAL_STATES = {
    "COMPLETED": "COMPLETED_SUCCESSFULLY",
    "TIMEOUT": "COMPLETED_WALLTIME_REACHED",
    "FAILED": "COMPLETED_FAILED",
    "CANCELLED": "COMPLETED_KILLED",
    "PREEMPTED": "COMPLETED_KILLED",
}
"""What Batsim calls the states of components that ran."""

_UNKNOWN = -1
_WORKLOAD = "trace"


def never_started(result: Result) -> int:
    """Return how many components have no row, as they never started or never ended."""
    return int((~_ran(result.components)).sum())


def write_evalys(result: Result, out: BinaryIO) -> None:
    """Write the jobs of a run as ``JobSet.from_csv`` reads them. Raises InputError as node_numbers."""
    jobs_of(result).to_csv(out, index=False, lineterminator="\n")


def jobs_of(result: Result) -> pd.DataFrame:
    """Return the table, ``COLUMNS`` in order; times in s, energy in J (-1: no model), stretch NaN for 0 s."""
    modules = module_sizes(result.manifest)
    first = dict(zip(modules, np.cumsum([0, *modules.values()])[:-1].tolist(), strict=True))
    ran = result.components[_ran(result.components)].reset_index(drop=True)
    submitted, start, end = (
        ran[name].to_numpy(dtype=np.int64) for name in ("submit_time", "start_time", "end_time")
    )
    execution, turnaround = end - start, end - submitted
    stretch = np.divide(turnaround, execution, out=np.full(len(ran), np.nan), where=execution > 0)
    energy = ran["energy_j"].to_numpy(dtype=float) if "energy_j" in ran else np.full(len(ran), np.nan)
    values = (
        ran["component_id"],
        _WORKLOAD,
        ran["app"].astype(str).map(no_formula),
        submitted,
        ran["nodes"],
        ran["time_limit"],
        (ran["state"].astype(str) == "COMPLETED").astype(int),
        ran["state"].astype(str).map(FINAL_STATES),
        start,
        execution,
        end,
        start - submitted,
        turnaround,
        stretch,
        _intervals(node_numbers(ran, modules), ran["module"].astype(str).map(first).to_numpy(), len(ran)),
        np.where(np.isnan(energy), _UNKNOWN, energy),
        "",
    )
    return pd.DataFrame(dict(zip(COLUMNS, values, strict=True)), index=ran.index)


def _ran(components: pd.DataFrame) -> pd.Series:
    return (components["start_time"] != NEVER) & (components["end_time"] != NEVER)


def _intervals(runs: NodeRuns, offset: np.ndarray, rows: int) -> list[str]:
    """Return the nodes of each row as Batsim writes sets of intervals, such as ``0-3 5``.

    Parameters
    ----------
    offset : int64[rows], number of the first node of its module
    """
    found: list[list[tuple[int, int]]] = [[] for _ in range(rows)]
    order = np.lexsort((runs.first, runs.row))
    for row, low, count in zip(
        *(part[order].tolist() for part in (runs.row, runs.first, runs.count)), strict=True
    ):
        mine, begin = found[row], low + int(offset[row])
        if mine and begin <= mine[-1][1] + 1:  # one that was suspended had nodes twice
            mine[-1] = (mine[-1][0], max(mine[-1][1], begin + count - 1))
        else:
            mine.append((begin, begin + count - 1))
    return [" ".join(f"{low}" if low == high else f"{low}-{high}" for low, high in mine) for mine in found]
