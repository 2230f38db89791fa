"""Why jobs wait, as far as Slurm's schedulers go by it: a reason that is new is once a change to backfill.

As a pass begins, of either scheduler, the reasons of all that is pending are noted. One that is not the one
noted last, and no mere waiting for a turn or for nodes, is a change (``build_job_queue`` of job_scheduler.c).
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import held_back, held_by_less
from scheduler_sim.engine.core.state import HELD, HOLD, WAITING
from scheduler_sim.engine.rules.slurm.change import note_change
from scheduler_sim.engine.rules.slurm.state import SlurmCore

NONE, ITS_TURN = 0, 1
LICENCES, NOT_AVAILABLE, RESERVATION = 2, 3, 4
DEPENDENCY, NEVER_MET, BEGIN_TIME, BY_HAND = 5, 6, 7, 8
"""Reasons: the last four are those of jobs that are not eligible."""


@part
def waits_for(core: SlurmCore, row: int, reason: int) -> None:
    """From now on it waits for that."""
    before = core.slurm.job[row].reason
    if before != reason:
        core.slurm.memory.retold |= max(before, reason) > ITS_TURN
        core.slurm.job[row].reason = reason
        _list(core, row)


@part
def waits_for_limit(core: SlurmCore, row: int, reason: int) -> None:
    """From now on it waits for a limit, or for none (0)."""
    if core.slurm.job[row].limited != reason:
        core.slurm.memory.retold = 1
        core.slurm.job[row].limited = reason
        _list(core, row)


@part
def waits_for_its_turn(core: SlurmCore, row: int) -> bool:
    """Note that it does, unless it waits for something else; returns whether that is new."""
    new = core.slurm.job[row].reason == NONE and core.slurm.job[row].limited == NONE
    if new:
        core.slurm.job[row].reason = ITS_TURN
    return bool(new)


@part
def note_reasons(core: SlurmCore) -> None:
    """A pass begins."""
    memory, told, kept = core.slurm.memory, False, 0
    for i in range(memory.unnoted):
        row = core.slurm.unnoted[i]
        job = core.slurm.job[row]
        if _is_new(core, row):
            job.noted, told = _reason(core, row), True
        _look_again(core, row)
        job.listed = _is_new(core, row)
        if job.listed:
            core.slurm.unnoted[kept] = row
            kept += 1
    memory.unnoted = kept
    if told and core.slurm.rules.aligned:
        note_change(core, core.clock.now)


@part
def look_again(core: SlurmCore) -> None:
    """The main scheduler has made a pass: what is not eligible is tested anew."""
    for i in range(core.slurm.memory.unnoted):
        _look_again(core, core.slurm.unnoted[i])


@part
def forget_reasons(core: SlurmCore, row: int) -> None:
    """It is to run once more: the next pass tells why it waits."""
    core.slurm.job[row].reason = core.slurm.job[row].noted = NONE
    _list(core, row)


@part
def arrives_waiting(core: SlurmCore, row: int) -> None:
    """One that is submitted and not eligible is told so at once."""
    _look_again(core, row)
    _list(core, row)


@part
def _list(core: SlurmCore, row: int) -> None:
    """The next pass looks at its reason."""
    if not core.slurm.job[row].listed:
        core.slurm.job[row].listed = 1
        core.slurm.unnoted[core.slurm.memory.unnoted] = row
        core.slurm.memory.unnoted += 1


@part
def _reason(core: SlurmCore, row: int) -> int:
    job = core.slurm.job[row]
    return int(job.limited if job.limited and job.reason < DEPENDENCY else job.reason)


@part
def _is_new(core: SlurmCore, row: int) -> bool:
    """Whether it is pending, and waits for something else than was noted last, and not for its turn."""
    reason, state = _reason(core, row), core.jobs[row].state
    return bool(state in (HELD, WAITING) and reason > ITS_TURN and reason != core.slurm.job[row].noted)


@part
def any_reason_is_new(core: SlurmCore) -> bool:
    """Whether the next pass is a change because of what it notes."""
    for i in range(core.slurm.memory.unnoted):
        if _is_new(core, core.slurm.unnoted[i]):
            return True
    return False


@part
def _look_again(core: SlurmCore, row: int) -> None:
    """What keeps it from being eligible, if anything does."""
    job = core.slurm.job[row]
    if core.jobs[row].state == HELD:
        if core.jobs[row].held:
            job.reason = BY_HAND
        elif core.jobs[row].missing % HOLD > 0:
            job.reason = NEVER_MET if job.satisfiable <= 0 else DEPENDENCY
        elif core.holds.term[row].begin > core.clock.now:
            job.reason = BEGIN_TIME
        elif job.reason >= DEPENDENCY:
            job.reason = NONE
    elif job.reason >= DEPENDENCY:
        job.reason = NONE


@on(held_by_less, "slurm")
def note_less(core: SlurmCore, row: int) -> None:
    """The next pass finds what still keeps it."""
    _list(core, row)


@on(held_back, "slurm")
def note_hold(core: SlurmCore, row: int) -> None:
    """One that is held by hand is told so at once."""
    if core.jobs[row].held:
        waits_for(core, row, BY_HAND)
