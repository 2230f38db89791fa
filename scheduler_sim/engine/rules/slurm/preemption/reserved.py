"""Preemption beside advance reservations: who waits looks at no nodes but those that they leave to it."""

from __future__ import annotations

from scheduler_sim.engine.core.bits import clear, keep_common, take_out
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.preemption.state import PreemptionCore
from scheduler_sim.engine.rules.slurm.preemption.victims import keep_open_usable
from scheduler_sim.engine.rules.slurm.reservations.access import end_of_covering, put_open
from scheduler_sim.engine.rules.slurm.reservations.looks import ends_with_its_reservation
from scheduler_sim.engine.rules.slurm.reservations.state import ReservationsCore


class ReservedPreemptionCore(PreemptionCore, ReservationsCore):
    """A core with preemption, and advance reservations."""


@on(keep_open_usable, "preemption", "reservations")
def keep_those_open(core: ReservedPreemptionCore, placement: int) -> None:
    """From now to its limit; none before its own reservation begins, nor behind one of all nodes."""
    usable, sets = core.preemption.usable, core.reservations.sets
    it = core.slurm.partition[core.slurm.way[placement].partition]
    if _has_its_turn(core, placement):
        keep_common(usable, sets.open, it.low, it.high)
        take_out(usable, sets.closed, it.low, it.high)
    else:
        clear(usable, it.low, it.high)


@part
def _has_its_turn(core: ReservedPreemptionCore, placement: int) -> bool:
    """Whether it may have any nodes now: those are OPEN."""
    now = core.clock.now
    if core.reservations.at.inside < 0 and end_of_covering(core, placement, now) >= 0:
        return False
    return put_open(core, placement, now)


@on(ends_with_its_reservation, "preemption", "reservations")
def is_not_in_grace(core: ReservedPreemptionCore, row: int) -> bool:
    """One that is preempted has its grace to the end, and is looked at for that alone."""
    return bool(core.preemption.job[row].grace_end == INF)
