"""Which jobs the schedulers list: not those whose reservation is gone, or has too few nodes for them."""

from __future__ import annotations

from scheduler_sim.engine.core.bits import copy, count, keep_common
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.rules.slurm.moments import any_is_listed
from scheduler_sim.engine.rules.slurm.nodes import least_nodes
from scheduler_sim.engine.rules.slurm.reservations.state import ReservationsCore
from scheduler_sim.engine.rules.slurm.reservations.turns import move_on
from scheduler_sim.engine.rules.slurm.start import may_run, may_run_there


@on(any_is_listed, "reservations")
def any_has_room(core: ReservationsCore) -> bool:
    """The first that has no reservation settles it, or whose reservation is as large as it asks for.

    It is no look of the daemon's: none moves on to its next turn.
    """
    own, found, i = core.reservations.at.inside, False, core.queue.at.head
    while i < core.queue.at.tail and not found:
        found = _is_listed(core, core.queue.waiting[i])
        i += 1
    core.reservations.at.inside = own
    return found


@part
def _is_listed(core: ReservationsCore, row: int) -> bool:
    if _stands(core, row):
        for placement in range(core.jobs[row].first, core.jobs[row].last):
            if is_large_enough(core, placement):
                return True
    return False


@on(may_run, "reservations")
def has_its_reservation(core: ReservationsCore, row: int) -> bool:
    """One whose reservation is gone is held."""
    move_on(core)
    return _stands(core, row)


@part
def _stands(core: ReservationsCore, row: int) -> bool:
    """Whether the reservation of a job is there, if it has one: it is the one to look at from here on."""
    own = core.reservations.claim[row].of
    if core.reservations.at.drawn >= 0:
        own = core.reservations.at.drawn
    core.reservations.at.inside = own
    return bool(own < 0 or core.reservations.table[own].stands)


@on(may_run_there, "reservations")
def is_large_enough(core: ReservationsCore, placement: int) -> bool:
    """Not if its reservation has fewer nodes of the partition than it asks for."""
    own = core.reservations.at.inside
    if own < 0 or core.reservations.table[own].any_nodes:
        return True
    it, some = core.slurm.partition[core.slurm.way[placement].partition], core.reservations.sets.some
    copy(some, core.reservations.nodes[own], it.low, it.high)
    keep_common(some, core.slurm.nodes.masks[it.members], it.low, it.high)
    return count(some, it.low, it.high) >= least_nodes(core, placement)
