"""How nodes are had beside reservations: whole ones here, others where jobs share them."""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, count
from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.slurm.reservations.state import ReservationsCore


@question
def would_suffice_empty(core: ReservationsCore, placement: int, nodes: Words) -> bool:
    """Whether some nodes of its partition would suffice, were they all there, and nothing ran on them."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    return count(nodes, it.low, it.high) >= core.placements[placement].nodes


@question
def waits_for_jobs_on(core: ReservationsCore, placement: int, nodes: Words) -> bool:
    """Whether what did not start on some nodes waits for those who have them, and not for other nodes."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    for word in range(it.low, it.high):
        if nodes[word] & ~core.slurm.sets.idle[word] != NONE:
            return True
    return False
