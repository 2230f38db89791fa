"""A trace with what a simulation made of it in the fields for what was recorded."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Ints
from scheduler_sim.errors import InputError
from scheduler_sim.workload.table import Workload

NEVER = -1


def as_ran(workload: Workload, components: pd.DataFrame, shared: Collection[str] = ()) -> Workload:
    """Return a trace with the waits, nodes, frequencies and average powers of a run of it.

    That are, in MWF, the file positions 5 (of the component of a job that started first), 10, 29, 33 (kHz)
    and 34 (W of all nodes, rounded; ``measured_power_w`` has it as it is); −1 for what never started, and 33
    and 34 also without an energy model.
    Everything else stays, run times too, and records that were not simulated. In SWF position 5 counts
    processors: on modules whose nodes jobs share, cores.

    Parameters
    ----------
    components : the table of the run's result.
    shared : modules whose nodes jobs share.

    Raises
    ------
    InputError : the result is not of this trace.
    """
    rows = np.flatnonzero(workload["skipped"] == 0)
    ids = workload["component_id"][rows]
    if not np.array_equal(ids, components["component_id"].to_numpy()):
        found = f"{len(components)} components, the trace has {len(rows)}"
        if len(components) == len(rows):
            at = int(np.argmax(ids != components["component_id"].to_numpy()))
            found = f"component {components['component_id'].iloc[at]}, the trace has {ids[at]}"
        raise InputError(f"result: found {found}; allowed: the result of a run of this trace")
    start = components["start_time"].to_numpy()
    ran = start != NEVER
    wait = np.where(ran, start - components["submit_time"].to_numpy(), NEVER)
    known = np.where(ran, wait, np.iinfo(np.int64).max)
    first = pd.Series(known).groupby(components["modular_job_id"].to_numpy()).transform("min").to_numpy()
    watts = np.nan_to_num(components["power_w"].to_numpy(), nan=float(NEVER))
    recorded: dict[str, Any] = {
        "wait_time": np.where(first == np.iinfo(np.int64).max, NEVER, first),
        "component_wait_time": wait,
        "allocated_nodes": np.where(ran, _allocated(workload, components, shared), NEVER),
        "allocated_frequency_khz": np.where(ran, components["frequency_khz"].to_numpy(), NEVER),
        "average_power_w": np.rint(watts).astype(np.int64),
        "measured_power_w": watts,
    }
    columns = {}
    for name, values in recorded.items():
        columns[name] = workload[name].copy()
        columns[name][rows] = values
    return workload.replace(**columns)


def _allocated(workload: Workload, components: pd.DataFrame, shared: Collection[str]) -> Ints:
    """Return what components had, in what the trace counts nodes in."""
    nodes = components["nodes"].to_numpy(dtype=np.int64)
    if workload.source.format != "swf" or not shared:
        return nodes
    cores = np.ceil(components["cores"].to_numpy()).astype(np.int64)
    return np.where(components["module"].isin(shared).to_numpy(), cores, nodes)
