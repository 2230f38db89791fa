"""How far the nodes of jobs lie apart on a system with a topology."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.metrics.metric import Run
from scheduler_sim.metrics.statistics import ratio
from scheduler_sim.result.columns import numbers


def topology_of(run: Run) -> dict[str, Any]:
    """Return on how many leaves jobs are, how many more than they need, and how far these lie apart."""
    leaves, fewest = numbers(run.components, "leaves")[run.ran], _fewest(run)
    known = fewest > 0
    leaves, fewest = leaves[known], fewest[known]
    hops = numbers(run.components, "hops")[run.ran][known]
    fitting = fewest == 1
    return {
        "mean_leaves": ratio(int(leaves.sum()), len(leaves)),
        "on_one_leaf": ratio(int((leaves[fitting] == 1).sum()), int(fitting.sum())),
        "excess_leaves": ratio(int((leaves - fewest).sum()), len(leaves)),
        "mean_hops": ratio(int(hops.sum()), len(hops)),
    }


def _fewest(run: Run) -> Ints:
    """int64[jobs]: the fewest leaves that hold as many nodes; 0 in a module that is on no switch."""
    found = np.zeros(len(run.jobs.nodes), dtype=np.int64)
    for module, sizes in run.leaves.items():
        there = run.in_module(module)
        held = np.cumsum(np.sort(np.array(sizes, dtype=np.int64))[::-1])
        found[there] = np.searchsorted(held, run.jobs.nodes[there]) + 1
    return found
