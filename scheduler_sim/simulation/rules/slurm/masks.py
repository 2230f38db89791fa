"""Sets of nodes as rows of words: those of modules, partitions, weights, and what components ask for.

A row keeps its number when more components come, as whatever rows refer to by number does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from scheduler_sim.engine.core.records import Ints, dtype_of
from scheduler_sim.engine.engine import FullCore
from scheduler_sim.engine.rules.slurm.accelerate.state import with_masks
from scheduler_sim.engine.rules.slurm.allocation import words
from scheduler_sim.engine.rules.slurm.state import VECTOR, Choice, Need
from scheduler_sim.placement.placements import Placements
from scheduler_sim.system.module import Module, NodeChoice
from scheduler_sim.system.system import System

WORD = 64

Ranges = tuple[range, ...]


class Masks:
    """Numbers sets of nodes and choices among them, and writes them into the core.

    Each module begins with a new word. The first rows are the modules. The same nodes have one row
    only, in whatever way they are asked for; those of a weight have one besides.

    Attributes
    ----------
    low : word with which each module begins, and where the last one ends
    members : row of the nodes of each partition
    lightest : rows of the nodes of each module by weight, ascending: from, and up to the one before; where
        nodes may be ``raised``, each weight is followed by the one above it
    """

    def __init__(self, system: System, *, raised: bool = False) -> None:
        self.low = np.cumsum([0] + [words_of(module.nodes) for module in system.modules])
        self._sets: list[tuple[int, Ranges]] = []
        self._rows: dict[tuple[int, Ranges], int] = {}
        for number, module in enumerate(system.modules):
            self._row(number, (range(module.nodes),))
        partitions = [tuple(numbers for _, numbers in system.sets_of(p.name)) for p in system.partitions]
        self.members = [
            self._row(system.module_index(partition.module), ranges)
            for partition, ranges in zip(system.partitions, partitions, strict=True)
        ]
        self._whole = tuple((NodeChoice(ranges),) for ranges in partitions)
        self.lightest = [self._by_weight(i, module, raised) for i, module in enumerate(system.modules)]
        self._choices: list[tuple[int, int, int]] = []
        self._needs: list[tuple[int, int]] = []
        self._ways: dict[tuple[int, tuple[NodeChoice, ...]], tuple[int, int, int]] = {}

    def number(self, placements: Placements) -> Ints:
        """int64[p, 3]: the mask of each placement, its first choice and the one after its last."""
        demands = placements.of_nodes
        if demands is not None:
            kinds, kind = demands.kinds, demands.kind
        else:  # all nodes of the partition
            kinds, kind = self._whole, placements.partition
        many = len(self.low)  # the nodes of two modules may have the same numbers
        used, position = np.unique(kind * many + placements.module, return_inverse=True)
        ways = [self._way(one % many, kinds[one // many]) for one in used.tolist()]
        return np.array(ways, dtype=np.int64).reshape(-1, 3)[position]

    def write(self, core: FullCore) -> FullCore:
        """A core that has all of them."""
        nodes = core.slurm.nodes
        if len(nodes.masks) < len(self._sets):
            nodes = nodes._replace(masks=words(len(self._sets), nodes.masks.shape[1]))
            core = with_masks(core, len(self._sets))
        for row, (module, ranges) in enumerate(self._sets):
            nodes.masks[row] = bits(ranges, int(self.low[module]), nodes.masks.shape[1])
        nodes = nodes._replace(choice=_table(self._choices, Choice), need=_table(self._needs, Need))
        return core._replace(slurm=core.slurm._replace(nodes=nodes))

    def _by_weight(self, number: int, module: Module, raised: bool) -> tuple[int, int]:
        stated = {one.weight for one in module.sets}
        weights = sorted(stated | {weight + 1 for weight in stated} if raised else stated)
        if len(weights) == 1:
            return number, number + 1
        for weight in weights:
            pairs = zip(module.sets, module.ranges, strict=True)
            self._sets.append((number, tuple(numbers for one, numbers in pairs if one.weight == weight)))
        return len(self._sets) - len(weights), len(self._sets)

    def _way(self, module: int, choices: tuple[NodeChoice, ...]) -> tuple[int, int, int]:
        if (module, choices) not in self._ways:
            together = tuple(numbers for choice in choices for numbers in choice.anywhere)
            mask, first = self._row(module, together), len(self._choices)
            for choice in choices:
                needed = len(self._needs)
                self._needs += [(self._row(module, ranges), count) for count, ranges in choice.at_least]
                self._choices.append((self._row(module, choice.anywhere), needed, len(self._needs)))
            self._ways[module, choices] = mask, first, len(self._choices)
        return self._ways[module, choices]

    def _row(self, module: int, ranges: Ranges) -> int:
        nodes = _joined(ranges)
        if (module, nodes) not in self._rows:
            self._rows[module, nodes] = len(self._sets)
            self._sets.append((module, nodes))
        return self._rows[module, nodes]


def _joined(ranges: Ranges) -> Ranges:
    """The same nodes, in as few ranges as will do."""
    found: list[range] = []
    for numbers in sorted(ranges, key=lambda numbers: numbers.start):
        if found and numbers.start <= found[-1].stop:
            found[-1] = range(found[-1].start, max(found[-1].stop, numbers.stop))
        else:
            found.append(numbers)
    return tuple(found)


def bits(ranges: Iterable[range], low: int, size: int) -> np.ndarray:
    """uint64[size]: nodes, numbered from 0 in their module, whose words begin at ``low``."""
    flags = np.zeros(size * WORD, dtype=np.uint8)
    for numbers in ranges:
        flags[low * WORD + numbers.start : low * WORD + numbers.stop] = 1
    return np.packbits(flags, bitorder="little").view("<u8").astype(np.uint64)


def _table(rows: list[Any], record: type) -> Any:
    return np.array(rows, dtype=dtype_of(record))


def words_of(nodes: int) -> int:
    """How many words a module has: if many, whole vectors of the processor, for it is slow with the rest."""
    size = -(-nodes // WORD)
    return size if size < VECTOR else -(-size // VECTOR) * VECTOR


def write_nodes(core: FullCore, system: System, masks: Masks) -> None:
    """Nodes are numbered through, each module from a new word on; all are idle."""
    for number, partition in enumerate(system.partitions):
        it, i = core.slurm.partition[number], system.module_index(partition.module)
        it.module, it.low, it.high = i, masks.low[i], masks.low[i + 1]
        it.members = masks.members[number]
        it.lightest, it.heaviest = masks.lightest[i]
    for i, module in enumerate(system.modules):
        core.slurm.sets.idle[:] |= bits([range(module.nodes)], int(masks.low[i]), len(core.slurm.sets.idle))
    core.slurm.sets.up[:] = core.slurm.sets.idle
    core.slurm.nodes.piece["next"][:-1] = np.arange(1, len(core.slurm.nodes.piece))
    core.slurm.nodes.piece["next"][-1] = -1
