"""Free GPUs of a node that typical jobs cannot use, and by how much they rise with a job on it.

For a typical demand without GPUs, and for one that does not fit on the node, all of its free GPUs are
fragments; for another, those on devices that are too full for it. The sum over the demands is weighted by how
many nodes are asked for so.
"""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.bits import NONE, ONE
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Ints
from scheduler_sim.engine.rules.shared_nodes.device_state import SCORES, WHOLE
from scheduler_sim.engine.rules.shared_nodes.devices import first_idle, may_be_taken
from scheduler_sim.engine.rules.shared_nodes.state import CORES, SharedCore


@part
def least_fragments(
    core: SharedCore, module: int, demand: int, node: int, free: Ints, among: int
) -> tuple[int, int]:
    """The score of a node, and the device of it that a part takes: the first with that score.

    50: no more is in fragments than before; below it, the lower the more it rises.
    """
    it, asked, levels = core.devices, core.devices.demand[demand], core.devices.free
    for device in range(it.rules.devices):
        levels[device] = free[it.rules.first + device, node]
    before = _fragments(core, module, node, free[CORES, node])
    cores = free[CORES, node] - core.shared_nodes.need[demand, CORES]
    if asked.count == 0 or asked.part == WHOLE:
        bits = first_idle(core, demand, node, free, among)
        for device in range(it.rules.devices):
            if (bits >> device) & 1:
                levels[device] = 0
        return _score(core, module, before - _fragments(core, module, node, cores)), -1
    best, chosen = -1, -1
    for device in range(it.rules.devices):
        if may_be_taken(core, demand, device, levels[device], among) and not _seen(core, device, among):
            levels[device] -= asked.part
            score = _score(core, module, before - _fragments(core, module, node, cores))
            levels[device] += asked.part
            if score > best:
                best, chosen = score, device
    return best, chosen


@part
def _seen(core: SharedCore, device: int, among: int) -> bool:
    """Whether as much is free on an earlier device that may be taken: it scores the same."""
    levels = core.devices.free
    for earlier in range(device):
        if levels[earlier] == levels[device] and (among >> earlier) & 1:
            return True
    return False


@part
def _fragments(core: SharedCore, module: int, node: int, cores: int) -> int:
    """What is in fragments on a node with so many cores free, and the devices that are looked at."""
    it, levels, total, all_free = core.devices, core.devices.free, 0, 0
    for device in range(it.rules.devices):
        all_free += levels[device]
    word, bit = node >> 6, ONE << np.uint64(node & 63)
    for i in range(it.scale[module].first, it.scale[module].last):
        typical, unusable, fitting = it.typical[i], 0, 0
        if typical.count == 0 or cores < typical.cores or it.suited[i, word] & bit == NONE:
            total += typical.weight * all_free
            continue
        for device in range(it.rules.devices):
            if levels[device] < typical.part:
                unusable += levels[device]
            else:
                fitting += 1
        total += typical.weight * (unusable if fitting >= typical.count else all_free)
    return total


@part
def _score(core: SharedCore, module: int, fall: int) -> int:
    """The score of a fall of fragments: 100 / (1 + e^-x), x in GPUs, as a whole number."""
    threshold = core.devices.threshold[module]
    low, high = 0, SCORES - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if fall >= threshold[middle]:
            low = middle
        else:
            high = middle - 1
    return low
