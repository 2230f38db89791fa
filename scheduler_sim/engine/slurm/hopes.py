"""Which turns of a backfill pass may still start something: the pass needs no turns behind the last of them.

Reservations only ever take nodes away. So who finds too few idle nodes that stay free as long as
its limit finds too few in the rest of the pass, too, and a reservation matters only to those
who come after it and may start now.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.bits import count
from scheduler_sim.engine.slurm.node_space import record_at
from scheduler_sim.engine.slurm.slots import IDLE, VALID
from scheduler_sim.engine.slurm.tries import left_free
from scheduler_sim.engine.slurm.turns import turn
from scheduler_sim.engine.state import NOW, Core


@part
def last_hope(core: Core, first: int, last: int) -> int:
    """The last turn from ``first`` to ``last`` that may start something, ``first - 1`` if none may."""
    now, valid = core.clock[NOW], core.slurm[VALID]
    record = record_at(core, now)
    while last >= first:
        placement = turn(core, last)[1]
        it = core.partition[core.way[placement].partition]
        behind_idle = (it.low << 6) + count(core.sets[IDLE], it.low, it.high)
        if left_free(core, placement, record, now, behind_idle)[0] >= core.place[placement].nodes:
            break
        last -= 1
    core.slurm[VALID] = valid  # to look does not bring the next pass nearer
    return last
