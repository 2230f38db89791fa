"""Under Slurm, which whole nodes each job had when it last started: a result tells where they lie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.bits import NONE, ONE, lowest_in
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.moments import started
from scheduler_sim.engine.core.records import Ints
from scheduler_sim.engine.rules.slurm.state import SlurmCore


class NamedNodes(NamedTuple):
    """n jobs."""

    first: Ints  # [n] where the nodes of a job stand
    node: Ints  # numbered by their words


class NamedNodesCore(SlurmCore):
    """A core with Slurm's schedulers that writes down which nodes jobs had."""

    named_nodes: NamedNodes


def blank_named_nodes(room: tuple[int, int]) -> NamedNodes:
    """Return the part for so many jobs, and as many nodes as all may have."""
    rows, nodes = room
    return NamedNodes(np.zeros(rows, dtype=np.int64), np.zeros(nodes, dtype=np.int64))


@on(started, "named_nodes")
def write_nodes_down(core: NamedNodesCore, row: int) -> None:
    """The nodes that a job has."""
    at, piece = core.named_nodes.first[row], core.slurm.job[row].piece
    while piece >= 0:
        it = core.slurm.nodes.piece[piece]
        bits = it.bits
        while bits != NONE:
            core.named_nodes.node[at] = (it.word << 6) + lowest_in(bits)
            at += 1
            bits &= bits - ONE
        piece = it.next
