"""Which of the able nodes a job takes: ``policy.packing``.

Able nodes are ordered by a key, and the smallest keys are taken; of equal ones the first in order of nodes.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import first_between
from scheduler_sim.engine.core.hooks import answered_by, only_with
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.records import Ints, Words
from scheduler_sim.engine.rules.shared_nodes.able import count_able, told_apart
from scheduler_sim.engine.rules.shared_nodes.device_state import NOW
from scheduler_sim.engine.rules.shared_nodes.scores import choose_devices, key_by_score
from scheduler_sim.engine.rules.shared_nodes.state import BEST_FIT, CORES, WORST_FIT, SharedCore


@only_with("shared_nodes")
def choose_nodes_now(core: SharedCore, placement: int) -> None:
    """Choose the nodes on which a placement that fits starts now."""
    if told_apart(core, core.placements[placement].module):
        it = core.shared_nodes
        demand = it.request[placement].demand
        count_able(core, demand)
        choose(core, placement, it.able[demand], it.free, NOW)


@part
def choose_by_packing(core: SharedCore, placement: int, able: Words, free: Ints, view: int) -> bool:
    """Choose the nodes of a placement among able ones, by what is free on them; False if too few.

    And the devices of each that it takes, as the ``view`` has it.
    """
    it, wanted = core.shared_nodes, core.placements[placement].nodes
    if pick_first(core, placement, able, free, view, wanted) < wanted:
        return False
    slot = it.request[placement].slot
    for i in range(wanted):
        it.slots[slot + i] = it.pick[i]
        choose_devices(core, placement, slot + i, free, view)
    return True


choose = answered_by(choose_by_packing)
"""Choose the nodes of a placement among able ones, by what is free on them; False if too few."""


@inlined
def pick_first(core: SharedCore, placement: int, able: Words, free: Ints, view: int, wanted: int) -> int:
    """Pick so many able nodes, those with the smallest keys; returns how many, if there are fewer."""
    it, count = core.shared_nodes, 0
    asked = it.demand[it.request[placement].demand]
    for i in range(asked.first, asked.last):
        end = it.range[i].end
        node = first_between(able, it.range[i].begin, end)
        while node < end:
            it.key[node] = _key(core, placement, node, free, view)
            if count < wanted:
                it.pick[count] = node
                count += 1
                if count == wanted and wanted > 1:
                    for root in range(wanted // 2 - 1, -1, -1):
                        _sink(it.pick, it.key, root, wanted)
            elif it.key[node] < it.key[it.pick[0]]:
                it.pick[0] = node
                if wanted > 1:
                    _sink(it.pick, it.key, 0, wanted)
            node = first_between(able, node + 1, end)
    return count


@inlined
def _key(core: SharedCore, placement: int, node: int, free: Ints, view: int) -> int:
    """The key of an able node."""
    packing = core.shared_nodes.rules.packing
    if packing == BEST_FIT:
        return int(free[CORES, node])
    if packing == WORST_FIT:
        return -int(free[CORES, node])
    return key_by_score(core, placement, node, free, view)


@part
def _sink(heap: Ints, key: Ints, root: int, size: int) -> None:
    """Put the root of a heap in its place; the last to be taken is at the top."""
    while True:
        last = root
        for child in (2 * root + 1, 2 * root + 2):
            if child < size and _comes_after(key, heap[child], heap[last]):
                last = child
        if last == root:
            return
        heap[root], heap[last] = heap[last], heap[root]
        root = last


@inlined
def _comes_after(key: Ints, one: int, other: int) -> bool:
    return bool(key[one] > key[other] or (key[one] == key[other] and one > other))
