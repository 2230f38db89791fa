"""What suspension under Slurm changes of times: when jobs end, and are planned to; and of the timeline."""

from __future__ import annotations

from scheduler_sim.engine.core.events import drop_end
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.instant import log_is_full
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.limits import time_granted, time_suspended
from scheduler_sim.engine.core.loop import held_idle
from scheduler_sim.engine.core.moments import limit_changed, write_more
from scheduler_sim.engine.core.record import has_more_to_write
from scheduler_sim.engine.core.state import BY_LIMIT, COMPLETED, FAILED, TIMEOUT
from scheduler_sim.engine.rules.slurm.lifecycle import is_ended_early
from scheduler_sim.engine.rules.slurm.preemption.gang_state import GangCore
from scheduler_sim.engine.rules.slurm.start import found_from
from scheduler_sim.engine.rules.suspensions import NOT_SUSPENDED


@part
def note_how_it_ended(core: GangCore, row: int) -> None:
    """Whether a look ended it, or it ended behind the look of the second before: others go on with that."""
    at, it = core.gang.at, core.jobs[row]
    by_look = it.state == TIMEOUT and core.placements[it.placed].killed == BY_LIMIT
    by_itself = not by_look and it.state in (COMPLETED, FAILED, TIMEOUT)
    at.look = row if by_look else 0
    at.late = core.slurm.job[row].launch if by_itself else 0


# -- times


@on(time_suspended, "gang")
def suspended_so_far(core: GangCore, row: int) -> int:
    """All spans that are over."""
    return core.gang.pause[row].seconds


@on(time_granted, "gang")
def limit_and_suspended(core: GangCore, row: int, placement: int) -> int:
    """Its limit, and as long as it was suspended; nobody is told to end."""
    return core.placements[placement].limit + core.gang.pause[row].seconds


@on(is_ended_early, "gang")
def while_it_had_more_to_do(core: GangCore, row: int) -> bool:
    """One that is suspended does not end by itself, and what was goes on for longer."""
    pause, it = core.gang.pause[row], core.jobs[row]
    own_end = it.start + pause.seconds + core.placements[it.placed].duration
    return bool(pause.since != NOT_SUSPENDED or core.clock.now < own_end)


@on(found_from, "gang")
def found_by_the_next(core: GangCore, row: int) -> int:
    """The look that ended the job on whose nodes it goes on has passed it by, if it came before that."""
    return core.clock.now + (row < core.gang.at.look)


@on(limit_changed, "gang")
def stay_suspended(core: GangCore, row: int) -> None:
    """One that is suspended has another planned end, and goes on waiting for its nodes."""
    if core.gang.pause[row].since != NOT_SUSPENDED:
        drop_end(core, row)


@on(log_is_full, "gang")
def spans_are_many(core: GangCore) -> bool:
    """Whether the spans that end in one more instant might have no room: one of each job."""
    return core.gang.log.spans + len(core.gang.pause) > len(core.gang.spans)


# -- the timeline


@on(held_idle, "gang")
def held_by_suspended(core: GangCore, module: int) -> int:
    """Nodes that suspended jobs hold, and on which nobody works."""
    held: int = core.gang.idle_held[module]
    return held


@on(has_more_to_write, "gang")
def others_held(core: GangCore, module: int) -> bool:
    """Whether they are as many as when the last row was written."""
    return core.pools[module].written_held != held_by_suspended(core, module)


@on(write_more, "gang")
def write_held(core: GangCore, module: int, row: int) -> None:
    """Write how many they are."""
    core.pools[module].written_held = core.idle_rows[row].held = core.gang.idle_held[module]
