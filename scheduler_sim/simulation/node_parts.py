"""What a result keeps of nodes that jobs share: what each component has of them, and which they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.placement.placements import Placements
from scheduler_sim.placement.repeating import repeated
from scheduler_sim.result.columns import NEVER
from scheduler_sim.result.node_lists import node_list, node_lists, node_shares
from scheduler_sim.result.node_use import node_parts
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.simulation.able_nodes import able_lists
from scheduler_sim.simulation.asked import in_notation
from scheduler_sim.simulation.rules.shared_nodes import counted_under_slurm
from scheduler_sim.system.node_resources import CORES, ENOUGH, GPUS, KINDS, MEMORY, THOUSANDTHS
from scheduler_sim.system.system import System
from scheduler_sim.texts import TextColumn


def part_columns(core: FullCore, placements: Placements, system: System) -> dict[str, Any]:
    """Return the columns ``PARTS`` of a result, of n components in the order of ``placements``."""
    jobs, part = core.jobs[: len(placements.rows)], core.shared_nodes
    able, ran = jobs["first"] < jobs["last"], jobs["start"] != NEVER
    place = np.where(ran, jobs["placed"], np.where(able, jobs["first"], 0))
    nodes = np.where(able, core.placements["nodes"][place], 0)
    demand = part.request["demand"][place]
    amounts = part.need[demand] * nodes[:, np.newaxis]
    alone = able & (part.demand["exclusive"][demand] == 1)
    if has(core, "cons_tres"):
        number = core.cons_tres.asked["need"][place]
        need = core.cons_tres.need[number]
        amounts[:, CORES] = np.where(able, need["min_cpus"], 0) * THOUSANDTHS
        amounts[:, MEMORY], amounts[:, GPUS] = _asked_in_all(core, number, able)
        alone = able & (need["whole"] == 1)
    slot, module = part.request["slot"][place], core.placements["module"][place]
    begin = part.module["begin"][module]
    count = np.where(ran & (begin < part.module["end"][module]), nodes, 0)
    owner, place_in = repeated(count)
    at = slot[owner] + place_in
    numbers, dealt = part.slots[at], {}
    if has(core, "cons_tres"):
        shares = core.cons_tres.share[at, : len(part.capacity)] % ENOUGH
        _add_up(amounts, np.flatnonzero(count), count, shares)
        kinds = counted_under_slurm(system)
        dealt["node_shares"] = _told(shares, numbers, count, kinds)
        dealt["gres"] = _held(shares, owner, len(count), kinds)
    else:
        has_all = np.flatnonzero(alone & (count > 0))
        _add_up(amounts, has_all, count, part.capacity[: amounts.shape[1]].T[numbers] % ENOUGH)
    if has(core, "devices"):
        dealt["gpu_list"] = _gpu_lists(core, at, count, alone)
    return {
        "cores": amounts[:, CORES] / THOUSANDTHS,
        "memory_kb": amounts[:, MEMORY],
        "gpus": amounts[:, GPUS] / THOUSANDTHS,
        "node_list": node_lists(numbers - begin[owner], count),
        "exclusive": alone.astype(np.int64),
        "able_list": able_lists(core, jobs["first"], jobs["last"], place),
        **dealt,
    }


def _asked_in_all(core: FullCore, number: Ints, able: Bools) -> tuple[Ints, Ints]:
    """Return memory, KB, and GPUs, in thousandths, that needs ask for on all nodes; of those not ``able`` 0.

    ``number`` tells which need each component has. All memory of a node is not stated, 0.
    """
    part, need = core.cons_tres, core.cons_tres.need[number]
    nodes = need["min_nodes"]
    gpus = np.where(part.total[number, 0] > 0, part.total[number, 0], part.each[number, 0] * nodes)
    times = np.where(need["per_cpu"] == 1, need["min_cpus"], nodes)
    memory = np.where(need["gpu_memory"] > 0, need["gpu_memory"] * gpus, need["memory"] * times)
    return np.where(able, memory, 0), np.where(able, gpus, 0) * THOUSANDTHS


def _add_up(amounts: Ints, rows: Ints, count: Ints, of_nodes: Ints) -> None:
    """Write what some components have in all; ``of_nodes`` is what there is of it on each node, one by one.

    Of memory that is not stated it is nothing.
    """
    until = np.concatenate((np.zeros_like(of_nodes[:1]), np.cumsum(of_nodes, axis=0)))
    behind = np.cumsum(count)
    amounts[rows] = until[behind[rows]] - until[(behind - count)[rows]]


def _gpu_lists(core: FullCore, at: Ints, count: Ints, alone: np.ndarray) -> TextColumn:
    """The GPUs that components have of their nodes, in the order of the nodes, as text.

    Their nodes stand in the slots ``at``, of each so many; one that is ``alone`` has all of its nodes.
    """
    texts, behind = np.full(len(count), "", dtype=object), np.cumsum(count)
    for row in np.flatnonzero(count).tolist():
        texts[row] = _gpu_list(core, at[behind[row] - count[row] : behind[row]], whole=bool(alone[row]))
    return TextColumn.of(texts)


def _gpu_list(core: FullCore, slots: Ints, *, whole: bool) -> str:
    nodes, first = core.shared_nodes.slots[slots], core.devices.rules.first
    taken = core.devices.taken[slots, np.newaxis] >> np.arange(core.devices.rules.devices) & 1
    if whole:
        taken = core.shared_nodes.capacity[first:, nodes].T
    if not taken.any():
        return ""
    return ";".join(node_list(np.flatnonzero(taken[i])) for i in np.argsort(nodes))


def _held(shares: Ints, owner: Ints, rows: int, kinds: tuple[str, ...]) -> TextColumn:
    """Return what components have of generic resources beyond GPUs, and of each type of these, as text."""
    held = dict[str, Ints]()
    for kind, name in enumerate(kinds[len(KINDS) :], len(KINDS)):
        held[name] = np.bincount(owner, shares[:, kind], minlength=rows).astype(np.int64) // THOUSANDTHS
    return in_notation(held, rows)


def _told(shares: Ints, numbers: Ints, count: Ints, kinds: tuple[str, ...]) -> TextColumn:
    """Return what components have of each of their nodes, as text, where these differ.

    ``shares``, int64[nodes, kinds], are in whole units, of ``count`` nodes of each component.
    """
    owner, place = repeated(count)
    differs = (shares != shares[np.arange(len(owner)) - place]).any(axis=1)
    texts = np.full(len(count), "", dtype=object)
    behind = np.cumsum(count)
    units = np.where(np.arange(len(kinds)) == MEMORY, 1, THOUSANDTHS)
    for row in np.unique(owner[differs]).tolist():
        own = slice(int(behind[row] - count[row]), int(behind[row]))
        amounts = shares[own][np.argsort(numbers[own])] / units
        texts[row] = node_shares(dict(zip(kinds, amounts.T, strict=True)))
    return TextColumn.of(texts)


def told_apart(system: System) -> dict[str, dict[str, float]]:
    """Return what modules whose nodes are told apart have in all: cores, KB of memory, GPUs.

    Where the system asks that of none, its policy does of all. Of memory that is not stated of all nodes
    nothing.
    """
    by_policy = not any(system.told_apart)
    return {
        module.name: {
            "cores": sum(one.nodes * one.cores_per_node for one in module.sets),
            "memory_kb": sum(one.nodes * one.memory_kb for one in module.sets) if module.memory_kb else 0,
            "gpus": sum(one.nodes * one.gpus for one in module.sets),
        }
        for module, apart in zip(system.modules, system.told_apart, strict=True)
        if apart or by_policy
    }


def parts_had(components: pd.DataFrame, told: Mapping[str, Any], system: System) -> Ints:
    """Return how many nodes each component had, int64 in millionths, by its part of each."""
    known = {**told, "modules": {}, "system": system.to_dict()}
    return node_parts(Schedule(components, pd.DataFrame(), {}, known))
