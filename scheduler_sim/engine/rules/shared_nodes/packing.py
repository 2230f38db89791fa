"""Which of the able nodes a job takes: ``policy.packing``.

Able nodes get a key, and the smallest keys are taken; of equal ones the first in the order of nodes.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import only_with
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.records import Ints
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.shared_nodes.able import is_able_now, told_apart
from scheduler_sim.engine.rules.shared_nodes.state import BEST_FIT, CORES, WORST_FIT, SharedCore


@only_with("shared_nodes")
def choose_nodes_now(core: SharedCore, placement: int) -> None:
    """Choose the nodes on which a placement that fits starts now."""
    if told_apart(core, core.placements[placement].module):
        rate_able_now(core, placement)
        take_first(core, placement)
        keep_choice(core, placement)


@part
def rate_able_now(core: SharedCore, placement: int) -> int:
    """Give each node that is able now its key; returns how many there are."""
    it, able = core.shared_nodes, 0
    for i in range(it.request[placement].first, it.request[placement].last):
        for node in range(it.range[i].begin, it.range[i].end):
            if is_able_now(core, placement, node):
                it.key[node] = key_of(core, it.free[CORES, node])
                able += 1
            else:
                it.key[node] = INF
    return able


@inlined
def key_of(core: SharedCore, cores: int) -> int:
    """The key of an able node with so many cores free."""
    packing = core.shared_nodes.rules.packing
    if packing == BEST_FIT:
        return cores
    if packing == WORST_FIT:
        return -cores
    return 0


@part
def take_first(core: SharedCore, placement: int) -> bool:
    """Pick the nodes of the smallest keys, as many as a placement asks for; False if too few have a key."""
    it, wanted, count = core.shared_nodes, core.placements[placement].nodes, 0
    for i in range(it.request[placement].first, it.request[placement].last):
        for node in range(it.range[i].begin, it.range[i].end):
            if it.key[node] == INF:
                continue
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
    it.rules.chosen = count
    return count == wanted


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


@part
def keep_choice(core: SharedCore, placement: int) -> None:
    """The nodes picked are those of a placement from now on."""
    it = core.shared_nodes
    slot = it.request[placement].slot
    for i in range(core.placements[placement].nodes):
        it.slots[slot + i] = it.pick[i]
