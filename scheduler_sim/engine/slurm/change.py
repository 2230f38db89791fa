"""What the schedulers are told between their passes: that something changed."""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.slots import CHANGED, LAST_CHANGE, LOOKED, SEEN_FROM, UNSEEN_BY_FULL
from scheduler_sim.engine.state import NOW, Core

NEWCOMERS_ONLY, ALL_ELSE = 1, 2  # what changed since the last pass of the backfill scheduler


@part
def note_change(core: Core, time: int) -> None:
    """Something changed at ``time`` that the backfill scheduler looks out for; it may have looked already."""
    slurm, now = core.slurm, core.clock[NOW]
    if time > slurm[LAST_CHANGE]:
        slurm[LAST_CHANGE] = time
        slurm[SEEN_FROM] = now + (1 if slurm[LOOKED] == now else 0)


@part
def expect_change(core: Core) -> None:
    """The next passes, whenever they are made, may come out otherwise than the last ones."""
    core.slurm[CHANGED], core.slurm[UNSEEN_BY_FULL] = ALL_ELSE, 1
