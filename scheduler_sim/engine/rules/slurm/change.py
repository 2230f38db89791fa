"""What the schedulers are told between their passes: that something changed."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import event
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.rules.slurm.state import SlurmCore

NEWCOMERS_ONLY, ALL_ELSE = 1, 2  # what changed since the last pass of the backfill scheduler
IN_TIME, LATE = 1, 2  # how something ended
NO_CHANGE, BEHIND_DEPTH, WITHIN_DEPTH = 0, 1, 2
"""Which passes of the main scheduler are changes to backfill: none, those over the whole queue, any."""


@part
def note_change(core: SlurmCore, time: int) -> None:
    """Something changed at ``time`` that the backfill scheduler looks out for; it may have looked already."""
    slurm, now = core.slurm, core.clock.now
    if time > slurm.memory.last_change:
        slurm.memory.last_change = time
        slurm.memory.seen_from = now + (1 if slurm.memory.looked == now else 0)


@part
def note_end(core: SlurmCore, row: int) -> None:
    """A job has ended: in the second before, behind the look of that second, if it began late."""
    launch = core.slurm.job[row].launch
    note_change(core, core.clock.now - launch)
    core.slurm.memory.ended_here = max(core.slurm.memory.ended_here, LATE if launch > 0 else IN_TIME)


@part
def expect_change(core: SlurmCore) -> None:
    """The next passes, whenever they are made, may come out otherwise than the last ones."""
    core.slurm.memory.changed, core.slurm.memory.unseen_by_full = ALL_ELSE, 1
    core.slurm.memory.steady_until = 0


@part
def note_passed_over(core: SlurmCore) -> None:
    """The main scheduler passes an entry over, or refuses it for more than that others have its nodes."""
    within = core.slurm.memory.main_tried <= core.slurm.rules.default_queue_depth + 1
    reached = WITHIN_DEPTH if within else BEHIND_DEPTH
    core.slurm.memory.main_changes = max(core.slurm.memory.main_changes, reached)


@event
def holds_until(core: SlurmCore, time: int) -> None:
    """At that time a backfill pass would come out otherwise than this one, even if nothing changed."""


@part
def main_holds_until(core: SlurmCore, time: int) -> None:
    """At that time this pass of the main scheduler would."""
    core.slurm.memory.main_valid = min(core.slurm.memory.main_valid, time)
