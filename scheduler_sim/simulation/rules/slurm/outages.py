"""Nodes that are out of service by name under Slurm, where they are whole."""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.simulation.rules.numbers import Numbers, Run
from scheduler_sim.simulation.rules.shared_nodes import shares_under_slurm
from scheduler_sim.simulation.rules.slurm.masks import WORD, words_of


class NamedOutages(Numbers):
    """Has room for them in a run of which nodes are out of service by name."""

    part = "outages"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        by_name = bool(run.system.failures) or any(event.nodes for event in run.system.events)
        self.needed = by_name and not shares_under_slurm(run.system, run.policy)

    def room(self, sizes: Sizes) -> int:
        """As many words as all modules have."""
        return sum(words_of(module.nodes) for module in self.run.system.modules)


def number_of(core: FullCore, module: int, node: int) -> int:
    """Return the number of a node of a module among all, by the words of the modules."""
    partition = np.asarray(core.slurm.partition)
    return WORD * int(partition["low"][np.argmax(partition["module"] == module)]) + node


def has_any(core: FullCore, row: int, nodes: set[int]) -> bool:
    """Whether a component has any of some nodes, numbered by their words."""
    piece = int(core.slurm.job[row].piece)
    while piece >= 0:
        it = core.slurm.nodes.piece[piece]
        if any(node // WORD == it.word and int(it.bits) >> node % WORD & 1 for node in nodes):
            return True
        piece = int(it.next)
    return False
