"""How many cores of a node components ask for, where they say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_sim.arrays import Bools, Floats, Ints
from scheduler_sim.workload.columns import by_row

TASKS = ("nodes", "tasks", "tasks_per_node", "cores_per_task")
PROCESSES = ("processes_per_node", "threads_per_process")


def stated_cores(columns: Mapping[str, Any]) -> Floats:
    """Return float64[n], the cores asked for on each node; -1 = not said.

    They are those of the column ``cores``, else of its tasks, spread evenly, else processes times threads.
    One process of one thread says nothing: that is what traces have where nothing is known.
    """
    return by_row(_stated, *(columns[name] for name in ("cores", *TASKS, *PROCESSES)))


def _stated(
    cores: Floats, nodes: Ints, tasks: Ints, of_node: Ints, of_task: Ints, processes: Ints, threads: Ints
) -> Floats:
    said = np.maximum(processes, 1) * np.maximum(threads, 1)
    each = np.where(of_node > 0, of_node, -(-np.maximum(tasks, 1) // np.maximum(nodes, 1)))
    in_tasks = np.maximum(each * np.maximum(of_task, 1), 1)
    told = (tasks >= 0) | (of_node > 0) | (of_task > 0)
    return np.where(cores > 0, cores, np.where(told, in_tasks, np.where(said > 1, said, -1.0)))


def cores_a_node(columns: Mapping[str, Any], trace_format: str) -> Floats:
    """Return float64[n], the cores asked for on each node; -1 = not said.

    In an SWF trace without other word its processors, rounded up.
    """
    said = stated_cores(columns)
    if trace_format == "swf":
        listed, allocated, nodes = (columns[name] for name in ("listed_nodes", "allocated_nodes", "nodes"))
        processors = np.where(listed > 0, listed, allocated)
        each = np.where(processors > 0, -(-processors // np.maximum(nodes, 1)), said)
        said = np.where(columns["cores"] > 0, said, each)
    return said


def below_the_fullest(columns: Mapping[str, Any], rows: Bools) -> Bools:
    """Tell which of some rows have fewer cores a node than the fullest of them in the same partition.

    What accounting says of cores is what a component had: a node that it has to itself counts in full. So
    this tells who has part of a node, even where the size of nodes is not known.
    """
    cores, partition = columns["cores"], columns["partition"]
    counted = rows & (cores > 0)
    below = np.zeros(len(cores), dtype=bool)
    if counted.any():
        fullest = np.zeros(len(partition.categories))
        np.maximum.at(fullest, partition.codes[counted], cores[counted])
        below[counted] = cores[counted] < fullest[partition.codes[counted]]
    return below
