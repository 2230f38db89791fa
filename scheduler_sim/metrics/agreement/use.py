"""Nodes in use over time, recorded and simulated, of the components whose starts are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.metrics.agreement.waits import Waits
from scheduler_sim.result.columns import RECORDED, rows_named
from scheduler_sim.units import HOUR

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result


@dataclass(frozen=True)
class Use:
    """Shares of the nodes in use, hour by hour, from the first submission to the last recorded end.

    Where jobs share nodes a node counts by the part of its cores that they have.

    Attributes
    ----------
    edges : int64[hours + 1], s on the trace's clock; the last hour may be shorter
    recorded, simulated : float64[hours], mean shares of all nodes
    """

    edges: Ints
    recorded: Floats
    simulated: Floats

    def mean(self) -> tuple[float, float]:
        """Return the recorded and the simulated utilisation over all of the time."""
        length = np.diff(self.edges)
        weights = length if length.any() else None
        pair = (np.average(values, weights=weights) for values in (self.recorded, self.simulated))
        recorded, simulated = map(float, pair)
        return recorded, simulated

    def mean_absolute_difference(self) -> float:
        """Return how far the utilisation of an hour is apart, on average."""
        return float(np.abs(self.simulated - self.recorded).mean())


def use_of(result: Result, waits: Waits) -> Use:
    """Return the nodes in use in the record and in the simulation."""
    table = result.components
    ran = table["run_time"].to_numpy()[waits.rows]
    recorded_run = np.maximum(table[RECORDED[1].name].to_numpy()[waits.rows], 0)
    start = waits.submit + waits.recorded
    moved = waits.submit + waits.simulated
    amount = nodes_in_use(result)[waits.rows]
    first, last = int(waits.submit.min()), int((start + recorded_run).max())
    edges = np.append(np.arange(first, max(last, first + 1), HOUR), max(last, first + 1))
    capacity = max(sum(result.manifest["modules"].values()), 1)
    return Use(
        edges,
        mean_in_use(start, start + recorded_run, amount, edges) / capacity,
        mean_in_use(moved, moved + ran, amount, edges) / capacity,
    )


def nodes_in_use(result: Result) -> Floats:
    """Return the nodes that each component has, float64[components]; of shared ones its part of the cores."""
    table, manifest = result.components, result.manifest
    amount = table["nodes"].to_numpy().astype(np.float64)
    modules = (manifest.get("system") or {}).get("modules") or []
    for name in (one["name"] for one in modules if one.get("shared")):
        cores = (manifest.get("shared_nodes") or {}).get(name, {}).get("cores") or 0
        if cores:
            here = rows_named(table["module"], name)
            amount[here] = table["cores"].to_numpy()[here] * manifest["modules"][name] / cores
    return amount


def mean_in_use(begin: Ints, end: Ints, amount: Floats, edges: Ints) -> Floats:
    """Return the mean amount in use between edges, float64[edges − 1], of what runs from begin to end."""
    times = np.concatenate((begin, end))
    order = np.argsort(times, kind="stable")
    times, change = times[order], np.concatenate((amount, -amount))[order]
    level = np.cumsum(change)
    area = np.append(0.0, np.cumsum(level[:-1] * np.diff(times)))
    means: Floats = np.diff(np.interp(edges, times, area)) / np.diff(edges)
    return means


def most_in_use(begin: Ints, end: Ints, amount: Floats, edges: Ints) -> Floats:
    """Return the largest amount in use between edges, likewise; what ends at a second makes room in it."""
    times = np.concatenate((begin, end))
    change = np.concatenate((amount, -amount))
    moments, which = np.unique(times, return_inverse=True)
    level = np.cumsum(np.bincount(which, weights=change, minlength=len(moments)))
    before = np.append(0.0, level)[np.searchsorted(moments, edges[:-1], side="right")]
    most = before.copy()
    cell = np.searchsorted(edges, moments, side="right") - 1
    inside = (cell >= 0) & (cell < len(most))
    np.maximum.at(most, cell[inside], level[inside])
    return np.maximum(np.rint(most * 1e6) / 1e6, 0.0)
