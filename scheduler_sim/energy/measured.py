"""What jobs drew as it was measured, to be replayed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.energy.accounting import milli

NOT_MEASURED = -1

READS = ("measured_power_w", "allocated_nodes", "nodes")
"""Columns of a trace that tell it."""


class Measured(NamedTuple):
    """What each of n jobs drew on average.

    Attributes
    ----------
    milliwatts : (n,) int64, of all its nodes together, mW; :data:`NOT_MEASURED` where nobody measured.
    nodes : (n,) int64, that it had then.
    """

    milliwatts: Ints
    nodes: Ints

    @classmethod
    def of(cls, jobs: Mapping[str, Any]) -> Measured:
        """Return that of the columns :data:`READS` of a trace."""
        watts = np.asarray(jobs["measured_power_w"], dtype=np.float64)
        had = np.asarray(jobs["allocated_nodes"])
        there = watts > 0  # a node that runs a job draws something
        milliwatts = np.where(there, milli(np.where(there, watts, 0.0), "measured_power_w"), NOT_MEASURED)
        return cls(milliwatts, np.where(had > 0, had, np.asarray(jobs["nodes"])))

    def rows(self, which: Any) -> Measured:
        """Return some of the jobs."""
        return Measured(self.milliwatts[which], self.nodes[which])

    def on(self, nodes: Ints) -> Ints:
        """Return the mW on so many nodes (n,): as much on each as on each that it had; NOT_MEASURED stays."""
        other = (nodes != self.nodes) & (self.milliwatts >= 0)
        scaled = np.rint(self.milliwatts / np.maximum(self.nodes, 1) * nodes).astype(np.int64)
        return np.where(other, scaled, self.milliwatts)
