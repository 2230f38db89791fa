"""What an operator does to single jobs under Slurm: priorities, nice, and what follows from the rest."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import entry
from scheduler_sim.engine.core.moments import placed_anew, released_by_hand
from scheduler_sim.engine.core.operations import lift_hold, put_back, take_out
from scheduler_sim.engine.core.state import UNSEEN, WAITING
from scheduler_sim.engine.rules.slurm.priority.ranking import give_priority, weigh_again
from scheduler_sim.engine.rules.slurm.reasons import NONE, waits_for
from scheduler_sim.engine.rules.slurm.state import IN_LIST_ORDER, SlurmCore


@on(released_by_hand, "slurm")
def rank_released(core: SlurmCore, row: int) -> None:
    """One that is released gets a new priority, held or not."""
    if core.jobs[row].state != UNSEEN:
        waits = take_out(core, row)
        core.slurm.job[row].given = 0
        give_priority(core, row)
        put_back(core, row, waits)


@on(released_by_hand, "slurm")
def note_release(core: SlurmCore, row: int) -> None:
    """It is told nothing before the next pass."""
    if core.jobs[row].held:
        waits_for(core, row, NONE)


@on(placed_anew, "slurm")
def weigh_placed(core: SlurmCore, row: int) -> None:
    """What it asks for is new, and so may be its priority."""
    weigh_again(core, row)


@entry
def set_priority(core: SlurmCore, row: int, priority: float) -> None:
    """A priority that is not computed any more; what is held is released."""
    if core.jobs[row].state <= WAITING:
        waits = take_out(core, row)
        core.slurm.job[row].given = 1
        if core.slurm.rules.builtin != IN_LIST_ORDER:
            core.ranks[row].key = -priority
        for placement in range(core.jobs[row].first, core.jobs[row].last):
            core.slurm.way[placement].key = -priority
        put_back(core, row, waits)
        lift_hold(core, row)


@entry
def set_nice(core: SlurmCore, row: int, nice: int) -> None:
    """The priority changes by as much as nice does, to 1 at the least."""
    it = core.jobs[row]
    if it.state > WAITING:
        return
    waits = take_out(core, row)
    more = nice - core.slurm.job[row].nice
    core.slurm.job[row].nice = nice
    for placement in range(it.first, it.last):
        if len(core.slurm.accounts.factor) > 0:
            core.slurm.accounts.factor[placement].nice += more
        if it.state != UNSEEN or core.slurm.job[row].given:
            core.slurm.way[placement].key = min(core.slurm.way[placement].key + more, -1.0)
    if core.slurm.rules.builtin != IN_LIST_ORDER and (it.state != UNSEEN or core.slurm.job[row].given):
        core.ranks[row].key = min(core.ranks[row].key + more, -1.0)
    put_back(core, row, waits)
