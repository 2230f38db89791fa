"""Nodes that are out of service under Slurm, where they are whole: which, by their numbers."""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.simulation.rules.numbers import Numbers, Run
from scheduler_sim.simulation.rules.shared_nodes import shares_under_slurm
from scheduler_sim.simulation.rules.slurm.masks import WORD, words_of


class NamedOutages(Numbers):
    """Has room for them in a run of which nodes leave service; one may do so that did not look like it."""

    part = "outages"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        slurm = run.policy.backfill == "slurm" and not shares_under_slurm(run.system, run.policy)
        self.needed = slurm and bool(run.system.failures or run.system.events)

    def room(self, sizes: Sizes) -> int:
        """As many words as all modules have."""
        return sum(words_of(module.nodes) for module in self.run.system.modules)


def number_of(core: FullCore, module: int, node: int) -> int:
    """Return the number of a node of a module among all, by the words of the modules."""
    partition = np.asarray(core.slurm.partition)
    return WORD * int(partition["low"][np.argmax(partition["module"] == module)]) + node


def is_in(nodes: Words, number: int) -> bool:
    """Return whether a set has a node, by its number among all."""
    return bool(int(nodes[number // WORD]) >> number % WORD & 1)


def has_any(core: FullCore, row: int, nodes: set[int]) -> bool:
    """Whether a component has any of some nodes, numbered by their words."""
    piece = int(core.slurm.job[row].piece)
    while piece >= 0:
        it = core.slurm.nodes.piece[piece]
        if any(node // WORD == it.word and int(it.bits) >> node % WORD & 1 for node in nodes):
            return True
        piece = int(it.next)
    return False
