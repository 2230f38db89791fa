"""Packings that score the nodes: those of the study of fragmentation by Weng et al. (USENIX ATC 2023).

A score is a whole number of 0 to 100, a function of what is free on a node and of what is asked for; the
highest is taken. What is free now is scored once for each demand, until the node changes.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import only_with
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Ints
from scheduler_sim.engine.rules.shared_nodes.device_state import NOW, WHOLE
from scheduler_sim.engine.rules.shared_nodes.devices import allowed_on, first_idle, fullest
from scheduler_sim.engine.rules.shared_nodes.fragments import least_fragments
from scheduler_sim.engine.rules.shared_nodes.state import (
    CORES,
    DOT_PRODUCT,
    FIRST_FIT,
    FRAGMENTATION_GRADIENT,
    GPU_CLUSTERING,
    GPU_PACKING,
    GPUS,
    LEAST_LEFT,
    RANDOM,
    SharedCore,
)


@only_with("devices", otherwise=0)
def key_by_score(core: SharedCore, placement: int, node: int, free: Ints, view: int) -> int:
    """The key of an able node."""
    packing = core.shared_nodes.rules.packing
    if packing == FIRST_FIT:
        return 0
    if packing == RANDOM:
        return drawn(core, placement, node, -1)
    demand = core.shared_nodes.request[placement].demand
    if view != NOW:
        return -_score(core, placement, node, free, allowed_on(core, demand, node, view))
    kept, version = core.devices.kept[demand, node], core.devices.version[node] & 0x7FFFFFFF
    if kept.version != version:
        among = allowed_on(core, demand, node, view)
        kept.score, kept.version = _score(core, placement, node, free, among), version
    return -kept.score


@only_with("devices", otherwise=False)
def is_drawn(core: SharedCore) -> bool:
    """Whether two that ask for the same may take other nodes."""
    return core.shared_nodes.rules.packing == RANDOM


@only_with("devices")
def choose_devices(core: SharedCore, placement: int, at: int, free: Ints, view: int) -> None:
    """Choose the devices that a placement takes of the node in a slot, by what is free there."""
    demand, node = core.shared_nodes.request[placement].demand, core.shared_nodes.slots[at]
    among = allowed_on(core, demand, node, view)
    asked, packing = core.devices.demand[demand], core.shared_nodes.rules.packing
    if asked.part == WHOLE or asked.count == 0:
        core.devices.taken[at] = first_idle(core, demand, node, free, among)
    elif packing == RANDOM:
        core.devices.taken[at] = 1 << _drawn_device(core, placement, node, free, among)
    elif packing == FRAGMENTATION_GRADIENT:
        module = core.placements[placement].module
        _, device = least_fragments(core, module, demand, node, free, among)
        core.devices.taken[at] = 1 << device
    else:
        core.devices.taken[at] = 1 << fullest(core, demand, node, free, among)


@part
def _score(core: SharedCore, placement: int, node: int, free: Ints, among: int) -> int:
    """The score of an able node in some state, by a packing that does not draw."""
    packing, module = core.shared_nodes.rules.packing, core.placements[placement].module
    demand = core.shared_nodes.request[placement].demand
    if packing == DOT_PRODUCT:
        return _dot_product(core, module, demand, node, free)
    if packing == LEAST_LEFT:
        return _least_left(core, module, demand, node, free)
    if packing == GPU_CLUSTERING:
        return _gpu_clustering(core, module, demand, node, free)
    if packing == GPU_PACKING:
        return _gpu_packing(core, demand, node, free, among)
    score, _ = least_fragments(core, module, demand, node, free, among)
    return score


@part
def _dot_product(core: SharedCore, module: int, demand: int, node: int, free: Ints) -> int:
    """Nodes first of which little is free of what is asked for, in shares of the largest node."""
    need, scale = core.shared_nodes.need, core.devices.scale[module]
    cores, all_cores = 50 * free[CORES, node] * need[demand, CORES], scale.cores * scale.cores
    gpus, all_gpus = 50 * free[GPUS, node] * need[demand, GPUS], scale.gpus * scale.gpus
    rest = (cores % all_cores) / all_cores + (gpus % all_gpus) / all_gpus
    return int(100 - cores // all_cores - gpus // all_gpus - (rest > 0) - (rest > 1))


@part
def _least_left(core: SharedCore, module: int, demand: int, node: int, free: Ints) -> int:
    """Nodes first of which little is left over, in shares of the largest node."""
    need, scale = core.shared_nodes.need, core.devices.scale[module]
    cores, gpus = free[CORES, node] - need[demand, CORES], free[GPUS, node] - need[demand, GPUS]
    whole = 2 * scale.cores * scale.gpus
    return int(100 * (whole - cores * scale.gpus - gpus * scale.cores) // whole)


@part
def _gpu_clustering(core: SharedCore, module: int, demand: int, node: int, free: Ints) -> int:
    """Nodes first on which jobs ask for GPUs as this one does, then those with the fewest GPUs free."""
    it, asked, most = core.shared_nodes, core.devices.demand[demand], core.devices.scale[module].gpus
    if asked.count == 0:
        return 0
    kinds, own = 0, core.devices.rules.kinds + (0 if asked.part < WHOLE else asked.count)
    for kind in range(core.devices.rules.kinds, core.devices.rules.first):
        kinds += it.capacity[kind, node] > free[kind, node]
    if it.capacity[own, node] > free[own, node]:
        tier = 3 if kinds == 1 else 2
    else:
        tier = 1 if kinds == 0 else 0
    return int(25 * tier + 25 * (most - free[GPUS, node]) // most)


@part
def _gpu_packing(core: SharedCore, demand: int, node: int, free: Ints, among: int) -> int:
    """A device in use first, then idle devices of a node in use, then a node of which all are idle."""
    it, asked, first = core.shared_nodes, core.devices.demand[demand], core.devices.rules.first
    if asked.count == 0:
        return 0
    idle, there = 0, 0
    for kind in range(first, first + core.devices.rules.devices):
        idle += free[kind, node] == WHOLE
        there += it.capacity[kind, node] > 0
    if idle == there:
        return max(33 - idle, idle)
    if asked.part < WHOLE:
        left = free[first + fullest(core, demand, node, free, among), node]
        if left < WHOLE:
            return int(100 - left // 100)
    return max(50 - asked.count, 33)


# -- at random


@part
def drawn(core: SharedCore, placement: int, node: int, device: int) -> int:
    """A number of 32 bits for each component and node, and device: nobody else's draws change it."""
    key = _mixed(core.devices.rules.salt, core.devices.number[placement])
    return _mixed(_mixed(key, node), device + 1)


@part
def _mixed(key: int, number: int) -> int:
    """32 bits of two numbers; no product has more than 62 bits."""
    mixed = (key * 0x2545F491 + number) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 15)) * 0x2C1B3C6D) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 12)) * 0x297A2D39) & 0xFFFFFFFF
    return mixed ^ (mixed >> 15)


@part
def _drawn_device(core: SharedCore, placement: int, node: int, free: Ints, among: int) -> int:
    """One of the devices of a node that hold a part."""
    demand = core.shared_nodes.request[placement].demand
    it, best, least = core.devices, -1, 1 << 32
    for device in range(it.rules.devices):
        held = free[it.rules.first + device, node] >= it.demand[demand].part
        if held and (among >> device) & 1 and drawn(core, placement, node, device) < least:
            best, least = device, drawn(core, placement, node, device)
    return best
