"""How many cores of a node components ask for, where they say so."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Bools, Ints


def cores_a_node(table: pd.DataFrame, trace_format: str) -> Ints:
    """Return int64[n], the cores asked for on each node, rounded up; -1 = not said.

    They are those of the column ``cores``, else in an SWF trace its processors, else processes times threads.
    One process of one thread says nothing: that is what traces have where nothing is known.
    """
    processes, threads = (
        np.maximum(table[name].to_numpy(), 1) for name in ("processes_per_node", "threads_per_process")
    )
    said = np.where(processes * threads > 1, processes * threads, -1)
    if trace_format == "swf":
        listed, allocated = table["listed_nodes"].to_numpy(), table["allocated_nodes"].to_numpy()
        processors = np.where(listed > 0, listed, allocated)
        said = np.where(processors > 0, -(-processors // np.maximum(table["nodes"].to_numpy(), 1)), said)
    cores = table["cores"].to_numpy()
    return np.where(cores > 0, cores, said)


def below_the_fullest(table: pd.DataFrame, rows: Bools) -> Bools:
    """Tell which of some rows have fewer cores a node than the fullest of them in the same partition.

    What accounting says of cores is what a component had: a node that it has to itself counts in full. So
    this tells who has part of a node, even where the size of nodes is not known.
    """
    cores = table["cores"].to_numpy()
    counted = rows & (cores > 0)
    below = np.zeros(len(table), dtype=bool)
    if counted.any():
        share = pd.Series(cores[counted])
        below[counted] = share < share.groupby(table["partition"].array.codes[counted]).transform("max")
    return below
