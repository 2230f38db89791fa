"""What the schedulers are told between their passes: that something changed."""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.slots import (
    CHANGED,
    ENDED_HERE,
    LAST_CHANGE,
    LOOKED,
    SEEN_FROM,
    STEADY_UNTIL,
    UNSEEN_BY_FULL,
)
from scheduler_sim.engine.state import NOW, Core

NEWCOMERS_ONLY, ALL_ELSE = 1, 2  # what changed since the last pass of the backfill scheduler
IN_TIME, LATE = 1, 2  # how something ended


@part
def note_change(core: Core, time: int) -> None:
    """Something changed at ``time`` that the backfill scheduler looks out for; it may have looked already."""
    slurm, now = core.slurm, core.clock[NOW]
    if time > slurm[LAST_CHANGE]:
        slurm[LAST_CHANGE] = time
        slurm[SEEN_FROM] = now + (1 if slurm[LOOKED] == now else 0)


@part
def note_end(core: Core, row: int) -> None:
    """A component has ended: in the second before, behind the look of that second, if it began late."""
    launch = core.job[row].launch
    note_change(core, core.clock[NOW] - launch)
    core.slurm[ENDED_HERE] = max(core.slurm[ENDED_HERE], LATE if launch > 0 else IN_TIME)


@part
def expect_change(core: Core) -> None:
    """The next passes, whenever they are made, may come out otherwise than the last ones."""
    core.slurm[CHANGED], core.slurm[UNSEEN_BY_FULL] = ALL_ELSE, 1
    core.slurm[STEADY_UNTIL] = 0
