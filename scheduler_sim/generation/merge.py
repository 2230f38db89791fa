"""Several single-module traces merged into one: the base of every modular workload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scheduler_sim.generation.single import SingleTrace


class BaseTrace(NamedTuple):
    """Jobs of all modules by submit time; int64 arrays of one length.

    ``module`` counts the recipe's modules from 0, ``number`` the jobs of a module in the order
    they were drawn; the others are those of :class:`SingleTrace`.
    """

    module: np.ndarray
    number: np.ndarray
    submit_time: np.ndarray
    nodes: np.ndarray
    time_limit: np.ndarray
    run_time: np.ndarray
    cancel_lag: np.ndarray

    def rows(self, chosen: np.ndarray) -> BaseTrace:
        """Return some rows (mask, or row numbers), in that order."""
        return BaseTrace(*(column[chosen] for column in self))


def merge(traces: Sequence[SingleTrace], *, cut: bool) -> BaseTrace:
    """Merge traces by submit time; of equal ones, modules in order, then jobs in order.

    ``cut`` keeps what is submitted up to the earliest of the traces' last submissions, so that
    no module runs empty while another still gets jobs.
    """
    module = np.repeat(np.arange(len(traces)), [len(trace.nodes) for trace in traces])
    number = np.concatenate([np.arange(len(trace.nodes)) for trace in traces])
    columns = (np.concatenate(column) for column in zip(*traces, strict=True))
    whole = BaseTrace(module, number, *columns)
    merged = whole.rows(np.argsort(whole.submit_time, kind="stable"))
    if not cut:
        return merged
    return merged.rows(merged.submit_time <= min(trace.submit_time[-1] for trace in traces))
