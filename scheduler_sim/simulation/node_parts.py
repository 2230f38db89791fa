"""What a result keeps of nodes that jobs share: what each component has of them, and which they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.engine.engine import FullCore
from scheduler_sim.placement.placements import Placements
from scheduler_sim.result.columns import NEVER
from scheduler_sim.result.node_lists import node_list
from scheduler_sim.system.node_resources import CORES, ENOUGH, GPUS, MEMORY, THOUSANDTHS
from scheduler_sim.system.system import System


def part_columns(core: FullCore, placements: Placements) -> dict[str, Any]:
    """Return the columns ``PARTS`` of a result, of n components in the order of ``placements``."""
    jobs, part = core.jobs[: len(placements.rows)], core.shared_nodes
    able, ran = jobs["first"] < jobs["last"], jobs["start"] != NEVER
    place = np.where(ran, jobs["placed"], np.where(able, jobs["first"], 0))
    nodes = np.where(able, core.placements["nodes"][place], 0)
    demand = part.request["demand"][place]
    amounts = part.need[demand] * nodes[:, np.newaxis]
    lists = np.full(len(jobs), "", dtype=object)
    slot, begin = part.request["slot"][place], part.module["begin"][core.placements["module"][place]]
    apart = begin < part.module["end"][core.placements["module"][place]]
    alone = part.demand["exclusive"][demand] == 1
    for row in np.flatnonzero(ran & apart):
        numbers = part.slots[slot[row] : slot[row] + nodes[row]]
        lists[row] = node_list(numbers - begin[row])
        if alone[row]:
            amounts[row] = part.capacity[:, numbers].sum(axis=1)
    amounts %= ENOUGH  # of memory that is not stated
    return {
        "cores": amounts[:, CORES] / THOUSANDTHS,
        "memory_kb": amounts[:, MEMORY],
        "gpus": amounts[:, GPUS] / THOUSANDTHS,
        "node_list": pd.Categorical(lists),
    }


def shared_modules(system: System) -> dict[str, dict[str, float]]:
    """Return what modules whose nodes are told apart have in all: cores, KB of memory, GPUs.

    Of memory that is not stated of all nodes nothing.
    """
    return {
        module.name: {
            "cores": sum(one.nodes * one.cores_per_node for one in module.sets),
            "memory_kb": sum(one.nodes * one.memory_kb for one in module.sets) if module.memory_kb else 0,
            "gpus": sum(one.nodes * one.gpus for one in module.sets),
        }
        for module, apart in zip(system.modules, system.told_apart, strict=True)
        if apart
    }
