"""Nodes that are not alike: what a component draws above idle, by the very nodes that it had.

Each node of a module has a factor, log-normal of mean 1, from the seed of the run; so under one seed they are
the same for all policies. A component draws idle power + (power − idle power) × the mean factor of its
nodes. Where jobs share nodes the run knows which it had; else numbers are given out after the run, the
lowest consecutive ones that are free.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Ints
from scheduler_sim.energy.accounting import milli
from scheduler_sim.energy.expand import MEASURED
from scheduler_sim.energy.layer import EnergyLayer
from scheduler_sim.result.columns import NEVER
from scheduler_sim.result.node_use import of_parts
from scheduler_sim.result.nodes import node_numbers
from scheduler_sim.simulation.drawn import Drawn
from scheduler_sim.system.system import System


def varies(layer: EnergyLayer, system: System) -> bool:
    """Whether nodes of any module differ in what they draw."""
    return any(layer.profiles[one.name].keys.node_sigma.value > 0 for one in system.modules)


def by_node(
    layer: EnergyLayer, system: System, components: pd.DataFrame, made: Drawn, parts: Ints | None, seed: int
) -> Drawn:
    """Return what components draw on the nodes that they had.

    ``parts`` are the nodes that each had, in millionths; None: whole ones. What was measured of a job stays
    as it was measured: its nodes are in it.
    """
    factor = _mean_factors(layer, system, components, seed)
    ran = components["start_time"].to_numpy() != NEVER
    module = np.asarray(components["module"].array.codes)
    idle = np.zeros(len(ran), dtype=np.int64)
    for number, one in enumerate(system.modules):
        own = ran & (module == number)
        watts = milli(np.array([layer.profiles[one.name].idle_w]), f"power profile of {one.name}")[0]
        whole = components["nodes"].to_numpy()[own]
        idle[own] = whole * watts if parts is None else of_parts(watts, parts[own])
    above = made.milliwatts - idle
    changed = idle + np.rint(above * factor).astype(np.int64)
    kept = ~ran | (made.origin == MEASURED) | (above <= 0)
    return made._replace(milliwatts=np.where(kept, made.milliwatts, changed))


def _mean_factors(layer: EnergyLayer, system: System, components: pd.DataFrame, seed: int) -> np.ndarray:
    """Return the mean factor of the nodes of each component, by how long it had them; 1 without any."""
    runs = node_numbers(components, {one.name: one.nodes for one in system.modules})
    module = np.asarray(components["module"].array.codes)[runs.row]
    weighted = np.zeros(len(runs.row))
    for number, one in enumerate(system.modules):
        own = module == number
        summed = np.append(0.0, np.cumsum(layer.profiles[one.name].node_factors(one.nodes, seed)))
        weighted[own] = summed[(runs.first + runs.count)[own]] - summed[runs.first[own]]
    seconds = np.maximum(runs.end - runs.start, 1)  # one that took no time has nodes, too
    factors = np.bincount(runs.row, weighted * seconds, len(components))
    nodes = np.bincount(runs.row, runs.count * seconds, len(components))
    return np.divide(factors, nodes, out=np.ones(len(components)), where=nodes > 0)
