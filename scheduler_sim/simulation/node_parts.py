"""What a result keeps of nodes that jobs share: what each component has of them, and which they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.placement.placements import Placements
from scheduler_sim.result.columns import NEVER
from scheduler_sim.result.node_lists import node_list, node_shares
from scheduler_sim.system.node_resources import CORES, ENOUGH, GPUS, KINDS, MEMORY, THOUSANDTHS
from scheduler_sim.system.system import System


def part_columns(core: FullCore, placements: Placements) -> dict[str, Any]:
    """Return the columns ``PARTS`` of a result, of n components in the order of ``placements``."""
    jobs, part = core.jobs[: len(placements.rows)], core.shared_nodes
    able, ran = jobs["first"] < jobs["last"], jobs["start"] != NEVER
    place = np.where(ran, jobs["placed"], np.where(able, jobs["first"], 0))
    nodes = np.where(able, core.placements["nodes"][place], 0)
    demand = part.request["demand"][place]
    amounts = part.need[demand] * nodes[:, np.newaxis]
    if has(core, "cons_tres"):
        need = core.cons_tres.asked["need"][place]
        amounts[:, CORES] = np.where(able, core.cons_tres.need["min_cpus"][need], 0) * THOUSANDTHS
    lists, dealt, gpus = (np.full(len(jobs), "", dtype=object) for _ in range(3))
    slot, begin = part.request["slot"][place], part.module["begin"][core.placements["module"][place]]
    apart = begin < part.module["end"][core.placements["module"][place]]
    alone = part.demand["exclusive"][demand] == 1
    for row in np.flatnonzero(ran & apart):
        slots = slice(slot[row], slot[row] + nodes[row])
        numbers = part.slots[slots]
        lists[row] = node_list(numbers - begin[row])
        if has(core, "devices"):
            gpus[row] = _gpu_list(core, slots, whole=bool(alone[row]))
        if has(core, "cons_tres"):
            shares = core.cons_tres.share[slots, : len(part.capacity)]
            amounts[row] = shares.sum(axis=0)
            dealt[row] = _told(shares[np.argsort(numbers)])
        elif alone[row]:
            amounts[row] = part.capacity[: amounts.shape[1], numbers].sum(axis=1)
    amounts %= ENOUGH  # of memory that is not stated
    return {
        "cores": amounts[:, CORES] / THOUSANDTHS,
        "memory_kb": amounts[:, MEMORY],
        "gpus": amounts[:, GPUS] / THOUSANDTHS,
        "node_list": pd.Categorical(lists),
        **({"node_shares": pd.Categorical(dealt)} if has(core, "cons_tres") else {}),
        **({"gpu_list": pd.Categorical(gpus)} if has(core, "devices") else {}),
    }


def _told(shares: np.ndarray) -> str:
    """What a job has of each node, in whole units [nodes, kinds], as a result tells it."""
    amounts = shares[:, : len(KINDS)] % ENOUGH / [THOUSANDTHS, 1, THOUSANDTHS]
    return node_shares(dict(zip(KINDS, amounts.T, strict=True)))


def _gpu_list(core: FullCore, slots: slice, *, whole: bool) -> str:
    """The GPUs that a component has of the nodes in some slots, in the order of the nodes."""
    nodes, first = core.shared_nodes.slots[slots], core.devices.rules.first
    taken = core.devices.taken[slots, np.newaxis] >> np.arange(core.devices.rules.devices) & 1
    if whole:
        taken = core.shared_nodes.capacity[first:, nodes].T
    if not taken.any():
        return ""
    return ";".join(node_list(np.flatnonzero(taken[i])) for i in np.argsort(nodes))


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
