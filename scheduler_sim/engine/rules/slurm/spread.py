"""Under Slurm, jobs that take longer whose nodes lie apart: which nodes they have, and when they end.

Limits are enforced at Slurm's moments, by the longer run time.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, ONE, lowest_in
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.rules.shared_nodes.spread import (
    SpreadCore,
    end_known,
    mark_above,
    nodes_are_known,
    switches_marked,
)
from scheduler_sim.engine.rules.slurm.start import set_end
from scheduler_sim.engine.rules.slurm.state import SlurmCore


class SpreadSlurmCore(SpreadCore, SlurmCore):
    """A core with both."""


@on(nodes_are_known, "slurm", "spread")
def all_are_known(core: SpreadSlurmCore, module: int) -> bool:
    """Every job has certain nodes."""
    return True


@on(end_known, "slurm", "spread")
def set_later_end(core: SpreadSlurmCore, row: int, placement: int) -> None:
    """By itself, or at the first look that finds it past its limit."""
    set_end(core, row, placement, core.jobs[row].start)


@on(switches_marked, "slurm", "spread", unless="cons_tres")
def switches_above_whole_nodes(core: SpreadSlurmCore, row: int, level: int) -> int:
    """Of the sets of nodes that the job holds."""
    piece, found = core.slurm.job[row].piece, 0
    while piece >= 0:
        it = core.slurm.nodes.piece[piece]
        bits = it.bits
        while bits != NONE:
            found += mark_above(core, level, (it.word << 6) + lowest_in(bits))
            bits &= bits - ONE
        piece = it.next
    return found
