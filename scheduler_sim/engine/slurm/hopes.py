"""Which turns of a backfill pass may still start something: the pass needs no turns behind the last of them.

Reservations only ever take nodes away. So who finds too few idle nodes that stay free as long as
its limit finds too few in the rest of the pass, too, and a reservation matters only to those
who come after it and may start now.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.bits import copy, count, keep_common
from scheduler_sim.engine.slurm.node_space import last_second, record_at
from scheduler_sim.engine.slurm.slots import AVAILABLE, IDLE
from scheduler_sim.engine.slurm.turns import turn
from scheduler_sim.engine.state import NOW, Core


@part
def last_hope(core: Core, first: int, last: int) -> int:
    """The last turn from ``first`` to ``last`` that may start something, ``first - 1`` if none may."""
    while last >= first and not _may_start(core, turn(core, last)[1]):
        last -= 1
    return last


@part
def _may_start(core: Core, placement: int) -> bool:
    """Whether enough idle nodes are free of reservations from now on."""
    way, need, now = core.way[placement], core.place[placement].nodes, core.clock[NOW]
    it, available = core.partition[way.partition], core.sets[AVAILABLE]
    copy(available, core.sets[IDLE], it.low, it.high)
    keep_common(available, core.masks[way.mask], it.low, it.high)
    record, last = record_at(core, now), last_second(core, now, core.place[placement].limit)
    while record >= 0 and core.record[record].begin <= last:
        if count(available, it.low, it.high) < need:
            return False
        keep_common(available, core.space[record], it.low, it.high)
        record = core.record[record].next
    return count(available, it.low, it.high) >= need
