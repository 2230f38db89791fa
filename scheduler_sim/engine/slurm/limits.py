"""How many components a backfill pass tries, and which of them may reserve."""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.slots import (
    BF_ARRAY_RESERVE,
    BF_MAX_JOB_PART,
    BF_MAX_JOB_USER,
    BF_MAX_JOB_USER_PART,
    BF_MIN_AGE,
    BF_MIN_PRIORITY,
    BF_ONE_RESERVATION,
    BF_PART_RESERVE,
    PASS,
    VALID,
)
from scheduler_sim.engine.state import NOW, Core


@part
def over_a_limit(core: Core, row: int, placement: int) -> bool:
    """Whether enough components of its partition or its user have been tried; if not, it counts itself."""
    number = core.way[placement].partition
    it, user = core.partition[number], core.job[row].user
    _renew(core, user, 0)
    _renew(core, user, 1 + number)
    if _reached(core.slurm[BF_MAX_JOB_PART], it.tried):
        return True
    if _reached(core.slurm[BF_MAX_JOB_USER], core.counter[user, 0].tried):
        return True
    if _reached(core.slurm[BF_MAX_JOB_USER_PART], core.counter[user, 1 + number].tried):
        return True
    it.tried += 1
    core.counter[user, 0].tried += 1
    core.counter[user, 1 + number].tried += 1
    return False


@part
def may_reserve(core: Core, row: int, placement: int) -> bool:
    """Whether it is planned ahead; if not, it may only start now."""
    slurm, now = core.slurm, core.clock[NOW]
    if slurm[BF_MIN_AGE] and now - core.term[row].begin < slurm[BF_MIN_AGE]:
        slurm[VALID] = min(slurm[VALID], core.term[row].begin + slurm[BF_MIN_AGE])
        return False
    if slurm[BF_MIN_PRIORITY] and -core.way[placement].key < slurm[BF_MIN_PRIORITY]:
        return False
    if slurm[BF_ONE_RESERVATION] and core.comp[row].promised >= 0:
        return False
    array = core.term[row].array
    if array >= 0:
        if core.array[array].made_in != slurm[PASS]:
            core.array[array].made_in, core.array[array].reserved = slurm[PASS], 0
        if _reached(slurm[BF_ARRAY_RESERVE], core.array[array].reserved):
            return False
    return not _reached(slurm[BF_PART_RESERVE], core.partition[core.way[placement].partition].reserved)


@part
def _reached(limit: int, number: int) -> bool:
    """Whether a limit is reached; 0 is no limit."""
    return limit > 0 and number >= limit


@part
def _renew(core: Core, user: int, which: int) -> None:
    """Counters of an earlier pass start again."""
    if core.counter[user, which].made_in != core.slurm[PASS]:
        core.counter[user, which].made_in, core.counter[user, which].tried = core.slurm[PASS], 0
